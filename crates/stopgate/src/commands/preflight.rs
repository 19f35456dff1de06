//! What `start` says about the checks of a new loop: how they came out, and what judges the work.

use std::time::Duration;

use serde::Serialize;
use stopgate_core::{Receipt, Status, Tests, clip};
use stopgate_engine::{Begun, JudgesOf, PlaceKind, PreflightFinish, Preflighted};

use crate::output::{self, DIM, styled};

/// How many judges are named before the rest is only counted.
const NAMED_MAX: usize = 6;
/// How much of a command's last words is shown.
const WORDS_MAX: usize = 120;

/// What `start --json` says beside the loop.
#[derive(Serialize)]
pub(crate) struct PreflightView {
    criterion: String,
    status: &'static str,
    exit_code: Option<i32>,
    duration_ms: u64,
    tests_ran: Option<u32>,
    known_failures: Option<usize>,
    outputs: Vec<String>,
    /// Whether it goes on in the background, on a copy of the tree.
    goes_on: bool,
    said: Vec<String>,
}

/// The judges of one criterion, as JSON has them.
#[derive(Serialize)]
pub(crate) struct JudgesView {
    criterion: String,
    judges: Vec<JudgeView>,
}

#[derive(Serialize)]
struct JudgeView {
    path: String,
    why: String,
}

/// Each check that was run, as JSON has it.
pub(crate) fn preflight_views(begun: &Begun) -> Vec<PreflightView> {
    let view = |one: &Preflighted| PreflightView {
        criterion: one.criterion.clone(),
        status: one.receipt.status.word(),
        exit_code: one.receipt.exit_code,
        duration_ms: one.receipt.duration_ms,
        tests_ran: one.receipt.evidence.tests.map(Tests::ran),
        known_failures: one.known,
        outputs: one.writes.outputs.iter().map(|path| path.display().to_string()).collect(),
        goes_on: matches!(one.finish, PreflightFinish::GoesOn { .. }),
        said: warnings(one),
    };
    begun.preflighted.iter().map(view).collect()
}

/// The judges of each criterion, as JSON has them.
pub(crate) fn judges_views(begun: &Begun) -> Vec<JudgesView> {
    let view = |of: &JudgesOf| JudgesView {
        criterion: of.criterion.clone(),
        judges: of
            .judges
            .iter()
            .map(|line| JudgeView { path: line.path.display().to_string(), why: line.why.clone() })
            .collect(),
    };
    begun.judges.iter().map(view).collect()
}

/// Tells a person how checks came out, and what judges them.
pub(crate) fn tell_checks(preflighted: &[Preflighted], judges: &[JudgesOf]) {
    for one in preflighted {
        output::line(&styled(DIM, &format!("  {}: {}", one.criterion, outcome(one))));
    }
    for of in judges {
        output::line(&styled(DIM, &format!("  {}", judged_by(of))));
    }
}

/// Tells a person about the checks of a new loop.
pub(crate) fn tell(begun: &Begun) {
    tell_checks(&begun.preflighted, &begun.judges);
    if !begun.steering.is_empty() {
        let names = begun.steering.join(", ");
        output::line(&styled(DIM, &format!("  checks keep these variables as they are: {names}")));
    }
    if let Some(place) = begun.place.as_ref().filter(|place| place.kind == PlaceKind::Copy) {
        let why = place.missing.join(" ");
        output::line(&styled(DIM, &format!("  original runs take place in a copy. {why}")));
    }
    for one in &begun.preflighted {
        for warning in warnings(one) {
            output::warn(&format!("{}: {warning}", one.criterion));
        }
    }
    if passes_already(begun) {
        output::warn("every check passes already: the loop would end at the first stop");
    }
    for warning in &begun.warnings {
        output::warn(warning);
    }
    if let Some(why) = &begun.no_basis {
        output::warn(&format!(
            "{why}; without it nothing can be proven, and the loop ends as attested"
        ));
    }
}

fn passes_already(begun: &Begun) -> bool {
    let criteria = &begun.stored.state.criteria;
    let mut required = criteria.iter().filter(|c| c.is_required() && c.is_checked()).peekable();
    let passed = |name: &str| {
        let mut own = begun.preflighted.iter().filter(|one| one.criterion == name);
        own.any(|one| one.receipt.status == Status::Pass)
    };
    required.peek().is_some() && required.all(|criterion| passed(&criterion.name))
}

