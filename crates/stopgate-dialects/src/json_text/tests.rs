use serde_json::json;

use super::PathStep::{At, Key};
use super::*;

#[track_caller]
fn check_set(text: &str, path: &[PathStep<'_>], value: &Value, expected: &str) {
    assert_eq!(set(text, path, value).expect("an edit"), expected);
}

#[track_caller]
fn check_remove(text: &str, path: &[PathStep<'_>], expected: &str) {
    assert_eq!(remove(text, path).expect("an edit"), expected);
}

#[test]
fn a_value_is_replaced_where_it_stands() {
    check_set(r#"{"b":1, "a" : 2 }"#, &[Key("a")], &json!(3), r#"{"b":1, "a" : 3 }"#);
    check_set(
        "{\"x\": {\"y\": 1}}\r\n",
        &[Key("x"), Key("y")],
        &json!("é\n"),
        concat!(r#"{"x": {"y": "é\n"}}"#, "\r\n"),
    );
    check_set("[1, /* two */ 2]", &[At(1)], &json!(null), "[1, /* two */ null]");
}

#[test]
fn what_is_there_already_changes_nothing() {
    let text = "{ // kept\n\t\"a\":   [1,2, ],\n}";
    check_set(text, &[Key("a")], &json!([1, 2]), text);
    check_set("\u{feff}{\"a\":1}", &[Key("a")], &json!(1), "\u{feff}{\"a\":1}");
}

#[test]
fn the_last_of_several_members_with_one_name_counts() {
    check_set(r#"{"a":1,"a":2}"#, &[Key("a")], &json!(3), r#"{"a":1,"a":3}"#);
    let document = Document::read(r#"{"a":1,"a":2}"#).expect("JSON");
    assert_eq!(document.root().key("a").and_then(Node::count), Some(2));
}

#[test]
fn a_missing_member_is_added_as_its_neighbours_are_laid_out() {
    check_set(r#"{"a": 1}"#, &[Key("b")], &json!(2), r#"{"a": 1, "b": 2}"#);
    check_set(
        "{\n    \"a\": 1 // one\n}\n",
        &[Key("b"), Key("c")],
        &json!(2),
        concat!("{\n    \"a\": 1, // one\n", "    \"b\": {\n        \"c\": 2\n    }\n}\n"),
    );
    check_set(
        "{\r\n\t\"a\": 1,\r\n}",
        &[Key("b")],
        &json!([]),
        concat!("{\r\n\t\"a\": 1,\r\n", "\t\"b\": [],\r\n}"),
    );
    check_set("{}", &[Key("a")], &json!(1), "{\n  \"a\": 1\n}");
    check_set(r#"{"a": {}}"#, &[Key("a"), Key("b")], &json!(1), r#"{"a": {"b": 1}}"#);
}

#[test]
fn what_is_no_object_makes_room_for_one() {
    let expected = r#"{"breaker": {"count": 1}}"#;
    for text in [r#"{"breaker": null}"#, r#"{"breaker": 7}"#, r#"{"breaker": [1]}"#] {
        check_set(text, &[Key("breaker"), Key("count")], &json!(1), expected);
    }
}

#[test]
fn elements_are_added_behind_the_last_one() {
    let push = |text: &str| push(text, &[Key("a")], &json!("x")).expect("an edit");
    assert_eq!(push(r#"{"a": ["w"]}"#), r#"{"a": ["w", "x"]}"#);
    assert_eq!(push(r#"{"a": []}"#), r#"{"a": ["x"]}"#);
    assert_eq!(push(r#"{"b": 1}"#), r#"{"b": 1, "a": ["x"]}"#);
    assert_eq!(
        push("{\n \"a\": [\n  \"w\" // w\n ]\n}"),
        "{\n \"a\": [\n  \"w\", // w\n  \"x\"\n ]\n}"
    );
}

#[test]
fn an_item_goes_with_its_comma_and_its_line() {
    check_remove("[1, 2, 3]", &[At(0)], "[2, 3]");
    check_remove("[1, 2, 3]", &[At(1)], "[1, 3]");
    check_remove("[1, 2, 3]", &[At(2)], "[1, 2]");
    check_remove("[1]", &[At(0)], "[]");
    check_remove("{\n  \"a\": 1,\n  \"b\": 2\n}", &[Key("a")], "{\n  \"b\": 2\n}");
    check_remove("{\n  \"a\": 1,\n  \"b\": 2\n}", &[Key("b")], "{\n  \"a\": 1\n}");
    check_remove("{\r\n  \"a\": 1,\r\n  \"b\": 2,\r\n}", &[Key("b")], "{\r\n  \"a\": 1,\r\n}");
    check_remove("[\n 1, // one\n 2 // two\n]", &[At(0)], "[\n // one\n 2 // two\n]");
    check_remove("[\n 1, // one, or so\n 2 // two\n]", &[At(1)], "[\n 1 // one, or so\n // two\n]");
}

#[test]
fn what_is_not_there_can_be_removed() {
    for path in [&[Key("x")][..], &[At(0)], &[Key("a"), At(4)], &[]] {
        check_remove(r#"{"a": [1]}"#, path, r#"{"a": [1]}"#);
    }
}

#[test]
fn long_lists_take_a_line_for_each_item_where_others_do() {
    let steps: Vec<String> = (0..9).map(|at| format!("a step with number {at}")).collect();
    let text = set("{\n  \"a\": 1\n}", &[Key("steps")], &json!(steps)).expect("an edit");
    assert!(
        text.starts_with("{\n  \"a\": 1,\n  \"steps\": [\n    \"a step with number 0\",\n"),
        "{text}"
    );
    assert!(text.ends_with("\"a step with number 8\"\n  ]\n}"), "{text}");
}

#[test]
fn only_json_is_read() {
    for text in ["", "  \n", "{oops", "{'a': 1}", "{a: 1}", "[1 2]", "{\"a\": 0x1}", "{} {}"] {
        assert!(Document::read(text).is_err(), "{text:?}");
    }
    let deep = "[".repeat(100_000);
    assert!(Document::read(&deep).is_err());
    assert!(matches!(set("[1]", &[At(2)], &json!(1)), Err(JsonTextError::NoElement { .. })));
    assert!(matches!(set("{}", &[At(0)], &json!(1)), Err(JsonTextError::NoList)));
}

#[test]
fn values_come_out_as_they_were_written() {
    let text = r#"{"n": 12345678901234567890123, "f": 1.5, "t": "x", "b": true, "l": [null]}"#;
    let document = Document::read(text).expect("JSON");
    let root = document.root();
    assert_eq!(root.key("n").and_then(Node::plain), Some("12345678901234567890123"));
    assert_eq!(root.key("n").and_then(Node::count), None);
    assert_eq!(root.key("f").and_then(Node::number), Some("1.5"));
    assert_eq!(root.key("t").and_then(Node::text), Some("x"));
    assert_eq!(root.key("b").and_then(Node::flag), Some(true));
    assert!(root.key("l").is_some_and(Node::is_list));
    let names: Vec<&str> = root.members().map(|(name, _)| name).collect();
    assert_eq!(names, ["n", "f", "t", "b", "l"]);
}
