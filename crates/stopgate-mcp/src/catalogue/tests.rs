use std::collections::BTreeSet;

use rmcp::model::ListToolsResult;

use super::*;

const ALL: [&str; 17] = [
    "task_create",
    "task_get",
    "task_update",
    "hook_register",
    "hook_update",
    "hook_list",
    "hook_clear",
    "hook_evaluate",
    "iteration_start",
    "iteration_validate",
    "iteration_next",
    "iteration_complete",
    "checkpoint_create",
    "checkpoint_resume",
    "loop_start",
    "loop_status",
    "loop_done",
];

/// What a client is told of `set`.
fn told(set: ToolSet) -> String {
    let answer = ListToolsResult::with_all_items(Catalogue::new(set).tools());
    serde_json::to_string(&answer).expect("an answer")
}

#[test]
fn every_tool_is_there_once() {
    let names: Vec<String> =
        Catalogue::new(ToolSet::All).tools().iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ALL);
    let loops = Catalogue::new(ToolSet::Loop).names();
    assert_eq!(loops, "loop_start, loop_status, loop_done");
}

#[test]
fn the_whole_list_is_cheap_to_read() {
    let words = tiktoken_rs::o200k_base().expect("the vocabulary");
    let all = words.encode_ordinary(&told(ToolSet::All)).len();
    assert!((500..=2000).contains(&all), "{all} tokens");
    let loops = words.encode_ordinary(&told(ToolSet::Loop)).len();
    assert!((100..=400).contains(&loops), "{loops} tokens");
}

#[test]
fn schemas_use_only_what_is_enforced() {
    let known: BTreeSet<&str> = [
        "type",
        "properties",
        "required",
        "enum",
        "minimum",
        "maximum",
        "minItems",
        "minLength",
        "items",
        "description",
        "ignored",
        "additionalProperties",
        "unless",
    ]
    .into();
    for entry in &Catalogue::new(ToolSet::All).entries {
        only(&entry.schema, &known);
        assert_eq!(entry.schema["type"], "object", "{}", entry.tool.name);
        for name in entry.schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().expect("a name");
            assert!(entry.schema["properties"][name].is_object(), "{}: {name}", entry.tool.name);
        }
    }
}

fn only(schema: &Value, known: &BTreeSet<&str>) {
    let Some(members) = schema.as_object() else { panic!("no schema: {schema}") };
    for name in members.keys() {
        assert!(known.contains(name.as_str()), "{name} is not enforced");
    }
    let below = schema["properties"].as_object();
    below.into_iter().flatten().for_each(|(_, schema)| only(schema, known));
    if schema["items"].is_object() {
        only(&schema["items"], known);
    }
}

#[test]
fn nothing_is_shown_that_only_old_clients_send() {
    let shown = serde_json::to_string(&Catalogue::new(ToolSet::All).tools()).expect("text");
    for hidden in ["workProductId", "ignored", "\"also\"", "\"slow\"", "outputSchema"] {
        assert!(!shown.contains(hidden), "{hidden} is shown");
    }
}

#[test]
fn what_is_tolerated_goes_no_further() {
    let catalogue = Catalogue::new(ToolSet::All);
    let entry = catalogue.find("iteration_complete").expect("the tool");
    let given =
        serde_json::json!({"iterationId": "IT-1", "workProductId": "WP-1", "summary": null});
    let Value::Object(given) = given else { panic!("an object") };
    assert_eq!(
        Value::Object(kept(&entry.schema, given)),
        serde_json::json!({"iterationId": "IT-1"})
    );
}

#[test]
fn what_runs_programs_for_sure_has_a_thread_of_its_own() {
    let catalogue = Catalogue::new(ToolSet::All);
    let slow: Vec<&str> = catalogue
        .entries
        .iter()
        .filter(|entry| entry.pace == Pace::Slow)
        .map(|entry| &*entry.tool.name)
        .collect();
    assert_eq!(slow, ["iteration_validate", "loop_start"]);
}
