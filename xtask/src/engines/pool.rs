//! Stops per second of one process that keeps its connections, as a server would.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use stopgate_core::{Seen, SessionId, Timestamp, apply, decide};
use stopgate_lab::Cluster;
use stopgate_store::{Appended, Journal, Recorded, SqliteJournal, Stored};

use super::place;
use crate::figures::{Chance, Sample, millis};
use crate::journal;
use crate::table::{Gates, Table};
use crate::tools;

const LOOPS: u32 = 2_000;
const PATIENCE: Duration = Duration::from_mins(1);
/// A minute after the loops of a filled journal have begun.
const NOW: Timestamp = Timestamp::from_unix_millis(1_767_225_660_000);
/// Nobody is beaten to it so often.
const TRIES_MAX: usize = 10_000;

/// Opens one more connection to the journal.
type Open<'a> = &'a (dyn Fn() -> Result<Box<dyn Journal>> + Sync);

/// What is asked of one row.
struct Case<'a> {
    name: String,
    open: Open<'a>,
    loops: u32,
    connections: usize,
    stops: usize,
    least: Option<u128>,
    p99_max: Option<Duration>,
    after: After,
}

/// What follows a stop, once it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    /// Nothing.
    Nothing,
    /// The engine's chores: on PostgreSQL listeners are told, on SQLite the log is put back.
    Settle,
}

const COLUMNS: &str = "pool|stops|stops/s|p50 ms|p99 ms|max ms|conflicts|lost|twice|goal|";

/// Runs all pools and prints them.
pub(super) fn measure(stops: usize, cluster: &Cluster, gates: &mut Gates) -> Result<()> {
    let mut table = Table::headed("Stops per second of a process with a pool", COLUMNS);
    postgres(stops, cluster, &mut table, gates)?;
    sqlite(stops, &mut table, gates)?;
    table.note(
        "One thread a connection; a stop is load, decide, append, and again where somebody was \
         faster. Clients and server share this machine. By Unix socket, every commit synchronous. \
         A goal in brackets is not reached.",
    );
    table.print();
    Ok(())
}

fn postgres(stops: usize, cluster: &Cluster, table: &mut Table, gates: &mut Gates) -> Result<()> {
    for (connections, loops, after) in [
        (8, LOOPS, After::Nothing),
        (32, LOOPS, After::Nothing),
        (128, LOOPS, After::Nothing),
        (32, LOOPS, After::Settle),
        (8, 1, After::Nothing),
        (32, 1, After::Nothing),
        (128, 1, After::Nothing),
    ] {
        let address = cluster.socket_url(&place::database(cluster)?);
        let open = || -> Result<Box<dyn Journal>> { Ok(Box::new(place::open(&address)?)) };
        let (least, p99_max) = match (connections, loops, after) {
            (32, LOOPS, After::Nothing) => (Some(10_000), Some(Duration::from_millis(10))),
            (8, 1, After::Nothing) => (Some(2_000), None),
            _other => (None, None),
        };
        let told = if after == After::Settle { ", listeners told" } else { "" };
        let name = format!("PostgreSQL, {connections} connections, {}{told}", which(loops));
        let stops = if loops == 1 { stops / 4 } else { stops };
        let case = Case { name, open: &open, loops, connections, stops, least, p99_max, after };
        run(&case, table, gates)?;
    }
    Ok(())
}

fn sqlite(stops: usize, table: &mut Table, gates: &mut Gates) -> Result<()> {
    for loops in [LOOPS, 1] {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("journal.db");
        let open =
            || -> Result<Box<dyn Journal>> { Ok(Box::new(SqliteJournal::new(&path, PATIENCE))) };
        let name = format!("SQLite, 8 connections, {}", which(loops));
        let (connections, least, p99_max, after) = (8, None, None, After::Settle);
        let case = Case { name, open: &open, loops, connections, stops, least, p99_max, after };
        run(&case, table, gates)?;
    }
    Ok(())
}

const fn which(loops: u32) -> &'static str {
    if loops == 1 { "one loop" } else { "2,000 loops" }
}

