//! The tools in detail: what lists say, what is refused, what is kept, and how it is told.

use serde_json::{Value, json};

use crate::client::{Client, Scene, id};

/// Starts iterations with these rules; the iteration's id.
fn with_rules(client: &mut Client, rules: &Value) -> (String, String) {
    let task = id(&client.done("task_create", &json!({"title": "t"})), "id");
    let ask = json!({
        "taskId": task, "maxIterations": 5, "completionPromises": ["COMPLETE", "BLOCKED"],
        "validationRules": rules,
    });
    let iteration = id(&client.done("iteration_start", &ask), "iterationId");
    (task, iteration)
}

#[test]
fn a_hook_in_the_list_says_its_type_in_its_metadata() {
    let scene = Scene::new();
    let mut client = scene.client();
    let (task, _) = client.iteration();
    client.done("hook_register", &json!({"taskId": task, "hookType": "default"}));
    let ask = json!({"taskId": task, "hookType": "promise", "metadata": {"type": "mine"}});
    client.done("hook_register", &ask);
    let listed = client.done("hook_list", &json!({"taskId": task}));
    assert_eq!(listed["hooks"][0]["metadata"]["type"], "default", "{listed}");
    assert_eq!(listed["hooks"][1]["metadata"]["type"], "mine", "{listed}");
}

#[test]
fn one_hook_is_removed_and_the_others_stay() {
    let scene = Scene::new();
    let mut client = scene.client();
    let (task, _) = client.iteration();
    let hook = |client: &mut Client, session: bool| {
        let ask = json!({"taskId": task, "hookType": "default", "session": session});
        id(&client.done("hook_register", &ask), "hookId")
    };
    let (first, second, third) =
        (hook(&mut client, false), hook(&mut client, true), hook(&mut client, false));
    for gone in [&first, &second] {
        let cleared = client.done("hook_clear", &json!({"taskId": task, "hookId": gone}));
        assert_eq!(cleared["hooksCleared"], 1, "{cleared}");
    }
    let listed = client.done("hook_list", &json!({"taskId": task}));
    assert_eq!(listed["hookCount"], 1, "{listed}");
    assert_eq!(listed["hooks"][0]["id"], json!(third), "{listed}");
    let refused = client.refused("hook_clear", &json!({"taskId": task, "hookId": first}));
    assert!(refused.contains("Hook not found"), "{refused}");
}

#[test]
fn an_iteration_can_not_be_validated_for_ever() {
    let scene = Scene::new();
    let mut client = scene.client();
    let (_, iteration) = client.iteration();
    let ask = json!({"iterationId": iteration, "agentOutput": "trying"});
    for _ in 0..20 {
        client.done("iteration_validate", &ask);
    }
    let refused = client.refused("iteration_validate", &ask);
    assert!(refused.contains("validated 20 times"), "{refused}");
    client.done("iteration_next", &json!({"iterationId": iteration}));
    assert_eq!(client.done("iteration_validate", &ask)["completionSignal"], "CONTINUE");
}

#[test]
fn a_broken_pattern_is_told_when_the_iterations_begin() {
    let scene = Scene::new();
    let mut client = scene.client();
    let task = client.task();
    let ask = json!({
        "taskId": task, "maxIterations": 5, "completionPromises": ["COMPLETE"],
        "validationRules": [{"type": "content_pattern", "name": "p", "config": {"pattern": "(x"}}],
    });
    let begun = client.done("iteration_start", &ask);
    let warning = begun["warnings"][0].as_str().expect("a warning");
    assert!(warning.starts_with("validationRules[0] can never pass: config.pattern"), "{warning}");
    assert!(warning.contains("unclosed group"), "{warning}");
}

#[test]
fn rules_that_pass_say_what_they_found() {
    let scene = Scene::new();
    std::fs::write(scene.project().join("a.txt"), "a").expect("a file");
    let report = "SF:a.rs\nDA:1,1\nDA:2,1\nDA:3,0\nDA:4,1\nend_of_record\n";
    std::fs::write(scene.project().join("lcov.info"), report).expect("a report");
    let mut client = scene.client();
    let rules = json!([
        {"type": "file_existence", "name": "one", "config": {"paths": ["a.txt", "b.txt"], "allMustExist": false}},
        {"type": "file_existence", "name": "none", "config": {"paths": ["c.txt"], "allMustExist": false}},
        {"type": "coverage", "name": "covered", "config": {"minCoverage": 70, "format": "lcov", "reportPath": "lcov.info"}},
    ]);
    let (_, iteration) = with_rules(&mut client, &rules);
    let told = client.done("iteration_validate", &json!({"iterationId": iteration}));
    let result =
        |at: usize| (told["results"][at]["passed"].clone(), id(&told["results"][at], "message"));
    assert_eq!(result(0), (json!(true), "Exists: a.txt".into()));
    assert_eq!(result(1), (json!(false), "None of the files exists: c.txt".into()));
    let (passed, message) = result(2);
    assert_eq!(passed, json!(true), "{message}");
    assert!(message.contains("75"), "{message}");
}

