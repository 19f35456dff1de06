//! What tools are answered, in the shape that it travels.

use serde::Serialize;
use serde_json::{Map, Value};
use stopgate_gates::{Checkpoint, Evaluation, HistoryEntry, Iteration, Metrics, ValidationResult};

use crate::view::time_text;

macro_rules! views {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub struct $name { $($(#[$field_doc])* pub $field: $kind,)* }
    )*};
}

views! {
    /// A task.
    TaskView {
        /// Its name.
        id: String,
        /// What it is about.
        title: String,
        /// The details.
        description: Option<String>,
        /// What is written down about it.
        notes: Option<String>,
        /// How it stands.
        status: String,
        /// What is in the way.
        blocked_reason: Option<String>,
        /// Whatever its owner wants kept.
        metadata: Map<String, Value>,
        /// Its iterations.
        iteration: Option<IterationNoteView>,
        /// How many gates it has.
        hook_count: usize,
        /// Its checkpoints, the oldest first.
        checkpoints: Vec<CheckpointNoteView>,
        /// Its work products, the oldest first.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        work_products: Vec<WorkProductView>,
        /// When it was created.
        created_at: String,
        /// When it was last touched.
        updated_at: String,
    }

    /// Iterations, in short.
    IterationNoteView {
        /// Their name.
        iteration_id: String,
        /// The current one.
        iteration_number: u32,
        /// How many there may be.
        max_iterations: u32,
        /// Whether they run.
        status: &'static str,
    }

    /// A checkpoint, in short.
    CheckpointNoteView {
        /// Its name.
        checkpoint_id: String,
        /// Its number.
        sequence: u64,
        /// What the agent was doing.
        execution_phase: Option<String>,
        /// When it was taken.
        created_at: String,
    }

    /// Something that was made for a task.
    WorkProductView {
        /// Its name.
        id: String,
        /// What kind it is.
        r#type: String,
        /// What it is about.
        title: String,
        /// All of it, where that was asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// The iteration in which it was handed in.
        iteration: Option<u32>,
        /// When it was handed in.
        created_at: String,
    }

    /// One iteration that is over.
    HistoryView {
        /// Its number.
        iteration: u32,
        /// Whether its validation passed; nothing where nobody asked.
        passed: Option<bool>,
        /// How many rules passed.
        met: u32,
        /// How many rules were asked.
        rules: u32,
        /// Files that it changed.
        files: Vec<String>,
        /// When it ended.
        at: String,
    }

    /// A gate that was registered or changed.
    HookView {
        /// Its name.
        hook_id: String,
        /// The task.
        task_id: String,
        /// A preset, a template, or `custom`.
        hook_type: String,
        /// Whether it judges.
        enabled: bool,
        /// Whatever its owner wants kept.
        metadata: Map<String, Value>,
        /// What somebody should look at.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    }

    /// What the gates said.
    DecisionView {
        /// The gate that was heard.
        hook_id: String,
        /// The task.
        task_id: String,
        /// The current iteration.
        iteration: u32,
        /// What is to be done.
        action: &'static str,
        /// Why.
        reason: String,
        /// What the agent should be told next.
        next_prompt: Option<String>,
        /// Whether a checkpoint was taken.
        checkpoint_created: bool,
        /// Whatever else the gate said.
        metadata: Map<String, Value>,
    }

    /// The gates of a task.
    HookListView {
        /// The task.
        task_id: String,
        /// How many there are.
        hook_count: usize,
        /// The gates, in the order they are asked.
        hooks: Vec<HookNoteView>,
    }

    /// One gate of a task.
    HookNoteView {
        /// Its name.
        id: String,
        /// A preset, a template, or `custom`.
        hook_type: String,
        /// Whether it judges.
        enabled: bool,
        /// Whether it is forgotten with the server.
        session: bool,
        /// How it judges.
        gate: Value,
        /// Whatever its owner wants kept.
        metadata: Map<String, Value>,
        /// What is counted of it.
        metrics: MetricsView,
    }

    /// What is counted of a gate.
    MetricsView {
        /// How often it judged.
        evaluations: u64,
        /// How often it said complete.
        complete: u64,
        /// How often it said continue.
        r#continue: u64,
        /// How often it said escalate.
        escalate: u64,
        /// How often it failed; those count as escalate, too.
        failed: u64,
        /// How often it was disabled or its condition did not hold.
        skipped: u64,
        /// How long it takes, on average.
        mean_micros: u64,
        /// How long it took at most.
        max_micros: u64,
        /// How often its complete was contradicted later.
        false_complete: u64,
        /// How often its continue was overruled by hand.
        false_continue: u64,
        /// The share of its decisions that nobody contradicted, in percent.
        accuracy: Option<f64>,
    }

    /// Gates that were taken down.
    HookClearView {
        /// The task.
        task_id: String,
        /// How many there were.
        hooks_cleared: usize,
    }

    /// Iterations that run.
    IterationView {
        /// Their name.
        iteration_id: String,
        /// The task.
        task_id: String,
        /// The current one.
        iteration_number: u32,
        /// How many there may be.
        max_iterations: u32,
        /// How many are left after this one.
        remaining_iterations: u32,
        /// What the agent may promise.
        completion_promises: Vec<&'static str>,
        /// How many failures in a row end them.
        circuit_breaker_threshold: u32,
        /// The session that is held until they end.
        held_session: Option<String>,
        /// What somebody should look at.
        warnings: Vec<String>,
    }

    /// What validating an iteration showed.
    ValidationView {
        /// The iteration.
        iteration_id: String,
        /// The task.
        task_id: String,
        /// Its number.
        iteration_number: u32,
        /// How many are left after this one.
        remaining_iterations: u32,
        /// Whether every rule passed.
        validation_passed: bool,
        /// How each rule came out.
        results: Vec<ValidationResult>,
        /// What to do: `CONTINUE`, `COMPLETE`, `BLOCKED` or `ESCALATE`.
        completion_signal: stopgate_gates::AgentSignal,
        /// The promise that decided.
        detected_promise: Option<String>,
        /// The promises that were looked for and found.
        completion_promises_detected: Vec<String>,
        /// What the agent should know.
        feedback: Vec<String>,
        /// What somebody should look at.
        warnings: Vec<String>,
        /// What the gates said, where there are any and they were asked.
        hook_decision: Option<DecisionView>,
        /// What the agent should be told next.
        next_prompt: Option<String>,
        /// Whether a checkpoint was taken.
        checkpoint_created: bool,
    }

    /// Iterations that ended.
    CompletedView {
        /// Their name.
        iteration_id: String,
        /// The task.
        task_id: String,
        /// How many there were.
        total_iterations: u32,
        /// What the agent promised.
        completion_promise: &'static str,
        /// How the task stands.
        task_status: &'static str,
        /// How many gates were taken down.
        hooks_cleared: usize,
    }

    /// A checkpoint that was taken.
    CheckpointView {
        /// Its name.
        checkpoint_id: String,
        /// The task.
        task_id: String,
        /// Its number.
        sequence: u64,
        /// What the agent was doing.
        execution_phase: Option<String>,
        /// The iterations that it keeps.
        iteration_id: Option<String>,
        /// The iteration that it was taken in.
        iteration_number: Option<u32>,
        /// When it was taken.
        created_at: String,
    }

    /// The state of work that was gone back to.
    ResumedView {
        /// The task.
        task_id: String,
        /// The checkpoint.
        checkpoint_id: String,
        /// The iterations that run again.
        iteration_id: Option<String>,
        /// The current one.
        iteration_number: Option<u32>,
        /// How many there may be.
        max_iterations: Option<u32>,
        /// What the agent may promise.
        completion_promises: Vec<&'static str>,
        /// What each is validated by.
        validation_rules: Vec<Value>,
        /// The iterations that are over.
        history: Vec<HistoryView>,
        /// What the agent was doing.
        execution_phase: Option<String>,
        /// How far it was.
        execution_step: Option<Value>,
        /// What it wanted to find again.
        agent_context: Option<Value>,
        /// A work product that was being written.
        draft_content: Option<String>,
        /// What kind of work product that was.
        draft_type: Option<String>,
        /// How many gates the task has.
        hook_count: usize,
    }
}

impl IterationNoteView {
    pub(super) fn of(iteration: &Iteration) -> Self {
        Self {
            iteration_id: iteration.id.clone(),
            iteration_number: iteration.number,
            max_iterations: iteration.max,
            status: iteration.status.word(),
        }
    }
}

impl CheckpointNoteView {
    pub(super) fn of(checkpoint: &Checkpoint) -> Self {
        Self {
            checkpoint_id: checkpoint.id.clone(),
            sequence: checkpoint.sequence,
            execution_phase: checkpoint.kept.execution_phase.clone(),
            created_at: time_text(checkpoint.at),
        }
    }
}

impl HistoryView {
    pub(super) fn of(entry: &HistoryEntry) -> Self {
        Self {
            iteration: entry.iteration,
            passed: entry.passed,
            met: entry.met,
            rules: entry.rules,
            files: entry.files.clone(),
            at: time_text(entry.at),
        }
    }
}

impl DecisionView {
    pub(super) fn of(evaluation: &Evaluation, task_id: &str, iteration: u32) -> Self {
        let answer = &evaluation.answer;
        Self {
            hook_id: evaluation.gate.clone(),
            task_id: task_id.into(),
            iteration,
            action: answer.action.word(),
            reason: answer.reason.clone(),
            next_prompt: answer.next_prompt.clone(),
            checkpoint_created: answer.checkpoint_data.is_some(),
            metadata: answer.metadata.clone(),
        }
    }
}

impl MetricsView {
    pub(crate) fn of(counts: &Metrics) -> Self {
        let percent = |hundredths: u64| {
            u32::try_from(hundredths).map_or(0.0, |hundredths| f64::from(hundredths) / 100.0)
        };
        Self {
            evaluations: counts.evaluations,
            complete: counts.complete,
            r#continue: counts.carry_on,
            escalate: counts.escalate,
            failed: counts.failed,
            skipped: counts.skipped,
            mean_micros: counts.total_micros.checked_div(counts.evaluations).unwrap_or(0),
            max_micros: counts.max_micros,
            false_complete: counts.false_complete,
            false_continue: counts.false_continue,
            accuracy: counts.accuracy().map(percent),
        }
    }
}
