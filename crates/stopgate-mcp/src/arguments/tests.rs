use serde_json::json;

use super::*;

#[track_caller]
fn check(schema: &Value, given: Value, expected: &[&str]) {
    let Value::Object(given) = given else { panic!("arguments are an object") };
    assert_eq!(problems(schema, &given), expected);
}

fn person() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "age": {"type": "integer", "minimum": 1, "maximum": 120},
            "mood": {"enum": ["good", "bad"]},
            "step": {"type": ["integer", "string"]},
            "tags": {"type": "array", "minItems": 1, "items": {"type": "string"}},
            "home": {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]},
            "note": {"type": "object"},
        },
        "required": ["name"],
    })
}

#[test]
fn what_fits_is_let_pass() {
    let all = json!({
        "name": "a", "age": 3, "mood": "good", "step": "x", "tags": ["t"],
        "home": {"town": "b"}, "note": {"anything": [1]},
    });
    check(&person(), all, &[]);
    check(&person(), json!({"name": "a", "age": 3.0, "step": 4}), &[]);
}

#[test]
fn what_is_optional_may_be_null_and_what_is_required_may_not() {
    check(&person(), json!({"name": "a", "age": null}), &[]);
    check(&person(), json!({"name": null}), &["name: Is required"]);
    check(&person(), json!({}), &["name: Is required"]);
}

#[test]
fn types_are_told() {
    let name = |given: Value| json!({"name": given});
    check(&person(), name(json!(1)), &["name: Must be of type: string (got 1)"]);
    check(&person(), name(json!(["a"])), &["name: Must be of type: string (got an array)"]);
    check(&person(), name(json!({})), &["name: Must be of type: string (got an object)"]);
    check(&person(), name(json!(true)), &["name: Must be of type: string (got a boolean)"]);
    check(
        &person(),
        json!({"name": "a", "age": 2.5}),
        &["age: Must be of type: integer (got 2.5)"],
    );
    check(
        &person(),
        json!({"name": "a", "age": "3"}),
        &["age: Must be of type: integer (got a string)"],
    );
    check(
        &person(),
        json!({"name": "a", "step": 1.5}),
        &["step: Must be of type: integer, string (got 1.5)"],
    );
}

#[test]
fn ranges_are_told() {
    check(&person(), json!({"name": "a", "age": 0}), &["age: Must be at least 1 (got 0)"]);
    check(&person(), json!({"name": "a", "age": -7}), &["age: Must be at least 1 (got -7)"]);
    check(&person(), json!({"name": "a", "age": 121}), &["age: Must be at most 120 (got 121)"]);
    check(&person(), json!({"name": "  "}), &["name: Must not be empty"]);
    check(&person(), json!({"name": "a", "tags": []}), &["tags: Must have at least 1 item"]);
    check(
        &person(),
        json!({"name": "a", "mood": "so so"}),
        &["mood: Must be one of: good, bad (got so so)"],
    );
}

#[test]
fn what_lies_deeper_is_told_by_its_path() {
    check(
        &person(),
        json!({"name": "a", "tags": ["t", 2], "home": {"town": 5}}),
        &["home.town: Must be of type: string (got 5)", "tags[1]: Must be of type: string (got 2)"],
    );
    check(&person(), json!({"name": "a", "home": {}}), &["home.town: Is required"]);
}

#[test]
fn unknown_names_are_told_with_those_that_are_known() {
    check(
        &json!({"type": "object", "properties": {"maxIterations": {"type": "integer"}}}),
        json!({"maxIteration": 5}),
        &["maxIteration: Is unknown; known are: maxIterations"],
    );
}

#[test]
fn everything_is_told_at_once_and_long_values_are_cut() {
    let long = "x".repeat(100);
    let mut given = Map::new();
    given.insert("mood".into(), json!(long));
    given.insert("age".into(), json!(0));
    let told = problems(&person(), &given);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told.iter().all(|one| one.len() < 100), "{told:?}");
}
