//! The payload of the agents that speak as Claude Code does, or nearly so.
//!
//! Unknown fields are passed over and a field of the wrong kind counts as missing, so that a new
//! client can't break an old stopgate. Both spellings of a name are read. Each agent's module
//! says what it makes of the fields that only it has.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::lenient::{CountWire, FlagWire, ListWire, ObjectWire, TextWire};
use crate::surrogates::replace_lone_surrogates;
use crate::{Agent, Background, Call, HookEvent, Malformed, SessionSource};

/// The JSON object in a payload, as text.
pub(crate) fn text(raw: &[u8]) -> Result<&str, Malformed> {
    let text = std::str::from_utf8(raw).map_err(|_| Malformed::NotUtf8)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_ascii();
    match text.as_bytes().first() {
        Some(b'{') => Ok(text),
        Some(_) => Err(refused(text)),
        None => Err(Malformed::Empty),
    }
}

/// A payload that could not be read because of halves of characters, without them.
pub(crate) fn repaired(text: &str, error: serde_json::Error) -> Result<String, Malformed> {
    replace_lone_surrogates(text).ok_or(Malformed::NotJson(error))
}

fn refused(text: &str) -> Malformed {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(IgnoredAny) => Malformed::NotAnObject,
        Err(error) => Malformed::NotJson(error),
    }
}

/// What an agent's module makes of the fields that only it has.
pub(crate) type Finish = for<'a> fn(Call<'a>, &Extra<'a>) -> Call<'a>;

/// Fields that mean something in single agents only.
#[derive(Debug, Default)]
pub(crate) struct Extra<'a> {
    /// Gemini: everything that was said since the prompt.
    pub(crate) prompt_response: Option<Cow<'a, str>>,
    /// Cursor: how the turn ended.
    pub(crate) status: Option<Cow<'a, str>>,
    /// Cursor: how many follow-ups this hook has sent in this conversation.
    pub(crate) loop_count: Option<u64>,
    /// Antigravity: whether nothing runs in the background.
    pub(crate) fully_idle: Option<bool>,
}

/// Reads one payload of `agent`. The given event counts only where the payload names none.
pub(crate) fn read<'a>(
    agent: Agent,
    raw: &'a [u8],
    event: Option<&str>,
    finish: Finish,
) -> Result<Call<'a>, Malformed> {
    let text = text(raw)?;
    match serde_json::from_str::<FieldsWire<'a>>(text) {
        Ok(fields) => fields.call(agent, event).map(|(call, extra)| finish(call, &extra)),
        Err(error) => {
            let repaired = repaired(text, error)?;
            let fields: FieldsWire<'_> =
                serde_json::from_str(&repaired).map_err(Malformed::NotJson)?;
            let (call, extra) = fields.call(agent, event)?;
            Ok(finish(call, &extra).into_owned())
        }
    }
}

/// Takes the call as it is.
pub(crate) fn plain<'a>(call: Call<'a>, _: &Extra<'a>) -> Call<'a> {
    call
}

// Two spellings of a name are two fields: a payload that has both is valid.
#[derive(Default, Deserialize)]
#[serde(default)]
struct FieldsWire<'a> {
    #[serde(borrow)]
    session_id: TextWire<'a>,
    #[serde(borrow, rename = "sessionId")]
    session_camel: TextWire<'a>,
    #[serde(borrow)]
    conversation_id: TextWire<'a>,
    #[serde(borrow, rename = "conversationId")]
    conversation_camel: TextWire<'a>,
    #[serde(borrow)]
    transcript_path: TextWire<'a>,
    #[serde(borrow, rename = "transcriptPath")]
    transcript_camel: TextWire<'a>,
    #[serde(borrow)]
    cwd: TextWire<'a>,
    #[serde(borrow)]
    workspace_roots: ListWire<TextWire<'a>>,
    #[serde(borrow, rename = "workspacePaths")]
    workspace_paths: ListWire<TextWire<'a>>,
    #[serde(borrow, rename = "workspaceRoot")]
    workspace_root: TextWire<'a>,
    #[serde(borrow)]
    prompt_id: TextWire<'a>,
    #[serde(borrow)]
    turn_id: TextWire<'a>,
    #[serde(borrow)]
    hook_event_name: TextWire<'a>,
    #[serde(borrow, rename = "hookEventName")]
    event_camel: TextWire<'a>,
    stop_hook_active: FlagWire,
    #[serde(rename = "stopHookActive")]
    active_camel: FlagWire,
    #[serde(borrow)]
    last_assistant_message: TextWire<'a>,
    #[serde(borrow, rename = "lastAssistantMessage")]
    message_camel: TextWire<'a>,
    #[serde(borrow)]
    prompt_response: TextWire<'a>,
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
    #[serde(borrow)]
    stop_reason: TextWire<'a>,
    #[serde(borrow, rename = "stopReason")]
    stop_reason_camel: TextWire<'a>,
    #[serde(borrow, rename = "terminationReason")]
    termination_reason: TextWire<'a>,
    #[serde(borrow)]
    status: TextWire<'a>,
    loop_count: CountWire,
    #[serde(rename = "fullyIdle")]
    fully_idle: FlagWire,
}

