//! `log`: the journal as lines.

use std::process::ExitCode;
use std::time::Duration;

use stopgate_engine::{CheckingView, Engine, EntryView, Failure, LoopTarget};

use super::common::{self, OnLoop};
use super::status::checking_line;
use crate::output::{self, BOLD, CommandResult, DIM, Zone, styled};

const KIND_COLUMNS: usize = 13;
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// Show the journal: of one loop, or of all
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Every loop
    #[arg(long, conflicts_with_all = ["name", "session"])]
    all: bool,
    /// Follow the journal until the loop ends
    #[arg(short, long)]
    follow: bool,
    /// Show times in UTC instead of the local time zone
    #[arg(long)]
    utc: bool,
    #[command(flatten)]
    on: OnLoop,
}

/// Shows the journal.
pub(crate) fn run(args: &Args) -> CommandResult {
    let mut engine = common::engine()?;
    let mut cursor = 0;
    let mut shown = Vec::new();
    if args.all {
        cursor = drain(&mut engine, cursor, None, args)?;
    } else {
        for stored in engine.loops().resolve_all(&args.on.target()?)? {
            shown.push(stored.state.id.as_str().to_string());
        }
        let mut entries = Vec::new();
        for name in &shown {
            entries.extend(engine.records().history(&LoopTarget::Named(name.clone()))?);
        }
        entries.sort_by_key(|entry| entry.cursor);
        for entry in &entries {
            show(entry, args);
            cursor = entry.cursor;
        }
    }
    if args.follow {
        let only = (!args.all).then_some(shown.as_slice());
        follow(&mut engine, cursor, only, args)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows what happens, until every loop that is meant is over or nobody reads any more.
fn follow(
    engine: &mut Engine,
    mut cursor: u64,
    only: Option<&[String]>,
    args: &Args,
) -> Result<(), Failure> {
    let mut told = String::new();
    while !output::is_unread() {
        cursor = drain(engine, cursor, only, args)?;
        let mut running = only.is_none();
        for name in only.unwrap_or_default() {
            let stored = engine.loops().resolve(&LoopTarget::Named(name.clone()))?;
            running |= stored.state.outcome().is_none();
            let checking = engine.views().view(&stored).checking;
            checks(checking.as_ref(), &mut told, args);
        }
        if !running {
            return Ok(());
        }
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

/// Says once that checks run, and which.
fn checks(checking: Option<&CheckingView>, told: &mut String, args: &Args) {
    let names = checking.map(|checking| checking.checks.join(", ")).unwrap_or_default();
    if *told == names {
        return;
    }
    if let Some(checking) = checking.filter(|_| !args.on.json) {
        output::line(&styled(DIM, &format!("… {}", checking_line(checking))));
    }
    *told = names;
}

/// Shows all that came after `cursor`; says where it ended.
fn drain(
    engine: &mut Engine,
    mut cursor: u64,
    only: Option<&[String]>,
    args: &Args,
) -> Result<u64, Failure> {
    loop {
        let page = engine.records().tail(cursor)?;
        let Some(last) = page.last() else { return Ok(cursor) };
        cursor = last.cursor;
        page.iter()
            .filter(|entry| only.is_none_or(|names| names.contains(&entry.id)))
            .for_each(|e| show(e, args));
    }
}

fn show(entry: &EntryView, args: &Args) {
    if args.on.json {
        output::json(entry);
        return;
    }
    let at = Zone::from(args.utc).full(entry.happened_at);
    let lead = at.len() + entry.id.len() + KIND_COLUMNS + 6;
    let text = format!(
        "{}  {}  {}  {}",
        styled(DIM, &at),
        styled(BOLD, &entry.id),
        styled(BOLD, &format!("{:<KIND_COLUMNS$}", entry.kind)),
        entry.what
    );
    output::hanging(&text, lead);
}
