//! Whether arguments fit a tool's schema, and what is wrong where they don't.
//!
//! Knows the part of JSON Schema that `tools.json` uses. Tells everything that is wrong
//! at once, so that a model needs one more try and not five.

use serde_json::{Map, Value};

use crate::catalogue::known_names;

/// What is wrong with `arguments`; nothing where they fit.
pub(crate) fn problems(schema: &Value, arguments: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    object(schema, arguments, "", &mut found);
    found
}

fn value(schema: &Value, given: &Value, path: &str, found: &mut Vec<String>) {
    if !is_of_type(&schema["type"], given) {
        found.push(format!(
            "{path}: Must be of type: {} (got {})",
            kind(&schema["type"]),
            a(given)
        ));
        return;
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(given)
    {
        found.push(format!("{path}: Must be one of: {} (got {})", join(allowed), brief(given)));
    }
    match given {
        Value::Number(number) => bounds(schema, number.as_f64().unwrap_or(0.0), path, found),
        Value::String(text) => length(schema, text, path, found),
        Value::Array(items) => array(schema, items, path, found),
        Value::Object(members) => object(schema, members, path, found),
        Value::Null | Value::Bool(_) => {}
    }
}

fn bounds(schema: &Value, given: f64, path: &str, found: &mut Vec<String>) {
    if schema["minimum"].as_f64().is_some_and(|least| given < least) {
        found.push(format!("{path}: Must be at least {} (got {given})", schema["minimum"]));
    }
    if schema["maximum"].as_f64().is_some_and(|most| given > most) {
        found.push(format!("{path}: Must be at most {} (got {given})", schema["maximum"]));
    }
}

fn length(schema: &Value, given: &str, path: &str, found: &mut Vec<String>) {
    if schema["minLength"].as_u64().is_some_and(|least| least > 0) && given.trim().is_empty() {
        found.push(format!("{path}: Must not be empty"));
    }
}

fn array(schema: &Value, items: &[Value], path: &str, found: &mut Vec<String>) {
    let least = schema["minItems"].as_u64().unwrap_or(0);
    if u64::try_from(items.len()).is_ok_and(|count| count < least) {
        let items = if least == 1 { "item" } else { "items" };
        found.push(format!("{path}: Must have at least {least} {items}"));
    }
    if schema["items"].is_object() {
        for (at, item) in items.iter().enumerate() {
            value(&schema["items"], item, &format!("{path}[{at}]"), found);
        }
    }
}

fn object(schema: &Value, given: &Map<String, Value>, path: &str, found: &mut Vec<String>) {
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        let is_missing = |name: &str| given.get(name).is_none_or(Value::is_null);
        let stands_in = schema["unless"][name].as_str().is_some_and(|other| !is_missing(other));
        if is_missing(name) && !stands_in {
            found.push(format!("{}: Is required", below(path, name)));
        }
    }
    let Some(known) = known_names(schema) else { return };
    for (name, member) in given {
        match known.get(name) {
            // What is optional may be said to be nothing.
            Some(_) if member.is_null() => {}
            Some(schema) => value(schema, member, &below(path, name), found),
            None => found.push(unknown(known, path, name)),
        }
    }
}

fn unknown(known: &Map<String, Value>, path: &str, name: &str) -> String {
    let known: Vec<&str> = known.keys().map(String::as_str).collect();
    format!("{}: Is unknown; known are: {}", below(path, name), known.join(", "))
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() { name.into() } else { format!("{path}.{name}") }
}

/// A schema's `type` is a word, a list of words, or left out.
fn is_of_type(asked: &Value, given: &Value) -> bool {
    match asked {
        Value::String(word) => is_a(word, given),
        Value::Array(words) => words.iter().filter_map(Value::as_str).any(|w| is_a(w, given)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => true,
    }
}

fn is_a(word: &str, given: &Value) -> bool {
    match word {
        "string" => given.is_string(),
        "boolean" => given.is_boolean(),
        "number" => given.is_number(),
        "integer" => is_whole(given),
        "array" => given.is_array(),
        "object" => given.is_object(),
        _other => true,
    }
}

/// Writes 3.0 as 3 where a whole number is asked for: some clients know one kind of number.
pub(crate) fn make_whole(schema: &Value, given: &mut Value) {
    #[expect(clippy::cast_possible_truncation, reason = "whole, and far below the bounds")]
    if schema["type"] == "integer"
        && given.is_f64()
        && let Some(number) = given.as_f64().filter(|number| number.abs() < 1e15)
    {
        *given = Value::from(number as i64);
    }
}

/// 3 is whole, and so is 3.0.
fn is_whole(given: &Value) -> bool {
    given.is_i64() || given.is_u64() || given.as_f64().is_some_and(|n| n.fract() == 0.0)
}

fn kind(asked: &Value) -> String {
    match asked {
        Value::Array(words) => join(words),
        Value::String(word) => word.clone(),
        other => other.to_string(),
    }
}

fn join(values: &[Value]) -> String {
    let words: Vec<String> = values.iter().map(brief).collect();
    words.join(", ")
}

fn a(given: &Value) -> String {
    match given {
        Value::Null => "nothing".into(),
        Value::Bool(_) => "a boolean".into(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => "a string".into(),
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
    }
}

/// A value as people write it, cut where it is long.
fn brief(given: &Value) -> String {
    let text = given.as_str().map_or_else(|| given.to_string(), str::to_string);
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests;
