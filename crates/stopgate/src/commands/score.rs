//! `score`: how clear a request is.

use std::process::ExitCode;

use serde::Serialize;
use stopgate_dialects::task::{Rubric, Shape};

use crate::output::{self, BOLD, CommandResult, styled};

/// Score a request: how independently can an agent work on it?
///
/// Five questions, 0 to 2 points each.
///
/// 8 points and more make a tool: the agent works alone. 5 to 7 make a colleague: it asks on
/// the way. With fewer the request must be made clearer first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Is the expected result clear?
    #[arg(value_parser = clap::value_parser!(u8).range(0..=2))]
    outcome: u8,
    /// Is the scope clear?
    #[arg(value_parser = clap::value_parser!(u8).range(0..=2))]
    scope: u8,
    /// Are the constraints clear?
    #[arg(value_parser = clap::value_parser!(u8).range(0..=2))]
    constraints: u8,
    /// Is it clear how success is measured?
    #[arg(value_parser = clap::value_parser!(u8).range(0..=2))]
    success: u8,
    /// Is it clear when it is done?
    #[arg(value_parser = clap::value_parser!(u8).range(0..=2))]
    done: u8,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ScoreView {
    score: u8,
    shape: &'static str,
}

/// Adds the points up.
#[expect(clippy::unnecessary_wraps, reason = "every command has the same shape")]
pub(crate) fn run(args: &Args) -> CommandResult {
    let rubric = Rubric {
        outcome: args.outcome,
        scope: args.scope,
        constraints: args.constraints,
        success: args.success,
        done: args.done,
    };
    let (score, shape) = (rubric.score(), rubric.shape());
    if args.json {
        output::json(&ScoreView { score, shape: shape.word() });
        return Ok(ExitCode::SUCCESS);
    }
    let advice = match shape {
        Shape::Tool => "let the agent work alone",
        Shape::Colleague => "let the agent ask along the way",
        Shape::Clarify => "make the request clearer first",
    };
    output::line(&format!("{score} of 10: {}; {advice}", styled(BOLD, shape.word())));
    Ok(ExitCode::SUCCESS)
}
