//! `replay`: recorded stops, decided again, as they were or under another policy.

use std::path::PathBuf;
use std::process::ExitCode;

use stopgate_core::{Outcome as LoopOutcome, usd_text};
use stopgate_engine::{BackTestTotal, BackTestedLoop, LoopTarget, ReplayView, span_ms};
use stopgate_view::{Counterfactual, ReplayResult, ReplayedStop, shown_short, span};

use super::common;
use crate::output::{self, BAD, BOLD, CommandResult, DIM, GOOD, WAITS, styled};

const GOAL_LETTERS: usize = 64;
const DIFFERENCE_LETTERS: usize = 200;

/// Decide recorded stops again: as they were, or under another policy
///
/// With a loop, every stop in its journal is decided again from what was recorded. Exits with 1 where
/// the verdict, the rule or the text differs. With --policy, the limits, gates and criteria
/// in that file are tried on all loops: each goes the same way, ends earlier, goes on (what comes then is unknown), or it is
/// not known because the journal lacks a fact. Nothing is recorded and no check is run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The loop's id or the beginning of it; without it this session's, else the only one running here
    #[arg(value_name = "LOOP", conflicts_with_all = ["policy", "since"])]
    name: Option<String>,
    /// The loop that holds this session
    #[arg(long, value_name = "ID", conflicts_with_all = ["name", "policy", "since"])]
    session: Option<String>,
    /// Try the limits, gates and criteria in this file, which is written like stopgate.toml
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// With --policy: only loops that were touched in this time, such as 30d
    #[arg(long, value_name = "TIME", requires = "policy", value_parser = span_ms)]
    since: Option<u64>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Decides recorded stops again.
pub(crate) fn run(args: &Args) -> CommandResult {
    match &args.policy {
        Some(policy) => back_test(args, policy),
        None => replay(args),
    }
}

fn replay(args: &Args) -> CommandResult {
    let mut engine = common::engine()?;
    let target = common::target(args.name.as_deref(), args.session.as_deref())?;
    let mut code = ExitCode::SUCCESS;
    for stored in engine.loops().resolve_all(&target)? {
        let target = LoopTarget::Named(stored.state.id.as_str().into());
        let view = engine.records().replay(&target)?;
        output::answer(args.json, &view, show_replay);
        if view.differs > 0 {
            code = ExitCode::FAILURE;
        }
    }
    Ok(code)
}

fn show_replay(view: &ReplayView) {
    if view.stops.is_empty() {
        return output::line(&format!("Loop {} has had no stop yet.", styled(BOLD, &view.id)));
    }
    view.stops.iter().for_each(show_stop);
    let count = view.stops.len();
    let stops = if count == 1 { "1 stop".into() } else { format!("{count} stops") };
    let (style, said) = match (view.differs, view.not_known) {
        (0, 0) => (GOOD, "all decided as they were".to_string()),
        (0, unknown) => (WAITS, format!("{} the same, {unknown} not known", view.same)),
        (differs, _) => (BAD, format!("{differs} decided otherwise, {} the same", view.same)),
    };
    output::line(&format!("Loop {}: {stops}, {}", styled(BOLD, &view.id), styled(style, &said)));
}

fn show_stop(stop: &ReplayedStop) {
    let head = format!("stop {}: {} by {}", stop.stop, stop.verdict, stop.rule);
    match &stop.result {
        ReplayResult::Same => {}
        ReplayResult::NotKnown { why } => output::line(&format!("{head}: not known, {why}")),
        ReplayResult::Differs { what, recorded, now } => {
            output::line(&format!("{} the {what} differs", styled(BAD, &format!("{head}:"))));
            let short = |text: &str| shown_short(text, DIFFERENCE_LETTERS);
            output::line(&format!("  {} {}", styled(DIM, "recorded:"), short(recorded)));
            output::line(&format!("  {} {}", styled(DIM, "now:     "), short(now)));
        }
    }
}

fn back_test(args: &Args, policy: &std::path::Path) -> CommandResult {
    let view = common::engine()?.records().back_test(policy, args.since)?;
    if args.json {
        output::json(&view);
        return Ok(ExitCode::SUCCESS);
    }
    if view.loops.is_empty() {
        output::line("No loop was touched in that time, so there is nothing to try it on.");
        return Ok(ExitCode::SUCCESS);
    }
    for tested in view.loops.iter().filter(|tested| !is_same(tested)) {
        let goal = shown_short(&tested.goal, GOAL_LETTERS);
        output::line(&format!("{}  {goal}", styled(BOLD, &tested.id)));
        output::line(&format!("  {}", sentence(tested)));
    }
    show_total(&view.total);
    Ok(ExitCode::SUCCESS)
}

const fn is_same(tested: &BackTestedLoop) -> bool {
    matches!(tested.found, Counterfactual::Same { otherwise: None, .. })
}

fn sentence(tested: &BackTestedLoop) -> String {
    match &tested.found {
        Counterfactual::Same { outcome, otherwise } => {
            let then = outcome.map_or("running", LoopOutcome::word);
            let now = otherwise.map_or(then, LoopOutcome::word);
            format!("same stop, as {now} instead of {then}")
        }
        Counterfactual::EndsEarlier {
            stop,
            outcome,
            iterations_saved,
            ms_saved,
            micros_saved,
            loses_proof,
        } => {
            let lost =
                if *loses_proof { styled(BAD, "; loses a proven end") } else { String::new() };
            let saved = saved((*iterations_saved).into(), *ms_saved, micros_saved.unwrap_or(0));
            format!("ends at stop {stop} as {outcome}: saves {saved}{lost}")
        }
        Counterfactual::GoesOn { stop, instead_of } => {
            format!("goes on at stop {stop} instead of ending as {instead_of}; then unknown")
        }
        Counterfactual::NotKnown { stop: Some(stop), why } => {
            format!("not known from stop {stop} on: {why}")
        }
        Counterfactual::NotKnown { stop: None, why } => format!("not known: {why}"),
    }
}

/// What would not have been spent; money only where it was counted.
fn saved(iterations: u64, ms: i64, micros: u64) -> String {
    let continuations = match iterations {
        1 => "1 continuation".to_string(),
        more => format!("{more} continuations"),
    };
    let time = span(ms);
    match micros {
        0 => format!("{continuations} and {time}"),
        micros => format!("{continuations}, {time} and {}", usd_text(micros.saturating_mul(1000))),
    }
}

fn show_total(total: &BackTestTotal) {
    output::line(&format!(
        "{} the same, {} end earlier, {} go on, {} not known",
        total.same, total.ends_earlier, total.goes_on, total.not_known
    ));
    if total.ends_earlier > 0 {
        let lost = match total.proofs_lost {
            0 => styled(GOOD, "no proven end is lost"),
            1 => styled(BAD, "one proven end is lost"),
            more => styled(BAD, &format!("{more} proven ends are lost")),
        };
        let saved = saved(total.iterations_saved, total.ms_saved, total.micros_saved);
        output::line(&format!("saves {saved}; {lost}"));
    }
}
