//! Tools, the hook and the commands see the same loops.

use serde_json::{Value, json};

use crate::stage::Stage;

/// Calls one tool of a server that lives for that call; its answer, which is not an error.
fn tool(stage: &Stage, variables: &[(&str, &str)], name: &str, arguments: &Value) -> Value {
    let answer = call(stage, variables, name, arguments);
    assert_ne!(answer["result"]["isError"], true, "{name}: {answer}");
    answer["result"]["structuredContent"].clone()
}

/// The same, whatever is answered.
fn call(stage: &Stage, variables: &[(&str, &str)], name: &str, arguments: &Value) -> Value {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}});
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": name, "arguments": arguments}});
    let mut command = stage.command("mcp");
    command.envs(variables.iter().copied());
    let ran = stage.finish(command, format!("{hello}\n{ready}\n{call}\n").as_bytes());
    let answers = ran.out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut answers = answers.filter(|answer| answer["id"] == 2);
    answers.next().unwrap_or_else(|| panic!("{name}: {ran}"))
}

fn started(stage: &Stage, variables: &[(&str, &str)]) -> (String, String, Value) {
    let task = tool(stage, &[], "task_create", &json!({"title": "Ship it"}));
    let task = task["id"].as_str().expect("an id").to_string();
    let asked = json!({"taskId": task, "maxIterations": 5, "completionPromises": ["COMPLETE"]});
    let begun = tool(stage, variables, "iteration_start", &asked);
    let iteration = begun["iterationId"].as_str().expect("an id").to_string();
    (task, iteration, begun["heldSession"].clone())
}

#[test]
fn an_iteration_is_held_by_the_hook_of_its_session_until_it_is_complete() {
    let stage = Stage::new();
    let own = [("CLAUDE_CODE_SESSION_ID", "s1")];
    let (task, iteration, held) = started(&stage, &own);
    assert_eq!(held, "s1");
    let id = task.strip_prefix("TASK-").expect("a task's name");
    let answer = stage.stop("s1", "I think that is all.").to_string();
    assert!(answer.contains("Loop 1/5: not finished yet"), "{answer}");
    assert!(
        answer.contains(&format!("Iterations {iteration} of task {task} are running")),
        "{answer}"
    );
    assert!(!stage.stop("s2", "Another session.").is_sent_back());
    assert_eq!(stage.standing(id), "active 1/5 s1");
    let complete = json!({"iterationId": iteration, "completionPromise": "COMPLETE"});
    tool(&stage, &own, "iteration_complete", &complete);
    assert!(!stage.stop("s1", "Now it is all.").is_sent_back());
    assert_eq!(stage.standing(id), "attested 1/5 s1");
}

#[test]
fn without_a_name_the_session_of_the_servers_client_is_held() {
    let stage = Stage::new();
    // This test is the client: the hook and the server are its children.
    stage.session_start("s7", "startup").send();
    let (_, _, held) = started(&stage, &[]);
    assert_eq!(held, "s7");
    assert!(stage.stop("s7", "Done?").is_sent_back());
}

#[test]
fn what_the_hook_ends_blocks_the_task_and_a_person_lets_it_go_on() {
    let stage = Stage::new();
    let own = [("CLAUDE_CODE_SESSION_ID", "s1")];
    let (task, iteration, _) = started(&stage, &own);
    for _ in 0..3 {
        assert!(stage.stop("s1", "Still here.").is_sent_back());
    }
    assert!(!stage.stop("s1", "Still here.").is_sent_back());
    let seen = tool(&stage, &own, "task_get", &json!({"id": task}));
    assert_eq!(seen["status"], "blocked");
    assert!(seen["blockedReason"].as_str().expect("a reason").starts_with("stalled: "), "{seen}");
    tool(&stage, &own, "task_update", &json!({"id": task, "status": "in_progress"}));
    assert!(stage.stop("s1", "Again at it.").is_sent_back());
    let next = tool(&stage, &own, "iteration_next", &json!({"iterationId": iteration}));
    assert_eq!(next["iterationNumber"], 2);
}

