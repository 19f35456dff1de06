//! Gates of every form, from the outside: what each decides, and what failed to decide.

use serde_json::{Value, json};

use crate::client::{Client, Scene, id};

/// What a task with this one gate is told after `said`.
fn decided(client: &mut Client, gate: &Value, said: &str) -> Value {
    let (task, iteration) = client.iteration();
    let ask = json!({"taskId": task, "hookType": "custom", "gate": gate});
    client.done("hook_register", &ask);
    let ask = json!({
        "iterationId": iteration, "agentOutput": said, "filesModified": ["a", "b"],
        "draftContent": "the draft", "draftType": "implementation",
    });
    client.done("hook_evaluate", &ask)
}

#[track_caller]
fn check(client: &mut Client, gate: &Value, said: &str, action: &str) {
    let told = decided(client, gate, said);
    assert_eq!(told["action"], action, "{gate}: {told}");
}

#[test]
fn expressions_see_everything_there_is() {
    let scene = Scene::new();
    let mut client = scene.client();
    let holds = [
        "iteration == 1",
        "filesModified|length == 2 and 'a' in filesModified",
        "agentOutput == 'hello'",
        "draftContent == 'the draft' and draftType == 'implementation'",
        "validationResults|length == 0",
        "taskId is startingwith 'TASK-'",
    ];
    for condition in holds {
        let gate = json!({"if": condition, "action": "complete", "reason": "it holds"});
        check(&mut client, &gate, "hello", "complete");
    }
    let gate = json!({"if": "iteration > 5", "action": "escalate", "reason": "too many"});
    check(&mut client, &gate, "hello", "continue");
}

#[test]
fn gates_are_chained() {
    let scene = Scene::new();
    let mut client = scene.client();
    let done = "<promise>COMPLETE</promise>";
    let yes = json!({"if": "true", "action": "complete", "reason": "yes"});
    let no = json!({"if": "true", "action": "continue", "reason": "not yet"});
    check(&mut client, &json!({"all": ["promise", yes]}), done, "complete");
    check(&mut client, &json!({"all": ["promise", no]}), done, "continue");
    check(&mut client, &json!({"any": ["promise", no]}), done, "complete");
    check(&mut client, &json!({"any": [no, no]}), done, "continue");
    check(&mut client, &json!({"first": [no, yes]}), done, "complete");
    check(&mut client, &json!({"not": no}), done, "complete");
    check(&mut client, &json!({"not": {"all": ["promise", yes]}}), done, "continue");
    let rules = json!({"rules": [
        {"if": "iteration > 5", "action": "escalate", "reason": "too many"},
        {"action": "complete", "reason": "else"},
    ]});
    check(&mut client, &rules, done, "complete");
}

#[test]
fn a_command_reads_the_context_and_decides() {
    let scene = Scene::new();
    let mut client = scene.client();
    let answer = r#"{"action":"complete","reason":"the script says so"}"#;
    let script = format!("grep -q '\"iteration\":1' && echo '{answer}'");
    let told = decided(&mut client, &json!({"command": script}), "x");
    assert_eq!(told["action"], "complete", "{told}");
    assert_eq!(told["reason"], "the script says so", "{told}");
    for broken in ["echo nonsense", "exit 3", "true"] {
        let told = decided(&mut client, &json!({"command": broken}), "x");
        assert_eq!(told["action"], "escalate", "{broken}: {told}");
        let reason = id(&told, "reason");
        assert!(reason.starts_with("Hook evaluation failed: "), "{broken}: {reason}");
        assert!(told["metadata"]["error"].is_string(), "{broken}: {told}");
    }
}

#[test]
fn a_gate_is_switched_off_and_left_out_on_a_condition() {
    let scene = Scene::new();
    let mut client = scene.client();
    let (task, iteration) = client.iteration();
    let ask = json!({"taskId": task, "hookType": "promise", "when": "iteration > 1"});
    client.done("hook_register", &ask);
    let ask = json!({"taskId": task, "hookType": "default"});
    let second = id(&client.done("hook_register", &ask), "hookId");
    let evaluate = json!({"iterationId": iteration, "agentOutput": "<promise>ESCALATE</promise>"});
    assert_eq!(client.done("hook_evaluate", &evaluate)["hookId"], json!(second));
    let off = client.done("hook_update", &json!({"hookId": second, "enabled": false}));
    assert_eq!(off["enabled"], false, "{off}");
    assert_eq!(client.done("hook_evaluate", &evaluate)["action"], "continue");
    client.done("iteration_next", &json!({"iterationId": iteration}));
    assert_eq!(client.done("hook_evaluate", &evaluate)["action"], "escalate");
}

#[test]
fn every_type_of_gate_can_be_registered() {
    let scene = Scene::new();
    let mut client = scene.client();
    let (task, iteration) = client.iteration();
    let types =
        ["default", "validation", "promise", "tdd", "security-remediation", "midpoint-checkpoint"];
    for hook_type in types {
        let ask = json!({"taskId": task, "hookType": hook_type});
        let made = client.done("hook_register", &ask);
        assert_eq!(made["hookType"], hook_type, "{made}");
    }
    let ask = json!({"iterationId": iteration, "agentOutput": "on it"});
    assert_eq!(client.done("hook_evaluate", &ask)["action"], "continue");
    let cleared = client.done("hook_clear", &json!({"taskId": task}));
    assert_eq!(cleared["hooksCleared"], types.len(), "{cleared}");
}
