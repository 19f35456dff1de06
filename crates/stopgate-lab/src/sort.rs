//! What a client's request is for, and whose it is.
//!
//! The client speaks to its model for more reasons than the conversation:
//! titles, summaries, sub-agents, verdicts of prompt hooks. Only `Main` is the
//! loop that a stop hook can lengthen.

use std::collections::BTreeMap;

use serde_json::Value;

const COMPACT_MARK: &str = "create a detailed summary of";
const VERIFIER_MARKS: [&str; 2] =
    ["You are evaluating a stop-condition hook", "You are verifying a stop condition"];
const AGENT_HEADER: &str = "x-claude-code-agent-id";
const SESSION_HEADERS: [&str; 2] = ["x-claude-code-session-id", "x-session-id"];

/// Headers by lower-case name.
pub(crate) type Headers = BTreeMap<String, String>;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The conversation of a session.
    Main,
    /// Without tools: a title, a probe.
    Side,
    /// A sub-agent's own conversation.
    Subagent,
    /// A summary of the conversation so far.
    Compact,
    /// A verdict for a prompt hook or an agent hook.
    Verifier,
    /// Not a request for a message.
    Other,
}

/// Sorts a request for a message.
pub(crate) fn kind_of(headers: &Headers, body: &Value) -> Kind {
    let system = body["system"].to_string();
    if VERIFIER_MARKS.iter().any(|mark| system.contains(mark)) {
        return Kind::Verifier;
    }
    if by_tools(body) == Kind::Side {
        return Kind::Side;
    }
    if last_user_text(body).contains(COMPACT_MARK) {
        return Kind::Compact;
    }
    if headers.contains_key(AGENT_HEADER) { Kind::Subagent } else { Kind::Main }
}

/// Only a conversation comes with tools.
pub(crate) fn by_tools(body: &Value) -> Kind {
    if body["tools"].as_array().is_none_or(Vec::is_empty) { Kind::Side } else { Kind::Main }
}

/// The session that a request belongs to, or `-`.
pub(crate) fn session_of(headers: &Headers, body: &Value) -> String {
    if let Some(id) = SESSION_HEADERS.iter().find_map(|name| headers.get(*name)) {
        return id.clone();
    }
    let user = body["metadata"]["user_id"].as_str().unwrap_or_default();
    // Newer clients put JSON here, older ones `…_session_UUID`.
    let said = serde_json::from_str::<Value>(user).ok();
    let said = said.as_ref().and_then(|user| user["session_id"].as_str());
    said.or_else(|| user.rsplit_once("session_").map(|(_, id)| id)).unwrap_or("-").to_owned()
}

/// The messages of a request, whatever its API calls them.
pub(crate) fn conversation_of(body: &Value) -> &Value {
    let named = ["messages", "input", "contents"].into_iter().map(|name| &body[name]);
    named.clone().find(|value| value.is_array()).unwrap_or(&Value::Null)
}

/// Everything that a message says in words, tool results included.
pub(crate) fn text_of(message: &Value) -> String {
    let named = ["content", "parts", "output"].into_iter().map(|name| &message[name]);
    match named.clone().find(|value| !value.is_null()) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => blocks.iter().map(block_text).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

/// What the model was sent after its own last message; nothing on a first call.
pub(crate) fn said_since_last_answer(body: &Value) -> Option<String> {
    let messages = conversation_of(body).as_array()?;
    let last = messages.iter().rposition(is_answer)?;
    Some(messages[last + 1..].iter().map(text_of).collect::<Vec<_>>().join("\n"))
}

fn is_answer(message: &Value) -> bool {
    let is =
        |key: &str, values: &[&str]| message[key].as_str().is_some_and(|is| values.contains(&is));
    is("role", &["assistant", "model"]) || is("type", &["function_call", "reasoning"])
}

fn block_text(block: &Value) -> String {
    if let Some(response) = block["functionResponse"]["response"].as_object() {
        return response.values().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
    }
    match block["type"].as_str() {
        Some("tool_result") => text_of(block),
        // Thoughts, images and calls have no text.
        _ => block["text"].as_str().unwrap_or_default().to_owned(),
    }
}

fn last_user_text(body: &Value) -> String {
    let messages = body["messages"].as_array();
    let last = messages.and_then(|all| all.iter().rfind(|message| message["role"] == "user"));
    last.map(text_of).unwrap_or_default()
}
