//! Our JSON, laid out.

use super::*;

#[test]
fn a_value_fits_its_surroundings() {
    check(&JsonLayout::Line, r#"{"a": [{"b": "\"x\"", "c": ["d", "e"], "f": 1}]}"#);
    let tabs = JsonLayout::Lines { newline: "\r\n", unit: "\t".into(), indent: "\t".into() };
    check(
        &tabs,
        "{\r\n\t\t\"a\": [\r\n\t\t\t{\r\n\t\t\t\t\"b\": \"\\\"x\\\"\",\r\n\t\t\t\t\"c\": [\"d\", \"e\"],\
         \r\n\t\t\t\t\"f\": 1\r\n\t\t\t}\r\n\t\t]\r\n\t}",
    );
}

#[track_caller]
fn check(layout: &JsonLayout, expected: &str) {
    let inner = Json::Object(vec![
        ("b", Json::Text("\"x\"".into())),
        ("c", Json::Words(vec!["d".into(), "e".into()])),
        ("f", Json::Number(1)),
    ]);
    let json = Json::Object(vec![("a", Json::List(vec![inner]))]);
    assert_eq!(json.print(layout), expected);
}
