//! `OpenCode`: `opencode run --format json`. An error may be followed by a turn that went well, so the last
//! event counts; the exit code then still says 1.
//!
//! Its output is silent while it waits for a service that asked it to; its log, which it prints on
//! standard error when it is asked to, names the session and the service's words, but no time.

use std::time::Duration;

use serde_json::Value;

use super::classify::{by_status_or_words, by_words};
use super::stream::StreamMemory;
use super::{
    FailureClass, HeadlessProfile, HeadlessTurn, LONG_PAUSE, ResetTime, ResumeHabit,
    SessionIdSource, TurnSession, UsageHint,
};

const PRINT_LOGS: &str = "--print-logs";

pub(super) const HEADLESS: HeadlessProfile = HeadlessProfile {
    id: SessionIdSource::FirstEvent,
    read,
    read_error: log,
    is_log,
    silence_after_limit: Some(LONG_PAUSE),
    resume: ResumeHabit::Compacts,
    ..HeadlessProfile::plain(args)
};

fn args(turn: &HeadlessTurn<'_>) -> Vec<String> {
    let mut args = vec!["run".to_owned()];
    args.extend(turn.own_after("run"));
    args.extend(["--format".to_owned(), "json".to_owned()]);
    if !turn.own_args.iter().any(|own| own == PRINT_LOGS) {
        args.push(PRINT_LOGS.to_owned());
    }
    args.extend(turn.model_flag("-m", &["-m", "--model"]));
    if let TurnSession::Resumed(id) = turn.session {
        args.extend(["--session".to_owned(), id.to_owned()]);
    }
    args.push(turn.prompt.to_owned());
    args
}

/// A line of the log, as `timestamp=… level=ERROR message="stream error" … error.error="…"`.
fn log(memory: &mut StreamMemory, line: &str) {
    if !is_log(line) {
        return;
    }
    if let Some(id) = value(line, "session.id=") {
        memory.names(id);
    }
    if let (Some("stream error"), Some(words)) =
        (value(line, "message="), value(line, "error.error="))
    {
        memory.retry(by_words(words), None);
        memory.complaint = Some(words.to_owned());
    }
}

fn is_log(line: &str) -> bool {
    line.starts_with("timestamp=") && line.contains(" level=")
}

/// What follows `key` in a line of the log, without its quotes.
fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(&format!(" {key}"))?;
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split(' ').next(),
    }
}

fn read(memory: &mut StreamMemory, event: &Value) {
    memory.session(&event["sessionID"]);
    let part = &event["part"];
    match event["type"].as_str() {
        Some("step_start") => memory.says(""),
        Some("text") => {
            memory.adds(part["text"].as_str().unwrap_or(""));
            memory.answered();
        }
        Some("tool_use") => memory.answered(),
        Some("step_finish") => step(memory, part),
        Some("error") => error(memory, &event["error"]),
        _ => {}
    }
}

fn step(memory: &mut StreamMemory, part: &Value) {
    let count = |key: &str| part["tokens"][key].as_u64().unwrap_or(0);
    let cache = |key: &str| part["tokens"]["cache"][key].as_u64().unwrap_or(0);
    let (cached, cache_written) = (cache("read"), cache("write"));
    memory.usage(UsageHint {
        input: count("input") + cached + cache_written,
        cached,
        cache_written,
        output: count("output") + count("reasoning"),
        cost_usd: part["cost"].as_f64(),
        is_session_total: false,
    });
    memory.context(count("total"), None);
    if part["reason"] == "stop" {
        memory.finished();
    }
}

fn error(memory: &mut StreamMemory, error: &Value) {
    let data = &error["data"];
    let message = data["message"].as_str().unwrap_or("");
    let after = data["responseHeaders"]["retry-after"].as_str();
    if let Some(seconds) = after.and_then(|after| after.trim().parse().ok()) {
        memory.reset = Some(ResetTime::After(Duration::from_secs(seconds)));
    }
    let class = match error["name"].as_str() {
        Some("ContextOverflowError") => FailureClass::Context,
        _ => by_status_or_words(data["statusCode"].as_u64(), message),
    };
    memory.failed(class, message);
}
