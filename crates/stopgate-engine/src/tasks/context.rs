//! What gates and rules see of an iteration.

use stopgate_core::Timestamp;
use stopgate_gates::{AgentContext, Iteration, Task, ValidationResult, detect};

use super::{HookEvaluate, TEXT_BYTES_MAX, bounded};
use crate::failure::Failure;
use crate::view::time_text;

const OUTPUT_BYTES_MAX: usize = 4 * 1024 * 1024;
const FILES_MAX: usize = 10_000;

/// Refuses what is too large to be looked at.
pub(super) fn measure(ask: &HookEvaluate) -> Result<(), Failure> {
    bounded("agentOutput", ask.agent_output.as_deref(), OUTPUT_BYTES_MAX)?;
    bounded("draftContent", ask.draft_content.as_deref(), OUTPUT_BYTES_MAX)?;
    bounded("draftType", ask.draft_type.as_deref(), 64)?;
    bounded("executionPhase", ask.execution_phase.as_deref(), TEXT_BYTES_MAX)?;
    if ask.files_modified.len() > FILES_MAX {
        return Err(Failure::usage(format!("filesModified: Must have at most {FILES_MAX} items")));
    }
    Ok(())
}

/// The context of this iteration, with these results.
pub(super) fn context(
    ask: &HookEvaluate,
    task_id: &str,
    (task, iteration): (&Task, &Iteration),
    results: &[ValidationResult],
    now: Timestamp,
) -> AgentContext {
    // What the agent said last that it is doing, where it does not say so now.
    let noted = || task.checkpoints.iter().rev().find_map(|kept| kept.kept.execution_phase.clone());
    let output = ask.agent_output.as_deref().unwrap_or_default();
    let files = if ask.files_modified.is_empty() { &iteration.files } else { &ask.files_modified };
    AgentContext {
        task_id: task_id.into(),
        iteration: iteration.number,
        execution_phase: ask.execution_phase.clone().or_else(noted),
        files_modified: files.clone(),
        validation_results: results.to_vec(),
        completion_promises: detect(output, &time_text(now)),
        agent_output: ask.agent_output.clone(),
        draft_content: ask.draft_content.clone(),
        draft_type: ask.draft_type.clone(),
    }
}
