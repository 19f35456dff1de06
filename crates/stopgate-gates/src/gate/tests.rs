use serde_json::{Value, json};

use super::Gate;

#[test]
fn a_definition_is_read_back_as_it_was() {
    for definition in [
        json!({"type": "default"}),
        json!({"type": "tdd", "when": "iteration > 2"}),
        json!({"rules": [{"if": "iteration > 10", "action": "escalate", "reason": "{{ iteration }} is a lot"}]}),
        json!({"command": "./gate", "timeoutMs": 500}),
        json!({"all": [{"type": "promise"}, {"not": {"any": [{"type": "validation"}]}}], "when": "true"}),
        json!({"first": [{"rules": [{"action": "continue", "reason": "r", "nextPrompt": "n",
            "checkpointData": {"executionPhase": "p", "executionStep": 5}}]}]}),
    ] {
        let gate = Gate::read(&definition).unwrap_or_else(|error| panic!("{definition}: {error}"));
        assert_eq!(gate.definition(), definition);
    }
}

#[test]
fn short_forms_mean_the_long_ones() {
    check(&json!("promise"), &json!({"type": "promise"}));
    check(
        &json!({"if": "iteration > 1", "action": "complete", "reason": "r"}),
        &json!({"rules": [{"if": "iteration > 1", "action": "complete", "reason": "r"}]}),
    );
    check(&json!({"all": ["promise"]}), &json!({"all": [{"type": "promise"}]}));
}

#[test]
fn every_mistake_is_told_with_its_place() {
    for (definition, expected) in [
        (json!(7), "gate: Must be of type: object"),
        (json!("nonsense"), "gate: no gate is called \"nonsense\""),
        (json!({}), "gate: give one of:"),
        (json!({"all": ["promise"], "any": ["promise"]}), "exclude each other"),
        (json!({"all": []}), "gate.all: Must have at least 1 item"),
        (json!({"all": "promise"}), "gate.all: Must be of type: array"),
        (json!({"all": ["promise", {"any": ["x"]}]}), "gate.all[1].any[0]: no gate is called"),
        (json!({"if": "iteration >", "action": "complete", "reason": "r"}), "gate.if: "),
        (json!({"if": "true", "action": "stop", "reason": "r"}), "gate.action: Must be one of"),
        (json!({"if": "true", "action": "complete"}), "gate.reason: say why"),
        (json!({"if": 1, "action": "complete", "reason": "r"}), "gate.if: Must be of type: string"),
        (
            json!({"if": "true", "action": "complete", "reason": "r", "color": 1}),
            "gate.color: unknown",
        ),
        (json!({"command": ""}), "gate.command: Must be 1 to"),
        (json!({"command": "x", "timeoutMs": 1}), "gate.timeoutMs: Must be an integer from 100"),
        (json!({"type": "tdd", "when": "a && b"}), "write `and` instead of `&&`"),
    ] {
        let error = Gate::read(&definition).expect_err(&definition.to_string());
        assert!(error.contains(expected), "{definition}: {error}");
    }
}

#[test]
fn a_gate_stays_small() {
    let deep = (0..9).fold(json!("promise"), |gate, _| json!({ "not": gate }));
    assert!(Gate::read(&deep).expect_err("deep").contains("too large"));
    let wide = json!({ "all": vec!["promise"; 33] });
    assert!(Gate::read(&wide).expect_err("wide").contains("at most 32"));
}

#[track_caller]
fn check(short: &Value, long: &Value) {
    let gate = Gate::read(short).unwrap_or_else(|error| panic!("{short}: {error}"));
    assert_eq!(gate.definition(), *long);
}
