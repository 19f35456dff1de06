//! A loop's own gates: what they said is given, how they judge is read elsewhere.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::criterion::Author;
use crate::stored::is_default;

/// A gate of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopGate {
    /// Its name, for people.
    pub name: String,
    /// How it judges, in a form that only the room of gates reads.
    pub definition: String,
    /// Who wrote it down.
    #[serde(default, skip_serializing_if = "Author::is_command")]
    pub author: Author,
}

crate::words! {
    /// What a gate wants.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum GateAction {
        /// The loop may end.
        Complete = "complete",
        /// The agent works on.
        Continue = "continue",
        /// A person is needed.
        Escalate = "escalate",
    }
}

/// What the gates of a loop said at one stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateWord {
    /// The gate that was heard.
    pub gate: String,
    /// What it wants.
    pub action: GateAction,
    /// Why, in a sentence.
    pub reason: String,
    /// What the agent should be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_prompt: Option<String>,
    /// What each gate that was asked said, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<GateTrace>,
}

/// What one gate said at one stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateTrace {
    /// The gate.
    pub gate: String,
    /// What it wants; nothing where its condition did not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<GateAction>,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Whether it could not judge.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failed: bool,
    /// How long it took.
    #[serde(default)]
    pub micros: u64,
    /// What it saw, as JSON.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub inputs: String,
}
