//! `store copy`: from one store to another.

use std::process::ExitCode;

use stopgate_engine::{CopyView, Existing};

use super::count;
use crate::commands::common;
use crate::output::{self, Audience, CommandResult, GOOD, WAITS, styled};

/// Copy the journal to another store, and compare the two: all loops or none
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The other store: `sqlite:PATH` or `postgres://USER@HOST/DATABASE`
    #[arg(long, value_name = "ADDRESS")]
    to: String,
    /// Skip loops that exist there already
    #[arg(long)]
    skip_existing: bool,
}

/// Copies.
pub(super) fn run(args: &Args, to: Audience) -> CommandResult {
    let existing = if args.skip_existing { Existing::Skip } else { Existing::Refuse };
    let view = common::engine()?.upkeep().copy_store(&args.to, existing)?;
    output::answer(to, &view, show);
    Ok(ExitCode::SUCCESS)
}

fn show(view: &CopyView) {
    let (loops, events) =
        (count(view.imported.loops, "loop"), count(view.imported.events, "event"));
    output::line(&format!("{loops}, {events} copied"));
    output::line(&format!("  {}  blake3 {}", view.from, view.from_blake3));
    output::line(&format!("  {}  blake3 {}", view.to, view.to_blake3));
    output::line(&if view.same {
        styled(GOOD, "The two are the same.")
    } else {
        styled(WAITS, "The two differ: one has events that the other lacks.")
    });
}
