//! Claude Code's payload, read in one pass.
//!
//! Unknown fields are passed over and a field of the wrong kind counts as
//! missing, so that a new client can't break an old stopgate. What is refused is
//! refused as a whole: never half a call.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::lenient::{FlagWire, ListWire, ObjectWire, TextWire};
use super::mend::mend;
use crate::{Background, Call, Event, Malformed, Source};

#[cfg(test)]
mod tests;

/// Reads one payload. The given event counts only where the payload names none.
pub fn parse<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    let text = std::str::from_utf8(raw).map_err(|_| Malformed::NotUtf8)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_ascii();
    match text.as_bytes().first() {
        Some(b'{') => parse_object(text, event),
        Some(_) => Err(refuse(text)),
        None => Err(Malformed::Empty),
    }
}

fn parse_object<'a>(text: &'a str, event: Option<&str>) -> Result<Call<'a>, Malformed> {
    match serde_json::from_str(text) {
        Ok(payload) => call(payload, event),
        Err(error) => {
            let Some(mended) = mend(text) else {
                return Err(Malformed::NotJson(error));
            };
            let payload = serde_json::from_str(&mended).map_err(Malformed::NotJson)?;
            call(payload, event).map(Call::into_owned)
        }
    }
}

fn refuse(text: &str) -> Malformed {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(IgnoredAny) => Malformed::NotAnObject,
        Err(error) => Malformed::NotJson(error),
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PayloadWire<'a> {
    #[serde(borrow)]
    session_id: TextWire<'a>,
    #[serde(borrow)]
    transcript_path: TextWire<'a>,
    #[serde(borrow)]
    cwd: TextWire<'a>,
    #[serde(borrow)]
    prompt_id: TextWire<'a>,
    #[serde(borrow)]
    hook_event_name: TextWire<'a>,
    stop_hook_active: FlagWire,
    #[serde(borrow)]
    last_assistant_message: TextWire<'a>,
    #[serde(borrow)]
    background_tasks: ListWire<ObjectWire<TaskWire<'a>>>,
    #[serde(borrow)]
    source: TextWire<'a>,
    #[serde(borrow)]
    reason: TextWire<'a>,
    #[serde(borrow)]
    prompt: TextWire<'a>,
    #[serde(borrow)]
    error: TextWire<'a>,
    #[serde(borrow)]
    agent_id: TextWire<'a>,
    #[serde(borrow)]
    trigger: TextWire<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TaskWire<'a> {
    #[serde(borrow)]
    id: TextWire<'a>,
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    status: TextWire<'a>,
    #[serde(borrow)]
    description: TextWire<'a>,
}

fn call<'a>(payload: PayloadWire<'a>, event: Option<&str>) -> Result<Call<'a>, Malformed> {
    let session = payload.session_id.filled().ok_or(Malformed::NoSession)?;
    let named = payload.hook_event_name.filled();
    let event = named.as_deref().or(event.filter(|name| !name.is_empty()));
    Ok(Call {
        event: event.map(event_from).ok_or(Malformed::NoEvent)?,
        session,
        cwd: payload.cwd.filled(),
        transcript: payload.transcript_path.filled(),
        prompt_id: payload.prompt_id.filled(),
        last_message: payload.last_assistant_message.0,
        continued: payload.stop_hook_active.0,
        background: payload.background_tasks.0.into_iter().filter_map(running).collect(),
        source: payload.source.filled().map(|source| source_from(&source)),
        end_reason: payload.reason.filled(),
        prompt: payload.prompt.0,
        error: payload.error.filled(),
        agent_id: payload.agent_id.filled(),
        trigger: payload.trigger.filled(),
    })
}

fn running(task: ObjectWire<TaskWire<'_>>) -> Option<Background<'_>> {
    let task = task.0.filter(|task| task.status.is("running"))?;
    Some(Background {
        id: text(task.id),
        kind: text(task.kind),
        description: text(task.description),
    })
}

fn text(text: TextWire<'_>) -> Cow<'_, str> {
    text.0.unwrap_or_default()
}

fn event_from(name: &str) -> Event {
    match name {
        "Stop" => Event::Stop,
        "SubagentStop" => Event::SubagentStop,
        "SessionStart" => Event::SessionStart,
        "SessionEnd" => Event::SessionEnd,
        "UserPromptSubmit" => Event::UserPromptSubmit,
        "PostToolBatch" => Event::PostToolBatch,
        "PreCompact" => Event::PreCompact,
        "StopFailure" => Event::StopFailure,
        _ => Event::Other,
    }
}

fn source_from(name: &str) -> Source {
    match name {
        "startup" => Source::Startup,
        "resume" => Source::Resume,
        "clear" => Source::Clear,
        "compact" => Source::Compact,
        "fork" => Source::Fork,
        _ => Source::Other,
    }
}