#[test]
fn work_products_are_kept_with_their_task() {
    let scene = Scene::new();
    let mut client = scene.client();
    let rules = json!([{"type": "content_pattern", "name": "p",
        "config": {"pattern": "^fn ", "target": "work_product_latest"}}]);
    let (task, iteration) = with_rules(&mut client, &rules);
    let product =
        json!({"type": "implementation", "title": "The parser", "content": "fn parse() {}"});
    let ask = json!({"id": task, "workProduct": product});
    let told = client.done("task_update", &ask);
    assert!(id(&told["workProducts"][0], "id").starts_with("WP-"), "{told}");
    assert_eq!(told["workProducts"][0]["content"], Value::Null, "lists stay short: {told}");
    let whole = client.done("task_get", &json!({"id": task, "includeWorkProducts": true}));
    assert_eq!(whole["workProducts"][0]["content"], "fn parse() {}", "{whole}");
    assert_eq!(whole["workProducts"][0]["iteration"], 1, "{whole}");
    let told = client.done("iteration_validate", &json!({"iterationId": iteration}));
    assert_eq!(told["validationPassed"], true, "{told}");
}

#[test]
fn every_time_is_written_alike() {
    let scene = Scene::new();
    let mut client = scene.client();
    let (task, iteration) = client.iteration();
    client.done("iteration_next", &json!({"iterationId": iteration}));
    client.done("checkpoint_create", &json!({"taskId": task}));
    let resumed = client.done("checkpoint_resume", &json!({"taskId": task}));
    let at = id(&resumed["history"][0], "at");
    assert!(at.ends_with('Z') && at.contains('T'), "{resumed}");
}

#[test]
fn the_phase_of_the_last_checkpoint_reaches_hooks() {
    let scene = Scene::new();
    let mut client = scene.client();
    let (task, iteration) = client.iteration();
    let gate =
        json!({"if": "executionPhase == 'testing'", "action": "complete", "reason": "tests"});
    client.done("hook_register", &json!({"taskId": task, "hookType": "custom", "gate": gate}));
    let ask = json!({"iterationId": iteration});
    assert_eq!(client.done("hook_evaluate", &ask)["action"], "continue");
    client.done("checkpoint_create", &json!({"taskId": task, "executionPhase": "testing"}));
    assert_eq!(client.done("hook_evaluate", &ask)["action"], "complete");
    let ask = json!({"iterationId": iteration, "executionPhase": "writing"});
    assert_eq!(client.done("hook_evaluate", &ask)["action"], "continue");
}

#[test]
fn refusals_name_arguments_as_the_caller_wrote_them() {
    let scene = Scene::new();
    let mut client = scene.client();
    let (task, _) = client.iteration();
    let refused = client.refused("hook_register", &json!({"taskId": task}));
    assert!(refused.contains("hookType: Is required"), "{refused}");
    let refused =
        client.refused("hook_register", &json!({"taskId": task, "hookType": "tdd", "gate": {}}));
    assert!(refused.starts_with("gate: "), "{refused}");
    let gate = json!({"if": "iteration >", "action": "complete", "reason": "x"});
    let refused = client
        .refused("hook_register", &json!({"taskId": task, "hookType": "custom", "gate": gate}));
    assert!(refused.starts_with("gate.if"), "{refused}");
    // A whole number is one, however it is written.
    let task = id(&client.done("task_create", &json!({"title": "t"})), "id");
    let ask = json!({"taskId": task, "maxIterations": 5.0, "completionPromises": ["COMPLETE"]});
    assert_eq!(client.done("iteration_start", &ask)["maxIterations"], 5);
}

#[test]
fn a_second_loop_is_refused_in_the_words_of_tools() {
    let scene = Scene::new();
    let mut client = scene.client();
    let ask = json!({"goal": "g", "session": "s-1"});
    client.done("loop_start", &ask);
    let refused = client.refused("loop_start", &ask);
    assert!(refused.contains("loop_done") && !refused.contains("--replace"), "{refused}");
}

#[test]
fn tools_have_titles_hints_and_closed_schemas() {
    let scene = Scene::new();
    let mut client = scene.client();
    let listed = client.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().expect("tools");
    for tool in tools {
        assert!(tool["title"].is_string(), "{tool}");
        assert!(tool["annotations"].is_object(), "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
    }
    let find = |name: &str| tools.iter().find(|tool| tool["name"] == name).expect("the tool");
    assert_eq!(find("task_get")["annotations"]["readOnlyHint"], true);
    assert_eq!(find("hook_register")["inputSchema"]["required"], json!(["taskId", "hookType"]));
    assert!(id(find("iteration_start"), "description").contains("attests"));
    assert!(id(find("loop_start"), "description").contains("prove"));
}

#[test]
fn explain_and_log_tell_what_rules_and_hooks_said() {
    let scene = Scene::new();
    let mut client = scene.client();
    let rules = json!([{"type": "command", "name": "tests_pass", "config": {"command": "false"}}]);
    let (task, iteration) = with_rules(&mut client, &rules);
    client.done("hook_register", &json!({"taskId": task, "hookType": "tdd"}));
    client.done("iteration_validate", &json!({"iterationId": iteration}));
    client.leave();
    let told = scene.run(&["explain", &task]);
    assert!(told.contains("Iteration 1: CONTINUE"), "{told}");
    assert!(told.contains("✗ rule tests_pass"), "{told}");
    assert!(told.contains("continue") && told.contains("Tests still failing"), "{told}");
    let json: Value =
        serde_json::from_str(&scene.run(&["explain", &task, "--json"])).expect("JSON");
    assert_eq!(json["evaluations"][0]["signal"], "CONTINUE", "{json}");
    assert_eq!(json["evaluations"][0]["gates"][0]["action"], "continue", "{json}");
    let logged = scene.run(&["log", &task]);
    assert!(logged.contains("iteration 1 validated: CONTINUE; failed: tests_pass"), "{logged}");
}
