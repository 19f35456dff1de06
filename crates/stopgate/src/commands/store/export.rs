//! `store export`: the journal as lines that any store imports.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use stopgate_engine::ExportView;

use super::{Form, count};
use crate::commands::common;
use crate::output::{self, CommandResult};

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
pub(super) fn run(args: &Args, form: Form) -> CommandResult {
    let mut engine = common::engine()?;
    if let Some(path) = &args.out {
        let view = engine.upkeep().export_store_to(path)?;
        output::line(&said(&view, form));
    } else {
        let view = engine.upkeep().export_store(&mut std::io::stdout().lock())?;
        let _ = writeln!(std::io::stderr(), "{}", said(&view, form));
    }
    Ok(ExitCode::SUCCESS)
}

fn said(view: &ExportView, form: Form) -> String {
    match form {
        Form::Json => serde_json::to_string(view).unwrap_or_default(),
        Form::Text => {
            let (loops, events) = (count(view.loops, "loop"), count(view.events, "event"));
            format!("{loops}, {events}, blake3 {}", view.blake3)
        }
    }
}
