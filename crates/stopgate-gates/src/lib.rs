//! Gates and iterations: what a task's gates answer, and what becomes of the task.
//!
//! Like the core it decides and does nothing: no disk, no clock, no environment, no
//! processes. A gate that asks a command is *given* what the command said; a task is a
//! fold over its steps, which the caller keeps.

mod words;

mod promise;

mod missing;

mod expression;

mod gate;

mod template;

mod preset;

mod hands;

mod evaluate;

mod loop_gates;

mod recorded;

mod rule;

mod iteration;

mod metrics;

mod step;

mod task;

mod judge;

pub use crate::evaluate::{Evaluation, GateSource, evaluate};
pub use crate::expression::ExpressionContext;
pub use crate::gate::{CommandGate, Gate, GateKind, GateRule};
pub use crate::hands::Hands;
pub use crate::iteration::{HistoryEntry, Iteration, IterationGuard, IterationStatus};
pub use crate::judge::{AgentSignal, Judgement, judge, wants_gates};
pub use crate::loop_gates::{LoopGates, gate_word, loop_context, loop_gate, want_files};
pub use crate::metrics::Metrics;
pub use crate::missing::ContextFact;
pub use crate::preset::Preset;
pub use crate::promise::{detect, normalise};
pub use crate::recorded::{RecordedStop, ask_recorded};
pub use crate::rule::{
    Enough, Measure, PatternTarget, PatternWanted, RuleKind, ValidationRule, pattern_result,
};
pub use crate::step::{Changes, Checkpoint, Registered, TaskStep, Validated, WorkProduct};
pub use crate::task::{CHECKPOINTS_MAX, GATES_MAX, PRODUCTS_MAX, Task, TaskRefusal, TaskStatus};
pub use crate::template::Template;
pub use crate::words::{
    AgentContext, CheckpointData, CompletionPromise, GateAnswer, PromiseType, ValidationResult,
};
