//! Codex CLI: `codex exec --json`. Only `turn.failed` is final; `error` lines are retries.
//!
//! Its output has a reset time only in words, in the local time of day; its rollout file has it as a number,
//! together with the kind of error. After a rate limit it may sleep for an hour without a word.

use std::time::Duration;

use serde_json::Value;

use super::classify::{by_status, by_words};
use super::stream::StreamMemory;
use super::{
    FailureClass, HeadlessProfile, HeadlessTurn, LONG_PAUSE, ResetTime, ResumeHabit,
    SessionIdSource, SessionRecord, TurnSession, UsageHint,
};

pub(super) const HEADLESS: HeadlessProfile = HeadlessProfile {
    id: SessionIdSource::FirstEvent,
    terminal_args: Some(terminal_args),
    read,
    record: Some(SessionRecord::new("sessions", "{id}.jsonl")),
    read_record: Some(read_record),
    silence_after_limit: Some(LONG_PAUSE),
    resume: ResumeHabit::Compacts,
    ..HeadlessProfile::plain(args)
};

fn args(turn: &HeadlessTurn<'_>) -> Vec<String> {
    let mut args = vec!["exec".to_owned()];
    args.extend(turn.own_after("exec"));
    args.push("--json".to_owned());
    if !turn.in_git {
        args.push("--skip-git-repo-check".to_owned());
    }
    continued(turn, args)
}

fn terminal_args(turn: &HeadlessTurn<'_>) -> Vec<String> {
    continued(turn, turn.own_after("exec"))
}

/// The model, the session and the prompt, which stand last.
fn continued(turn: &HeadlessTurn<'_>, mut args: Vec<String>) -> Vec<String> {
    args.extend(turn.model_flag("-m", &["-m", "--model"]));
    if let TurnSession::Resumed(id) = turn.session {
        args.extend(["resume".to_owned(), id.to_owned()]);
    }
    args.push(turn.prompt.to_owned());
    args
}

fn read(memory: &mut StreamMemory, event: &Value) {
    match event["type"].as_str() {
        Some("thread.started") => memory.session(&event["thread_id"]),
        Some("error") => retry(memory, event["message"].as_str().unwrap_or("")),
        Some("item.started" | "item.updated") => memory.answered(),
        Some("item.completed") => item(memory, &event["item"]),
        Some("turn.completed") => {
            memory.usage(usage(&event["usage"]));
            memory.finished();
        }
        Some("turn.failed") => {
            let message = event["error"]["message"].as_str().unwrap_or("");
            memory.failed(by_words(message), message);
        }
        _ => {}
    }
}

fn item(memory: &mut StreamMemory, item: &Value) {
    match item["type"].as_str() {
        // Mere warnings.
        Some("error") => {}
        Some("agent_message") => {
            memory.says(item["text"].as_str().unwrap_or(""));
            memory.answered();
        }
        _ => memory.answered(),
    }
}

fn retry(memory: &mut StreamMemory, message: &str) {
    if !message.starts_with("Reconnecting") {
        return;
    }
    let delay = match super::classify::seconds_after(message, "try again in ") {
        Some(ResetTime::After(delay)) => Some(delay),
        Some(ResetTime::At(_)) | None => None,
    };
    memory.retry(by_words(message), delay.filter(|delay| *delay > Duration::ZERO));
}

fn usage(usage: &Value) -> UsageHint {
    let count = |key: &str| usage[key].as_u64().unwrap_or(0);
    UsageHint {
        input: count("input_tokens"),
        cached: count("cached_input_tokens"),
        output: count("output_tokens"),
        cost_usd: None,
        is_session_total: true,
        ..UsageHint::default()
    }
}

fn read_record(memory: &mut StreamMemory, line: &Value) {
    let payload = &line["payload"];
    match payload["type"].as_str() {
        Some("token_count") => {
            limits(memory, &payload["rate_limits"]);
            let info = &payload["info"];
            if let Some(tokens) = info["last_token_usage"]["total_tokens"].as_u64() {
                memory.context(tokens, info["model_context_window"].as_u64());
            }
        }
        Some("task_complete") => {
            if let Some(class) = class(&payload["error"]["codex_error_info"]) {
                memory.reclass(class);
            }
        }
        _ => {}
    }
}

/// The window that is used up, and of several the one that starts again last.
fn limits(memory: &mut StreamMemory, limits: &Value) {
    let windows = ["primary", "secondary"].map(|name| &limits[name]);
    let is_used_up =
        |window: &&&Value| window["used_percent"].as_f64().is_some_and(|used| used >= 100.0);
    let resets =
        windows.iter().filter(is_used_up).filter_map(|window| window["resets_at"].as_u64());
    if let Some(at) = resets.max() {
        memory.reset = Some(ResetTime::At(at));
    }
}

fn class(info: &Value) -> Option<FailureClass> {
    let word = info.as_str().or_else(|| info.as_object()?.keys().next().map(String::as_str))?;
    let status = info[word]["http_status_code"].as_u64();
    if let Some(class) = status.and_then(|status| by_status(status, "")) {
        return Some(class);
    }
    match word {
        "usage_limit_exceeded" | "rate_limit_exceeded" | "session_budget_exceeded" => {
            Some(FailureClass::RateLimit)
        }
        "context_window_exceeded" => Some(FailureClass::Context),
        "internal_server_error" => Some(FailureClass::Server),
        "server_overloaded" => Some(FailureClass::Overloaded),
        "unauthorized" => Some(FailureClass::Auth),
        "http_connection_failed" | "response_stream_disconnected" => Some(FailureClass::Network),
        _ => None,
    }
}
