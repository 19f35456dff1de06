//! Bad arguments of every kind, for every tool: a clear sentence, and nothing stored.

use serde_json::{Map, Value, json};

use crate::client::{Client, Scene, events_in};

/// What fits a property of `schema`, as far as shape goes.
fn fitting(schema: &Value) -> Value {
    if let Some(words) = schema["enum"].as_array() {
        return words[0].clone();
    }
    match schema["type"].as_str().unwrap_or("string") {
        "integer" | "number" => schema["minimum"].as_u64().map_or(json!(1), Value::from),
        "boolean" => json!(true),
        "array" => match &schema["items"] {
            Value::Null => json!([]),
            items => json!([fitting(items)]),
        },
        "object" => Value::Object(required(schema)),
        _text => json!("x"),
    }
}

/// Arguments that fit, with nothing but what is required.
fn required(schema: &Value) -> Map<String, Value> {
    let names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| (name.into(), fitting(&schema["properties"][name]))).collect()
}

/// What does not fit a property, and the words that must be in the answer.
fn misfits(schema: &Value) -> Vec<(Value, &'static str)> {
    let mut bad = Vec::new();
    let kinds = [json!(true), json!(7), json!("x"), json!([]), json!({}), json!(2.5)];
    for given in kinds {
        if schema["enum"].is_array() {
            bad.push((given, "Must be one of: "));
        } else if !is_a(&schema["type"], &given) {
            bad.push((given, "Must be of type: "));
        }
    }
    if let Some(least) = schema["minimum"].as_i64() {
        bad.push((json!(least - 1), "Must be at least "));
    }
    if let Some(most) = schema["maximum"].as_i64() {
        bad.push((json!(most + 1), "Must be at most "));
    }
    if schema["minItems"].is_u64() {
        bad.push((json!([]), "Must have at least "));
    }
    if schema["minLength"].is_u64() {
        bad.push((json!(" "), "Must not be empty"));
    }
    if schema["items"]["type"] == "string" {
        bad.push((json!([5]), "[0]: Must be of type: string"));
    }
    if schema["items"]["type"] == "object" {
        bad.push((json!([{}]), "Is required"));
        bad.push((json!(["x"]), "[0]: Must be of type: object"));
    }
    bad
}

fn is_a(kind: &Value, given: &Value) -> bool {
    let fits = |word: &str| match word {
        "string" => given.is_string(),
        "boolean" => given.is_boolean(),
        "integer" => given.is_u64(),
        "array" => given.is_array(),
        "object" => given.is_object(),
        other => panic!("a new kind: {other}"),
    };
    match kind {
        Value::Array(words) => words.iter().filter_map(Value::as_str).any(fits),
        word => word.as_str().is_some_and(fits),
    }
}

fn tools(client: &mut Client) -> Vec<Value> {
    let listed = client.ask("tools/list", &json!({}));
    listed["result"]["tools"].as_array().expect("tools").clone()
}

/// Calls, and sees that it is refused with `words` and what to do.
#[track_caller]
fn check(client: &mut Client, tool: &str, arguments: &Value, words: &str) {
    let said = client.refused(tool, arguments);
    assert!(said.contains(words), "{tool} {arguments}: {said:?} lacks {words:?}");
    assert!(said.contains(tool), "{tool} {arguments}: {said:?}");
    assert!(said.ends_with("Nothing was stored. Correct them and call again."), "{said}");
}

#[test]
fn every_misfit_of_every_tool_is_told() {
    let scene = Scene::new();
    let mut client = scene.client();
    let mut told = 0;
    for tool in tools(&mut client) {
        let name = tool["name"].as_str().expect("a name");
        let schema = &tool["inputSchema"];
        let good = required(schema);
        for missing in good.keys() {
            let mut bad = good.clone();
            bad.remove(missing);
            check(&mut client, name, &json!(bad), &format!("{missing}: Is required"));
            bad.insert(missing.clone(), Value::Null);
            check(&mut client, name, &json!(bad), &format!("{missing}: Is required"));
        }
        for (property, schema) in schema["properties"].as_object().expect("properties") {
            for (given, words) in misfits(schema) {
                let mut bad = good.clone();
                bad.insert(property.clone(), given);
                check(&mut client, name, &json!(bad), words);
                told += 1;
            }
        }
        let mut bad = good.clone();
        bad.insert("noSuchArgument".into(), json!(1));
        check(&mut client, name, &json!(bad), "noSuchArgument: Is unknown; known are: ");
    }
    assert!(told > 200, "only {told} misfits were tried");
    assert_eq!(events_in(&scene.home()), 0, "something was stored");
}

