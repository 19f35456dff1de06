//! The idle plugin's loops: frames on a stack, in a message store or in one file.
//!
//! Reads either form into the same loop, says what a decision means to it, and in which
//! words the agent is sent back. Never decides: the order of judgement is the core's.

pub mod file;

pub mod guard;

pub mod listing;

pub mod message;

pub mod side;

use core::fmt::Write;

use stopgate_core::{
    Decision, Frame, Marker, Mode, Outcome, Phase, Rule, State, Timestamp, Verdict, idle_signal,
};

/// A loop that nobody touched for longer is never continued.
pub const STALE_AFTER_MS: i64 = 7200 * 1000;
/// The fallback file, below the project.
pub const FILE: &str = ".claude/idle-loop.local.md";
/// Where a loop that is kept in the fallback file leaves its anchor.
pub const ANCHOR_FILE: &str = ".claude/idle-loop.anchor.local.md";
/// The topic that holds the state.
pub const TOPIC: &str = "loop:current";
/// The topic that holds what an agent should know after a compaction.
pub const ANCHOR_TOPIC: &str = "loop:anchor";
/// The topic and the file by which somebody outside controls a running loop.
pub const CONTROL: (&str, &str) = ("loop:control", ".claude/idle-loop.control.local.md");
/// The topic and the file in which a reviewer answers.
pub const REVIEW: (&str, &str) = ("loop:review", ".claude/idle-loop.review.local.md");
/// The topic and the file that take the trace.
pub const TRACE: (&str, &str) = ("loop:trace", ".claude/idle-loop.trace.local.jsonl");
/// While this file is there, no idle loop of the directory holds anybody.
pub const OFF_FILE: &str = ".idle-disabled";
/// What a frame may use where it does not say.
const MAX_DEFAULT: u32 = 10;

/// A loop as its text describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdleLoop {
    /// Tells it from the one before.
    pub run: String,
    /// What it is for, as far as the text says.
    pub goal: String,
    /// Whether it iterates.
    pub standing: IdleStanding,
    /// Its frames, the outermost first; none where a count makes no sense.
    pub frames: Vec<Frame>,
    /// When it was last touched.
    pub touched: LastTouched,
    /// The work tree of the frame on top, where it has one.
    pub worktree: Option<Worktree>,
    /// Whether the frame on top may end only after a review.
    pub reviewed: FrameReview,
}

/// Whether somebody looks at the work before a frame ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameReview {
    /// Nobody does.
    #[default]
    No,
    /// A claim of completion needs a reviewer's word.
    First,
}

/// Whether a loop iterates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdleStanding {
    /// Its event is STATE, and it has frames.
    Active,
    /// It ended, in these words.
    Over(Outcome, String),
    /// It was switched off and only lies about.
    Off,
}

/// When a loop was last touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastTouched {
    /// It does not say, so it is not stale.
    Unsaid,
    /// Then.
    At(Timestamp),
    /// It has a value that is not a time, so it is.
    Unreadable,
}

/// Where the frame on top works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// Its directory.
    pub path: String,
    /// Its branch, where it says.
    pub branch: Option<String>,
    /// Its issue, where it says.
    pub issue: Option<String>,
}

