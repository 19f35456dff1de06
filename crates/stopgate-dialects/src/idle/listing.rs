//! What the message store lists, in whichever form and direction.

use core::cmp::Ordering;

use serde_json::Value;

/// The body of the newest message; nothing where there is none, or it is not JSON object.
pub fn newest(listing: &str) -> Option<String> {
    let messages = messages(listing);
    let descents = messages.windows(2).filter(|pair| age(&pair[0], &pair[1]).is_gt()).count();
    let ascents = messages.windows(2).filter(|pair| age(&pair[0], &pair[1]).is_lt()).count();
    // Where nothing tells, the log's own order does: the newest is the last.
    let newest = if descents > ascents { messages.first() } else { messages.last() };
    newest.filter(|message| message.state.is_object()).map(|message| message.body.clone())
}

struct Message {
    body: String,
    /// The body as JSON; null where it is none.
    state: Value,
    posted_at: Option<i64>,
    id: Option<String>,
}

impl Message {
    fn bare(body: &str) -> Self {
        let state = serde_json::from_str(body).unwrap_or(Value::Null);
        Self { body: body.into(), state, posted_at: None, id: None }
    }

    /// A message in an envelope, or the state itself.
    fn of(value: &Value) -> Self {
        let Some(body) = value.get("body") else {
            return Self::bare(&value.to_string());
        };
        let text = body.as_str().map_or_else(|| body.to_string(), String::from);
        Self {
            posted_at: value.get("created_at").and_then(instant),
            id: value.get("id").and_then(Value::as_str).map(String::from),
            ..Self::bare(&text)
        }
    }
}

fn messages(listing: &str) -> Vec<Message> {
    match serde_json::from_str::<Value>(listing) {
        Ok(Value::Array(list)) => list.iter().map(Message::of).collect(),
        Ok(Value::Object(whole)) => match whole.get("messages") {
            Some(Value::Array(list)) => list.iter().map(Message::of).collect(),
            Some(_) | None => one(listing, &Value::Object(whole)),
        },
        Ok(_) | Err(_) => lines(listing),
    }
}

/// The state itself keeps its text; an envelope is opened.
fn one(listing: &str, value: &Value) -> Vec<Message> {
    vec![if value.get("body").is_some() {
        Message::of(value)
    } else {
        Message::bare(listing.trim())
    }]
}

/// A body or an envelope a line; or a listing for people, with bodies between headings.
fn lines(listing: &str) -> Vec<Message> {
    let lines: Vec<&str> = listing.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_object = |line: &&str| {
        line.starts_with('{') && serde_json::from_str::<Value>(line).is_ok_and(|v| v.is_object())
    };
    if lines.iter().any(is_object) || !listing.contains('{') {
        return lines.into_iter().flat_map(line).collect();
    }
    scattered(listing)
}

fn line(line: &str) -> Vec<Message> {
    match serde_json::from_str::<Value>(line) {
        Ok(value) if value.is_object() => one(line, &value),
        Ok(_) | Err(_) => vec![Message::bare(line)],
    }
}

/// Every JSON object in a text that is not JSON itself.
fn scattered(listing: &str) -> Vec<Message> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(open) = listing[at..].find('{') {
        let start = at + open;
        let mut objects =
            serde_json::Deserializer::from_str(&listing[start..]).into_iter::<Value>();
        match objects.next() {
            Some(Ok(value)) => {
                let end = start + objects.byte_offset();
                found.extend(one(&listing[start..end], &value));
                at = end;
            }
            Some(Err(_)) | None => at = start + 1,
        }
    }
    found
}

/// Which of two neighbours is older, by everything that tells.
fn age(a: &Message, b: &Message) -> Ordering {
    let updated = |message: &Message| message.state.get("updated_at").and_then(instant);
    known(a.posted_at, b.posted_at)
        .then_with(|| known(updated(a), updated(b)))
        .then_with(|| progress(&a.state, &b.state))
        .then_with(|| known(a.id.as_deref(), b.id.as_deref()))
}

fn known<T: Ord>(a: Option<T>, b: Option<T>) -> Ordering {
    a.zip(b).map_or(Ordering::Equal, |(a, b)| a.cmp(&b))
}

/// Within one run a frame only counts up, and an end comes last.
fn progress(a: &Value, b: &Value) -> Ordering {
    if a.get("run_id") != b.get("run_id") {
        return Ordering::Equal;
    }
    let ended = |state: &Value| {
        Some(state.get("event").and_then(Value::as_str).is_some_and(|event| event != "STATE"))
    };
    let stack = |state: &Value| state.get("stack").and_then(Value::as_array).map_or(0, Vec::len);
    let iter = |state: &Value| {
        let top = state.get("stack").and_then(Value::as_array).and_then(|stack| stack.last());
        top.and_then(|top| top.get("iter")).and_then(Value::as_i64)
    };
    let same_depth = stack(a) == stack(b);
    known(ended(a), ended(b))
        .then_with(|| if same_depth { known(iter(a), iter(b)) } else { Ordering::Equal })
}

/// Milliseconds since the epoch, from a number or a text.
fn instant(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => crate::instant(text).map(stopgate_core::Timestamp::unix_millis),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
