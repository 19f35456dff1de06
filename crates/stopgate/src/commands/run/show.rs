//! What a person sees while a loop is driven: a line for each thing that happens.

use std::fmt::Write as _;
use std::io::Write;

use stopgate_core::{LoopState, Outcome as LoopOutcome, Status};
use stopgate_drive::{Delivery, DriveEnd, DriveNews};
use stopgate_engine::{CriterionStatus, LoopView, WaitsFor};

use crate::output::{self, Audience, ProgressLine, span};

/// Stands between the parts of a line.
const BETWEEN: &str = " | ";

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
        let line = fitted(&sentence(news), columns().unwrap_or(usize::MAX));
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
        DriveNews::Judged { .. }
        | DriveNews::Failed { .. }
        | DriveNews::Warning { .. }
        | DriveNews::Delivered { .. } => None,
    }
}

/// What happened, in a line.
pub(super) fn sentence(news: &DriveNews<'_>) -> String {
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
        DriveNews::Parked { what } => format!("  parked, waits for {}", plain(what)),
        DriveNews::Warning { text } => format!("note: {text}"),
        DriveNews::Delivered { delivery } => delivered(delivery),
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

/// How wide the window is that shows these lines; nothing where they go elsewhere.
fn columns() -> Option<usize> {
    window_size().map(|(columns, _)| columns)
}

/// How many columns and rows the window has that shows these lines; nothing where they go elsewhere.
pub(super) fn window_size() -> Option<(usize, usize)> {
    let stderr = rustix::stdio::stderr();
    let size = rustix::termios::isatty(stderr).then(|| rustix::termios::tcgetwinsize(stderr).ok());
    let size = size.flatten().map(|size| (usize::from(size.ws_col), usize::from(size.ws_row)));
    size.filter(|(columns, rows)| *columns > 0 && *rows > 1)
}

/// A line of parts in as many lines as they need, broken between them.
fn fitted(line: &str, columns: usize) -> String {
    if output::width(line) <= columns || line.contains('\n') {
        return line.to_owned();
    }
    let mut lines: Vec<String> = Vec::new();
    for part in line.split(BETWEEN) {
        match lines.last_mut() {
            Some(last) if output::width(last) + output::width(part) + BETWEEN.len() <= columns => {
                last.push_str(BETWEEN);
                last.push_str(part);
            }
            Some(_) => lines.push(format!("    {part}")),
            None => lines.push(part.to_owned()),
        }
    }
    lines.join("\n")
}

fn delivered(delivery: &Delivery) -> String {
    match delivery {
        Delivery::Merged { target, commit, left } => {
            let short = commit.get(..10).unwrap_or(commit);
            let left = left.as_ref().map(|why| format!("; the worktree stays: {why}"));
            format!("  merged into {target} as {short}{}", left.unwrap_or_default())
        }
        Delivery::Held { why } => format!("  not merged: {why}"),
    }
}

/// Iteration, criteria, spend where it is known, time.
pub(super) fn standing(view: &LoopView) -> String {
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
    parts.join(BETWEEN)
}

/// The report of a loop in another tool's files: what can be said of it without a journal.
pub(super) fn file_report(view: &LoopView, sessions: u64) -> String {
    let outcome = view.outcome.map_or(view.state.word(), LoopOutcome::word);
    let mut text = format!("# stopgate report\n\n## {}: {outcome}\n\n", view.id);
    let mut fact = |name: &str, value: &str| {
        let value = stopgate_core::clean(value).replace('\n', " ").replace('`', "'");
        let _ = writeln!(text, "- {name}: `{value}`");
    };
    fact("goal", &view.goal);
    if let Some(why) = &view.why {
        fact("why", why);
    }
    fact("iterations", &format!("{} of {}", view.iteration, view.max_iterations));
    fact("sessions", &sessions.to_string());
    if let Some(open) = view.frames.last().filter(|_| view.outcome != Some(LoopOutcome::Done)) {
        fact("next", &open.prompt);
    }
    fact("project", &view.project);
    let needs_person = !matches!(view.outcome, Some(LoopOutcome::Done | LoopOutcome::Attested));
    fact("needs a person", if needs_person { "yes" } else { "no" });
    text
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

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn a_line_is_broken_between_its_parts() {
        let line = "session 1 begins: Claude Code | iteration 0/20 | 0 of 1 criteria | 3 s";
        assert_eq!(fitted(line, 80), line);
        assert_eq!(
            fitted(line, 50),
            "session 1 begins: Claude Code | iteration 0/20\n    0 of 1 criteria | 3 s"
        );
        assert_eq!(fitted("nothing to break here", 5), "nothing to break here");
    }
}
