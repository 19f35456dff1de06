//! `approve`: a person's word.

use std::process::ExitCode;

use clap_complete::engine::ArgValueCandidates;
use serde::Serialize;
use stopgate_engine::{Approval, ApprovalAsked, LoopView};

use super::agent_files::unified_diff;
use super::common::{self, Default, OnLoop};
use super::completions::checks;
use crate::output::{self, BOLD, CommandResult, GOOD, styled};

/// Attest a criterion, or accept changed judges, as a person
///
/// Shows which tests of the start fail and how the judges changed, and asks. Then the checks run
/// once more, and the loop ends if nothing else stands in the way. What changes after it was
/// shown is not accepted: it is shown again.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Accept the judges as they are now for the rest of the loop, and let it continue
    #[arg(long, conflicts_with_all = ["criterion", "yes"])]
    change: bool,
    /// The criterion; without it, all that wait for a person
    #[arg(long, value_name = "NAME", add = ArgValueCandidates::new(checks))]
    criterion: Option<String>,
    /// Don't ask
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    on: OnLoop,
}

#[derive(Serialize)]
struct ApprovalView {
    accepted: Vec<String>,
    left: Option<String>,
    #[serde(rename = "loop")]
    found: LoopView,
}

/// Takes a person's word.
pub(crate) fn run(args: &Args) -> CommandResult {
    let mut engine = common::engine()?;
    let target = args.on.target()?;
    let approval = if args.change {
        engine.approvals().approve_change(&target)?
    } else {
        let asked = engine.approvals().approval_asked(&target, args.criterion.as_deref())?;
        if !args.on.json {
            show(&asked);
        }
        if !confirmed(args, &asked) {
            output::line("Nothing was approved.");
            return Ok(ExitCode::FAILURE);
        }
        engine.approvals().approve(&target, &asked)?
    };
    let Approval { stored, accepted, left } = approval;
    let view = engine.views().view(&stored);
    if args.on.json {
        output::json(&ApprovalView { accepted, left, found: view });
        return Ok(ExitCode::SUCCESS);
    }
    for what in &accepted {
        output::line(&format!("{} {what}", styled(GOOD, "accepted:")));
    }
    match (left, view.outcome) {
        (Some(left), _) => output::line(&left),
        (None, Some(outcome)) => output::line(&format!("Loop {} ended as {outcome}.", view.id)),
        (None, None) => output::line(&format!("Loop {} goes on.", view.id)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows what is asked about: failing tests first, then how the judges changed.
fn show(asked: &ApprovalAsked) {
    for criterion in &asked.criteria {
        output::line(&format!("{} waits for a person's word", styled(BOLD, criterion)));
    }
    for reason in &asked.reasons {
        output::line(reason);
    }
    if !asked.failing.is_empty() {
        output::line(&styled(BOLD, "Tests of the start that fail now:"));
        for test in &asked.failing {
            output::line(&format!("  {test}"));
        }
    }
    if !asked.changed.texts.is_empty() {
        output::line(&styled(BOLD, "Changed since the start:"));
        for text in &asked.changed.texts {
            output::line(&format!("  {text}"));
        }
    }
    for file in &asked.changed.files {
        let name = file.path.display().to_string();
        let original = file.original.as_deref().unwrap_or_default();
        let today = file.today.as_deref().unwrap_or_default();
        output::line(&unified_diff(&name, original, today));
    }
}

/// Whether the person means it; where nobody can be asked, calling the command says so.
fn confirmed(args: &Args, asked: &ApprovalAsked) -> bool {
    if args.yes || args.on.json || asked.digest.is_none() {
        return true;
    }
    if !common::has_person() {
        return !common::declines();
    }
    let question = "Accept the changed judges and end the loop if its checks pass? [y/N] ";
    common::agrees(question, Default::No)
}
