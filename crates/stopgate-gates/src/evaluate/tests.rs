use serde_json::{Value, json};
use stopgate_core::GateAction;

use super::{GateSource, Hands, evaluate};
use crate::gate::{CommandGate, Gate};
use crate::promise::detect;
use crate::words::{AgentContext, ValidationResult};

/// Commands say what their text is; `fail …` could not be run.
struct Echo;

impl Hands for Echo {
    fn ask(&mut self, gate: &CommandGate, context: &str) -> Result<String, String> {
        assert!(context.contains("\"iteration\":3"), "{context}");
        match gate.command.strip_prefix("fail ") {
            Some(why) => Err(why.into()),
            None => Ok(gate.command.clone()),
        }
    }

    fn micros(&mut self) -> u64 {
        0
    }
}

/// Words: promises by name, `ok`/`bad` rules, `off` for a disabled gate before it.
fn scene(words: &str) -> AgentContext {
    let mut output = String::new();
    let mut results = Vec::new();
    for word in words.split_whitespace() {
        match word {
            "ok" | "bad" => results.push(ValidationResult {
                rule_name: word.into(),
                passed: word == "ok",
                message: "exit 1".into(),
                ..ValidationResult::default()
            }),
            promise => output.extend(["<promise>", promise, "</promise> "]),
        }
    }
    AgentContext {
        task_id: "TASK-1".into(),
        iteration: 3,
        validation_results: results,
        completion_promises: detect(&output, "now"),
        agent_output: Some(output),
        ..AgentContext::default()
    }
}

#[track_caller]
fn check(gates: &[Value], words: &str, expected: &str) {
    let gates: Vec<(bool, Gate)> = gates
        .iter()
        .map(|value| match value.get("off") {
            Some(inner) => (false, Gate::read(inner).expect("a gate")),
            None => (true, Gate::read(value).expect("a gate")),
        })
        .collect();
    let ids: Vec<String> = (1..=gates.len()).map(|n| n.to_string()).collect();
    let sources: Vec<GateSource<'_>> = gates
        .iter()
        .zip(&ids)
        .map(|((enabled, gate), id)| GateSource { id, enabled: *enabled, gate: Some(gate) })
        .collect();
    let evaluation = evaluate(&sources, &scene(words), &mut Echo);
    let got = format!(
        "{} {}: {}",
        evaluation.gate,
        evaluation.answer.action.word(),
        evaluation.answer.reason
    );
    assert_eq!(got, expected, "{words}");
}

#[test]
fn presets_judge_in_exactly_their_order() {
    let default = [json!("default")];
    check(
        &default,
        "COMPLETE ESCALATE BLOCKED bad",
        "1 complete: Agent signaled completion via <promise>COMPLETE</promise>",
    );
    check(
        &default,
        "BLOCKED ESCALATE ok",
        "1 escalate: Agent signaled escalation via <promise>ESCALATE</promise>",
    );
    check(
        &default,
        "BLOCKED ok",
        "1 escalate: Agent signaled blocked via <promise>BLOCKED</promise>",
    );
    check(&default, "ok ok", "1 complete: All validation rules passed");
    check(&default, "ok bad bad", "1 continue: 2 validation rule(s) failed");
    check(&default, "", "1 continue: Iteration in progress");
    let validation = [json!("validation")];
    check(&validation, "COMPLETE bad", "1 continue: 1 validation rule(s) failed");
    check(&validation, "BLOCKED ok", "1 complete: All validation rules passed");
    check(&validation, "COMPLETE", "1 continue: No validation rules configured");
    let promise = [json!("promise")];
    check(
        &promise,
        "COMPLETE BLOCKED bad",
        "1 complete: Agent signaled completion via <promise>COMPLETE</promise>",
    );
    check(
        &promise,
        "ESCALATE",
        "1 escalate: Agent signaled escalation via <promise>ESCALATE</promise>",
    );
    check(&promise, "ok", "1 continue: No completion promise detected");
}

#[test]
fn failures_are_told_in_the_next_prompt() {
    let gate = Gate::named("validation").expect("a preset");
    let source = GateSource { id: "1", enabled: true, gate: Some(&gate) };
    let next = evaluate(&[source], &scene("ok bad"), &mut Echo).answer.next_prompt;
    assert_eq!(next.as_deref(), Some("Fix the following validation failures:\n- bad: exit 1"));
}