impl<'a> FieldsWire<'a> {
    fn call(self, agent: Agent, event: Option<&str>) -> Result<(Call<'a>, Extra<'a>), Malformed> {
        let event = self.event(event)?;
        let roots = self.workspace_roots.0.into_iter().chain(self.workspace_paths.0);
        let cwd = self.cwd.filled().or_else(|| self.workspace_root.filled());
        let session = self.session_id.filled().or_else(|| self.session_camel.filled());
        let session = session.or_else(|| self.conversation_id.filled());
        let session = session.or_else(|| self.conversation_camel.filled());
        let call = Call {
            agent,
            event,
            session: session.ok_or(Malformed::NoSession)?,
            cwd: cwd.or_else(|| roots.into_iter().find_map(TextWire::filled)),
            transcript: self.transcript_path.filled().or_else(|| self.transcript_camel.filled()),
            prompt_id: self.prompt_id.filled().or_else(|| self.turn_id.filled()),
            last_message: self.last_assistant_message.0.or(self.message_camel.0),
            continued: self.stop_hook_active.0.or(self.active_camel.0),
            background: self.background_tasks.0.into_iter().filter_map(running).collect(),
            source: self.source.filled().map(|source| SessionSource::named(&source)),
            end_reason: self.reason.filled(),
            prompt: self.prompt.0,
            error: self.error.filled(),
            agent_id: self.agent_id.filled(),
            trigger: self.trigger.filled(),
        };
        let extra = Extra {
            prompt_response: self.prompt_response.0,
            status: self.status.filled(),
            loop_count: self.loop_count.0,
            fully_idle: self.fully_idle.0,
        };
        Ok((call, extra))
    }

    /// What happened: as the payload says, else as the command line says, else what only a stop has.
    fn event(&self, given: Option<&str>) -> Result<HookEvent, Malformed> {
        let named = [&self.hook_event_name, &self.event_camel].into_iter();
        let named = named.filter_map(|name| name.0.as_deref()).find(|name| !name.is_empty());
        if let Some(name) = named.or(given.filter(|name| !name.is_empty())) {
            return Ok(HookEvent::named(name));
        }
        let ends = [&self.stop_reason, &self.stop_reason_camel, &self.termination_reason];
        let is_stop = ends.iter().any(|reason| reason.0.is_some());
        is_stop.then_some(HookEvent::Stop).ok_or(Malformed::NoEvent)
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct TaskWire<'a> {
    #[serde(borrow)]
    id: TextWire<'a>,
    #[serde(borrow, rename = "type")]
    kind: TextWire<'a>,
    #[serde(borrow)]
    status: TextWire<'a>,
    #[serde(borrow)]
    description: TextWire<'a>,
}

/// A background task, if it still runs.
pub(crate) fn running(task: ObjectWire<TaskWire<'_>>) -> Option<Background<'_>> {
    let task = task.0.filter(|task| task.status.is("running"))?;
    Some(Background {
        id: task.id.0.unwrap_or_default(),
        kind: task.kind.0.unwrap_or_default(),
        description: task.description.0.unwrap_or_default(),
    })
}
