//! Whether what came back is what was expected.

use regex_lite::Regex;
use serde_json::Value;

/// What `got` lacks of `want`; nothing where it has it all.
pub(crate) fn contains(want: &Value, got: &Value, path: &str) -> Vec<String> {
    match (want, got) {
        (Value::String(pattern), _) if pattern.starts_with('~') => matches(pattern, got, path),
        (Value::Object(fields), Value::Object(_)) => fields
            .iter()
            .flat_map(|(name, want)| contains(want, &got[name], &format!("{path}.{name}")))
            .collect(),
        (Value::Array(wants), Value::Array(gots)) if wants.len() == gots.len() => wants
            .iter()
            .zip(gots)
            .enumerate()
            .flat_map(|(at, (want, got))| contains(want, got, &format!("{path}[{at}]")))
            .collect(),
        (Value::Number(want), Value::Number(got)) if want.as_f64() == got.as_f64() => Vec::new(),
        _ if want == got => Vec::new(),
        _ => vec![format!("{path}: {got} is not {want}")],
    }
}

fn matches(pattern: &str, got: &Value, path: &str) -> Vec<String> {
    // A dot stands for a line's end, too.
    let wanted = Regex::new(&format!("(?s){}", &pattern[1..])).expect("a pattern");
    if got.as_str().is_some_and(|text| wanted.is_match(text)) {
        return Vec::new();
    }
    vec![format!("{path}: {got} does not match {pattern}")]
}

#[test]
fn an_object_may_have_more_and_a_list_may_not() {
    use serde_json::json;
    assert!(contains(&json!({"a": 1}), &json!({"a": 1.0, "b": 2}), "").is_empty());
    assert_eq!(contains(&json!({"a": 1}), &json!({"b": 2}), ""), [".a: null is not 1"]);
    assert_eq!(contains(&json!([1]), &json!([1, 2]), "x").len(), 1);
    assert_eq!(contains(&json!("~^b"), &json!("ab"), "x").len(), 1);
    assert!(contains(&json!("~a.c"), &json!("a\nc"), "").is_empty());
}
