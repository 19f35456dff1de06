//! `done`, `blocked`, `impossible`, `ask`: how an agent leaves honestly.

use stopgate_engine::Exit;

use super::common::{self, OnLoop};
use crate::output::Outcome;

/// Ask for verification: the checks run at the next stop, and they decide
#[derive(Debug, clap::Args)]
pub(crate) struct DoneArgs {
    #[command(flatten)]
    on: OnLoop,
}

/// End the loop: something outside the agent's reach is in the way
#[derive(Debug, clap::Args)]
pub(crate) struct BlockedArgs {
    /// What is in the way
    why: String,
    #[command(flatten)]
    on: OnLoop,
}

/// End the loop: the goal can't be reached
#[derive(Debug, clap::Args)]
pub(crate) struct ImpossibleArgs {
    /// Why not
    why: String,
    #[command(flatten)]
    on: OnLoop,
}

/// Ask the person something: stops are let pass until there is an answer
#[derive(Debug, clap::Args)]
pub(crate) struct AskArgs {
    /// The question
    question: String,
    #[command(flatten)]
    on: OnLoop,
}

/// Asks for verification.
pub(crate) fn done(args: &DoneArgs) -> Outcome {
    let mut engine = common::engine()?;
    let stored = engine.claim(&args.on.target()?)?;
    Ok(args.on.show(&engine, &stored, |view| {
        let checks = view.criteria.iter().filter(|criterion| criterion.kind == "run").count();
        match (view.frames.len(), checks) {
            (2.., _) => {
                "Noted: at your next stop this frame is closed and the outer one goes on.".into()
            }
            (_, 0) => "Noted: your next stop ends the loop as attested.".into(),
            (_, 1) => "Noted: at your next stop the check runs, and it decides.".into(),
            (_, many) => format!("Noted: at your next stop {many} checks run, and they decide."),
        }
    }))
}

/// Ends the loop as blocked.
pub(crate) fn blocked(args: &BlockedArgs) -> Outcome {
    leave(&args.on, Exit::Blocked, &args.why)
}

/// Ends the loop as impossible.
pub(crate) fn impossible(args: &ImpossibleArgs) -> Outcome {
    leave(&args.on, Exit::Impossible, &args.why)
}

/// Parks the loop until a person answers.
pub(crate) fn ask(args: &AskArgs) -> Outcome {
    let mut engine = common::engine()?;
    let stored = engine.ask(&args.on.target()?, &args.question)?;
    Ok(args.on.show(&engine, &stored, |_| {
        "Noted: put the question to the person and stop; the loop goes on when they answer.".into()
    }))
}

fn leave(on: &OnLoop, exit: Exit, why: &str) -> Outcome {
    let mut engine = common::engine()?;
    let stored = engine.leave(&on.target()?, exit, why)?;
    Ok(on.show(&engine, &stored, |view| {
        format!("Loop {} ended as {}: you may stop.", view.id, view.outcome.unwrap_or_default())
    }))
}