#[test]
fn a_person_cancels_a_task_from_any_shell() {
    let stage = Stage::new();
    let own = [("CLAUDE_CODE_SESSION_ID", "s1")];
    let (task, _, _) = started(&stage, &own);
    let id = task.strip_prefix("TASK-").expect("a task's name");
    assert_eq!(stage.run(&format!("cancel {id}")).code, 0);
    assert!(!stage.stop("s1", "Oh.").is_sent_back());
    assert_eq!(tool(&stage, &own, "task_get", &json!({"id": task}))["status"], "cancelled");
    assert!(
        stage.history(id).contains("iterations began, at most 5; session s1 is held"),
        "{}",
        stage.history(id)
    );
}

#[test]
fn a_task_moves_with_the_journal() {
    let stage = Stage::new();
    let (task, iteration, _) = started(&stage, &[("CLAUDE_CODE_SESSION_ID", "s1")]);
    let register = json!({"taskId": task, "hookType": "promise"});
    tool(&stage, &[], "hook_register", &register);
    let copy = stage.path("copy.db").display().to_string();
    let ran = stage.run(&format!("store copy --to sqlite:{copy}"));
    assert_eq!(ran.code, 0, "{ran}");
    let there = [("STOPGATE_STORE", format!("sqlite:{copy}"))];
    let there: Vec<(&str, &str)> = there.iter().map(|(k, v)| (*k, v.as_str())).collect();
    let decision = json!({"iterationId": iteration, "agentOutput": "<promise>COMPLETE</promise>"});
    assert_eq!(tool(&stage, &there, "hook_evaluate", &decision)["action"], "complete");
    let listed = tool(&stage, &[], "hook_list", &json!({"taskId": task}));
    assert_eq!(listed["hooks"][0]["metrics"]["evaluations"], 0, "the first journal is as it was");
}

/// A task with one rule, a command, and the gates that are named.
fn ruled(stage: &Stage, rule: &str, command: &str, hooks: &[&str]) -> (String, String, Value) {
    let own = [("CLAUDE_CODE_SESSION_ID", "s1")];
    let task = tool(stage, &own, "task_create", &json!({"title": "Ship it"}));
    let task = task["id"].as_str().expect("an id").to_string();
    for hook in hooks {
        tool(stage, &own, "hook_register", &json!({"taskId": task, "hookType": hook}));
    }
    let rule = json!({"type": "command", "name": rule, "config": {"command": command}});
    let asked = json!({
        "taskId": task, "maxIterations": 9, "completionPromises": ["COMPLETE", "BLOCKED"],
        "validationRules": [rule],
    });
    let begun = tool(stage, &own, "iteration_start", &asked);
    let iteration = begun["iterationId"].as_str().expect("an id").to_string();
    (task, iteration, begun)
}

#[test]
fn a_promise_at_the_stop_is_held_by_the_tasks_rules_and_gates() {
    for hooks in [&[][..], &["tdd"]] {
        let stage = Stage::new();
        let (task, _, _) = ruled(&stage, "tests_pass", "test -e ready", hooks);
        let id = task.strip_prefix("TASK-").expect("a task's name");
        let answer = stage.stop("s1", "All done.\n\n<promise>COMPLETE</promise>");
        assert!(answer.is_sent_back(), "{hooks:?}: {answer}");
        assert!(answer.to_string().contains("tests_pass"), "{hooks:?}: {answer}");
        let seen = tool(&stage, &[], "task_get", &json!({"id": task}));
        assert_eq!(seen["status"], "in_progress", "{hooks:?}");
        stage.write("project/ready", "");
        let answer = stage.stop("s1", "Now it is.\n\n<promise>COMPLETE</promise>");
        assert!(!answer.is_sent_back(), "{hooks:?}: {answer}");
        assert!(stage.standing(id).starts_with("attested"), "{hooks:?}");
        let seen = tool(&stage, &[], "task_get", &json!({"id": task}));
        assert_eq!(
            (&seen["status"], &seen["iteration"]["status"]),
            (&json!("completed"), &json!("completed"))
        );
    }
}