#[test]
fn ids_of_nothing_are_told_and_nothing_is_stored() {
    let scene = Scene::new();
    let mut client = scene.client();
    let before = {
        client.task();
        events_in(&scene.home())
    };
    let unknown = [
        ("task_get", json!({"id": "TASK-none"}), "Task not found: TASK-none"),
        ("task_update", json!({"id": "TASK-none", "title": "t"}), "Task not found: TASK-none"),
        (
            "hook_register",
            json!({"taskId": "TASK-none", "hookType": "default"}),
            "Task not found: TASK-none",
        ),
        ("hook_list", json!({"taskId": "TASK-none"}), "Task not found: TASK-none"),
        ("hook_clear", json!({"taskId": "TASK-none"}), "Task not found: TASK-none"),
        (
            "hook_update",
            json!({"hookId": "HOOK-none", "enabled": true}),
            "Hook not found: HOOK-none",
        ),
        (
            "hook_evaluate",
            json!({"iterationId": "IT-none"}),
            "Iteration checkpoint not found: IT-none",
        ),
        (
            "iteration_start",
            json!({"taskId": "TASK-none", "maxIterations": 3, "completionPromises": ["COMPLETE"]}),
            "Task not found: TASK-none",
        ),
        (
            "iteration_validate",
            json!({"iterationId": "IT-none"}),
            "Iteration checkpoint not found: IT-none",
        ),
        (
            "iteration_next",
            json!({"iterationId": "IT-none"}),
            "Iteration checkpoint not found: IT-none",
        ),
        (
            "iteration_complete",
            json!({"iterationId": "IT-none", "completionPromise": "COMPLETE"}),
            "Iteration checkpoint not found: IT-none",
        ),
        ("checkpoint_create", json!({"taskId": "TASK-none"}), "Task not found: TASK-none"),
        ("checkpoint_resume", json!({"taskId": "TASK-none"}), "Task not found: TASK-none"),
        ("loop_status", json!({"id": "nosuchloop"}), "No loop is called nosuchloop"),
        ("loop_done", json!({"id": "nosuchloop"}), "No loop is called nosuchloop"),
    ];
    for (tool, arguments, words) in unknown {
        let said = client.refused(tool, &arguments);
        assert!(said.contains(words), "{tool}: {said}");
    }
    assert_eq!(events_in(&scene.home()), before, "something was stored");
}

#[test]
fn what_is_wrong_deeper_down_is_told_too() {
    let scene = Scene::new();
    let mut client = scene.client();
    let (task, iteration) = client.iteration();
    let before = events_in(&scene.home());
    let start = |rules: Value| {
        json!({
            "taskId": task, "maxIterations": 3, "completionPromises": ["COMPLETE"],
            "validationRules": rules,
        })
    };
    let gate = |gate: Value| json!({"taskId": task, "hookType": "custom", "gate": gate});
    let bad = [
        ("iteration_start", start(json!([{"type": "command", "name": "n", "config": {}}]))),
        (
            "iteration_start",
            start(json!([{"type": "coverage", "name": "n", "config": {"minCoverage": 101}}])),
        ),
        ("iteration_start", start(json!([{"type": "magic", "name": "n", "config": {}}]))),
        ("hook_register", json!({"taskId": task, "hookType": "custom"})),
        ("hook_register", gate(json!({}))),
        ("hook_register", gate(json!({"if": "iteration >", "action": "complete", "reason": "r"}))),
        ("hook_register", gate(json!({"if": "true", "action": "explode", "reason": "r"}))),
        ("hook_register", gate(json!({"not": []}))),
        (
            "hook_register",
            gate(json!({"if": "iteration > 1 && true", "action": "complete", "reason": "r"})),
        ),
        ("iteration_complete", json!({"iterationId": iteration, "completionPromise": "SOMETHING"})),
    ];
    for (tool, arguments) in bad {
        let said = client.refused(tool, &arguments);
        assert!(said.len() > 20, "{tool} {arguments}: {said}");
    }
    assert_eq!(events_in(&scene.home()), before, "something was stored");
}

#[test]
fn arguments_that_are_no_object_are_a_fault_of_the_client() {
    let scene = Scene::new();
    let mut client = scene.client();
    for arguments in [json!([1]), json!("x"), json!(5)] {
        let answer = client.call_raw("task_create", &arguments);
        assert_eq!(answer["error"]["code"], -32602, "{arguments}: {answer}");
        let said = answer["error"]["message"].as_str().expect("a message");
        assert!(said.ends_with("arguments must be an object"), "{said}");
    }
    client.task();
}
