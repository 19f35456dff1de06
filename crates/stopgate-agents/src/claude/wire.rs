//! Claude Code's payload, read in one pass.
//!
//! Unknown fields are passed over and a field of the wrong kind counts as
//! missing, so that a new client can't break an old stopgate. What is refused is
//! refused as a whole: never half a call.

use serde::Deserialize;

use crate::lenient::{FlagWire, ListWire, ObjectWire, TextWire};
use crate::payload::{self, TaskWire, running};
use crate::{Agent, Call, HookEvent, Malformed, SessionSource};

#[cfg(test)]
mod tests;

/// Reads one payload. The given event counts only where the payload names none.
pub(crate) fn parse<'a>(raw: &'a [u8], event: Option<&str>) -> Result<Call<'a>, Malformed> {
    let text = payload::text(raw)?;
    match serde_json::from_str(text) {
        Ok(payload) => call(payload, event),
        Err(error) => {
            let repaired = payload::repaired(text, error)?;
            let payload = serde_json::from_str(&repaired).map_err(Malformed::NotJson)?;
            call(payload, event).map(Call::into_owned)
        }
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

fn call<'a>(payload: PayloadWire<'a>, event: Option<&str>) -> Result<Call<'a>, Malformed> {
    let session = payload.session_id.filled().ok_or(Malformed::NoSession)?;
    let named = payload.hook_event_name.filled();
    let event = named.as_deref().or(event.filter(|name| !name.is_empty()));
    Ok(Call {
        agent: Agent::Claude,
        event: event.map(HookEvent::named).ok_or(Malformed::NoEvent)?,
        session,
        cwd: payload.cwd.filled(),
        transcript: payload.transcript_path.filled(),
        prompt_id: payload.prompt_id.filled(),
        last_message: payload.last_assistant_message.0,
        continued: payload.stop_hook_active.0,
        background: payload.background_tasks.0.into_iter().filter_map(running).collect(),
        source: payload.source.filled().map(|source| SessionSource::named(&source)),
        end_reason: payload.reason.filled(),
        prompt: payload.prompt.0,
        error: payload.error.filled(),
        agent_id: payload.agent_id.filled(),
        trigger: payload.trigger.filled(),
    })
}