/// What becomes of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextChange {
    /// The frame on top was sent back so often.
    Count(u32),
    /// The frame on top is closed; the one below goes on at the next stop.
    Pop,
    /// The loop ended, for this reason.
    Done(&'static str),
    /// The loop is stale: over, with its frames, so that somebody may revive it.
    Stale,
    /// The loop was broken off, for this reason.
    Abort(&'static str),
    /// It goes on, from now.
    Revive,
    /// What lies about goes.
    Sweep,
}

impl IdleLoop {
    /// The phase that the core judges by.
    pub fn phase(&self, now: Timestamp) -> Phase {
        match &self.standing {
            IdleStanding::Active => Phase::Active,
            IdleStanding::Over(outcome, why) => {
                Phase::Ended { outcome: *outcome, why: why.clone(), at: now }
            }
            IdleStanding::Off => {
                Phase::Ended { outcome: Outcome::Aborted, why: "switched off".into(), at: now }
            }
        }
    }

    /// When the core should take it for touched.
    pub fn updated_at(&self, now: Timestamp) -> Timestamp {
        match self.touched {
            LastTouched::Unsaid => now,
            LastTouched::At(at) => at,
            LastTouched::Unreadable => Timestamp::from_unix_millis(0),
        }
    }
}

/// What a decision means to the text; nothing where it stays as it is.
pub fn change(
    decision: &Decision,
    before: &State,
    after: &State,
    seen: &[Marker],
) -> Option<TextChange> {
    match &decision.verdict {
        Verdict::Continue { .. } => after.top().map(|top| TextChange::Count(top.iteration)),
        Verdict::Allow(_) if after.frames.len() < before.frames.len() => Some(TextChange::Pop),
        Verdict::Allow(_) => None,
        Verdict::Complete { .. } | Verdict::Escalate { .. } => {
            Some(end(decision.rule, before, seen))
        }
    }
}

fn end(rule: Rule, before: &State, seen: &[Marker]) -> TextChange {
    let said = before.top().and_then(|top| idle_signal(top.mode, seen));
    if rule == Rule::Stale {
        TextChange::Stale
    } else if rule == Rule::TopLimit {
        TextChange::Done("MAX_ITERATIONS")
    } else if let Some(marker) = said.filter(|_| rule == Rule::Said) {
        TextChange::Done(reason_of(marker))
    } else {
        TextChange::Abort("CORRUPT")
    }
}

/// What the agent is sent back with.
pub fn reason(iteration: u32, max: u32, worktree: Option<&Worktree>) -> String {
    let mut text = format!(
        "[ITERATION {iteration}/{max}] Continue working on the task. Check your progress and \
         either complete the task or keep iterating."
    );
    if let Some(Worktree { path, branch, issue }) = worktree {
        let branch = branch.as_ref().map(|branch| format!(", branch {branch}")).unwrap_or_default();
        let issue = issue.as_ref().map(|issue| format!(", issue {issue}")).unwrap_or_default();
        let _ = write!(text, "\nWorktree: {path}{branch}{issue}. Work below that directory.");
    }
    text
}

/// What the agent is sent back with that claims to be finished, before the reviewer agreed.
pub fn review_reason(iteration: u32, max: u32, wish: Option<&str>, answer_in: &str) -> String {
    match wish {
        Some(wish) => format!("[ITERATION {iteration}/{max}] The review asks for changes: {wish}"),
        None => format!(
            "[ITERATION {iteration}/{max}] The work must be reviewed before the loop may end. Have \
             it reviewed; the reviewer writes APPROVED, or what to change, to {answer_in}."
        ),
    }
}

/// What an agent should know after a compaction.
pub fn anchor(found: &IdleLoop) -> String {
    let mut text = format!("Loop: {}", found.goal);
    for frame in &found.frames {
        let Frame { mode, iteration, max, prompt } = frame;
        let _ = write!(text, "\n- {mode} {iteration}/{max}: {prompt}");
    }
    if let Some(worktree) = &found.worktree {
        let _ = write!(text, "\nWorktree: {}", worktree.path);
    }
    text
}

/// Whether a marker claims that the work is finished.
pub const fn claims_completion(marker: Marker) -> bool {
    match marker {
        Marker::LoopDoneComplete
        | Marker::IssueComplete
        | Marker::PromiseComplete
        | Marker::LoopComplete
        | Marker::GrindDoneNoMoreIssues => true,
        Marker::LoopDoneStuck
        | Marker::PromiseBlocked
        | Marker::PromiseEscalate
        | Marker::LoopDoneMaxIterations
        | Marker::GrindDoneMaxIssues => false,
    }
}

fn reviewed(word: Option<&str>) -> FrameReview {
    match word {
        Some("true" | "yes" | "required") => FrameReview::First,
        Some(_) | None => FrameReview::No,
    }
}

/// The word that ends a loop in its text.
const fn reason_of(marker: Marker) -> &'static str {
    match marker {
        Marker::LoopDoneStuck | Marker::PromiseBlocked | Marker::PromiseEscalate => "STUCK",
        Marker::LoopDoneMaxIterations => "MAX_ITERATIONS",
        Marker::GrindDoneNoMoreIssues => "NO_MORE_ISSUES",
        Marker::GrindDoneMaxIssues => "MAX_ISSUES",
        Marker::LoopDoneComplete
        | Marker::IssueComplete
        | Marker::PromiseComplete
        | Marker::LoopComplete => "COMPLETE",
    }
}

/// How an event and its reason stand for the loop; nothing more to say where it iterates.
fn standing(event: Option<&str>, reason: Option<&str>) -> IdleStanding {
    let why = reason.or(event).unwrap_or_default().to_string();
    match (event.unwrap_or("STATE"), reason) {
        ("STATE", _) => IdleStanding::Active,
        ("DONE", Some("MAX_ITERATIONS")) => IdleStanding::Over(Outcome::MaxIterations, why),
        ("DONE", Some("STALE")) => IdleStanding::Over(Outcome::Stale, why),
        ("DONE", Some("STUCK")) => IdleStanding::Over(Outcome::Blocked, why),
        ("DONE", _) => IdleStanding::Over(Outcome::Attested, why),
        (_, Some("USER_CANCELLED")) => IdleStanding::Over(Outcome::Cancelled, why),
        _other => IdleStanding::Over(Outcome::Aborted, why),
    }
}

fn touched(text: Option<&str>) -> LastTouched {
    match text.map(crate::instant) {
        None => LastTouched::Unsaid,
        Some(Some(at)) => LastTouched::At(at),
        Some(None) => LastTouched::Unreadable,
    }
}

fn mode(word: Option<&str>) -> Mode {
    match word {
        Some("issue") => Mode::Issue,
        Some("grind") => Mode::Grind,
        Some(_) | None => Mode::Loop,
    }
}

/// A count as it is written; `default` where it is not, nothing where it is none.
fn count(text: Option<&str>, default: u32) -> Option<u32> {
    text.map_or(Some(default), |text| text.trim().parse().ok())
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
