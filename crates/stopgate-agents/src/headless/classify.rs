//! The class of a failure: by status and type first, by words last.

use std::time::Duration;

use super::{FailureClass, ResetTime};

/// By an HTTP status; `None` where it leaves room.
pub(super) fn by_status(status: u64, message: &str) -> Option<FailureClass> {
    match status {
        401 | 403 | 407 => Some(FailureClass::Auth),
        408 | 504 => Some(FailureClass::Network),
        413 => Some(FailureClass::Context),
        429 => Some(FailureClass::RateLimit),
        503 | 529 => Some(FailureClass::Overloaded),
        500..=599 => Some(FailureClass::Server),
        400 | 422 => is_context(message).then_some(FailureClass::Context),
        _ => None,
    }
}

/// By status if there is one, else by the words.
pub(super) fn by_status_or_words(status: Option<u64>, message: &str) -> FailureClass {
    status.and_then(|status| by_status(status, message)).unwrap_or_else(|| by_words(message))
}

/// By the words of a message alone.
pub(super) fn by_words(message: &str) -> FailureClass {
    let text = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if is_context(&text) {
        FailureClass::Context
    } else if let Some(class) = status_in(&text).and_then(|status| by_status(status, &text)) {
        class
    } else if has(&["rate limit", "rate_limit", "usage limit", "quota", "too many requests"])
        || has(&["hit your limit", "resource exhausted", "resource_exhausted"])
    {
        FailureClass::RateLimit
    } else if has(&["overloaded", "high demand", "at capacity"]) {
        FailureClass::Overloaded
    } else if has(&["unauthorized", "api key", "not logged in", "/login", "authenticat"])
        || has(&["forbidden", "permission_error", "credential"])
    {
        FailureClass::Auth
    } else if has(&["internal server error", "server_error", "bad gateway"]) {
        FailureClass::Server
    } else if has(&["econn", "network", "connection", "socket", "timed out", "timeout", "dns"])
        || has(&["stream disconnected", "terminated", "fetch failed", "incomplete json"])
    {
        FailureClass::Network
    } else {
        FailureClass::Unknown
    }
}

/// The first number in a message that is an HTTP status of an error.
fn status_in(text: &str) -> Option<u64> {
    let numbers = text.split(|letter: char| !letter.is_ascii_digit());
    numbers.filter(|digits| digits.len() == 3).find_map(|digits| {
        let status = digits.parse().ok()?;
        by_status(status, "").map(|_| status)
    })
}

/// Whether a message says that the conversation is too long for the model.
pub(super) fn is_context(message: &str) -> bool {
    let text = message.to_lowercase();
    ["prompt is too long", "context_length", "context window", "context length", "contextoverflow"]
        .iter()
        .chain(&[
            "input is too long",
            "exceeds the maximum number of tokens",
            "token count exceeds",
        ])
        .any(|words| text.contains(words))
}

/// The seconds after these words, as in `retry after 900s`.
pub(super) fn seconds_after(message: &str, words: &str) -> Option<ResetTime> {
    let rest = message.split(words).nth(1)?.trim_start();
    let number: String =
        rest.chars().take_while(|letter| letter.is_ascii_digit() || *letter == '.').collect();
    let seconds: f64 = number.trim_end_matches('.').parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok().map(ResetTime::After)
}
