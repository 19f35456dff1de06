//! `log`: the journal as lines.

use std::process::ExitCode;
use std::time::Duration;

use stopgate_engine::{Engine, EntryView, Failure};

use super::common::{self, OnLoop};
use crate::output::{self, BOLD, DIM, Outcome, styled};

const LOOK_EVERY: Duration = Duration::from_millis(300);

/// Show the journal: of one loop, or of all
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Every loop
    #[arg(long, conflicts_with_all = ["name", "session"])]
    all: bool,
    /// Stay and show what happens
    #[arg(short, long)]
    follow: bool,
    #[command(flatten)]
    on: OnLoop,
}

/// Shows the journal.
pub(crate) fn run(args: &Args) -> Outcome {
    let mut engine = common::engine()?;
    let mut cursor = 0;
    let mut only = None;
    if args.all {
        cursor = drain(&mut engine, cursor, None, args)?;
    } else {
        let target = args.on.target()?;
        let id = engine.resolve(&target)?.state.id;
        for entry in engine.history(&target)? {
            show(&entry, args);
            cursor = entry.cursor;
        }
        only = Some(id.as_str().to_string());
    }
    if !args.follow {
        return Ok(ExitCode::SUCCESS);
    }
    while !output::is_unread() {
        std::thread::sleep(LOOK_EVERY);
        cursor = drain(&mut engine, cursor, only.as_deref(), args)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows all that came after `cursor`; says where it ended.
fn drain(
    engine: &mut Engine,
    mut cursor: u64,
    only: Option<&str>,
    args: &Args,
) -> Result<u64, Failure> {
    loop {
        let page = engine.tail(cursor)?;
        let Some(last) = page.last() else { return Ok(cursor) };
        cursor = last.cursor;
        page.iter()
            .filter(|entry| only.is_none_or(|id| entry.id == id))
            .for_each(|e| show(e, args));
    }
}

fn show(entry: &EntryView, args: &Args) {
    if args.on.json {
        output::json(entry);
        return;
    }
    output::line(&format!(
        "{}  {}  {}  {}",
        styled(DIM, &entry.at),
        styled(BOLD, &entry.id),
        styled(BOLD, &format!("{:<13}", entry.kind)),
        entry.what
    ));
}
