//! What happened to a task, in sentences: for `log`, and in full for `explain`.

use serde::Serialize;
use stopgate_core::{Event, GateTrace, Surface};
use stopgate_gates::{AgentSignal, Evaluation, TaskStep, Validated, ValidationResult};

use super::stats::TaskRecords;
use crate::context::LoopTarget;
use crate::failure::Failure;
use crate::judging::task_claim::{read_step, task_of};
use crate::view::time_text;

/// A task, and why each of its iterations was answered as it was.
#[derive(Clone, Debug, Serialize)]
pub struct TaskExplanation {
    /// The task.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// How it stands.
    pub status: &'static str,
    /// What is in the way.
    pub blocked_reason: Option<String>,
    /// How many stops its session has had; `LOOP:STOP` explains one of them.
    pub stops: u64,
    /// Every time its rules were run or its gates were asked, the oldest first.
    pub evaluations: Vec<TaskEvaluation>,
}

/// One time that rules were run or gates were asked.
#[derive(Clone, Debug, Serialize)]
pub struct TaskEvaluation {
    /// When.
    pub at: String,
    /// The iteration.
    pub iteration: u32,
    /// What the agent was told; nothing where only the gates were asked.
    pub signal: Option<AgentSignal>,
    /// How each rule came out.
    pub rules: Vec<ValidationResult>,
    /// The gate that was heard.
    pub heard: Option<String>,
    /// What it said.
    pub reason: Option<String>,
    /// What each gate did.
    pub gates: Vec<GateTrace>,
}

impl TaskRecords<'_> {
    /// Explains a task; nothing where `target` is a loop of another kind.
    pub fn explain_task(
        &mut self,
        target: &LoopTarget,
    ) -> Result<Option<TaskExplanation>, Failure> {
        let stored = self.context.resolve(target)?;
        if stored.state.surface != Surface::Tools {
            return Ok(None);
        }
        let task = task_of(self.context, &stored)?;
        let id = stored.state.id.clone();
        let mut evaluations = Vec::new();
        let mut number = 1;
        for entry in self.context.journal.history(&id)? {
            let Event::Task(note) = &entry.recorded.event else { continue };
            for text in &note.steps {
                let at = time_text(entry.recorded.at);
                evaluations.extend(evaluation(at, read_step(text, &id)?, &mut number));
            }
        }
        Ok(Some(TaskExplanation {
            id: format!("TASK-{id}"),
            title: task.title,
            status: task.status.word(),
            blocked_reason: task.blocked_reason,
            stops: stored.state.tally.stops,
            evaluations,
        }))
    }
}

/// What a step says of rules and gates; keeps count of the iterations meanwhile.
fn evaluation(at: String, step: TaskStep, number: &mut u32) -> Option<TaskEvaluation> {
    match step {
        TaskStep::Begun(iteration) => *number = iteration.number,
        TaskStep::Advanced(over) => *number = over.iteration.saturating_add(1),
        TaskStep::Validated(validated) => return Some(of_validation(at, *validated)),
        TaskStep::Evaluated(asked) => return Some(of_gates(at, *number, &asked)),
        _other => {}
    }
    None
}

fn of_validation(at: String, validated: Validated) -> TaskEvaluation {
    let gates = validated.evaluation.as_ref();
    TaskEvaluation {
        at,
        iteration: validated.number,
        signal: Some(validated.signal),
        heard: gates.map(|asked| asked.gate.clone()),
        reason: gates.map(|asked| asked.answer.reason.clone()),
        gates: gates.map(|asked| asked.traces.clone()).unwrap_or_default(),
        rules: validated.results,
    }
}

fn of_gates(at: String, iteration: u32, asked: &Evaluation) -> TaskEvaluation {
    TaskEvaluation {
        at,
        iteration,
        signal: None,
        rules: Vec::new(),
        heard: Some(asked.gate.clone()),
        reason: Some(asked.answer.reason.clone()),
        gates: asked.traces.clone(),
    }
}
