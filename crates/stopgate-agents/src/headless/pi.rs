//! Pi: `pi --mode json -p`. Its exit code is 0 after every API error; the last message's `stopReason` counts.

use std::time::Duration;

use serde_json::Value;

use super::classify::by_words;
use super::stream::StreamMemory;
use super::{FailureClass, HeadlessProfile, HeadlessTurn, SessionRecord, TurnSession, UsageHint};

pub(super) const HEADLESS: HeadlessProfile = HeadlessProfile {
    env: &[("PI_SKIP_VERSION_CHECK", "1")],
    read,
    record: Some(SessionRecord::new("sessions", "{id}.jsonl")),
    ..HeadlessProfile::plain(args)
};

fn args(turn: &HeadlessTurn<'_>) -> Vec<String> {
    // It begins a session with this id, or goes on with it.
    let (TurnSession::New(id) | TurnSession::Resumed(id)) = turn.session;
    let mut args = turn.own_then(&["--mode", "json", "--session-id", id]);
    args.extend(turn.model_flag("--model", &["--model"]));
    args.extend(["-p".to_owned(), turn.prompt.to_owned()]);
    args
}

fn read(memory: &mut StreamMemory, event: &Value) {
    match event["type"].as_str() {
        Some("session") => memory.session(&event["id"]),
        Some("message_end") if event["message"]["role"] == "assistant" => {
            message(memory, &event["message"]);
        }
        Some("auto_retry_start") => {
            let words = event["errorMessage"].as_str().unwrap_or("");
            let delay = event["delayMs"].as_u64().map(Duration::from_millis);
            memory.retry(by_words(words), delay);
        }
        Some("auto_retry_end") if event["success"] == false => {
            let words = event["finalError"].as_str().unwrap_or("");
            memory.failed(by_words(words), words);
        }
        _ => {}
    }
}

fn message(memory: &mut StreamMemory, message: &Value) {
    match message["stopReason"].as_str() {
        Some("error") => {
            let words = message["errorMessage"].as_str().unwrap_or("");
            memory.failed(by_words(words), words);
            return;
        }
        Some("aborted") => {
            memory.failed(FailureClass::Killed, "aborted");
            return;
        }
        _ => {}
    }
    let parts = message["content"].as_array();
    let texts = parts.into_iter().flatten().filter_map(|part| part["text"].as_str());
    memory.says(&texts.collect::<Vec<_>>().join("\n"));
    memory.answered();
    let usage = &message["usage"];
    let count = |key: &str| usage[key].as_u64().unwrap_or(0);
    memory.usage(UsageHint {
        input: count("input") + count("cacheRead") + count("cacheWrite"),
        output: count("output"),
        cost_usd: usage["cost"]["total"].as_f64(),
        is_session_total: false,
        ..UsageHint::default()
    });
    memory.context(count("totalTokens"), None);
    if message["stopReason"] == "stop" {
        memory.finished();
    }
}
