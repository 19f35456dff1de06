//! Qwen Code: `qwen -o stream-json`. After a rate limit it goes on trying for hours, with growing pauses;
//! where the service names a long time, it waits without a word.

use std::time::Duration;

use serde_json::Value;

use super::classify::{by_status_or_words, by_words};
use super::stream::StreamMemory;
use super::{
    FailureClass, HeadlessProfile, HeadlessTurn, LONG_PAUSE, SessionRecord, UsageHint, interactive,
};

pub(super) const HEADLESS: HeadlessProfile = HeadlessProfile {
    terminal_args: Some(interactive),
    env: &[("QWEN_CODE_SUPPRESS_YOLO_WARNING", "1")],
    read,
    record: Some(SessionRecord::new("projects", "{id}.jsonl")),
    read_record: Some(read_record),
    long_pauses: Some(2),
    silence_after_limit: Some(LONG_PAUSE),
    ..HeadlessProfile::plain(args)
};

fn args(turn: &HeadlessTurn<'_>) -> Vec<String> {
    let mut args = turn.own_then(&["-o", "stream-json"]);
    args.extend(turn.named_session());
    args.push(turn.prompt.to_owned());
    args
}

fn read(memory: &mut StreamMemory, event: &Value) {
    memory.session(&event["session_id"]);
    match event["type"].as_str() {
        Some("assistant") if event["parent_tool_use_id"].is_null() => {
            let usage = &event["message"]["usage"];
            // What it says about its own failures has no tokens.
            if let Some(tokens) = usage["input_tokens"].as_u64().filter(|tokens| *tokens > 0) {
                memory.answered();
                memory.context(tokens, None);
            }
        }
        Some("system") if event["subtype"] == "retry" => {
            let delay = event["data"]["delayMs"].as_u64().map(Duration::from_millis);
            let class = match delay {
                Some(_) => FailureClass::RateLimit,
                None => FailureClass::Network,
            };
            memory.retry(class, delay);
        }
        Some("result") => result(memory, event),
        _ => {}
    }
}

/// While it waits as long as the service asked, only its transcript says so.
fn read_record(memory: &mut StreamMemory, line: &Value) {
    let event = &line["systemPayload"]["uiEvent"];
    match (line["type"].as_str(), event["event.name"].as_str()) {
        (_, Some("qwen-code.api_error")) => {
            let message = event["error_message"].as_str().unwrap_or("");
            memory.retry(by_status_or_words(event["status_code"].as_u64(), message), None);
            memory.complaint = Some(message.to_owned());
        }
        (_, Some("qwen-code.api_response")) | (Some("user" | "assistant"), _) => memory.recovers(),
        _ => {}
    }
}

fn result(memory: &mut StreamMemory, event: &Value) {
    let count = |key: &str| event["usage"][key].as_u64().unwrap_or(0);
    memory.usage(UsageHint {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cost_usd: None,
        is_session_total: true,
        ..UsageHint::default()
    });
    if event["is_error"] == true {
        let message = event["error"]["message"].as_str().unwrap_or("");
        memory.failed(by_words(message), message);
    } else {
        memory.says(event["result"].as_str().unwrap_or(""));
        memory.finished();
    }
}
