//! `store export`: the journal as lines that any store imports.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use stopgate_engine::ExportView;

use super::count;
use crate::commands::common;
use crate::output::{self, Audience, CommandResult};

/// Write the whole journal as JSON Lines, the same bytes whichever store it is in
///
/// Without --out the lines go to standard output, and their count and hash to standard error.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file; it appears only when all of it is written
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Exports.
pub(super) fn run(args: &Args, to: Audience) -> CommandResult {
    let mut engine = common::engine()?;
    if let Some(path) = &args.out {
        let view = engine.upkeep().export_store_to(path)?;
        output::line(&said(&view, to));
    } else {
        let view = engine.upkeep().export_store(&mut std::io::stdout().lock())?;
        let _ = writeln!(std::io::stderr(), "{}", said(&view, to));
    }
    Ok(ExitCode::SUCCESS)
}

fn said(view: &ExportView, to: Audience) -> String {
    match to {
        Audience::Programs => output::versioned(view),
        Audience::People => {
            let (loops, events) =
                (count(view.exported.loops, "loop"), count(view.exported.events, "event"));
            format!("{loops}, {events}, blake3 {}", view.exported.hash)
        }
    }
}
