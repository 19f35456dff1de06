//! What the hook remembers of a task from stop to stop, in the task's own record.

use serde_json::{Map, Value, json};
use stopgate_core::{Digest, Rule, Timestamp};

use super::TaskSight;
use super::record::TaskRecord;
use crate::instant::{instant, instant_text};
use crate::json_text::Node;

/// What the hook wrote at its last stop, and what it makes of that at this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskMark {
    /// The count as the hook left it.
    pub iteration: Option<u32>,
    /// The session that stopped last.
    pub session: String,
    /// The prompt that it answered.
    pub prompt_id: Option<String>,
    /// Stops in a row of that session that found no progress.
    pub unmoved: u32,
    /// The steps as they stood.
    pub progress: Option<String>,
    /// How many errors there were.
    pub errors: usize,
    /// How many of them are settled: by progress, or by the person who resumed the task.
    pub settled: usize,
    /// Why the task rests, where it does.
    pub paused: Option<Pause>,
}

/// What became of the steps since the last stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepNews {
    /// One was finished, or the list changed.
    Moved,
    /// None was, though the hook had sent the agent back.
    Unmoved,
    /// None was, and nobody had asked for it.
    Fresh,
}

/// Why and since when a task rests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pause {
    /// The rule that asked for it, or `person`.
    pub rule: String,
    /// Why, in a sentence.
    pub why: String,
    /// Since when.
    pub at: Option<Timestamp>,
}

impl TaskMark {
    /// Reads `metadata.stopgate`; what makes no sense there counts for nothing.
    pub(super) fn read(node: Option<Node<'_>>) -> Self {
        let Some(node) = node else { return Self::default() };
        let text = |name: &str| node.key(name).and_then(Node::text).map(String::from);
        let count = |name: &str| node.key(name).and_then(Node::count);
        let short = |name: &str| count(name).and_then(|count| u32::try_from(count).ok());
        let size = |name: &str| count(name).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        Self {
            iteration: short("iteration"),
            session: text("session").unwrap_or_default(),
            prompt_id: text("prompt"),
            unmoved: short("unmoved").unwrap_or(0),
            progress: text("progress"),
            errors: size("errors"),
            settled: size("settled"),
            paused: node.key("paused").filter(|pause| pause.is_object()).map(Pause::read),
        }
    }

    /// The same memory in the light of this stop.
    pub(super) fn seen_by(&self, record: &TaskRecord, sight: &TaskSight<'_>) -> Self {
        let same_session = self.session == sight.session;
        let settled = match self.news(record, sight) {
            StepNews::Moved => self.settled.max(self.errors),
            StepNews::Unmoved | StepNews::Fresh => self.settled,
        };
        Self {
            session: sight.session.into(),
            prompt_id: sight.prompt_id.map(String::from),
            unmoved: if same_session { self.unmoved } else { 0 },
            settled: settled.min(record.errors.len()),
            ..self.clone()
        }
    }

    /// What this stop finds.
    pub(super) fn news(&self, record: &TaskRecord, sight: &TaskSight<'_>) -> StepNews {
        if self.progress.as_ref().is_some_and(|steps| *steps != progress(record)) {
            return StepNews::Moved;
        }
        if self.is_continuation(sight) { StepNews::Unmoved } else { StepNews::Fresh }
    }

    /// Whether the agent has counted since the last stop, so that the hook need not.
    pub(super) fn was_counted(&self, record: &TaskRecord) -> bool {
        self.iteration.is_some_and(|left| left != record.iteration)
    }

    /// Whether the hook sent the agent back to this stop. The client's word for it is taken,
    /// but for a denial within the same prompt, and silence is not a denial.
    fn is_continuation(&self, sight: &TaskSight<'_>) -> bool {
        let same_session = self.session == sight.session;
        let was_sent_back = same_session && self.iteration.is_some() && self.paused.is_none();
        match sight.continued {
            Some(true) => true,
            None => was_sent_back,
            Some(false) => {
                let same_prompt =
                    sight.prompt_id.is_some_and(|now| self.prompt_id.as_deref() == Some(now));
                was_sent_back && same_prompt
            }
        }
    }

    /// Whether the task rests. A limit that was raised in the record ends the rest it caused.
    pub(super) fn is_paused(&self, record: &TaskRecord) -> bool {
        let Some(pause) = &self.paused else { return false };
        if pause.rule == Rule::Iterations.word() {
            return record.iteration >= record.max_iterations;
        }
        if pause.rule == Rule::Spend.word() {
            return record.budget_micros.is_some_and(|budget| record.cost_micros >= budget);
        }
        true
    }

    pub(super) fn sent_back(mut self, record: &TaskRecord, unmoved: u32, iteration: u32) -> Self {
        self.iteration = Some(iteration);
        self.unmoved = unmoved;
        self.progress = Some(progress(record));
        self.errors = record.errors.len();
        self.paused = None;
        self
    }

    pub(super) fn let_go(self, record: &TaskRecord, pause: Pause) -> Self {
        let mark = self.sent_back(record, 0, record.iteration);
        Self { paused: Some(pause), ..mark }
    }

    /// The memory after somebody resumed the task: what was wrong is settled.
    pub(super) fn resumed(&self, record: &TaskRecord) -> Self {
        let mark = self.clone().sent_back(record, 0, record.iteration);
        Self { settled: record.errors.len(), ..mark }
    }

    pub(super) fn value(&self) -> Value {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| {
            fields.insert(name.into(), value);
        };
        put("session", json!(self.session));
        put("unmoved", json!(self.unmoved));
        put("errors", json!(self.errors));
        put("settled", json!(self.settled));
        if let Some(iteration) = self.iteration {
            put("iteration", json!(iteration));
        }
        if let Some(prompt) = &self.prompt_id {
            put("prompt", json!(prompt));
        }
        if let Some(steps) = &self.progress {
            put("progress", json!(steps));
        }
        if let Some(pause) = &self.paused {
            put("paused", pause.value());
        }
        Value::Object(fields)
    }
}

impl Pause {
    fn read(node: Node<'_>) -> Self {
        let text = |name: &str| node.key(name).and_then(Node::text).unwrap_or_default();
        Self { rule: text("rule").into(), why: text("why").into(), at: instant(text("at")) }
    }

    fn value(&self) -> Value {
        let at = self.at.map(instant_text);
        json!({"rule": self.rule, "why": self.why, "at": at})
    }
}

/// The steps as a fingerprint: they change when one of them is finished.
fn progress(record: &TaskRecord) -> String {
    let mut digest = Digest::new();
    for step in &record.completed {
        digest = digest.part(step.as_bytes());
    }
    digest = digest.part(b"remaining");
    for step in &record.remaining {
        digest = digest.part(step.as_bytes());
    }
    format!("{:016x}", digest.value())
}
