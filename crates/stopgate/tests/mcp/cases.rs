//! Cases as data: what is given, what is called, and what the last answer must contain.
//!
//! One server serves them all. A text that begins with `~` must be found in the answer's,
//! or begin it where `^` follows.

use serde_json::{Value, json};

use crate::client::{Client, Scene, id};

const CASES: &str = include_str!("cases.jsonl");

#[test]
fn every_case_is_answered_as_it_says() {
    let scene = Scene::new();
    let mut client = scene.client();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        wrong.extend(play(&mut client, &case));
        count += 1;
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(count, 41);
}

fn play(client: &mut Client, case: &Value) -> Vec<String> {
    let task = client.task();
    let mut iteration = String::from("IT-unset");
    if case["iteration"].is_object() {
        let mut ask = case["iteration"].clone();
        ask["taskId"] = json!(task);
        iteration = id(&client.done("iteration_start", &ask), "iterationId");
    }
    let named = |value: &Value| {
        let text = value.to_string().replace("$T", &task).replace("$I", &iteration);
        serde_json::from_str::<Value>(&text).expect("still JSON")
    };
    let mut last = Value::Null;
    for call in case["calls"].as_array().expect("calls") {
        last = client.call(call["tool"].as_str().expect("a tool"), &named(&call["args"]));
    }
    let mut missing = Vec::new();
    differences(&named(&case["last"]), &last, "", &mut missing);
    let title = case["title"].as_str().expect("a title");
    missing.into_iter().map(|what| format!("{title}: {what}")).collect()
}

fn differences(wanted: &Value, got: &Value, path: &str, found: &mut Vec<String>) {
    match (wanted, got) {
        (Value::Object(wanted), Value::Object(got)) => {
            for (name, wanted) in wanted {
                let got = got.get(name).unwrap_or(&Value::Null);
                differences(wanted, got, &format!("{path}.{name}"), found);
            }
        }
        (Value::Array(wanted), Value::Array(got)) if wanted.len() == got.len() => {
            for (at, (wanted, got)) in wanted.iter().zip(got).enumerate() {
                differences(wanted, got, &format!("{path}[{at}]"), found);
            }
        }
        (Value::String(wanted), Value::String(got)) if fits(wanted, got) => {}
        (wanted, got) if wanted == got => {}
        (wanted, got) => found.push(format!("{path}: {got} instead of {wanted}")),
    }
}

fn fits(wanted: &str, got: &str) -> bool {
    match (wanted.strip_prefix("~^"), wanted.strip_prefix('~')) {
        (Some(begin), _) => got.starts_with(begin),
        (None, Some(part)) => got.contains(part),
        (None, None) => wanted == got,
    }
}
