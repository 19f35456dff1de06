//! `lint`: how clear a goal is, before an agent works on it.

use std::process::ExitCode;

use serde::Serialize;
use stopgate_engine::{FoundCheck, GoalReview, discover, project_of, review_goal};

use super::check_flags::named_command;
use super::common;
use crate::output::{self, BAD, BOLD, CommandResult, DIM, GOOD, WAITS, styled};

/// Score a goal, name what is weak about it, and propose checks that this project has
///
/// Exits with 1 where the goal should be made clearer before a loop begins.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What must be true at the end
    goal: String,
    /// A command that would prove it (repeatable)
    #[arg(long, value_name = "NAME=COMMAND", value_parser = named_command)]
    check: Vec<(String, String)>,
    /// Something that the agent would attest (repeatable)
    #[arg(long, value_name = "NAME")]
    criterion: Vec<String>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct LintView<'a> {
    #[serde(flatten)]
    review: &'a GoalReview,
    proposed: &'a [FoundCheck],
}

/// Reviews a goal.
pub(crate) fn run(args: &Args) -> CommandResult {
    let project = project_of(&common::directory()?);
    let mut engine = common::engine()?;
    let known = engine.trust().rules(&project)?.criteria;
    let checked = |judge| known.iter().filter(|criterion| criterion.judge == judge).count();
    let checks = args.check.len() + checked(stopgate_core::CriterionJudge::Check);
    let attested = args.criterion.len() + checked(stopgate_core::CriterionJudge::Agent);
    let review = review_goal(&args.goal, checks, attested);
    let proposed = if checks == 0 { discover(&project) } else { Vec::new() };
    if args.json {
        let view = LintView { review: &review, proposed: &proposed };
        output::json(&view);
    } else {
        show(&review, &proposed);
    }
    Ok(ExitCode::from(u8::from(review.needs_clarity())))
}

fn show(review: &GoalReview, proposed: &[FoundCheck]) {
    let (style, advice) = match review.score {
        8.. => (GOOD, "let the agent work alone"),
        5..8 => (WAITS, "the agent should ask along the way"),
        _low => (BAD, "make it clearer first"),
    };
    let head = format!("{} of 10 ({}): {advice}", review.score, review.shape);
    output::line(&styled(style.bold(), &head));
    for finding in &review.findings {
        output::line(&format!("  {} {finding}", styled(WAITS, "!")));
    }
    if !proposed.is_empty() {
        output::line("\nChecks that this project has:");
        for check in proposed {
            output::line(&format!(
                "  --check {}  {}",
                styled(BOLD, &format!("\"{}={}\"", check.name, check.command())),
                styled(DIM, &format!("({})", check.from))
            ));
        }
    }
}