fn run(case: &Case<'_>, table: &mut Table, gates: &mut Gates) -> Result<()> {
    let project = tempfile::tempdir()?;
    journal::tell((case.open)()?.as_mut(), project.path(), case.loops, 1)?;
    let begun = Instant::now();
    let (took, conflicts) = all(case)?;
    let lasted = begun.elapsed();
    let found = journal::follow((case.open)()?.as_mut())?;
    let count = |pick: fn(&Stored) -> u64| found.iter().map(pick).sum::<u64>();
    let iterations =
        count(|s| s.state.frames.first().map_or(0, |frame| u64::from(frame.iteration)));
    let events = count(|s| s.revision.0) - u64::from(case.loops);
    let answered = took.len() as u64;
    let lost = answered.saturating_sub(iterations);
    let twice = iterations.max(events).saturating_sub(answered);
    let sample = Sample::new(took);
    let a_second =
        Duration::from_secs(1).as_nanos() * u128::from(answered) / lasted.as_nanos().max(1);
    let complaint =
        (lost + twice > 0).then(|| format!("{}: {lost} lost, {twice} twice", case.name));
    let word = gates.ask(complaint);
    let [p50, p99, max] = [50, 99, 100].map(|percent| millis(sample.percentile(percent)));
    table.row([
        case.name.clone(),
        answered.to_string(),
        a_second.to_string(),
        p50,
        p99,
        max,
        conflicts.to_string(),
        lost.to_string(),
        twice.to_string(),
        goal(case, a_second, sample.percentile(99)),
        word,
    ]);
    Ok(())
}

fn goal(case: &Case<'_>, a_second: u128, p99: Duration) -> String {
    let Some(least) = case.least else { return String::new() };
    let late = case.p99_max.is_some_and(|max| p99 > max);
    let text = match case.p99_max {
        Some(max) => format!(">= {least}, p99 <= {}", max.as_millis()),
        None => format!(">= {least}"),
    };
    if a_second >= least && !late { text } else { format!("({text})") }
}

/// All stops of a case: how long each took, and how often somebody was faster.
fn all(case: &Case<'_>) -> Result<(Vec<Duration>, usize)> {
    let left = AtomicUsize::new(case.stops);
    let conflicts = AtomicUsize::new(0);
    let took = tools::abreast(case.connections, |own| worker(case, own as u64, &left, &conflicts))?;
    Ok((took.concat(), conflicts.into_inner()))
}

fn worker(
    case: &Case<'_>,
    own: u64,
    left: &AtomicUsize,
    conflicts: &AtomicUsize,
) -> Result<Vec<Duration>> {
    let mut journal = (case.open)()?;
    let mut chance = Chance::new(own);
    let mut took = Vec::new();
    let one_less = |left: usize| left.checked_sub(1);
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok() {
        let number = u32::try_from(chance.below(u64::from(case.loops))).unwrap_or(0);
        let session = SessionId::new(&journal::session(number)).context("name a session")?;
        let begun = Instant::now();
        let tries = stop(journal.as_mut(), &session)?;
        took.push(begun.elapsed());
        conflicts.fetch_add(tries - 1, Ordering::Relaxed);
        if case.after == After::Settle {
            journal.settle();
        }
    }
    Ok(took)
}

/// One stop, as the engine does it; how many tries it took.
fn stop(journal: &mut dyn Journal, session: &SessionId) -> Result<usize> {
    for tries in 1..=TRIES_MAX {
        journal.begin()?;
        let stored = journal.load_held(session)?.context("find a loop")?;
        let decision = decide(&stored.state, &Seen::default(), NOW);
        let mut state = stored.state;
        let mut recorded = Vec::new();
        for event in decision.events {
            state = apply(Some(state), &event, NOW).context("follow a loop")?;
            recorded.push(Recorded { event, at: NOW });
        }
        let appended = journal.append(stored.revision, &recorded, &state)?;
        journal.end();
        match appended {
            Appended::Stored(_) => return Ok(tries),
            Appended::Conflict => {}
            Appended::SessionTaken => bail!("hold a session"),
        }
    }
    bail!("store a stop: another process was always faster")
}
