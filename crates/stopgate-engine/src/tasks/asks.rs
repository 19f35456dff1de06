//! What tools ask, in the shape that it travels.

use serde::Deserialize;
use serde_json::{Map, Value};

macro_rules! asks {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub struct $name { $($(#[$field_doc])* pub $field: $kind,)* }
    )*};
}

asks! {
    /// A task to create.
    TaskCreate {
        /// What it is about.
        title: String,
        /// The details.
        description: Option<String>,
        /// What is written down about it.
        notes: Option<String>,
        /// Whatever its owner wants kept.
        metadata: Option<Map<String, Value>>,
    }

    /// A task to look at.
    TaskGet {
        /// The task.
        id: String,
        /// Whether the contents of its work products are wanted, too.
        #[serde(default)]
        include_work_products: bool,
    }

    /// What to change of a task.
    TaskUpdate {
        /// The task.
        id: String,
        /// The title.
        title: Option<String>,
        /// The details.
        description: Option<String>,
        /// The notes.
        notes: Option<String>,
        /// `pending`, `in_progress`, `blocked` or `completed`.
        status: Option<String>,
        /// What is in the way.
        blocked_reason: Option<String>,
        /// Entries to set; null removes one.
        metadata: Option<Map<String, Value>>,
        /// Something that was made for it and is to be kept.
        work_product: Option<WorkProductAsk>,
    }

    /// A work product to keep.
    WorkProductAsk {
        /// What kind it is.
        #[serde(rename = "type")]
        kind: String,
        /// What it is about.
        title: Option<String>,
        /// All of it.
        content: String,
    }

    /// A gate to register.
    HookRegister {
        /// The task.
        task_id: String,
        /// A preset, a template, or `custom`.
        hook_type: Option<String>,
        /// How a custom gate judges.
        gate: Option<Value>,
        /// When it judges at all.
        when: Option<String>,
        /// Whatever its owner wants kept.
        metadata: Option<Map<String, Value>>,
        /// Whether it is forgotten with the server.
        #[serde(default)]
        session: bool,
    }

    /// What the agent did in an iteration, for gates and rules to judge.
    HookEvaluate {
        /// The iteration.
        iteration_id: String,
        /// What the agent wrote.
        agent_output: Option<String>,
        /// Files that it changed.
        #[serde(default)]
        files_modified: Vec<String>,
        /// A work product that is being written.
        draft_content: Option<String>,
        /// What kind of work product that is.
        draft_type: Option<String>,
        /// What the agent is doing, in its own word.
        execution_phase: Option<String>,
    }

    /// A task whose gates to list.
    HookList {
        /// The task.
        task_id: String,
    }

    /// A task whose gates to remove.
    HookClear {
        /// The task.
        task_id: String,
        /// The only gate to remove.
        hook_id: Option<String>,
    }

    /// A gate to enable or disable.
    HookUpdate {
        /// The gate.
        hook_id: String,
        /// Whether it judges from now on.
        enabled: bool,
    }

    /// Iterations to begin.
    IterationStart {
        /// The task.
        task_id: String,
        /// How many there may be.
        max_iterations: u32,
        /// What the agent may promise.
        completion_promises: Vec<String>,
        /// What each is validated by.
        #[serde(default)]
        validation_rules: Vec<Value>,
        /// How many failures in a row end them.
        circuit_breaker_threshold: Option<u32>,
        /// The session that works on it, where the server can't know.
        session: Option<String>,
    }

    /// An iteration that is over, and how it went.
    IterationNext {
        /// The iteration.
        iteration_id: String,
        /// How it went, where the caller validated it.
        validation_result: Option<Value>,
        /// What the agent wants to find again.
        agent_context: Option<Value>,
    }

    /// Iterations to end.
    IterationComplete {
        /// The iteration.
        iteration_id: String,
        /// What the agent promises.
        completion_promise: String,
        /// What it says about it.
        summary: Option<String>,
    }

    /// A checkpoint to take.
    CheckpointCreate {
        /// The task.
        task_id: String,
        /// What the agent is doing.
        execution_phase: Option<String>,
        /// How far it is.
        execution_step: Option<Value>,
        /// What it wants to find again.
        agent_context: Option<Value>,
        /// A work product that is being written.
        draft_content: Option<String>,
        /// What kind of work product that is.
        draft_type: Option<String>,
    }

    /// A checkpoint to go back to.
    CheckpointResume {
        /// The task.
        task_id: String,
        /// The checkpoint; the newest, where none is named.
        checkpoint_id: Option<String>,
    }
}

/// The same for a validation.
pub type IterationValidate = HookEvaluate;
