//! A turn in the words of an API: one object, or a stream of events.

pub(crate) mod chat;
pub(crate) mod gemini;
pub(crate) mod messages;
pub(crate) mod responses;

use serde_json::Value;

use crate::sort::conversation_of;
use crate::turn::{ScriptedTurn, TurnUsage};

/// Where a script leaves room for a word that it can't know.
const LAST: &str = "{last:";
/// What any answer is said to have cost.
const OUTPUT_TOKENS: u64 = 10;

/// One answer, ready to be put into an API's words.
pub(crate) struct ReplyWire {
    serial: usize,
    model: Value,
    blocks: Vec<ReplyBlock>,
    usage: TurnUsage,
}

/// A piece of an answer.
pub(crate) enum ReplyBlock {
    Text(String),
    Tool { id: String, name: String, input: Value },
}

impl ReplyWire {
    /// The answer to `body`: `call` is the number of the session's call,
    /// `serial` that of the request.
    pub(crate) fn new(turn: &ScriptedTurn, body: &Value, call: usize, serial: usize) -> Self {
        let blocks = turn.blocks(call, serial).into_iter();
        Self {
            serial,
            model: body["model"].clone(),
            blocks: blocks.map(|block| filled(block, body)).collect(),
            usage: turn.usage.unwrap_or_else(|| TurnUsage {
                input: turn.input_tokens.unwrap_or_else(|| tokens_of(body)),
                output: OUTPUT_TOKENS,
                ..TurnUsage::default()
            }),
        }
    }

    /// What the answer is said to have used.
    pub(crate) const fn usage(&self) -> TurnUsage {
        self.usage
    }

    /// The texts of the answer, one after the other.
    fn text(&self) -> String {
        let text = |block: &ReplyBlock| match block {
            ReplyBlock::Text(text) => Some(text.clone()),
            ReplyBlock::Tool { .. } => None,
        };
        self.blocks.iter().filter_map(text).collect()
    }

    fn wants_tool(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, ReplyBlock::Tool { .. }))
    }
}

/// An event with a name, as a stream carries it.
fn named_event(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}

/// An event without a name.
fn bare_event(event: &Value) -> String {
    format!("data: {event}\n\n")
}

/// `block` with each `{last:BEGIN}` as the last word in `body` that begins so: a script can't
/// know the ids that tools will answer.
fn filled(block: ReplyBlock, body: &Value) -> ReplyBlock {
    match block {
        ReplyBlock::Text(text) => ReplyBlock::Text(fill(&text, body)),
        ReplyBlock::Tool { id, name, input } => {
            let text = fill(&input.to_string(), body);
            let input = serde_json::from_str(&text).unwrap_or(input);
            ReplyBlock::Tool { id, name, input }
        }
    }
}

fn fill(text: &str, body: &Value) -> String {
    if !text.contains(LAST) {
        return text.into();
    }
    let seen = conversation_of(body).to_string();
    let mut parts = text.split(LAST);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (begin, rest) = part.split_once('}').unwrap_or((part, ""));
        whole.push_str(last_word(&seen, begin));
        whole.push_str(rest);
    }
    whole
}

fn last_word<'a>(seen: &'a str, begin: &str) -> &'a str {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let words = seen.split(|c: char| !is_word(c));
    words.rev().find(|word| word.starts_with(begin)).unwrap_or_default()
}

/// A rough count of tokens: four bytes each, never none.
pub(crate) fn tokens_of(body: &Value) -> u64 {
    let bytes = u64::try_from(body.to_string().len()).unwrap_or(u64::MAX);
    (bytes / 4).max(1)
}
