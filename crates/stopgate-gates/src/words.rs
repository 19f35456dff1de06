//! The words that gates, commands and tools exchange, in the shape that they travel.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stopgate_core::GateAction;

/// What a gate sees: everything about one iteration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AgentContext {
    /// The task that is iterated.
    pub task_id: String,
    /// The current iteration, from 1.
    pub iteration: u32,
    /// What the agent is doing, in its own word.
    pub execution_phase: Option<String>,
    /// Files changed in this iteration.
    pub files_modified: Vec<String>,
    /// How the validation rules came out.
    pub validation_results: Vec<ValidationResult>,
    /// The promises in the agent's output.
    pub completion_promises: Vec<CompletionPromise>,
    /// What the agent wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_output: Option<String>,
    /// A work product that is being written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_content: Option<String>,
    /// What kind of work product that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_type: Option<String>,
}

/// How one validation rule came out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ValidationResult {
    /// The rule.
    pub rule_name: String,
    /// What kind of rule it is.
    #[serde(rename = "type")]
    pub rule_type: String,
    /// Whether it holds.
    pub passed: bool,
    /// What was found.
    pub message: String,
    /// How long it took.
    pub duration_ms: u64,
}

/// A promise that was found in the agent's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletionPromise {
    /// What was promised.
    #[serde(rename = "type")]
    pub kind: PromiseType,
    /// Always true: a promise that was not found is not listed.
    pub detected: bool,
    /// The promise, and for an honest exit the reason that follows it.
    pub content: String,
    /// When it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detected_at: Option<String>,
}

stopgate_core::words! {
    /// What an agent can promise.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "UPPERCASE")]
    pub enum PromiseType {
        /// The work is finished.
        Complete = "COMPLETE",
        /// Something is in the way.
        Blocked = "BLOCKED",
        /// A person is needed.
        Escalate = "ESCALATE",
    }
}

/// A gate's decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GateAnswer {
    /// What is to be done.
    pub action: GateAction,
    /// Why, for people.
    pub reason: String,
    /// What the agent should be told next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_prompt: Option<String>,
    /// A checkpoint to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_data: Option<CheckpointData>,
    /// Whatever else the gate wants to say.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// A `continue` for want of anything to say, which stands in nobody's way.
    #[serde(skip)]
    pub(crate) silent: bool,
}

/// What a gate or an agent wants kept at a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckpointData {
    /// What the agent was doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_phase: Option<String>,
    /// How far it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_step: Option<Value>,
    /// What the agent wants to find again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_context: Option<Value>,
    /// A work product that was being written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_content: Option<String>,
    /// What kind of work product that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_type: Option<String>,
}

impl GateAnswer {
    /// An answer and its reason, and nothing else.
    pub fn new(action: GateAction, reason: impl Into<String>) -> Self {
        Self {
            action,
            reason: reason.into(),
            next_prompt: None,
            checkpoint_data: None,
            metadata: Map::new(),
            silent: false,
        }
    }

    /// Works on, for want of anything to say.
    pub(crate) fn silent(reason: &str) -> Self {
        Self { silent: true, ..Self::new(GateAction::Continue, reason) }
    }

    /// What a gate that could not answer answers.
    pub(crate) fn failed(error: &str) -> Self {
        let mut answer =
            Self::new(GateAction::Escalate, format!("Hook evaluation failed: {error}"));
        answer.metadata.insert("error".into(), error.into());
        answer
    }
}

impl PromiseType {
    /// The promise as an agent writes it.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Complete => "<promise>COMPLETE</promise>",
            Self::Blocked => "<promise>BLOCKED</promise>",
            Self::Escalate => "<promise>ESCALATE</promise>",
        }
    }
}
