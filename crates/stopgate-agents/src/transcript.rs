//! Lines of transcripts that are read as a tree of JSON values.
//!
//! Claude Code's is read at nearly every stop and has a reader of its own; these are read only
//! where a loop holds the session and the payload lacks something.

use serde_json::Value;
use stopgate_signals::transcript::TranscriptRecord;

/// A line as JSON; nothing where it is cut or not an object.
pub(crate) fn line(line: &[u8]) -> Option<Value> {
    serde_json::from_slice::<Value>(line).ok().filter(Value::is_object)
}

/// Something that was said, whole in one line; a line without text says nothing.
pub(crate) fn said(text: Option<String>) -> TranscriptRecord {
    match text.filter(|text| !text.is_empty()) {
        Some(text) => TranscriptRecord::Assistant { message: None, text: Some(text) },
        None => TranscriptRecord::Other,
    }
}

/// The texts of a content: a string, or the parts that `is_text` accepts.
pub(crate) fn texts(content: &Value, is_text: impl Fn(&Value) -> bool) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let parts = parts.iter().filter(|part| is_text(part));
            let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Whether a part of a content is of this kind.
pub(crate) fn has_part(content: &Value, is_part: impl Fn(&Value) -> bool) -> bool {
    content.as_array().is_some_and(|parts| parts.iter().any(is_part))
}

/// Reads a line that Pi, Droid and others write: a role and parts with a type, in `message`.
pub(crate) fn role_record(bytes: &[u8]) -> TranscriptRecord {
    let Some(line) = line(bytes) else { return TranscriptRecord::Foreign };
    let message = &line["message"];
    let content = &message["content"];
    match message["role"].as_str() {
        Some("assistant") => said(texts(content, |part| part["type"] == "text")),
        Some("user") if !has_part(content, |part| part["type"] == "tool_result") => {
            TranscriptRecord::UserTurn
        }
        Some(_) | None => TranscriptRecord::Other,
    }
}

/// Whether such a line is a tool's use.
pub(crate) fn is_role_tool_use(bytes: &[u8]) -> bool {
    line(bytes).is_some_and(|line| {
        let message = &line["message"];
        message["role"] == "assistant"
            && has_part(&message["content"], |part| {
                matches!(part["type"].as_str(), Some("toolCall" | "tool_use" | "tool_call"))
            })
    })
}
