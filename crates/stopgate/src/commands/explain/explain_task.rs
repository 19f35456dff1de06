//! `explain TASK`: what its rules and gates said, time by time.

use stopgate_engine::tasks::{TaskEvaluation, TaskExplanation};

use crate::output::{self, Audience, BOLD, DIM, styled};

/// Shows a task to people, or to programs.
pub(super) fn show(task: &TaskExplanation, to: Audience) {
    if to == Audience::Programs {
        output::json(task);
        return;
    }
    let status = task.status.replace('_', " ");
    output::line(&format!("Task {}: {}", styled(BOLD, &task.id), styled(BOLD, &status)));
    output::line(&format!("  {}", task.title));
    if let Some(why) = &task.blocked_reason {
        output::line(&format!("  because {why}"));
    }
    if task.evaluations.is_empty() {
        output::line("\nIts rules and hooks were not asked yet.");
    }
    for evaluation in &task.evaluations {
        show_one(evaluation);
    }
    if task.stops > 0 {
        let id = task.id.trim_start_matches("TASK-");
        output::line(&format!("\nIts stops: stopgate explain {id}:1 to {id}:{}", task.stops));
    }
}

fn show_one(evaluation: &TaskEvaluation) {
    let signal = evaluation.signal.and_then(|signal| serde_json::to_value(signal).ok());
    let signal = signal.as_ref().and_then(|word| word.as_str()).unwrap_or("hooks asked");
    output::line(&format!(
        "\nIteration {}: {}  {}",
        evaluation.iteration,
        styled(BOLD, signal),
        styled(DIM, &evaluation.at)
    ));
    for rule in &evaluation.rules {
        let mark = if rule.passed { "✓" } else { "✗" };
        let first = rule.message.lines().next().unwrap_or_default();
        let first = first.trim_end_matches(':');
        output::line(&format!(
            "  {mark} rule {}: {first}, {} ms",
            rule.rule_name, rule.duration_ms
        ));
    }
    for gate in &evaluation.gates {
        let heard = if evaluation.heard.as_ref() == Some(&gate.gate) { "▶" } else { " " };
        let said = gate.action.map_or("skipped", |action| action.word());
        let failed = if gate.failed { " (it failed)" } else { "" };
        output::line(&format!(
            "  {heard} hook {}: {said}{failed}, {} µs: {}",
            gate.gate, gate.micros, gate.reason
        ));
    }
}
