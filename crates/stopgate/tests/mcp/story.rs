//! The tale of one task: gates, three iterations, and the end, by tools alone.

use std::fs;

use serde_json::json;

use crate::client::{Client, Scene, id};

#[test]
fn a_task_is_iterated_until_its_gates_agree() {
    let scene = Scene::new();
    let mut client = scene.client();
    let task = client.task();
    let found = client.done("task_get", &json!({"id": task}));
    assert_eq!((&found["status"], &found["hookCount"]), (&json!("pending"), &json!(0)));

    let hook = client.done("hook_register", &json!({"taskId": task, "hookType": "default"}));
    assert_eq!(hook["enabled"], true);
    let started = client.done(
        "iteration_start",
        &json!({
            "taskId": task,
            "maxIterations": 10,
            "completionPromises": ["COMPLETE", "BLOCKED"],
            "validationRules": [
                {"type": "command", "name": "tests_pass", "config": {"command": "test -f done"}},
            ],
        }),
    );
    assert_eq!(started["iterationNumber"], 1, "{started}");
    let iteration = id(&started, "iterationId");

    for round in 1..=2 {
        let ask = json!({"iterationId": iteration, "agentOutput": format!("round {round}")});
        let validated = client.done("iteration_validate", &ask);
        assert_eq!(validated["completionSignal"], "CONTINUE", "{validated}");
        assert_eq!(validated["validationPassed"], false);
        assert_eq!(validated["hookDecision"]["action"], "continue");
        let prompt = id(&validated, "nextPrompt");
        assert!(prompt.contains("tests_pass"), "{prompt}");
        let ask = json!({"iterationId": iteration, "validationResult": validated});
        let next = client.done("iteration_next", &ask);
        assert_eq!(next["iterationNumber"], round + 1, "{next}");
    }

    fs::write(scene.project().join("done"), "").expect("do the work");
    let said = "All tests pass.\n\n<promise>COMPLETE</promise>";
    let ask = json!({"iterationId": iteration, "agentOutput": said, "filesModified": ["done"]});
    let validated = client.done("iteration_validate", &ask);
    assert_eq!(validated["completionSignal"], "COMPLETE", "{validated}");
    assert_eq!(validated["validationPassed"], true, "{validated}");

    let ask = json!({"iterationId": iteration, "completionPromise": "COMPLETE"});
    let completed = client.done("iteration_complete", &ask);
    assert_eq!(completed["taskStatus"], "completed", "{completed}");
    assert_eq!(completed["totalIterations"], 3, "{completed}");
    client.done("hook_clear", &json!({"taskId": task}));
    let listed = client.done("hook_list", &json!({"taskId": task}));
    assert_eq!(listed["hookCount"], 0);
    let found = client.done("task_get", &json!({"id": task}));
    assert_eq!(found["status"], "completed", "{found}");
}

#[test]
fn what_blocks_the_agent_blocks_the_task() {
    let scene = Scene::new();
    let mut client = scene.client();
    let (task, iteration) = client.iteration();
    let ask =
        json!({"iterationId": iteration, "agentOutput": "<promise>BLOCKED</promise>\nno key"});
    let validated = client.done("iteration_validate", &ask);
    assert_eq!(validated["completionSignal"], "BLOCKED", "{validated}");
    let ask = json!({"iterationId": iteration, "completionPromise": "BLOCKED"});
    client.done("iteration_complete", &ask);
    assert_eq!(client.done("task_get", &json!({"id": task}))["status"], "blocked");
}

#[test]
fn a_loop_is_begun_looked_at_and_claimed() {
    let scene = Scene::new();
    let mut command = scene.command(&["mcp"]);
    command.env("CLAUDE_CODE_SESSION_ID", "s1");
    let mut client = Client::of(command);
    let ask = json!({
        "goal": "the file is there",
        "checks": [{"name": "file", "command": "test -f there"}],
        "maxIterations": 5,
    });
    let begun = client.done("loop_start", &ask);
    assert_eq!(begun["session"], "s1", "{begun}");
    assert_eq!(begun["maxIterations"], 5, "{begun}");
    assert_eq!(begun["note"], "It holds session s1 from now on.");
    let refused = client.refused("loop_start", &ask);
    assert!(refused.contains("already holds session s1"), "{refused}");

    let status = client.done("loop_status", &json!({}));
    assert_eq!(status["note"], "Not proven yet: file.", "{status}");
    let seen = scene.run(&["status", "--session", "s1", "--json"]);
    assert!(seen.contains("the file is there"), "{seen}");

    let claimed = client.done("loop_done", &json!({}));
    assert_eq!(claimed["outcome"], json!(null), "a claim proves nothing: {claimed}");
    let said = client.refused("loop_done", &json!({"claim": "blocked"}));
    assert!(said.starts_with("Say why"), "{said}");
    let left = client.done("loop_done", &json!({"claim": "blocked", "why": "no disk"}));
    assert_eq!(left["outcome"], "blocked", "{left}");
}