#[test]
fn the_first_that_does_not_continue_ends_and_else_the_last_is_heard() {
    check(&[], "COMPLETE", "default continue: No hooks registered for this task");
    let three = [json!("validation"), json!("promise"), json!("default")];
    check(
        &three,
        "ESCALATE",
        "2 escalate: Agent signaled escalation via <promise>ESCALATE</promise>",
    );
    check(&three, "ok ESCALATE", "1 complete: All validation rules passed");
    check(&three, "", "3 continue: Iteration in progress");
    let last_off = [json!("promise"), json!({"off": "default"})];
    check(&last_off, "", "1 continue: No completion promise detected");
    check(
        &[json!({"off": "default"})],
        "COMPLETE",
        "default continue: No hook applies: each is disabled or its condition does not hold",
    );
}

#[test]
fn gates_after_the_end_are_not_asked() {
    let gates = [Gate::named("promise"), Gate::named("default")].map(|gate| gate.expect("a gate"));
    let sources = [
        GateSource { id: "a", enabled: true, gate: Some(&gates[0]) },
        GateSource { id: "b", enabled: true, gate: Some(&gates[1]) },
    ];
    let evaluation = evaluate(&sources, &scene("COMPLETE"), &mut Echo);
    assert_eq!(evaluation.traces.len(), 1);
}

#[test]
fn a_gate_that_fails_escalates_with_its_error() {
    check(
        &[json!({"command": "fail not found"})],
        "",
        "1 escalate: Hook evaluation failed: not found",
    );
    let gate =
        Gate::read(&json!({"if": "filesModified[7] > 1", "action": "complete", "reason": "r"}));
    let gate = gate.expect("a gate");
    let source = GateSource { id: "1", enabled: true, gate: Some(&gate) };
    let answer = evaluate(&[source], &scene(""), &mut Echo).answer;
    assert_eq!(answer.action, GateAction::Escalate);
    let error = answer.metadata["error"].as_str().expect("an error");
    assert_eq!(answer.reason, format!("Hook evaluation failed: {error}"));
}

#[test]
fn rules_templates_and_commands_answer() {
    let tired = json!({"if": "iteration > 2", "action": "escalate", "reason": "{{ iteration }} is too many"});
    check(&[tired], "", "1 escalate: 3 is too many");
    let two = json!({"rules": [{"if": "false", "action": "complete", "reason": "no"}]});
    check(&[two], "", "1 continue: Iteration in progress");
    check(&[json!("tdd")], "bad", "1 continue: Tests still failing");
    check(&[json!("security-remediation")], "", "1 continue: Vulnerabilities remain");
    check(&[json!("midpoint-checkpoint")], "", "1 continue: Iteration in progress");
    check(
        &[json!({"command": "{\"action\":\"complete\",\"reason\":\"by hand\"}"})],
        "",
        "1 complete: by hand",
    );
}

#[test]
fn parts_are_joined_by_all_any_first_and_not() {
    let yes = json!({"action": "complete", "reason": "yes"});
    let no = json!({"action": "continue", "reason": "no"});
    let help = json!({"action": "escalate", "reason": "help"});
    for (gate, expected) in [
        (json!({"all": [yes, yes]}), "complete: yes"),
        (json!({"all": [yes, no]}), "continue: no"),
        (json!({"all": [no, help]}), "escalate: help"),
        (json!({"any": [no, yes]}), "complete: yes"),
        (json!({"any": [help, yes]}), "complete: yes"),
        (json!({"any": [help, no]}), "escalate: help"),
        (json!({"any": [no, no]}), "continue: no"),
        (json!({"first": [no, help, yes]}), "escalate: help"),
        (json!({"not": yes}), "continue: not: yes"),
        (json!({"not": no}), "complete: not: no"),
        (json!({"not": help}), "escalate: help"),
        (json!({"not": {"all": [yes, {"any": [no, no]}]}}), "complete: not: no"),
    ] {
        check(&[gate], "", &format!("1 {expected}"));
    }
}

#[test]
fn a_condition_that_does_not_hold_passes_the_gate_over() {
    let never = json!({"type": "promise", "when": "iteration > 99"});
    let always = json!({"type": "promise", "when": "iteration == 3"});
    check(
        std::slice::from_ref(&never),
        "COMPLETE",
        "default continue: No hook applies: each is disabled or its condition does not hold",
    );
    check(
        &[always],
        "COMPLETE",
        "1 complete: Agent signaled completion via <promise>COMPLETE</promise>",
    );
    check(
        &[json!({"all": [never, "validation"]})],
        "ok",
        "1 complete: All validation rules passed",
    );
}

#[test]
fn a_gate_that_cannot_be_read_lets_nothing_pass() {
    let source = GateSource { id: "1", enabled: true, gate: None };
    let evaluation = evaluate(&[source], &scene("COMPLETE"), &mut Echo);
    assert_eq!(evaluation.answer.action, GateAction::Escalate);
    assert!(evaluation.traces[0].failed);
}
