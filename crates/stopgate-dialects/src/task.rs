//! A task record: one JSON object with its steps, its money and its errors in `metadata`.
//!
//! The agent owns the steps, the errors and the cost; the hook owns the count. What the
//! hook must remember stands in the record too, under `metadata.stopgate`, so that count
//! and memory change in one write. A pause is written there: `status` knows no such word
//! in the files that agents keep themselves.

mod classes;
mod edit;
mod list;
mod mark;
mod record;
mod rubric;
mod words;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use stopgate_core::{
    Decision, Digest, Event, Frame, Ledger, Marker, Mode, Order, Outcome, Phase, Policy, Rest,
    Rule, Ruling, Seen, State, Tally, Timestamp, ToolUse,
};

pub use self::classes::class_of;
pub use self::edit::{NewTask, TaskEdit, begin};
pub use self::list::choose;
use self::mark::StepNews;
pub use self::mark::{Pause, TaskMark};
pub use self::record::{TaskRecord, TaskStanding, UnreadableTask};
pub use self::rubric::{Rubric, Shape};
pub use self::words::{JUDGE_PROMPT, next, paused, summary};

/// Stops in a row that found no progress, after which the agent is let go.
pub const UNMOVED_MAX: u32 = 3;

/// What is known about one stop beside the record.
#[derive(Clone, Copy, Debug, Default)]
pub struct TaskSight<'a> {
    /// The session that wants to stop.
    pub session: &'a str,
    /// The prompt that it answers.
    pub prompt_id: Option<&'a str>,
    /// Whether its client says that a hook sent it back during this prompt.
    pub continued: Option<bool>,
}

/// A record in the light of one stop.
#[derive(Clone, Debug)]
pub struct TaskLook<'r> {
    record: &'r TaskRecord,
    mark: TaskMark,
    news: StepNews,
}

/// The record after a stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Its text.
    pub text: String,
    /// Why the task rests, where it does.
    pub pause: Option<Pause>,
}

/// How tasks are judged.
pub fn policy() -> Policy {
    Policy {
        max_minutes: 0,
        max_idle: UNMOVED_MAX,
        max_repeat: 0,
        max_rounds: 0,
        stale_after_ms: i64::MAX,
        order: Order::Task,
        ..Policy::default()
    }
}

impl<'r> TaskLook<'r> {
    /// Looks at `record` as the hook of one stop does.
    pub fn new(record: &'r TaskRecord, sight: &TaskSight<'_>) -> Self {
        let news = record.mark.news(record, sight);
        Self { record, mark: record.mark.seen_by(record, sight), news }
    }

    /// Whether the task is steering its agent.
    pub fn phase(&self, now: Timestamp) -> Phase {
        let rests = Phase::Paused { rest: Rest::Resume, since: now };
        match self.record.status {
            TaskStanding::Pending | TaskStanding::Completed | TaskStanding::Other => {
                let why = "it is not in progress".into();
                Phase::Ended { outcome: Outcome::Attested, why, at: now }
            }
            TaskStanding::Paused => rests,
            TaskStanding::InProgress if self.mark.is_paused(self.record) => rests,
            TaskStanding::InProgress => Phase::Active,
        }
    }

    /// The task as a frame.
    pub fn frame(&self) -> Frame {
        Frame {
            mode: Mode::Loop,
            iteration: self.record.iteration,
            max: self.record.max_iterations,
            prompt: self.record.description.clone(),
        }
    }

    /// What was counted before, with the stops that found no progress.
    pub fn tally(&self, tally: Tally) -> Tally {
        // With something remembered, the core takes this stop for a later one and counts on.
        Tally { idle: self.mark.unmoved, recent: vec![Digest::new().value()], ..tally }
    }

    /// What was seen, in the light of the record. Of all markers a task hears only
    /// `<loop-complete>`.
    pub fn seen(&self, seen: Seen) -> Seen {
        let heard = |marker: &Marker| *marker == Marker::LoopComplete;
        Seen {
            markers: seen.markers.iter().copied().filter(heard).collect(),
            tools: if self.news == StepNews::Unmoved { ToolUse::None } else { ToolUse::Used },
            ledger: Ledger {
                spent_micros: self.record.cost_micros,
                budget_micros: self.record.budget_micros,
                errors: self.record.errors.iter().skip(self.mark.settled).cloned().collect(),
            },
            ..seen
        }
    }

    /// Whether a person is to be asked before the next step: a colleague's step was finished.
    pub fn asks(&self) -> bool {
        self.record.shape == Some(Shape::Colleague)
            && self.news == StepNews::Moved
            && !self.record.remaining.is_empty()
            && self.phase(Timestamp::from_unix_millis(0)) == Phase::Active
    }

    /// The record's text after the agent was let go to ask.
    pub fn asked(&self, text: &str, now: Timestamp) -> String {
        let mark = self.mark.clone().sent_back(self.record, 0, self.record.iteration);
        TaskEdit::of(text).mark(&mark).checkpoint(now).text()
    }

    /// The record's text after a decision; `after` is the loop that came of it.
    pub fn settle(
        &self,
        text: &str,
        decision: &Decision,
        after: &State,
        now: Timestamp,
    ) -> Settled {
        let Some(Event::Stopped(stopped)) = decision.events.first() else {
            return Settled { text: text.into(), pause: None };
        };
        let edit = TaskEdit::of(text);
        match stopped.ruling {
            // Nothing is counted, so nothing is written.
            Ruling::Allow(_) => Settled { text: text.into(), pause: self.mark.paused.clone() },
            Ruling::Continue => Settled { text: self.sent_back(edit, after, now), pause: None },
            Ruling::Complete(_) => Settled { text: edit.completed(now).text(), pause: None },
            Ruling::Escalate(_) => {
                let why = match stopped.rule {
                    Rule::Idle => format!("{UNMOVED_MAX} continuations in a row finished no step"),
                    _other => stopped.why.clone(),
                };
                let pause = Pause { rule: stopped.rule.word().into(), why, at: Some(now) };
                let mark = self.mark.clone().let_go(self.record, pause.clone());
                Settled { text: edit.mark(&mark).text(), pause: Some(pause) }
            }
        }
    }

    fn sent_back(&self, edit: TaskEdit, after: &State, now: Timestamp) -> String {
        let counted = after.frames.first().map_or(self.record.iteration, |frame| frame.iteration);
        let iteration =
            if self.mark.was_counted(self.record) { self.record.iteration } else { counted };
        let mark = self.mark.clone().sent_back(self.record, after.tally.idle, iteration);
        let edit = edit.iteration(iteration).mark(&mark);
        match self.news {
            StepNews::Moved => edit.checkpoint(now).text(),
            StepNews::Unmoved | StepNews::Fresh => edit.text(),
        }
    }
}
