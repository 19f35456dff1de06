use serde_json::{Value, json};

use super::bill;

fn package(name: &str) -> Value {
    json!({"id": format!("id-{name}"), "name": name, "version": "1.0.0", "license": "MIT"})
}

fn node(name: &str, below: &[(&str, Value)]) -> Value {
    let deps: Vec<Value> = below
        .iter()
        .map(|(name, kind)| json!({"pkg": format!("id-{name}"), "dep_kinds": [{"kind": kind}]}))
        .collect();
    json!({"id": format!("id-{name}"), "deps": deps})
}

#[test]
fn a_bill_lists_what_is_linked_and_nothing_else() {
    let metadata = json!({
        "packages": [
            package("stopgate"), package("near"), package("far"), package("test-only"),
            package("build-only"), package("unrelated"),
        ],
        "resolve": {"nodes": [
            node("stopgate", &[
                ("near", Value::Null), ("test-only", json!("dev")), ("build-only", json!("build")),
            ]),
            node("near", &[("far", Value::Null), ("stopgate", Value::Null)]),
            node("far", &[]),
            node("test-only", &[("unrelated", Value::Null)]),
            node("unrelated", &[]),
        ]},
    });
    let bill = bill(&metadata).expect("a bill");
    let names: Vec<&str> = bill["components"]
        .as_array()
        .expect("components")
        .iter()
        .filter_map(|component| component["name"].as_str())
        .collect();
    assert_eq!(names, ["far", "near"]);
    assert_eq!(bill["metadata"]["component"]["name"], "stopgate");
    assert_eq!(bill["dependencies"].as_array().map(Vec::len), Some(3));
}
