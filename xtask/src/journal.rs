//! Journals made large, and journals looked at from outside.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use stopgate_core::{
    Event, Frame, LoopId, Mode, Policy, Seen, SessionId, Started, State, Timestamp, apply, decide,
    fold,
};
use stopgate_store::{
    Appended, Delivered, Filter, Journal, Recorded, Revision, SqliteJournal, Stored,
};

const PATIENCE: Duration = Duration::from_secs(30);
/// 2026-01-01.
const BEGAN: Timestamp = Timestamp::from_unix_millis(1_767_225_600_000);
const MINUTE_MS: i64 = 60_000;
/// Loops that are stored in one transaction when a journal is filled.
const LOOPS_A_TURN: usize = 500;

/// The write-ahead log's length.
pub(crate) fn wal_bytes(home: &Path) -> u64 {
    fs::metadata(home.join("journal.db-wal")).map_or(0, |found| found.len())
}

/// Fills the journal in `home` with running loops of `events` events each.
pub(crate) fn fill(home: &Path, project: &Path, loops: u32, events: u32) -> Result<()> {
    let held = home.join("journal.signs/held");
    fs::create_dir_all(&held)?;
    let mut journal = SqliteJournal::new(&home.join("journal.db"), PATIENCE);
    tell(&mut journal, project, loops, events)?;
    for number in 0..loops {
        fs::write(held.join(session(number)), b"")?;
    }
    Ok(())
}

/// Tells a journal of running loops of `events` events each.
pub(crate) fn tell(
    journal: &mut dyn Journal,
    project: &Path,
    loops: u32,
    events: u32,
) -> Result<()> {
    let first = Story::new(project, events)?;
    let mut numbers = (0..loops).peekable();
    while numbers.peek().is_some() {
        journal.gather()?;
        for number in numbers.by_ref().take(LOOPS_A_TURN) {
            let Story { recorded, state } = first.of(number);
            match journal.append(Revision::NONE, &recorded, &state)? {
                Appended::Stored(_) => {}
                refused => bail!("fill the journal: {refused:?}"),
            }
        }
        match journal.deliver()? {
            Delivered::Stored => {}
            refused => bail!("fill the journal: {refused:?}"),
        }
    }
    Ok(())
}

/// The session that a told loop holds.
pub(crate) fn session(number: u32) -> String {
    format!("other-{number}")
}

/// A loop that was begun and sent back again and again, as the core decides it.
struct Story {
    recorded: Vec<Recorded>,
    state: State,
}

impl Story {
    fn new(project: &Path, events: u32) -> Result<Self> {
        let goal = "bring every test of the parser to the new helper".to_string();
        let policy = Policy { max_idle: 0, max_minutes: 0, ..Policy::default() };
        let frame = Frame { mode: Mode::Loop, iteration: 0, max: 1_000_000, prompt: goal.clone() };
        let project = project.display().to_string();
        let started = Event::Started(Box::new(Started {
            session: SessionId::new(&session(0)),
            policy,
            ..Started::new(LoopId::new(&name(0)), goal, project, frame)
        }));
        let mut state = apply(None, &started, BEGAN).context("begin a loop")?;
        let mut recorded = vec![Recorded { event: started, at: BEGAN }];
        for minute in 1..i64::from(events) {
            let at = BEGAN.plus(minute * MINUTE_MS);
            let decision = decide(&state, &Seen::default(), at);
            for event in decision.events {
                state = apply(Some(state), &event, at).context("follow a loop")?;
                recorded.push(Recorded { event, at });
            }
        }
        Ok(Self { recorded, state })
    }

    /// The same of another loop: only its name and its session differ.
    fn of(&self, number: u32) -> Self {
        let Self { mut recorded, mut state } =
            Self { recorded: self.recorded.clone(), state: self.state.clone() };
        state.id = LoopId::new(&name(number));
        state.session = SessionId::new(&session(number));
        if let Some(Event::Started(started)) = recorded.first_mut().map(|first| &mut first.event) {
            started.id = state.id.clone();
            started.session.clone_from(&state.session);
        }
        Self { recorded, state }
    }
}

fn name(number: u32) -> String {
    format!("filler{number:06}")
}

/// Puts the write-ahead log back into the database, and leaves it there, empty.
pub(crate) fn truncate_wal(home: &Path) -> Result<()> {
    let connection = Connection::open(home.join("journal.db"))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

/// How many events and loops the journal in `home` holds.
pub(crate) fn counts(home: &Path) -> Result<(u64, u64)> {
    let connection = Connection::open(home.join("journal.db"))?;
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let events = count("SELECT count(*) FROM event")?;
    let loops = count("SELECT count(*) FROM loop")?;
    Ok((events.unsigned_abs(), loops.unsigned_abs()))
}

/// Every loop of the journal in `home`, once the whole of it is proven sound.
///
/// Sound: SQLite finds nothing wrong, every loop's revision is the number of its
/// events, and its state is what these events make.
pub(crate) fn inspect(home: &Path) -> Result<Vec<Stored>> {
    let path = home.join("journal.db");
    if !path.exists() {
        return Ok(Vec::new());
    }
    integrity(&path)?;
    follow(&mut SqliteJournal::new(&path, PATIENCE))
}

/// Every loop of `journal`, each proven to be what its events make.
pub(crate) fn follow(journal: &mut dyn Journal) -> Result<Vec<Stored>> {
    let found = journal.list(&Filter::default())?;
    for stored in &found {
        let entries = journal.history(&stored.state.id)?;
        if stored.revision != Revision(entries.len() as u64) {
            bail!("match {:?} with {} events", stored.revision, entries.len());
        }
        let in_order = entries.iter().zip(1..).all(|(entry, at)| entry.revision == Revision(at));
        let folded = fold(entries.iter().map(|e| (&e.recorded.event, e.recorded.at)));
        if !in_order || folded.as_ref() != Some(&stored.state) {
            bail!("fold the events of loop {} into its state", stored.state.id);
        }
    }
    Ok(found)
}

fn integrity(path: &Path) -> Result<()> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    let said: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    if said != "ok" {
        bail!("trust the database: {said}");
    }
    Ok(())
}

/// Continuations of the loop that holds or held `session`.
pub(crate) fn iteration(found: &[Stored], session: &str) -> Option<u32> {
    let held = |stored: &&Stored| {
        stored.state.session.as_ref().is_some_and(|holder| holder.as_str() == session)
    };
    found.iter().find(held)?.state.frames.first().map(|frame| frame.iteration)
}

#[cfg(test)]
mod tests;
