//! GitHub's Copilot CLI: `copilot --output-format json`. It prints its id with its last line only, so we
//! choose it.

use serde_json::Value;

use super::classify::{by_status, by_words, is_context};
use super::stream::StreamMemory;
use super::{FailureClass, HeadlessProfile, HeadlessTurn, SessionRecord, TurnSession};

pub(super) const HEADLESS: HeadlessProfile = HeadlessProfile {
    terminal_args: Some(terminal_args),
    env: &[("COPILOT_AUTO_UPDATE", "false")],
    read,
    record: Some(SessionRecord::new("session-state", "{id}/events.jsonl")),
    ..HeadlessProfile::plain(args)
};

fn session(turn: &HeadlessTurn<'_>) -> Vec<String> {
    let mut args = turn.model_flag("--model", &["--model"]);
    match turn.session {
        TurnSession::New(id) => args.extend(["--session-id".to_owned(), id.to_owned()]),
        TurnSession::Resumed(id) => args.push(format!("--resume={id}")),
    }
    args
}

fn args(turn: &HeadlessTurn<'_>) -> Vec<String> {
    let mut args = turn.own_then(&["--output-format", "json"]);
    args.extend(session(turn));
    if let Some(file) = turn.usage_file {
        args.extend(["--usage-output-file".to_owned(), file.to_owned()]);
    }
    args.extend(["-p".to_owned(), turn.prompt.to_owned()]);
    args
}

fn terminal_args(turn: &HeadlessTurn<'_>) -> Vec<String> {
    let mut args = turn.own_then(&[]);
    args.extend(session(turn));
    args.extend(["-i".to_owned(), turn.prompt.to_owned()]);
    args
}

fn read(memory: &mut StreamMemory, event: &Value) {
    let data = &event["data"];
    match event["type"].as_str() {
        Some("assistant.message") => {
            memory.says(data["content"].as_str().unwrap_or(""));
            memory.answered();
        }
        Some("model.call_failure") => memory.retry(class(data), None),
        Some("session.error") => {
            memory.failed(class(data), data["message"].as_str().unwrap_or(""));
        }
        Some("result") => {
            memory.session(&event["sessionId"]);
            if event["exitCode"] == 0 {
                memory.finished();
            } else if memory.end.is_none() {
                let class = memory.last_retry.unwrap_or(FailureClass::Unknown);
                memory.failed(class, "the client ended with an error");
            }
        }
        _ => {}
    }
}

fn class(data: &Value) -> FailureClass {
    let message = data["message"].as_str().or(data["errorMessage"].as_str()).unwrap_or("");
    if data["failureKind"] == "transport" {
        return FailureClass::Network;
    }
    if is_context(message) {
        return FailureClass::Context;
    }
    if let Some(class) = data["statusCode"].as_u64().and_then(|code| by_status(code, message)) {
        return class;
    }
    match data["errorType"].as_str() {
        Some("authentication") => FailureClass::Auth,
        Some("rate_limit") => FailureClass::RateLimit,
        _ => by_words(message),
    }
}
