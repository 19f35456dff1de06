//! `store compact`: loops that are over for long go to an archive.

use std::path::PathBuf;
use std::process::ExitCode;

use super::count;
use crate::commands::{common, start::time_ms};
use crate::output::{self, Audience, CommandResult};

/// Move loops that ended long ago to an archive, never one that runs
///
/// A loop leaves the journal only after the archive is safely on the disk. An archive is an
/// export: stopgate store import brings its loops back.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How long ago they must have ended, such as 12h or 30d
    #[arg(long, value_name = "TIME", default_value = "30d", value_parser = time_ms)]
    older_than: i64,
    /// The archive, appended to if it exists; without it, today's in `STOPGATE_HOME/archive`
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,
}

/// Archives.
pub(super) fn run(args: &Args, to: Audience) -> CommandResult {
    let mut engine = common::engine()?;
    let view = match &args.archive {
        Some(path) => engine.upkeep().compact_store_to(args.older_than, path)?,
        None => engine.upkeep().compact_store(args.older_than)?,
    };
    match (to, &view.archive) {
        (Audience::Programs, _) => output::json(&view),
        (Audience::People, Some(archive)) => {
            let (loops, events) = (count(view.removed, "loop"), count(view.events, "event"));
            output::line(&format!("{loops}, {events} moved to {archive}"));
        }
        (Audience::People, None) => {
            output::line(&format!("No loop ended before {}: nothing to do.", view.ended_before));
        }
    }
    Ok(ExitCode::SUCCESS)
}
