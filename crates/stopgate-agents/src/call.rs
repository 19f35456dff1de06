//! What any agent can say to a hook, and what a hook can say back.
//!
//! These are our words for it, the same for every agent. How one agent spells
//! them on the wire is known only to that agent's module.

use std::borrow::Cow;

use stopgate_core::is_continuation;

use crate::Agent;

#[cfg(test)]
mod tests;

/// What happened in the agent, as far as we care.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HookEvent {
    /// The agent is about to stop.
    Stop,
    /// A subagent, or a compaction, is about to stop.
    SubagentStop,
    /// A session begins, or begins again.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// A prompt was handed to the agent.
    UserPromptSubmit,
    /// A batch of tool calls came back.
    PostToolBatch,
    /// The conversation is about to be compacted.
    PreCompact,
    /// A turn ended in an error of the model's server.
    StopFailure,
    /// Something that we have no use for.
    Other,
}

impl HookEvent {
    /// The event of this name, in the spelling of any agent.
    pub fn named(name: &str) -> Self {
        match name {
            "Stop" | "stop" | "agentStop" | "AfterAgent" => Self::Stop,
            "SubagentStop" | "subagentStop" => Self::SubagentStop,
            "SessionStart" | "sessionStart" => Self::SessionStart,
            "SessionEnd" | "sessionEnd" => Self::SessionEnd,
            "UserPromptSubmit" | "userPromptSubmitted" | "beforeSubmitPrompt" | "BeforeAgent" => {
                Self::UserPromptSubmit
            }
            "PostToolBatch" => Self::PostToolBatch,
            "PreCompact" | "preCompact" | "PreCompress" => Self::PreCompact,
            "StopFailure" | "errorOccurred" => Self::StopFailure,
            _ => Self::Other,
        }
    }
}

/// Why a session began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionSource {
    /// It is new.
    Startup,
    /// An old one goes on, with its id.
    Resume,
    /// The one before was cleared.
    Clear,
    /// Its conversation was compacted.
    Compact,
    /// It is a copy of another one.
    Fork,
    /// A reason that we don't know.
    Other,
}

impl SessionSource {
    /// The reason of this name, in the spelling of any agent.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "startup" | "new" => Self::Startup,
            "resume" => Self::Resume,
            "clear" => Self::Clear,
            "compact" => Self::Compact,
            "fork" => Self::Fork,
            _ => Self::Other,
        }
    }
}

/// Work that still runs while the agent wants to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Background<'a> {
    /// The agent's id for it; empty where it gave none.
    pub id: Cow<'a, str>,
    /// What kind of work it is, in the agent's words: `shell`, `subagent`.
    pub kind: Cow<'a, str>,
    /// What the agent says it does; may be empty.
    pub description: Cow<'a, str>,
}

/// One hook call, as the agent described it.
///
/// What the payload doesn't say, or says in a form that we don't understand, is
/// absent. Only the session and the event are always there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<'a> {
    /// Who calls.
    pub agent: Agent,
    /// What happened.
    pub event: HookEvent,
    /// The session it happened in. Never empty.
    pub session: Cow<'a, str>,
    /// The agent's working directory.
    pub cwd: Option<Cow<'a, str>>,
    /// Where the session's transcript is, or will be.
    pub transcript: Option<Cow<'a, str>>,
    /// The prompt that the agent works on.
    pub prompt_id: Option<Cow<'a, str>>,
    /// The last thing the agent said. An empty message is a message.
    pub last_message: Option<Cow<'a, str>>,
    /// Whether a hook has already sent the agent back during this prompt.
    pub continued: Option<bool>,
    /// Work that is still running.
    pub background: Vec<Background<'a>>,
    /// Why the session began.
    pub source: Option<SessionSource>,
    /// Why the session ended, in the agent's words.
    pub end_reason: Option<Cow<'a, str>>,
    /// The prompt's text.
    pub prompt: Option<Cow<'a, str>>,
    /// The kind of error that ended the turn, in the agent's words.
    pub error: Option<Cow<'a, str>>,
    /// The subagent that this is about.
    pub agent_id: Option<Cow<'a, str>>,
    /// Who asked for the compaction: `auto` or `manual`.
    pub trigger: Option<Cow<'a, str>>,
}

