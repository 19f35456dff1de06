//! `hold`, `pause`, `resume`: a person's controls.

use stopgate_core::Rest;

use super::common::{self, OnLoop};
use super::dialects::{self, DialectWord};
use crate::output::Outcome;

/// Let the agent stop until you speak to it again
#[derive(Debug, clap::Args)]
pub(crate) struct HoldArgs {
    #[command(flatten)]
    on: OnLoop,
}

/// Let the agent stop until you resume the loop
#[derive(Debug, clap::Args)]
pub(crate) struct PauseArgs {
    /// The loop is kept in somebody else's files
    #[arg(long, value_enum, value_name = "D", conflicts_with_all = ["name", "session"])]
    dialect: Option<DialectWord>,
    #[command(flatten)]
    on: OnLoop,
}

/// Let a loop go on: one that rests, or one that ended for a mendable reason
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// How often the agent may be sent back in all
    #[arg(long, value_name = "N")]
    max_iterations: Option<u32>,
    /// The loop is kept in somebody else's files
    #[arg(long, value_enum, value_name = "D", conflicts_with_all = ["name", "session"])]
    dialect: Option<DialectWord>,
    #[command(flatten)]
    on: OnLoop,
}

/// Holds a loop.
pub(crate) fn hold(args: &HoldArgs) -> Outcome {
    rest(&args.on, Rest::NextPrompt, "on hold until you speak to the agent again")
}

/// Pauses a loop.
pub(crate) fn pause(args: &PauseArgs) -> Outcome {
    if let Some(dialect) = args.dialect {
        return dialects::pause(dialect.into(), args.on.json.into());
    }
    rest(&args.on, Rest::Resume, "paused; let it go on with: stopgate resume")
}

/// Resumes a loop.
pub(crate) fn resume(args: &ResumeArgs) -> Outcome {
    if let Some(dialect) = args.dialect {
        return dialects::resume(dialect.into(), args.max_iterations, args.on.json.into());
    }
    let mut engine = common::engine()?;
    let stored = engine.resume(&args.on.target()?, args.max_iterations)?;
    Ok(args.on.show(&engine, &stored, |view| {
        format!(
            "Loop {} goes on: {} of {} continuations used.",
            view.id, view.iteration, view.max_iterations
        )
    }))
}

fn rest(on: &OnLoop, rest: Rest, what: &str) -> Outcome {
    let mut engine = common::engine()?;
    let stored = engine.pause(&on.target()?, rest)?;
    Ok(on.show(&engine, &stored, |view| format!("Loop {} is {what}.", view.id)))
}
