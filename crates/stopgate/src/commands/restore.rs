//! `restore`: a snapshot of a driven loop, in a work tree of its own.

use std::path::PathBuf;
use std::process::ExitCode;

use clap_complete::engine::ArgValueCandidates;

use super::common;
use super::completions::loops;
use crate::output::{self, CommandResult};

/// Put a snapshot of a driven loop into a new work tree
///
/// Without a number, list the snapshots that are kept.
///
/// The tree is kept at each hand-over, as the git reference refs/stopgate/LOOP/N: twenty of them.
/// Neither your branch nor your index is touched.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The loop's id or the beginning of it
    #[arg(value_name = "LOOP", add = ArgValueCandidates::new(loops))]
    name: String,
    /// The snapshot's number
    #[arg(value_name = "N")]
    number: Option<u32>,
    /// The new directory [default: beside the project]
    #[arg(long, value_name = "DIR", requires = "number")]
    to: Option<PathBuf>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Restores, or lists.
pub(crate) fn run(args: &Args) -> CommandResult {
    let mut engine = common::engine()?;
    let (target, here) = (common::target(Some(&args.name), None)?, common::directory()?);
    let Some(number) = args.number else {
        let view = engine.snapshots().snapshots(&target, &here)?;
        if args.json {
            output::json(&view);
            return Ok(ExitCode::SUCCESS);
        }
        for one in &view.snapshots {
            output::line(&format!("{:>4}  {}", one.number, one.commit));
        }
        if view.snapshots.is_empty() {
            output::line(&format!("No snapshot of loop {} is kept.", view.id));
        }
        return Ok(ExitCode::SUCCESS);
    };
    let view = engine.snapshots().restore(&target, number, args.to.as_deref(), &here)?;
    output::answer(args.json, &view, |view| {
        output::line(&format!("Snapshot {} of loop {} is in {}", view.number, view.id, view.path));
    });
    Ok(ExitCode::SUCCESS)
}
