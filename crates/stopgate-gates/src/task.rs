//! A task: what is asked of it, whether that can be, and what it is afterwards.
//!
//! Every question here is asked of the state and answered with steps or a refusal;
//! [`Task::apply`] is the only place where steps change anything. Total: a step that
//! makes no sense changes nothing.

mod ask;
mod fold;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stopgate_core::Timestamp;

use crate::iteration::Iteration;
use crate::metrics::Metrics;
use crate::step::{Checkpoint, Registered, WorkProduct};

/// How many gates a task may have.
pub const GATES_MAX: usize = 16;
/// How many checkpoints a task keeps: the newest.
pub const CHECKPOINTS_MAX: usize = 5;
/// How many work products a task keeps: the newest.
pub const PRODUCTS_MAX: usize = 20;

/// All that is known of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// What it is about.
    pub title: String,
    /// The details.
    pub description: Option<String>,
    /// What was written down about it.
    pub notes: Option<String>,
    /// How it stands.
    pub status: TaskStatus,
    /// What is in the way.
    pub blocked_reason: Option<String>,
    /// Whatever its owner wants kept.
    pub metadata: Map<String, Value>,
    /// Its gates, in the order they were registered.
    pub gates: Vec<Registered>,
    /// Its iterations: those that run, or those that ran last.
    pub iteration: Option<Iteration>,
    /// Its checkpoints, the oldest first.
    pub checkpoints: Vec<Checkpoint>,
    /// Its work products, the oldest first.
    pub products: Vec<WorkProduct>,
    /// What is counted of each gate that it ever had.
    pub metrics: BTreeMap<String, Metrics>,
    /// How many names were given to its parts.
    pub named: u64,
    /// How many checkpoints were ever taken.
    pub taken: u64,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last touched.
    pub updated_at: Timestamp,
}

stopgate_core::words! {
    /// How a task stands.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum TaskStatus {
        /// Nobody works on it.
        #[default]
        Pending = "pending",
        /// Somebody works on it.
        InProgress = "in_progress",
        /// A person is needed.
        Blocked = "blocked",
        /// It is finished, by the agent's word.
        Completed = "completed",
    }
}

/// Why what was asked can't be, and what to do instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRefusal {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl TaskRefusal {
    pub(crate) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into() }
    }
}

#[cfg(test)]
mod tests;
