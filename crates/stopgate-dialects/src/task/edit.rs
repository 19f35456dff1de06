//! Changes of a task record's text: each touches its own field and nothing else.

use serde_json::{Map, Value, json};
use stopgate_core::Timestamp;

use super::mark::{Pause, TaskMark};
use super::record::{MAX_ITERATIONS, TaskRecord};
use super::rubric::Shape;
use crate::instant::instant_text;
use crate::json_text::{PathStep, push, remove, set};

const MARK: &str = "stopgate";

/// A record's text that is being changed.
#[derive(Clone, Debug)]
pub struct TaskEdit {
    text: String,
}

/// What a new task should be.
#[derive(Clone, Debug, Default)]
pub struct NewTask {
    /// Its name.
    pub id: String,
    /// The whole of what is asked for.
    pub spec: String,
    /// Its steps, in order.
    pub steps: Vec<String>,
    /// How much of a tool the agent may be.
    pub shape: Option<Shape>,
    /// Money allowed.
    pub budget: Option<f64>,
    /// How often the agent may be sent back.
    pub max_iterations: Option<u32>,
}

/// The record of a task that begins now.
pub fn begin(task: &NewTask, now: Timestamp) -> String {
    let at = instant_text(now);
    let first_line = task.spec.lines().next().unwrap_or_default();
    let mut metadata = Map::new();
    let mut put = |name: &str, value: Value| {
        metadata.insert(name.into(), value);
    };
    put("iteration", json!(0));
    put("cost", json!(0));
    if let Some(shape) = task.shape {
        put("shape", json!(shape.word()));
    }
    if let Some(budget) = task.budget {
        put("budget", json!(budget));
    }
    put("maxIterations", json!(task.max_iterations.unwrap_or(MAX_ITERATIONS)));
    put("startedAt", json!(at));
    put("lastCheckpoint", json!(at));
    put("completedSteps", json!([]));
    put("remainingSteps", json!(task.steps));
    put("errors", json!([]));
    let record = json!({
        "id": task.id,
        "subject": format!("Complete: {first_line}"),
        "description": task.spec,
        "status": "in_progress",
        "blocks": [],
        "blockedBy": [],
        "metadata": metadata,
    });
    format!("{record:#}\n")
}

impl TaskEdit {
    /// Begins to change a record's text, which was read before.
    pub fn of(text: &str) -> Self {
        Self { text: text.into() }
    }

    /// The text as it is now.
    pub fn text(self) -> String {
        self.text
    }

    /// Writes the count.
    #[must_use]
    pub fn iteration(self, iteration: u32) -> Self {
        self.meta("iteration", &json!(iteration))
    }

    /// Notes that all was well at this instant.
    #[must_use]
    pub fn checkpoint(self, now: Timestamp) -> Self {
        self.meta("lastCheckpoint", &json!(instant_text(now)))
    }

    /// Ends the task by its agent's word.
    #[must_use]
    pub fn completed(self, now: Timestamp) -> Self {
        let ended = self.put(&[PathStep::Key("status")], &json!("completed")).checkpoint(now);
        ended.change(|text| remove(text, &[PathStep::Key("metadata"), PathStep::Key(MARK)]))
    }

    /// Ends the task before it is finished; `status` is the record's own word for that.
    #[must_use]
    pub fn cancelled(self, status: &str) -> Self {
        let ended = self.put(&[PathStep::Key("status")], &json!(status));
        ended.change(|text| remove(text, &[PathStep::Key("metadata"), PathStep::Key(MARK)]))
    }

    /// Ticks a step off; one that was never listed is listed as done.
    #[must_use]
    pub fn step_done(self, record: &TaskRecord, step: &str, now: Timestamp) -> Self {
        let path = [PathStep::Key("metadata"), PathStep::Key("remainingSteps")];
        let at = record.remaining.iter().position(|left| left == step);
        let ticked = match at {
            Some(at) => self.change(|text| remove(text, &[path[0], path[1], PathStep::At(at)])),
            None => self,
        };
        let done = [PathStep::Key("metadata"), PathStep::Key("completedSteps")];
        ticked.change(|text| push(text, &done, &json!(step))).checkpoint(now)
    }

    /// Writes an error down.
    #[must_use]
    pub fn error(self, class: &str, message: &str) -> Self {
        let path = [PathStep::Key("metadata"), PathStep::Key("errors")];
        self.change(|text| push(text, &path, &json!({"class": class, "message": message})))
    }

    /// Writes what was spent so far.
    #[must_use]
    pub fn cost(self, cost: f64) -> Self {
        self.meta("cost", &json!(cost))
    }

    /// Writes another limit of the count.
    #[must_use]
    pub fn max_iterations(self, max: u32) -> Self {
        self.meta("maxIterations", &json!(max))
    }

    /// Writes another limit of the money.
    #[must_use]
    pub fn budget(self, budget: f64) -> Self {
        self.meta("budget", &json!(budget))
    }

    /// Lets the task rest.
    #[must_use]
    pub fn paused(self, record: &TaskRecord, pause: Pause) -> Self {
        self.mark(&record.mark.clone().let_go(record, pause))
    }

    /// Lets the task go on; what was wrong is settled.
    #[must_use]
    pub fn resumed(self, record: &TaskRecord) -> Self {
        let mark = record.mark.resumed(record);
        self.put(&[PathStep::Key("status")], &json!("in_progress")).mark(&mark)
    }

    /// Writes what the hook remembers.
    #[must_use]
    pub(super) fn mark(self, mark: &TaskMark) -> Self {
        self.meta(MARK, &mark.value())
    }

    fn meta(self, name: &str, value: &Value) -> Self {
        self.put(&[PathStep::Key("metadata"), PathStep::Key(name)], value)
    }

    fn put(self, path: &[PathStep<'_>], value: &Value) -> Self {
        self.change(|text| set(text, path, value))
    }

    /// The text was read before, so it can be changed; what can't be stays as it was.
    fn change<E>(self, change: impl FnOnce(&str) -> Result<String, E>) -> Self {
        match change(&self.text) {
            Ok(text) => Self { text },
            Err(_) => self,
        }
    }
}
