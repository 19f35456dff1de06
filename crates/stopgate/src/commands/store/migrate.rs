//! `store migrate`: the journal in the form that this program writes.

use std::process::ExitCode;

use crate::commands::common;
use crate::output::{self, Audience, CommandResult};

/// Create the journal, or migrate it to the format that this program writes
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

/// Migrates, and says from where to where.
pub(super) fn run(to: Audience) -> CommandResult {
    let view = common::engine()?.upkeep().migrate_store()?;
    match to {
        Audience::Programs => output::json(&view),
        Audience::People => output::line(&match (view.from, view.to) {
            (0, to) => format!("{}: set up, format {to}", view.address),
            (from, to) if from == to => format!("{}: format {to}, nothing to do", view.address),
            (from, to) => format!("{}: from format {from} to {to}", view.address),
        }),
    }
    Ok(ExitCode::SUCCESS)
}
