//! Claude Code: `claude -p … --output-format stream-json`.
//!
//! An API error ends with `subtype: "success"` and `is_error: true`; an interrupt with exit code 0.
//! Few retries of its own, so that waiting is ours: a wrong key would else take three minutes to show.

use std::time::Duration;

use serde_json::{Value, json};

use super::classify::{by_status, by_words};
use super::stream::StreamMemory;
use super::{
    FailureClass, HeadlessProfile, HeadlessTurn, ResetTime, SessionRecord, TurnHelper, UsageHint,
    host,
};

pub(super) const HEADLESS: HeadlessProfile = HeadlessProfile {
    terminal_args: Some(terminal_args),
    env: &[("CLAUDE_CODE_MAX_RETRIES", "3")],
    helper_args: Some(helper_args),
    opening: host::opening,
    host_args: host::ARGS,
    read,
    record: Some(SessionRecord::new("projects", "{id}.jsonl")),
    ..HeadlessProfile::plain(args)
};

fn args(turn: &HeadlessTurn<'_>) -> Vec<String> {
    let mut args = turn.own_then(&["--output-format", "stream-json", "--verbose"]);
    args.extend(turn.session_flag());
    args.extend(turn.model_flag("--model", &["--model"]));
    args.extend(["-p".to_owned(), turn.prompt.to_owned()]);
    args
}

fn helper_args(helper: &TurnHelper<'_>) -> Vec<String> {
    let mut defined = json!({ "description": helper.description, "prompt": helper.prompt });
    if let Some(model) = helper.model {
        defined["model"] = model.into();
    }
    vec!["--agents".to_owned(), json!({ helper.name: defined }).to_string()]
}

fn terminal_args(turn: &HeadlessTurn<'_>) -> Vec<String> {
    let mut args = turn.own_then(&[]);
    args.extend(turn.session_flag());
    args.extend(turn.model_flag("--model", &["--model"]));
    args.push(turn.prompt.to_owned());
    args
}

fn read(memory: &mut StreamMemory, event: &Value) {
    memory.session(&event["session_id"]);
    match event["type"].as_str() {
        Some("assistant") => answer(memory, event),
        Some("rate_limit_event") => limit(memory, &event["rate_limit_info"]),
        Some("system") if event["subtype"] == "api_retry" => retry(memory, event),
        Some("control_request") => host::requested(memory, event),
        Some("result") => result(memory, event),
        _ => {}
    }
}

fn answer(memory: &mut StreamMemory, event: &Value) {
    let message = &event["message"];
    if message["model"] == "<synthetic>" || !event["parent_tool_use_id"].is_null() {
        return;
    }
    memory.answered();
    host::heard(memory, message);
    let usage = &message["usage"];
    let count = |key: &str| usage[key].as_u64().unwrap_or(0);
    let tokens = count("input_tokens")
        + count("cache_read_input_tokens")
        + count("cache_creation_input_tokens");
    if tokens > 0 {
        memory.context(tokens, None);
    }
}

fn limit(memory: &mut StreamMemory, info: &Value) {
    let Some(at) = info["resetsAt"].as_u64() else { return };
    if info["status"] == "rejected" {
        memory.reset = Some(ResetTime::At(at));
    }
    let windows = info["unifiedWindows"].as_object();
    let shares = windows.into_iter().flatten().filter_map(|(_, own)| own["utilization"].as_f64());
    let most = shares
        .chain(info["utilization"].as_f64())
        .fold(None, |most: Option<f64>, share| Some(most.map_or(share, |most| most.max(share))));
    if let Some(used) = most {
        memory.quota(used, at);
    }
}

fn class(status: Option<u64>, word: &str, message: &str) -> FailureClass {
    if let Some(class) = status.and_then(|status| by_status(status, message)) {
        return class;
    }
    match word {
        "authentication_failed" | "authentication_error" | "permission_error" => FailureClass::Auth,
        "rate_limit" | "rate_limit_error" | "usage_limit_reached" => FailureClass::RateLimit,
        "overloaded" | "overloaded_error" => FailureClass::Overloaded,
        "server_error" | "api_error" => FailureClass::Server,
        "connection_failed" => FailureClass::Network,
        _ => by_words(message),
    }
}

fn retry(memory: &mut StreamMemory, event: &Value) {
    let status = event["error_status"].as_u64();
    let word = event["error"].as_str().unwrap_or("");
    let class = match (status, word) {
        // A connection that broke has neither a status nor a name.
        (None, "unknown") => FailureClass::Network,
        _ => class(status, word, ""),
    };
    memory.retry(class, event["retry_delay_ms"].as_u64().map(Duration::from_millis));
}

fn result(memory: &mut StreamMemory, event: &Value) {
    let text = event["result"].as_str().unwrap_or("");
    let models = event["modelUsage"].as_object();
    let window = models.into_iter().flatten().find_map(|(_, own)| own["contextWindow"].as_u64());
    if let (Some((tokens, _)), Some(window)) = (memory.context, window) {
        memory.context(tokens, Some(window));
    }
    memory.usage(usage(event));
    if event["is_error"] != true || memory.question.is_some() {
        memory.says(text);
        memory.finished();
        return;
    }
    match event["terminal_reason"].as_str() {
        // The person's own limit for one run: a session that ended early, not one that failed.
        Some("max_turns") => memory.finished(),
        Some("aborted_tools" | "aborted_streaming") => memory.failed(FailureClass::Killed, text),
        Some("prompt_too_long") => memory.failed(FailureClass::Context, text),
        _ => {
            let word = event["api_error_type"].as_str().or(event["api_error"].as_str());
            let errors = event["errors"][0].as_str().unwrap_or("");
            let words = if text.is_empty() { errors } else { text };
            let status = event["api_error_status"].as_u64();
            memory.failed(class(status, word.unwrap_or(""), words), words);
        }
    }
}

fn usage(event: &Value) -> UsageHint {
    let models = event["modelUsage"].as_object();
    let sum = |keys: &[&str]| {
        let models = models.into_iter().flatten();
        models.flat_map(|(_, own)| keys.iter().filter_map(|key| own[*key].as_u64())).sum()
    };
    UsageHint {
        input: sum(&["inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"]),
        cached: sum(&["cacheReadInputTokens"]),
        cache_written: sum(&["cacheCreationInputTokens"]),
        output: sum(&["outputTokens"]),
        cost_usd: event["total_cost_usd"].as_f64(),
        is_session_total: true,
    }
}
