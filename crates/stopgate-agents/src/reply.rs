//! Answers in the forms that several agents share.
//!
//! Exactly one object with only known fields is printed: one client drops an answer with an
//! unknown key, another one with a null, and then the agent stops.

use serde::Serialize;

use crate::{AgentAnswer, Client, HookEvent, Reply};

/// Where a text is cut that a client would hide in a file if it were longer, in bytes.
const SHOWN_MAX: usize = 9_500;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TellWire<'a> {
    pub(crate) system_message: &'a str,
}

#[derive(Serialize)]
pub(crate) struct BlockWire<'a> {
    pub(crate) decision: &'static str,
    pub(crate) reason: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContextWire<'a> {
    hook_specific_output: SpecificWire<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpecificWire<'a> {
    hook_event_name: &'static str,
    additional_context: &'a str,
}

#[derive(Serialize)]
struct NothingWire {}

/// Extra context for the model, as an answer to `event`.
pub(crate) fn context<'a>(event: &'static str, text: &'a str) -> ContextWire<'a> {
    ContextWire {
        hook_specific_output: SpecificWire { hook_event_name: event, additional_context: text },
    }
}

/// The answer of an agent that reads Claude Code's words: block with a reason, tell the person,
/// give context when a session begins. To allow is to print `{}`.
pub(crate) fn block_or_tell(answer: &AgentAnswer<'_>, _: Client) -> Reply {
    match *answer {
        AgentAnswer::Tell(text) if !text.is_empty() => {
            print(&TellWire { system_message: cut(text) })
        }
        AgentAnswer::Context { event: HookEvent::SessionStart, text } if !text.is_empty() => {
            print(&context("SessionStart", cut(text)))
        }
        other => block(&other, Client::default()),
    }
}

/// The answer of an agent of which only the block is known. To allow is to print `{}`.
pub(crate) fn block(answer: &AgentAnswer<'_>, _: Client) -> Reply {
    match *answer {
        // A block without a reason is a failure to one agent and a question to another.
        AgentAnswer::Continue(text) if !text.trim().is_empty() => {
            print(&BlockWire { decision: "block", reason: cut(text) })
        }
        AgentAnswer::Continue(_)
        | AgentAnswer::Allow
        | AgentAnswer::Tell(_)
        | AgentAnswer::Ended(_)
        | AgentAnswer::Context { .. } => nothing(),
    }
}

/// The answer of an agent that is blocked by exit code 2 and reads why on standard error.
pub(crate) fn exit_two(answer: &AgentAnswer<'_>, _: Client) -> Reply {
    match *answer {
        AgentAnswer::Continue(text) if !text.trim().is_empty() => {
            Reply { stdout: String::new(), stderr: format!("{}\n", cut(text)), exit_code: 2 }
        }
        AgentAnswer::Continue(_)
        | AgentAnswer::Allow
        | AgentAnswer::Tell(_)
        | AgentAnswer::Ended(_)
        | AgentAnswer::Context { .. } => nothing(),
    }
}

/// `{}`.
pub(crate) fn nothing() -> Reply {
    print(&NothingWire {})
}

/// An answer that can't be written allows the stop.
pub(crate) fn print(answer: &impl Serialize) -> Reply {
    let Ok(mut stdout) = serde_json::to_string(answer) else {
        return Reply::default();
    };
    stdout.push('\n');
    Reply { stdout, ..Reply::default() }
}

/// As much of a text as every client shows whole.
pub(crate) fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(SHOWN_MAX)]
}

/// Where the text must end to have at most this many characters as clients count them, in units
/// of UTF-16.
pub(crate) fn cut_at(text: &str, chars_max: usize) -> usize {
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
