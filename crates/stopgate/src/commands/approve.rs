//! `approve`: a person's word.

use std::process::ExitCode;

use serde::Serialize;
use stopgate_engine::{Approval, LoopView, SCHEMA_VERSION};

use super::common::{self, OnLoop};
use crate::output::{self, GOOD, Outcome, styled};

/// Attest a criterion that waits for a person, or accept a changed protected file
///
/// Where a person's word was all that was missing, the checks run once more and the loop ends
/// as attested.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Accept what was changed of that which the checks are judged by
    #[arg(long, conflicts_with = "criterion")]
    change: bool,
    /// The criterion; without it all that wait for a person
    #[arg(long, value_name = "NAME")]
    criterion: Option<String>,
    #[command(flatten)]
    on: OnLoop,
}

#[derive(Serialize)]
struct ApprovalView {
    schema_version: u32,
    accepted: Vec<String>,
    left: Option<String>,
    #[serde(rename = "loop")]
    found: LoopView,
}

/// Takes a person's word.
pub(crate) fn run(args: &Args) -> Outcome {
    let mut engine = common::engine()?;
    let target = args.on.target()?;
    let approval = if args.change {
        engine.approve_change(&target)?
    } else {
        engine.approve(&target, args.criterion.as_deref())?
    };
    let Approval { stored, accepted, left } = approval;
    let view = engine.view(&stored);
    if args.on.json {
        output::json(&ApprovalView { schema_version: SCHEMA_VERSION, accepted, left, found: view });
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
