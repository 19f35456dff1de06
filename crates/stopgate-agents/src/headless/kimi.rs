//! Kimi Code: `kimi --output-format stream-json -p`. It prints its session's id last, and only if all
//! went well; errors stand on standard error.

use std::time::Duration;

use serde_json::Value;

use super::classify::{by_status_or_words, by_words};
use super::stream::StreamMemory;
use super::{
    FailureClass, HeadlessProfile, HeadlessTurn, ResumeHabit, SessionIdSource, SessionRecord,
    TurnSession,
};

pub(super) const HEADLESS: HeadlessProfile = HeadlessProfile {
    id: SessionIdSource::LastEvent,
    read,
    record: Some(SessionRecord::new("sessions", "{id}/agents/main/wire.jsonl")),
    read_error,
    long_pauses: Some(1),
    resume: ResumeHabit::Compacts,
    ..HeadlessProfile::plain(args)
};

fn args(turn: &HeadlessTurn<'_>) -> Vec<String> {
    let mut args = turn.own_then(&["--output-format", "stream-json"]);
    args.extend(turn.model_flag("-m", &["-m", "--model"]));
    if let TurnSession::Resumed(id) = turn.session {
        args.extend(["--session".to_owned(), id.to_owned()]);
    }
    args.extend(["-p".to_owned(), turn.prompt.to_owned()]);
    args
}

fn read(memory: &mut StreamMemory, event: &Value) {
    match (event["role"].as_str(), event["type"].as_str()) {
        (Some("assistant"), _) => {
            memory.says(event["content"].as_str().unwrap_or(""));
            memory.answered();
        }
        (Some("meta"), Some("turn.step.retrying")) => {
            let message = event["error_message"].as_str().unwrap_or("");
            let class = by_status_or_words(event["status_code"].as_u64(), message);
            let delay = event["delay_ms"].as_f64().map(|ms| ms / 1000.0);
            memory.retry(class, delay.and_then(|s| Duration::try_from_secs_f64(s).ok()));
        }
        (Some("meta"), Some("session.resume_hint")) => {
            memory.session(&event["session_id"]);
            memory.finished();
        }
        _ => {}
    }
}

/// `error: failed to run prompt: provider.rate_limit: 429 …`
fn read_error(memory: &mut StreamMemory, line: &str) {
    let Some((_, message)) = line.split_once("failed to run prompt: ") else { return };
    let class = match message.split(':').next() {
        Some("provider.rate_limit") => FailureClass::RateLimit,
        Some("provider.auth_error") => FailureClass::Auth,
        _ => by_words(message),
    };
    memory.failed(class, message);
}