fn outcome(one: &Preflighted) -> String {
    let receipt = &one.receipt;
    match one.finish {
        PreflightFinish::GoesOn { after } => {
            return format!(
                "still running after {}; it goes on in the background on a copy of the tree",
                duration(after)
            );
        }
        PreflightFinish::Cut { after, .. } => {
            return format!("still running after {}", duration(after));
        }
        PreflightFinish::Ended => {}
    }
    let text: String = match (receipt.status, one.known) {
        (_, Some(0)) => "nothing fails yet".into(),
        (_, Some(1)) => "1 known failure will not be counted".into(),
        (_, Some(known)) => format!("{known} known failures will not be counted"),
        (Status::Pass, None) => "passes already".into(),
        (Status::Fail, None) => match receipt.exit_code {
            Some(code) => format!("fails now (exit {code})"),
            None => "fails now".into(),
        },
        (status, None) => status.word().into(),
    };
    let tests = match receipt.evidence.tests.map(Tests::ran) {
        Some(1) => ", 1 test ran".into(),
        Some(ran) => format!(", {ran} tests ran"),
        None => String::new(),
    };
    format!("{text}{tests} in {}", seconds(receipt))
}

fn seconds(receipt: &Receipt) -> String {
    format!("{}.{} s", receipt.duration_ms / 1000, receipt.duration_ms % 1000 / 100)
}

/// What a person should know before they walk away.
pub(crate) fn warnings(one: &Preflighted) -> Vec<String> {
    let receipt = &one.receipt;
    let mut said = Vec::new();
    match receipt.status {
        Status::Error => said.push(could_not_run(receipt)),
        Status::Timeout => said.extend(unfinished(one)),
        Status::Pass | Status::Fail | Status::Tampered | Status::NeedsApproval => {}
    }
    if one.is_long {
        said.push(format!(
            "takes {}: longer than the hook's time, so it goes on in the background at a stop",
            span(receipt.duration_ms)
        ));
    }
    if receipt.status == Status::Pass
        && receipt.evidence.tests.is_some_and(|tests| tests.ran() == 0)
    {
        said.push("no test ran".into());
    }
    said
}

/// What is not known because a check was ended; nothing where it goes on.
fn unfinished(one: &Preflighted) -> Option<String> {
    let unknown = "whether it passes already and how many tests it runs is not known";
    match &one.finish {
        PreflightFinish::GoesOn { .. } => None,
        PreflightFinish::Cut { after, why: Some(why) } => Some(format!(
            "ended after {}, because no copy of the tree can be made for it ({why}): {unknown}",
            duration(*after)
        )),
        PreflightFinish::Cut { after, why: None } => {
            Some(format!("ended after {}: {unknown}", duration(*after)))
        }
        PreflightFinish::Ended => {
            let limit = one.receipt.trouble.as_deref().unwrap_or("its time limit was reached");
            Some(format!("not finished ({limit}): {unknown}"))
        }
    }
}

fn duration(time: Duration) -> String {
    span(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// A time in words that people say: `300 ms`, `90 s`, `2 min`.
fn span(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..120_000 => format!("{} s", ms / 1000),
        _ => format!("{} min", (ms + 30_000) / 60_000),
    }
}

/// Why a check could not be run, with the shell's last words where it has any.
fn could_not_run(receipt: &Receipt) -> String {
    let why = receipt.trouble.as_deref().unwrap_or("it can't be run");
    let words = receipt.tail.lines().rev().map(str::trim).find(|line| !line.is_empty());
    let words = words.map(|line| format!(" ({})", clip(line, WORDS_MAX))).unwrap_or_default();
    format!("{why}{words}: it can't pass before this is corrected")
}

fn judged_by(of: &JudgesOf) -> String {
    if of.judges.is_empty() {
        return format!(
            "{}: no file judges it yet, so the work judges itself (see red_first)",
            of.criterion
        );
    }
    let named: Vec<String> =
        of.judges.iter().take(NAMED_MAX).map(|line| line.path.display().to_string()).collect();
    let more = of.judges.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{} is judged by {}{more}; everything else is work", of.criterion, named.join(", "))
}