impl<'a> Call<'a> {
    /// A call that tells nothing but what happened, and in which session.
    pub const fn new(agent: Agent, event: HookEvent, session: Cow<'a, str>) -> Self {
        Self {
            agent,
            event,
            session,
            cwd: None,
            transcript: None,
            prompt_id: None,
            last_message: None,
            continued: None,
            background: Vec::new(),
            source: None,
            end_reason: None,
            prompt: None,
            error: None,
            agent_id: None,
            trigger: None,
        }
    }

    /// Whether the prompt is the agent's own news of finished background work,
    /// and so nothing that a person typed.
    pub fn is_task_notification(&self) -> bool {
        self.prompt.as_deref().is_some_and(|prompt| prompt.starts_with("<task-notification>"))
    }

    /// Whether the prompt is our own text, handed to the agent by its client. Some clients announce
    /// a continuation as if a person had typed it.
    pub fn is_continuation(&self) -> bool {
        self.prompt.as_deref().is_some_and(is_continuation)
    }

    /// Whether the client itself wrote the prompt: our own text, or nothing at all. Qwen Code
    /// announces the results of tools as a blank prompt.
    pub fn is_from_client(&self) -> bool {
        let is_blank = self.prompt.as_deref().is_some_and(|prompt| prompt.trim().is_empty());
        is_blank || self.is_continuation()
    }

    /// Whether a person typed the prompt.
    pub fn is_typed(&self) -> bool {
        !self.is_task_notification() && !self.is_from_client()
    }

    /// The same call, free of the payload it was read from.
    pub fn into_owned(self) -> Call<'static> {
        Call {
            agent: self.agent,
            event: self.event,
            session: owned(self.session),
            cwd: self.cwd.map(owned),
            transcript: self.transcript.map(owned),
            prompt_id: self.prompt_id.map(owned),
            last_message: self.last_message.map(owned),
            continued: self.continued,
            background: self.background.into_iter().map(Background::into_owned).collect(),
            source: self.source,
            end_reason: self.end_reason.map(owned),
            prompt: self.prompt.map(owned),
            error: self.error.map(owned),
            agent_id: self.agent_id.map(owned),
            trigger: self.trigger.map(owned),
        }
    }
}

impl Background<'_> {
    fn into_owned(self) -> Background<'static> {
        Background {
            id: owned(self.id),
            kind: owned(self.kind),
            description: owned(self.description),
        }
    }
}

/// Why a payload could not be taken for a call.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// Nothing but white space.
    #[error("read the payload: it is empty")]
    Empty,
    /// Bytes that are not text.
    #[error("read the payload: it is not UTF-8")]
    NotUtf8,
    /// Text that is not JSON.
    #[error("read the payload as JSON")]
    NotJson(#[source] serde_json::Error),
    /// JSON, but a list or a bare value.
    #[error("read the payload: it is JSON, but not an object")]
    NotAnObject,
    /// An object without a session's id.
    #[error("tell whose call this is: the payload names no session")]
    NoSession,
    /// An object without an event, and nobody else named one.
    #[error("tell what happened: neither the payload nor the command line names an event")]
    NoEvent,
}

/// What a hook tells its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentAnswer<'a> {
    /// Go ahead, without a word.
    Allow,
    /// Go ahead, and show the person this message.
    Tell(&'a str),
    /// Go ahead: the loop is over, as this message for the person says.
    Ended(&'a str),
    /// Don't stop: go on with this.
    Continue(&'a str),
    /// Go ahead, and let the model know this.
    Context {
        /// The event that is being answered.
        event: HookEvent,
        /// What the model should know.
        text: &'a str,
    },
}

/// What a hook prints and how it exits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// One JSON value and a newline, or nothing.
    pub stdout: String,
    /// Only for agents that read their answer there.
    pub stderr: String,
    /// Zero wherever the agent allows it.
    pub exit_code: u8,
}

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}
