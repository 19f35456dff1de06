//! What Claude Code accepts as an answer, by the client's version.
//!
//! The client drops an answer with a null, a wrong word or a second JSON value
//! and then stops, so exactly one object with only known fields is printed. To
//! allow a stop is to print nothing.

use serde::Serialize;

use crate::{Answer, Event, Reply};

#[cfg(test)]
mod tests;

/// Where a text is cut that the client would hide in a file if it were longer.
const SHOWN_MAX: usize = 9_500;

/// From this length on, the client shows the model only the beginning.
const CONTEXT_MAX: usize = 10_000;

/// What a client without a setting of its own allows.
const BLOCK_CAP: u32 = 8;

/// The first version whose `Stop` goes on because of additional context.
const CONTEXT_CONTINUES: Version = Version(2, 1, 163);

/// The first version that counts blocks.
const CAP_APPEARS: Version = Version(2, 1, 143);

/// The client that asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Client {
    /// Its version, where it is known.
    pub version: Option<Version>,
}

/// A client's version: major, minor, patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u16, pub u16, pub u16);

impl Version {
    /// Reads the `AI_AGENT` variable: `claude-code_2-1-325_harness` and the like.
    /// Another agent's name gives nothing.
    pub fn from_ai_agent(name: &str) -> Option<Self> {
        let version = name.strip_prefix("claude-code")?.strip_prefix(['_', '/', '@'])?;
        let mut numbers = version.split(['-', '.', '_']).map(|number| number.parse().ok());
        Some(Self(numbers.next()??, numbers.next()??, numbers.next()??))
    }
}

/// Puts an answer into the words that this client accepts.
pub fn render(answer: &Answer<'_>, client: &Client) -> Reply {
    match *answer {
        Answer::Allow | Answer::Tell("") | Answer::Context { text: "", .. } => Reply::default(),
        Answer::Tell(text) => print(&TellWire { system_message: cut(text) }),
        Answer::Continue(text) if takes_context(text, *client) => print(&context("Stop", text)),
        Answer::Continue(text) => print(&BlockWire { decision: "block", reason: text }),
        Answer::Context { event, text } => match context_event(event) {
            Some(name) => print(&context(name, cut(text))),
            None => Reply::default(),
        },
    }
}

/// How many continuations in a row, without a tool call between them, the client
/// allows before it ends the turn by itself; nothing where there is no such limit.
/// The variable is `CLAUDE_CODE_STOP_HOOK_BLOCK_CAP`.
pub fn block_cap(variable: Option<&str>, version: Option<&Version>) -> Option<u32> {
    match variable.and_then(|value| value.trim().parse::<i64>().ok()) {
        Some(..=0) => None,
        Some(cap) => Some(u32::try_from(cap).unwrap_or(u32::MAX)),
        None if version.is_some_and(|version| *version < CAP_APPEARS) => None,
        None => Some(BLOCK_CAP),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TellWire<'a> {
    system_message: &'a str,
}

#[derive(Serialize)]
struct BlockWire<'a> {
    decision: &'static str,
    reason: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ContextWire<'a> {
    hook_specific_output: SpecificWire<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpecificWire<'a> {
    hook_event_name: &'static str,
    additional_context: &'a str,
}

fn context<'a>(event: &'static str, text: &'a str) -> ContextWire<'a> {
    ContextWire {
        hook_specific_output: SpecificWire { hook_event_name: event, additional_context: text },
    }
}

/// Whether this text can hold the agent as context. An empty one might not, and a
/// long one would arrive as a preview; a block's reason arrives whole.
fn takes_context(text: &str, client: Client) -> bool {
    let fits = !text.is_empty() && cut_at(text, CONTEXT_MAX - 1) == text.len();
    fits && client.version.is_some_and(|version| version >= CONTEXT_CONTINUES)
}

/// The events at which the client hands extra context to the model.
fn context_event(event: Event) -> Option<&'static str> {
    match event {
        Event::SessionStart => Some("SessionStart"),
        Event::UserPromptSubmit => Some("UserPromptSubmit"),
        // At a stop, context would hold the agent: that is what `Continue` is for.
        Event::Stop
        | Event::SubagentStop
        | Event::SessionEnd
        | Event::PostToolBatch
        | Event::PreCompact
        | Event::StopFailure
        | Event::Other => None,
    }
}

/// An answer that can't be written is no answer, and so allows the stop.
fn print(answer: &impl Serialize) -> Reply {
    let Ok(mut stdout) = serde_json::to_string(answer) else {
        return Reply::default();
    };
    stdout.push('\n');
    Reply { stdout, ..Reply::default() }
}

fn cut(text: &str) -> &str {
    &text[..cut_at(text, SHOWN_MAX)]
}

/// Where the text must end to have at most this many characters as the client
/// counts them, in units of UTF-16.
fn cut_at(text: &str, chars_max: usize) -> usize {
    if text.len() <= chars_max {
        return text.len();
    }
    let mut units = 0;
    for (at, char) in text.char_indices() {
        units += char.len_utf16();
        if units > chars_max {
            return at;
        }
    }
    text.len()
}
