//! The steps of a task, in sentences.

use std::fmt::Write;

use stopgate_core::clip;
use stopgate_gates::{AgentSignal, Evaluation, TaskStatus, TaskStep, Validated};

const REASON_BYTES_MAX: usize = 120;

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
