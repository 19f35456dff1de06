//! A task record, read leniently.

use stopgate_core::{ErrorClass, Timestamp, WrittenError};

use super::classes::class_of;
use super::mark::{Pause, TaskMark};
use super::rubric::Shape;
use crate::instant::instant;
use crate::json_text::{Document, JsonTextError, Node};

/// How often an agent is sent back where its record sets no limit of its own.
pub(super) const MAX_ITERATIONS: u32 = 10;

/// All that one task record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRecord {
    /// Its name.
    pub id: String,
    /// What it is about.
    pub subject: String,
    /// The whole of what is asked for.
    pub description: String,
    /// How it stands.
    pub status: TaskStanding,
    /// How often the agent was sent back.
    pub iteration: u32,
    /// How often it may be; `u32::MAX` means no limit.
    pub max_iterations: u32,
    /// Money spent, in millionths.
    pub cost_micros: u64,
    /// Money allowed, in millionths; none means no limit.
    pub budget_micros: Option<u64>,
    /// How much of a tool the agent may be.
    pub shape: Option<Shape>,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it was last known to be well.
    pub last_checkpoint: Option<Timestamp>,
    /// Steps that are done.
    pub completed: Vec<String>,
    /// Steps that are not.
    pub remaining: Vec<String>,
    /// What went wrong, the oldest first.
    pub errors: Vec<WrittenError>,
    /// Tasks that must be finished before this one.
    pub blocked_by: Vec<String>,
    /// Whether it has a loop's metadata, or is a plain entry of a list.
    pub has_loop: bool,
    /// What the hook remembers.
    pub mark: TaskMark,
}

stopgate_core::words! {
    /// How a task stands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TaskStanding {
        /// Nobody works on it yet.
        Pending = "pending",
        /// It is being worked on.
        InProgress = "in_progress",
        /// It is finished.
        Completed = "completed",
        /// It rests.
        Paused = "paused",
        /// Anything else: nobody works on it.
        Other = "other",
    }
}

/// Why a text could not be taken for a task record.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableTask {
    /// It is not JSON.
    #[error("read the task record")]
    NotJson(#[from] JsonTextError),
    /// It is JSON, but a list or a bare value.
    #[error("read the task record: it is not an object")]
    NoObject,
    /// A number that limits the loop is none.
    #[error("read the task record: metadata.{0} is not a number")]
    NoNumber(&'static str),
}

impl TaskRecord {
    /// Reads a record. What is missing or null takes its default; a limit that makes no
    /// sense makes the record unreadable, for nobody may be held by it.
    pub fn read(text: &str) -> Result<Self, UnreadableTask> {
        let document = Document::read(text)?;
        let root = document.root();
        if !root.is_object() {
            return Err(UnreadableTask::NoObject);
        }
        let text = |name: &str| root.key(name).and_then(Node::plain).unwrap_or_default();
        let meta = Meta(root.key("metadata").filter(|meta| meta.is_object()));
        Ok(Self {
            id: text("id").into(),
            subject: text("subject").into(),
            description: text("description").into(),
            status: TaskStanding::named(text("status")).unwrap_or(TaskStanding::Other),
            iteration: meta.count("iteration")?.unwrap_or(0),
            max_iterations: limit(meta.count("maxIterations")?),
            cost_micros: meta.micros("cost")?.unwrap_or(0),
            budget_micros: meta.micros("budget")?.filter(|budget| *budget > 0),
            shape: meta.text("shape").and_then(Shape::named),
            started_at: meta.text("startedAt").and_then(instant),
            last_checkpoint: meta.text("lastCheckpoint").and_then(instant),
            completed: meta.steps("completedSteps"),
            remaining: meta.steps("remainingSteps"),
            errors: meta.errors(),
            blocked_by: words(root.key("blockedBy")),
            has_loop: meta.has_loop(),
            mark: TaskMark::read(meta.key("stopgate")),
        })
    }

    /// Why it rests, where it does.
    pub fn pause(&self) -> Option<&Pause> {
        self.mark.paused.as_ref().filter(|_| self.mark.is_paused(self))
    }

    /// The error that came since the last stop and may pass by itself, where the last one is so.
    pub fn to_retry(&self) -> Option<&WrittenError> {
        let new = self.errors.get(self.mark.errors..).unwrap_or_default();
        new.last().filter(|error| error.class == ErrorClass::Transient)
    }

    /// Whether an agent works on it.
    pub const fn is_active(&self) -> bool {
        match self.status {
            TaskStanding::InProgress => true,
            TaskStanding::Pending
            | TaskStanding::Completed
            | TaskStanding::Paused
            | TaskStanding::Other => false,
        }
    }
}

struct Meta<'d>(Option<Node<'d>>);

impl<'d> Meta<'d> {
    fn key(&self, name: &str) -> Option<Node<'d>> {
        self.0.and_then(|meta| meta.key(name))
    }

    fn text(&self, name: &str) -> Option<&'d str> {
        self.key(name).and_then(Node::text)
    }

    fn number(&self, name: &'static str) -> Result<Option<f64>, UnreadableTask> {
        let Some(node) = self.key(name).filter(|node| !node.value().is_null()) else {
            return Ok(None);
        };
        let number = node.plain().and_then(|written| written.trim().parse::<f64>().ok());
        let sound = number.filter(|number| number.is_finite() && *number >= 0.0);
        sound.map(Some).ok_or(UnreadableTask::NoNumber(name))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is not negative, and what is too large for a count means no limit"
    )]
    fn count(&self, name: &'static str) -> Result<Option<u32>, UnreadableTask> {
        let number = self.number(name)?;
        if number.is_some_and(|number| number.fract() != 0.0) {
            return Err(UnreadableTask::NoNumber(name));
        }
        Ok(number.map(|number| number as u32))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is not negative, and more money than that means no limit"
    )]
    fn micros(&self, name: &'static str) -> Result<Option<u64>, UnreadableTask> {
        Ok(self.number(name)?.map(|money| (money * 1e6).round() as u64))
    }

    fn steps(&self, name: &str) -> Vec<String> {
        words(self.key(name))
    }

    fn errors(&self) -> Vec<WrittenError> {
        self.key("errors").into_iter().flat_map(Node::elements).map(error).collect()
    }

    /// A plain entry of a list has none of these.
    fn has_loop(&self) -> bool {
        let fields = ["maxIterations", "remainingSteps", "completedSteps", "shape", "budget"];
        fields.iter().any(|name| self.key(name).is_some())
    }
}

/// A limit of zero means no limit.
fn limit(count: Option<u32>) -> u32 {
    match count {
        None => MAX_ITERATIONS,
        Some(0) => u32::MAX,
        Some(count) => count,
    }
}

/// The texts of a list; where an element is an object, the text that names it.
fn words(node: Option<Node<'_>>) -> Vec<String> {
    let names = ["name", "step", "title", "subject", "description", "message"];
    let word = |node: Node<'_>| {
        let its_name = || names.iter().find_map(|name| node.key(name).and_then(Node::plain));
        node.plain().or_else(its_name).map(String::from)
    };
    node.into_iter().flat_map(Node::elements).filter_map(word).collect()
}

/// One error: a text, or an object with a class and a message.
fn error(node: Node<'_>) -> WrittenError {
    let first = |names: &[&str]| names.iter().find_map(|name| node.key(name).and_then(Node::plain));
    let message = node.plain().or_else(|| first(&["message", "error", "text", "description"]));
    let message = message.unwrap_or_default();
    let class = class_of(first(&["class", "type", "kind", "category"]), message);
    WrittenError { class, message: message.into() }
}
