//! Gemini CLI: `gemini -o stream-json`. Its launcher starts a child of its own unless told not to; a
//! session whose first turn failed can neither be resumed nor begun again under its id.

use std::time::Duration;

use serde_json::Value;

use super::classify::{by_status, by_words, seconds_after};
use super::stream::StreamMemory;
use super::{
    FailureClass, HeadlessProfile, HeadlessTurn, ResumeHabit, SessionRecord, UsageHint, interactive,
};

pub(super) const HEADLESS: HeadlessProfile = HeadlessProfile {
    terminal_args: Some(interactive),
    env: &[("GEMINI_CLI_NO_RELAUNCH", "true")],
    read,
    record: Some(SessionRecord::new("tmp", "-{short}.jsonl")),
    read_error,
    exit,
    resume: ResumeHabit::LosesFailedStart,
    ..HeadlessProfile::plain(args)
};

fn args(turn: &HeadlessTurn<'_>) -> Vec<String> {
    let mut args = turn.own_then(&["-o", "stream-json"]);
    args.extend(turn.named_session());
    args.extend(["-p".to_owned(), turn.prompt.to_owned()]);
    args
}

fn read(memory: &mut StreamMemory, event: &Value) {
    match event["type"].as_str() {
        Some("init") => memory.session(&event["session_id"]),
        Some("message") if event["role"] == "assistant" => {
            memory.adds(event["content"].as_str().unwrap_or(""));
            memory.answered();
        }
        Some("tool_use") => {
            memory.says("");
            memory.answered();
        }
        Some("result") => result(memory, event),
        _ => {}
    }
}

fn result(memory: &mut StreamMemory, event: &Value) {
    let stats = &event["stats"];
    let count = |key: &str| stats[key].as_u64().unwrap_or(0);
    memory.usage(UsageHint {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cost_usd: None,
        is_session_total: false,
        ..UsageHint::default()
    });
    let is_own_limit = event["error"]["type"] == "FatalTurnLimitedError";
    if event["status"] == "success" || is_own_limit {
        memory.finished();
        return;
    }
    let message = event["error"]["message"].as_str().unwrap_or("");
    if let Some(reset) = seconds_after(message, "retry after ") {
        memory.reset = Some(reset);
    }
    memory.failed(by_words(message), message);
}

/// `Attempt 2 failed: … Retrying after 11717ms...`
fn read_error(memory: &mut StreamMemory, line: &str) {
    let Some((what, rest)) = line.split_once("Retrying after ") else { return };
    if !line.starts_with("Attempt ") {
        return;
    }
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    memory.retry(by_words(what), digits.parse().ok().map(Duration::from_millis));
}

/// The exit code is the HTTP status, as far as it fits.
fn exit(code: i32) -> Option<FailureClass> {
    let status = u64::try_from(code).ok().filter(|code| *code >= 144)? + 256;
    by_status(status, "")
}