#[test]
fn a_promise_by_tool_is_held_by_the_tasks_rules_and_gates() {
    let stage = Stage::new();
    let own = [("CLAUDE_CODE_SESSION_ID", "s1")];
    let (task, iteration, _) = ruled(&stage, "tests_pass", "test -e ready", &["tdd"]);
    let complete = json!({"iterationId": iteration, "completionPromise": "COMPLETE"});
    let update = json!({"id": task, "status": "completed"});
    for (name, ask) in [("iteration_complete", &complete), ("task_update", &update)] {
        let answer = call(&stage, &own, name, ask);
        assert_eq!(answer["result"]["isError"], true, "{name}: {answer}");
        assert!(answer.to_string().contains("tests_pass"), "{name}: {answer}");
    }
    assert!(stage.stop("s1", "So?").is_sent_back());
    stage.write("project/ready", "");
    tool(&stage, &own, "iteration_complete", &complete);
    assert_eq!(tool(&stage, &own, "task_get", &json!({"id": task}))["status"], "completed");
}

#[test]
fn an_honest_exit_is_heard_whatever_the_rules_say() {
    let stage = Stage::new();
    let own = [("CLAUDE_CODE_SESSION_ID", "s1")];
    let (task, iteration, _) = ruled(&stage, "tests_pass", "false", &["tdd"]);
    let blocked = json!({"iterationId": iteration, "completionPromise": "BLOCKED"});
    tool(&stage, &own, "iteration_complete", &blocked);
    assert_eq!(tool(&stage, &own, "task_get", &json!({"id": task}))["status"], "blocked");
}

#[test]
fn what_was_seen_beats_what_is_told() {
    let stage = Stage::new();
    let own = [("CLAUDE_CODE_SESSION_ID", "s1")];
    let (_, iteration, _) = ruled(&stage, "tests_pass", "false", &[]);
    let mut signals = Vec::new();
    for _ in 0..5 {
        let ask = json!({"iterationId": iteration});
        let answer = call(&stage, &own, "iteration_validate", &ask);
        signals.push(answer["result"]["structuredContent"]["completionSignal"].clone());
        let told = json!({"iterationId": iteration, "validationResult": {"passed": true}});
        call(&stage, &own, "iteration_next", &told);
    }
    assert!(signals.contains(&json!("ESCALATE")), "{signals:?}");
}

#[test]
fn a_hook_that_waits_for_a_rule_that_is_not_there_says_so() {
    let stage = Stage::new();
    let (task, _, begun) = ruled(&stage, "unit tests", "true", &["tdd"]);
    assert!(begun["warnings"].to_string().contains("tests_pass"), "{begun}");
    let register = json!({"taskId": task, "hookType": "security-remediation"});
    let hook = tool(&stage, &[], "hook_register", &register);
    let warnings = hook["warnings"].to_string();
    assert!(warnings.contains("vulns_fixed") && warnings.contains("sast_clean"), "{hook}");
}

#[test]
fn a_gate_with_an_unknown_filter_or_test_is_refused_when_it_is_registered() {
    let stage = Stage::new();
    let (task, _, _) = ruled(&stage, "tests_pass", "true", &[]);
    let gate = |condition: &str, reason: &str| {
        let gate = json!({"if": condition, "action": "escalate", "reason": reason});
        call(&stage, &[], "hook_register", &json!({"taskId": task, "gate": gate}))
    };
    for (condition, reason) in [
        ("filesModified|lenght > 3", "many"),
        ("iteration > 99 and filesModified|lenght > 3", "many"),
        ("iteration is prime", "odd"),
        ("iteration > 3", "{{ filesModified|lenght }} files"),
    ] {
        let answer = gate(condition, reason);
        assert_eq!(answer["result"]["isError"], true, "{condition}: {answer}");
        assert!(answer.to_string().contains("unknown"), "{condition}: {answer}");
    }
    let fine = gate("filesModified|length > 3 and iteration is not odd", "this | that is so");
    assert_ne!(fine["result"]["isError"], true, "{fine}");
}
