//! `OpenCode`: `opencode run --format json`. An error may be followed by a turn that went well, so the last
//! event counts; the exit code then still says 1.

use std::time::Duration;

use serde_json::Value;

use super::classify::by_status_or_words;
use super::stream::StreamMemory;
use super::{
    FailureClass, HeadlessProfile, HeadlessTurn, ResetTime, ResumeHabit, SessionIdSource,
    TurnSession, UsageHint,
};

pub(super) const HEADLESS: HeadlessProfile = HeadlessProfile {
    id: SessionIdSource::FirstEvent,
    read,
    resume: ResumeHabit::Compacts,
    ..HeadlessProfile::plain(args)
};

fn args(turn: &HeadlessTurn<'_>) -> Vec<String> {
    let mut args = vec!["run".to_owned()];
    args.extend(turn.own_after("run"));
    args.extend(["--format".to_owned(), "json".to_owned()]);
    args.extend(turn.model_flag("-m", &["-m", "--model"]));
    if let TurnSession::Resumed(id) = turn.session {
        args.extend(["--session".to_owned(), id.to_owned()]);
    }
    args.push(turn.prompt.to_owned());
    args
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
    let cached = part["tokens"]["cache"]["read"].as_u64().unwrap_or(0);
    memory.usage(UsageHint {
        input: count("input") + cached,
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
        memory.resets(ResetTime::After(Duration::from_secs(seconds)));
    }
    let class = match error["name"].as_str() {
        Some("ContextOverflowError") => FailureClass::Context,
        _ => by_status_or_words(data["statusCode"].as_u64(), message),
    };
    memory.failed(class, message);
}
