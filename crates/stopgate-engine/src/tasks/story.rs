//! What happened to a task, in sentences: for `log`, and in full for `explain`.

use std::fmt::Write;

use serde::Serialize;
use stopgate_core::{Event, Surface, clip};
use stopgate_gates::{
    AgentSignal, Evaluation, TaskStatus, TaskStep, Trace, Validated, ValidationResult,
};

use crate::context::Engine;
use crate::context::LoopTarget;
use crate::failure::Failure;
use crate::judging::task_claim::{read_step, task_of};
use crate::view::{SCHEMA_VERSION, time_text};

const REASON_BYTES_MAX: usize = 120;

/// A task, and why each of its iterations was answered as it was.
#[derive(Clone, Debug, Serialize)]
pub struct TaskExplanation {
    /// [`SCHEMA_VERSION`]
    pub schema_version: u32,
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
    pub gates: Vec<Trace>,
}

impl Engine {
    /// Explains a task; nothing where `target` is a loop of another kind.
    pub fn explain_task(
        &mut self,
        target: &LoopTarget,
    ) -> Result<Option<TaskExplanation>, Failure> {
        let stored = self.resolve(target)?;
        if stored.state.surface != Surface::Tools {
            return Ok(None);
        }
        let task = task_of(self, &stored)?;
        let id = stored.state.id.clone();
        let mut evaluations = Vec::new();
        let mut number = 1;
        for entry in self.journal.history(&id)? {
            let Event::Task(note) = &entry.recorded.event else { continue };
            for text in &note.steps {
                let at = time_text(entry.recorded.at);
                evaluations.extend(evaluation(at, read_step(text, &id)?, &mut number));
            }
        }
        Ok(Some(TaskExplanation {
            schema_version: SCHEMA_VERSION,
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

/// A stored step in a sentence; its first word where this version does not know it.
pub(crate) fn step_line(text: &str) -> String {
    match serde_json::from_str(text) {
        Ok(step) => line(&step),
        // `{"begun":…}` is "begun".
        Err(_) => text.split('"').nth(1).unwrap_or("unknown").to_string(),
    }
}

fn line(step: &TaskStep) -> String {
    match step {
        TaskStep::Created { title, .. } => format!("created: {title}"),
        TaskStep::Updated(changes) => match (changes.status, &changes.blocked_reason) {
            (Some(TaskStatus::Blocked), Some(why)) => format!("now blocked: {why}"),
            (Some(status), _) => format!("now {}", status.word().replace('_', " ")),
            (None, _) => "updated".into(),
        },
        TaskStep::Registered(gate) => {
            let word = gate.definition.as_str().unwrap_or("custom");
            format!("hook {word} registered as {}", gate.id)
        }
        TaskStep::Switched { gate, enabled: true } => format!("hook {gate} enabled"),
        TaskStep::Switched { gate, enabled: false } => format!("hook {gate} disabled"),
        TaskStep::Cleared => "all hooks removed".into(),
        TaskStep::Removed { gate } => format!("hook {gate} removed"),
        TaskStep::Produced(product) => format!("work product, {}: {}", product.kind, product.title),
        TaskStep::Begun(iteration) => format!("iterations began, at most {}", iteration.max),
        TaskStep::Evaluated(asked) => heard(asked),
        TaskStep::Validated(validated) => validation(validated),
        TaskStep::Advanced(entry) => {
            let passed = match entry.passed {
                Some(true) => "passed",
                Some(false) => "failed",
                None => "was not validated",
            };
            format!("iteration {} {passed}; the next one began", entry.iteration)
        }
        TaskStep::Checkpointed(kept) => format!("checkpoint {} taken", kept.id),
        TaskStep::Resumed { checkpoint } => format!("went back to checkpoint {checkpoint}"),
        TaskStep::Finished { promise, .. } => format!("iterations ended: {}", promise.text()),
    }
}

fn validation(validated: &Validated) -> String {
    let failed: Vec<&str> = validated
        .results
        .iter()
        .filter(|result| !result.passed)
        .map(|result| result.rule_name.as_str())
        .collect();
    let word = match validated.signal {
        AgentSignal::Continue => "CONTINUE",
        AgentSignal::Complete => "COMPLETE",
        AgentSignal::Blocked => "BLOCKED",
        AgentSignal::Escalate => "ESCALATE",
    };
    let mut text = format!("iteration {} validated: {word}", validated.number);
    match (validated.results.len(), failed.as_slice()) {
        (0, _) => {}
        (rules, []) => {
            let _ = write!(text, "; all {rules} rules pass");
        }
        (_, failed) => {
            let _ = write!(text, "; failed: {}", failed.join(", "));
        }
    }
    if let Some(asked) = &validated.evaluation {
        let _ = write!(text, "; {}", heard(asked));
    }
    text
}

fn heard(asked: &Evaluation) -> String {
    let reason = clip(&asked.answer.reason, REASON_BYTES_MAX);
    format!("hook {} says {}: {reason}", asked.gate, asked.answer.action.word())
}
