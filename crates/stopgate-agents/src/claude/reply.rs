//! What Claude Code accepts as an answer, by the client's version.
//!
//! The client drops an answer with a null, a wrong word or a second JSON value
//! and then stops, so exactly one object with only known fields is printed. To
//! allow a stop is to print nothing.

use stopgate_core::{CapScope, ClientCap};

use crate::reply::{BlockWire, TellWire, context, cut, cut_at, print};
use crate::{AgentAnswer, Client, ClientVersion, HookEvent, Reply};

#[cfg(test)]
mod tests;

/// From this length on, the client shows the model only the beginning.
const CONTEXT_MAX: usize = 10_000;

/// What a client without a setting of its own allows.
const BLOCK_CAP: u32 = 8;

/// The first version whose `Stop` goes on because of additional context.
const CONTEXT_CONTINUES: ClientVersion = ClientVersion(2, 1, 163);

/// The first version that counts blocks.
const CAP_APPEARS: ClientVersion = ClientVersion(2, 1, 143);

/// Reads the `AI_AGENT` variable: `claude-code_2-1-325_harness` and the like. Another agent's name
/// gives nothing.
pub(crate) fn version(name: &str) -> Option<ClientVersion> {
    let version = name.strip_prefix("claude-code")?.strip_prefix(['_', '/', '@'])?;
    let mut numbers = version.split(['-', '.', '_']).map(|number| number.parse().ok());
    Some(ClientVersion(numbers.next()??, numbers.next()??, numbers.next()??))
}

/// Puts an answer into the words that this client accepts.
pub(crate) fn render(answer: &AgentAnswer<'_>, client: Client) -> Reply {
    match *answer {
        AgentAnswer::Allow
        | AgentAnswer::Tell("")
        | AgentAnswer::Ended("")
        | AgentAnswer::Context { text: "", .. } => Reply::default(),
        AgentAnswer::Tell(text) | AgentAnswer::Ended(text) => {
            print(&TellWire { system_message: cut(text) })
        }
        AgentAnswer::Continue(text) if takes_context(text, client) => print(&context("Stop", text)),
        AgentAnswer::Continue(text) => print(&BlockWire { decision: "block", reason: text }),
        AgentAnswer::Context { event, text } => match context_event(event) {
            Some(name) => print(&context(name, cut(text))),
            None => Reply::default(),
        },
    }
}

/// How many continuations in a row, without a tool call between them, the client
/// allows before it ends the turn by itself; `None` if there is no such limit.
/// The variable is `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP`.
pub(crate) fn cap(variable: Option<&str>, client: Client) -> Option<ClientCap> {
    let refusals = match variable.and_then(|value| value.trim().parse::<i64>().ok()) {
        Some(..=0) => None,
        Some(cap) => Some(u32::try_from(cap).unwrap_or(u32::MAX)),
        None if client.version.is_some_and(|version| version < CAP_APPEARS) => None,
        None => Some(BLOCK_CAP),
    };
    let lift = "lift it with CLAUDE_CODE_STOP_HOOK_BLOCK_CAP=0 or `stopgate install claude`";
    refusals.map(|refusals| ClientCap { refusals, scope: CapScope::SinceTool, lift })
}

/// Whether this text can hold the agent as context. An empty one might not, and a
/// long one would arrive as a preview; a block's reason arrives whole.
fn takes_context(text: &str, client: Client) -> bool {
    let fits = !text.is_empty() && cut_at(text, CONTEXT_MAX - 1) == text.len();
    fits && client.version.is_some_and(|version| version >= CONTEXT_CONTINUES)
}

/// The events at which the client hands extra context to the model.
fn context_event(event: HookEvent) -> Option<&'static str> {
    match event {
        HookEvent::SessionStart => Some("SessionStart"),
        HookEvent::UserPromptSubmit => Some("UserPromptSubmit"),
        // At a stop, context would hold the agent: that is what `Continue` is for.
        HookEvent::Stop
        | HookEvent::SubagentStop
        | HookEvent::SessionEnd
        | HookEvent::PostToolBatch
        | HookEvent::PreCompact
        | HookEvent::StopFailure
        | HookEvent::Other => None,
    }
}
