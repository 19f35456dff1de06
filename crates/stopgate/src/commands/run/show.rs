//! What a person sees while a loop is driven: a line for each thing that happens.

use std::io::Write;

use stopgate_core::{LoopState, Outcome as LoopOutcome, Status};
use stopgate_drive::{DriveEnd, DriveNews};
use stopgate_engine::{CriterionStatus, LoopView, WaitsFor};

use crate::output::{Audience, ProgressLine, span};

/// Lines on standard error; in a terminal one of them moves while a session runs.
pub(super) struct DriveScreen {
    audience: Audience,
    moving: Option<ProgressLine>,
}

impl DriveScreen {
    pub(super) fn new(audience: Audience) -> Self {
        Self { audience, moving: None }
    }

    /// Tells what happened.
    pub(super) fn tell(&mut self, news: &DriveNews<'_>) {
        if self.audience == Audience::Programs {
            return;
        }
        self.moving = None;
        let line = sentence(news);
        let _ = writeln!(anstream::stderr().lock(), "{line}");
        self.moving = moving(news).map(|what| ProgressLine::begin(&what));
    }
}

/// What goes on until the next news.
fn moving(news: &DriveNews<'_>) -> Option<String> {
    match news {
        DriveNews::Session { number, agent, view, .. } => {
            Some(format!("session {number}: {agent}, {}", standing(view)))
        }
        DriveNews::Retry { class, .. } => Some(format!("the client tries again ({class})")),
        DriveNews::Waits { wait } => Some(format!("waiting {}", span(millis(*wait)))),
        DriveNews::Parked { what } => Some(format!("waiting for {}", plain(what))),
        DriveNews::Asked { .. } => Some("waiting for an answer".into()),
        DriveNews::Judged { .. } | DriveNews::Failed { .. } => None,
    }
}

fn sentence(news: &DriveNews<'_>) -> String {
    match news {
        DriveNews::Session { number, is_resumed, agent, model, part, view } => {
            let begins = if *is_resumed { "resumed" } else { "begins" };
            let model = model.map(|model| format!(" ({model})")).unwrap_or_default();
            let part = part.map(|part| format!(", {}", plain(part))).unwrap_or_default();
            format!("session {number} {begins}: {agent}{model}{part} | {}", standing(view))
        }
        DriveNews::Retry { class, delay } => {
            let delay =
                delay.map(|delay| format!(" in {}", span(millis(delay)))).unwrap_or_default();
            format!("  the client tries again{delay} ({class})")
        }
        DriveNews::Judged { view } => format!("  session ended | {}", standing(view)),
        DriveNews::Failed { class, message } => {
            format!("  session failed ({class}): {}", plain(message))
        }
        DriveNews::Waits { wait } => format!("  waits {}", span(millis(*wait))),
        DriveNews::Parked { what } => format!("  parked by its agent: {}", plain(what)),
        DriveNews::Asked { question, within } => format!(
            "  the agent asks: {question}\n  waits {} for: stopgate answer TEXT",
            span(millis(*within))
        ),
    }
}

/// What a repository or an agent wrote, on one line and without what moves a terminal.
fn plain(text: &str) -> String {
    stopgate_core::clip(&stopgate_core::clean(text).replace('\n', " "), 160)
}

/// Iteration, criteria, spend where it is known, time.
fn standing(view: &LoopView) -> String {
    let is_met = |status| {
        matches!(status, CriterionStatus::Approved | CriterionStatus::Checked(Status::Pass))
    };
    let met = view.criteria.iter().filter(|own| is_met(own.status)).count();
    let mut parts = vec![format!("iteration {}/{}", view.iteration, view.max_iterations)];
    if !view.criteria.is_empty() {
        parts.push(format!("{met} of {} criteria", view.criteria.len()));
    }
    parts.extend(view.budget.words.clone());
    parts.push(span(view.budget.used_ms));
    if let Some(outcome) = view.outcome {
        parts.push(outcome.word().into());
    }
    parts.join(" | ")
}

/// What the person can do next.
pub(super) fn next_hint(view: &LoopView, end: DriveEnd) -> Option<String> {
    let name = match view.dialect {
        Some(dialect) => format!(" --dialect {dialect}"),
        None => format!(" {}", view.id),
    };
    if end == DriveEnd::Interrupted {
        return Some(format!("Go on: stopgate run{name} --continue -- AGENT"));
    }
    match (view.waiting, view.outcome) {
        (Some(WaitsFor::Answer), _) => Some(format!(
            "Answer: stopgate answer{name} TEXT, then go on: stopgate run{name} --continue -- AGENT"
        )),
        (Some(WaitsFor::Approval), _) => Some(format!("Look at it: stopgate approve{name}")),
        (_, Some(LoopOutcome::RateLimited | LoopOutcome::InfraError | LoopOutcome::NeedsInput)) => {
            Some(format!("Once that is settled: stopgate run{name} --continue -- AGENT"))
        }
        (None, None) if view.state == LoopState::Paused => {
            Some(format!("It is paused: stopgate resume{name}, then go on with it"))
        }
        _other => None,
    }
}

fn millis(time: std::time::Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
