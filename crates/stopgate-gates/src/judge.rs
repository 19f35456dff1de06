//! What an agent is told after an iteration was validated.
//!
//! In this order: an honest exit, then a promise of completion unless a gate objects,
//! then the guards, then the gates. A promise beats an open breaker, with a warning: on
//! this surface a promise is the agent's own word, and is recorded as nothing more.

use serde::{Deserialize, Serialize};
use stopgate_core::GateAction;

use crate::evaluate::Evaluation;
use crate::iteration::{Iteration, IterationGuard};
use crate::words::{CompletionPromise, PromiseType, ValidationResult};

/// What an agent is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum AgentSignal {
    /// Work on.
    Continue,
    /// Finished: complete the iteration.
    Complete,
    /// The agent said that it is blocked: complete the iteration so.
    Blocked,
    /// A person is needed.
    Escalate,
}

/// The judgement of one validation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// What the agent is told.
    pub signal: AgentSignal,
    /// The promise that decided, with its reason.
    pub promise: Option<String>,
    /// The promises that were looked for and found.
    pub promises: Vec<String>,
    /// What the agent should know: why it was stopped, or which rules failed.
    pub feedback: Vec<String>,
    /// What somebody should look at.
    pub warnings: Vec<String>,
}

/// Whether the gates are worth asking: not where a guard has ended it already.
pub fn wants_gates(iteration: &Iteration, heard: &[CompletionPromise]) -> bool {
    decisive(iteration, heard).is_some() || iteration.guard().is_none()
}

/// Judges an iteration.
pub fn judge(
    iteration: &Iteration,
    heard: &[CompletionPromise],
    results: &[ValidationResult],
    evaluation: Option<&Evaluation>,
) -> Judgement {
    let guard = iteration.guard();
    let decisive = decisive(iteration, heard);
    let (signal, mut warnings) = match decisive.map(|promise| promise.kind) {
        Some(PromiseType::Blocked) => (AgentSignal::Blocked, Vec::new()),
        Some(PromiseType::Escalate) => (AgentSignal::Escalate, Vec::new()),
        Some(PromiseType::Complete) => claimed(guard.as_ref(), results, evaluation),
        None if guard.is_some() => (AgentSignal::Escalate, Vec::new()),
        None => (heard_gates(evaluation), Vec::new()),
    };
    let stopped = guard.filter(|_| signal == AgentSignal::Escalate && !escalated(evaluation));
    let feedback = match &stopped {
        Some((guard, why)) => vec![why.clone(), format!("Blocked by: {}", guard.word())],
        None => results.iter().filter(|r| !r.passed).map(failure).collect(),
    };
    if let Some(evaluation) = evaluation.filter(|e| e.traces.iter().any(|trace| trace.failed)) {
        warnings.push(evaluation.answer.reason.clone());
    }
    Judgement {
        signal,
        promise: decisive.map(|promise| promise.content.clone()),
        promises: configured(iteration, heard).map(|p| p.kind.text().into()).collect(),
        feedback,
        warnings,
    }
}

fn failure(result: &ValidationResult) -> String {
    format!("{}: {}", result.rule_name, result.message)
}

fn configured<'a>(
    iteration: &'a Iteration,
    heard: &'a [CompletionPromise],
) -> impl Iterator<Item = &'a CompletionPromise> {
    heard.iter().filter(|promise| iteration.promises.contains(&promise.kind))
}

/// The promise that counts, where several were made: honest exits before a claim.
fn decisive<'a>(
    iteration: &'a Iteration,
    heard: &'a [CompletionPromise],
) -> Option<&'a CompletionPromise> {
    let order = [PromiseType::Blocked, PromiseType::Escalate, PromiseType::Complete];
    order.into_iter().find_map(|kind| configured(iteration, heard).find(|p| p.kind == kind))
}

/// A claim stands unless a gate objects to it.
fn claimed(
    guard: Option<&(IterationGuard, String)>,
    results: &[ValidationResult],
    evaluation: Option<&Evaluation>,
) -> (AgentSignal, Vec<String>) {
    let mut warnings = Vec::new();
    if let Some((_, why)) = guard {
        warnings.push(why.clone());
    }
    let failed = results.iter().filter(|result| !result.passed).count();
    if failed > 0 {
        warnings
            .push(format!("{failed} validation rule(s) failed although completion was promised"));
    }
    let objection = evaluation.and_then(|e| e.objection.as_ref());
    let signal = match (evaluation.map(|e| e.answer.action), objection) {
        (Some(GateAction::Escalate), _) => AgentSignal::Escalate,
        (Some(GateAction::Continue), Some(why)) => {
            warnings.push(format!("The promise of completion was not believed: {why}"));
            if guard.is_some() { AgentSignal::Escalate } else { AgentSignal::Continue }
        }
        (Some(GateAction::Complete | GateAction::Continue) | None, _) => AgentSignal::Complete,
    };
    (signal, warnings)
}

fn heard_gates(evaluation: Option<&Evaluation>) -> AgentSignal {
    match evaluation.map(|evaluation| evaluation.answer.action) {
        Some(GateAction::Complete) => AgentSignal::Complete,
        Some(GateAction::Escalate) => AgentSignal::Escalate,
        Some(GateAction::Continue) | None => AgentSignal::Continue,
    }
}

fn escalated(evaluation: Option<&Evaluation>) -> bool {
    evaluation.is_some_and(|evaluation| evaluation.answer.action == GateAction::Escalate)
}

#[cfg(test)]
mod tests;
