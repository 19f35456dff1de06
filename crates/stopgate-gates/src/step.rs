//! What happened to a task; its state is a fold over these.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stopgate_core::Timestamp;

use crate::evaluate::{Evaluation, GateSource};
use crate::gate::Gate;
use crate::iteration::{HistoryEntry, Iteration};
use crate::judge::AgentSignal;
use crate::task::TaskStatus;
use crate::words::{CheckpointData, PromiseType, ValidationResult};

/// One thing that happened to a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStep {
    /// It was created.
    Created {
        /// What it is about.
        title: String,
        /// The details.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// What was written down about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notes: Option<String>,
        /// Whatever its owner wants kept.
        #[serde(default, skip_serializing_if = "Map::is_empty")]
        metadata: Map<String, Value>,
    },
    /// Some of it was changed.
    Updated(Box<Changes>),
    /// A gate was registered.
    Registered(Registered),
    /// A gate was enabled or disabled.
    Switched {
        /// The gate.
        gate: String,
        /// Whether it judges from now on.
        enabled: bool,
    },
    /// All gates were removed.
    Cleared,
    /// One gate was removed.
    Removed {
        /// The gate.
        gate: String,
    },
    /// A work product was handed in.
    Produced(Box<WorkProduct>),
    /// Iterations began.
    Begun(Box<Iteration>),
    /// The gates were asked.
    Evaluated(Box<Evaluation>),
    /// An iteration was validated.
    Validated(Box<Validated>),
    /// An iteration ended and the next one began.
    Advanced(HistoryEntry),
    /// A checkpoint was taken.
    Checkpointed(Box<Checkpoint>),
    /// Work went back to a checkpoint.
    Resumed {
        /// The checkpoint.
        checkpoint: String,
    },
    /// The iterations ended.
    Finished {
        /// What the agent promised.
        promise: PromiseType,
        /// What it said about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        summary: Option<String>,
    },
}

/// What was changed of a task; what is not named stays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Changes {
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The details.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The notes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// How it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// What is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_reason: Option<String>,
    /// Entries that are set anew; null removes one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

/// A gate that was registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// Its name.
    pub id: String,
    /// How it judges, as [`Gate::read`] reads it.
    pub definition: Value,
    /// Whether it judges.
    pub enabled: bool,
    /// Whatever its owner wants kept.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// The gate itself; what can't be read escalates when it is asked.
    #[serde(skip)]
    pub gate: Option<Gate>,
}

/// What validating an iteration led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validated {
    /// The iteration.
    pub number: u32,
    /// How the rules came out.
    pub results: Vec<ValidationResult>,
    /// Files that it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What the agent was told.
    pub signal: AgentSignal,
    /// What is in the way, where a person is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What the gates said, where they were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
}

/// A state of work to which one can go back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Its name.
    pub id: String,
    /// Its number within the task, from 1.
    pub sequence: u64,
    /// What was to be kept.
    pub kept: CheckpointData,
    /// The iterations as they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<Iteration>,
    /// The gate that asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When it was taken.
    pub at: Timestamp,
}

/// Something that was made for a task and is kept with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkProduct {
    /// Its name.
    pub id: String,
    /// What kind it is, in its maker's word: `implementation`, `report`, …
    pub kind: String,
    /// What it is about.
    pub title: String,
    /// All of it.
    pub content: String,
    /// The iteration in which it was handed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iteration: Option<u32>,
    /// When it was handed in.
    pub at: Timestamp,
}

impl Registered {
    /// A gate to be registered.
    pub fn new(id: String, gate: Gate, metadata: Map<String, Value>) -> Self {
        Self { id, definition: gate.definition(), enabled: true, metadata, gate: Some(gate) }
    }

    /// The gate, for evaluation.
    pub fn source(&self) -> GateSource<'_> {
        GateSource { id: &self.id, enabled: self.enabled, gate: self.gate.as_ref() }
    }
}
