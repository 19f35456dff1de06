//! `done`, `blocked`, `impossible`, `ask`: how an agent leaves honestly.

use stopgate_engine::{AgentExit, ClaimLeadsTo};

use super::common::{self, OnLoop};
use crate::output::CommandResult;

/// Ask for verification: the checks of the next stop decide
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

/// Ask the person a question; the agent may stop until they answer
#[derive(Debug, clap::Args)]
pub(crate) struct AskArgs {
    /// The question
    question: String,
    #[command(flatten)]
    on: OnLoop,
}

/// Asks for verification.
pub(crate) fn done(args: &DoneArgs) -> CommandResult {
    let mut engine = common::engine()?;
    let stored = engine.loops().claim(&args.on.target()?)?;
    let word = match engine.loops().claim_leads_to(&stored.state) {
        ClaimLeadsTo::OuterFrame => {
            "Noted: at your next stop this frame is closed and the outer one goes on.".into()
        }
        ClaimLeadsTo::Attested => "Noted: your next stop ends the loop as attested.".into(),
        ClaimLeadsTo::Approval => {
            "Noted: at your next stop the loop waits for a person's approval.".into()
        }
        ClaimLeadsTo::Checks(1) => {
            "Noted: at your next stop the check runs, and it decides.".into()
        }
        ClaimLeadsTo::Checks(many) => {
            format!("Noted: at your next stop {many} checks run, and they decide.")
        }
    };
    Ok(args.on.show(&mut engine, &stored, |_| word.clone()))
}

/// Ends the loop as blocked.
pub(crate) fn blocked(args: &BlockedArgs) -> CommandResult {
    leave(&args.on, AgentExit::Blocked, &args.why)
}

/// Ends the loop as impossible.
pub(crate) fn impossible(args: &ImpossibleArgs) -> CommandResult {
    leave(&args.on, AgentExit::Impossible, &args.why)
}

/// Parks the loop until a person answers.
pub(crate) fn ask(args: &AskArgs) -> CommandResult {
    let mut engine = common::engine()?;
    let stored = engine.loops().ask(&args.on.target()?, &args.question)?;
    Ok(args.on.show(&mut engine, &stored, |_| {
        "Noted: put the question to the person and stop; the loop goes on when they answer.".into()
    }))
}

fn leave(on: &OnLoop, exit: AgentExit, why: &str) -> CommandResult {
    let mut engine = common::engine()?;
    let stored = engine.loops().leave(&on.target()?, exit, why)?;
    Ok(on.show(&mut engine, &stored, |view| {
        format!(
            "Loop {} ended as {}: you may stop.",
            view.id,
            view.outcome.map_or("over", stopgate_core::Outcome::word)
        )
    }))
}
