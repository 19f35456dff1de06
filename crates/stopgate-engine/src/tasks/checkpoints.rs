//! Checkpoints of a task: taken, and gone back to.

use stopgate_core::TaskHold;
use stopgate_gates::{CheckpointData, TaskStep};

use super::{
    CheckpointCreate, CheckpointResume, CheckpointView, HistoryView, ResumedView, TEXT_BYTES_MAX,
    Tasks, bounded, link,
};
use crate::failure::Failure;
use crate::view::time_text;

pub(super) const DRAFT_BYTES_MAX: usize = 1024 * 1024;

impl Tasks {
    /// Takes a checkpoint.
    pub fn checkpoint_create(&mut self, ask: &CheckpointCreate) -> Result<CheckpointView, Failure> {
        bounded("executionPhase", ask.execution_phase.as_deref(), TEXT_BYTES_MAX)?;
        bounded("draftContent", ask.draft_content.as_deref(), DRAFT_BYTES_MAX)?;
        bounded("draftType", ask.draft_type.as_deref(), 64)?;
        let context = ask.agent_context.as_ref().map(ToString::to_string);
        bounded("agentContext", context.as_deref(), TEXT_BYTES_MAX)?;
        let step = ask.execution_step.as_ref().map(ToString::to_string);
        bounded("executionStep", step.as_deref(), TEXT_BYTES_MAX)?;
        let kept = CheckpointData {
            execution_phase: ask.execution_phase.clone(),
            execution_step: ask.execution_step.clone(),
            agent_context: ask.agent_context.clone(),
            draft_content: ask.draft_content.clone(),
            draft_type: ask.draft_type.clone(),
        };
        let id = self.task(&ask.task_id)?.stored.state.id;
        let loaded = self.change(&id, &mut |task, _, now| {
            let name = task.name("CP", id.as_str(), now);
            Ok((vec![task.checkpoint(name, kept.clone(), None, now)], TaskHold::Keep))
        })?;
        let taken = loaded.task.checkpoint_of(None)?;
        Ok(CheckpointView {
            checkpoint_id: taken.id.clone(),
            task_id: ask.task_id.clone(),
            sequence: taken.sequence,
            execution_phase: taken.kept.execution_phase.clone(),
            iteration_id: taken.iteration.as_ref().map(|iteration| iteration.id.clone()),
            iteration_number: taken.iteration.as_ref().map(|iteration| iteration.number),
            created_at: time_text(taken.at),
        })
    }

    /// Goes back to a checkpoint: configuration, number and history are as they were then.
    pub fn checkpoint_resume(&mut self, ask: &CheckpointResume) -> Result<ResumedView, Failure> {
        let id = self.task(&ask.task_id)?.stored.state.id;
        let session = self.session(None);
        let mut taken = None;
        let loaded = self.change(&id, &mut |task, _, _| {
            let checkpoint = task.checkpoint_of(ask.checkpoint_id.as_deref())?.clone();
            let hold = checkpoint
                .iteration
                .as_ref()
                .map_or(TaskHold::Keep, |kept| link::begin(kept, &id, session.clone()));
            let step = TaskStep::Resumed { checkpoint: checkpoint.id.clone() };
            taken = Some(checkpoint);
            Ok((vec![step], hold))
        })?;
        let taken = taken.ok_or_else(|| Failure::fault("could not find the checkpoint again"))?;
        let iteration = loaded.task.running();
        Ok(ResumedView {
            task_id: ask.task_id.clone(),
            checkpoint_id: taken.id,
            iteration_id: iteration.map(|iteration| iteration.id.clone()),
            iteration_number: iteration.map(|iteration| iteration.number),
            max_iterations: iteration.map(|iteration| iteration.max),
            completion_promises: iteration
                .map(|iteration| iteration.promises.iter().map(|promise| promise.text()).collect())
                .unwrap_or_default(),
            validation_rules: iteration.map(|run| run.rules.clone()).unwrap_or_default(),
            history: iteration
                .map(|run| run.history.iter().map(HistoryView::of).collect())
                .unwrap_or_default(),
            execution_phase: taken.kept.execution_phase,
            execution_step: taken.kept.execution_step,
            agent_context: taken.kept.agent_context,
            draft_content: taken.kept.draft_content,
            draft_type: taken.kept.draft_type,
            hook_count: loaded.task.gates.len() + self.gates.count(&id),
        })
    }
}
