//! A turn in the words of the Messages API: one object, or a stream of events.

use serde_json::{Value, json};

use crate::turn::Turn;

/// Where a script leaves room for a word that it can't know.
const LAST: &str = "{last:";

/// One answer, ready to be written.
pub(crate) struct ReplyWire {
    id: String,
    model: Value,
    blocks: Vec<Value>,
    stop_reason: &'static str,
    input_tokens: u64,
}

impl ReplyWire {
    /// The answer to `body`: `call` is the number of the session's call,
    /// `serial` that of the request.
    pub(crate) fn new(turn: &Turn, body: &Value, call: usize, serial: usize) -> Self {
        Self {
            id: format!("msg_{serial:020}"),
            model: body["model"].clone(),
            blocks: turn
                .blocks(call, serial)
                .into_iter()
                .map(|block| filled(block, body))
                .collect(),
            stop_reason: turn.stop_reason(),
            input_tokens: turn.input_tokens.unwrap_or_else(|| tokens_of(body)),
        }
    }

    /// The whole message at once.
    pub(crate) fn message(&self) -> Value {
        json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.model,
            "content": self.blocks, "stop_reason": self.stop_reason, "stop_sequence": null,
            "usage": self.usage(10),
        })
    }

    /// The same message as the events of a stream.
    pub(crate) fn events(&self) -> Vec<Value> {
        let mut events = vec![json!({"type": "message_start", "message": {
            "id": self.id, "type": "message", "role": "assistant", "model": self.model,
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": self.usage(1),
        }})];
        for (index, block) in self.blocks.iter().enumerate() {
            let (opening, delta) = opening_and_delta(block);
            events.extend([
                json!({"type": "content_block_start", "index": index, "content_block": opening}),
                json!({"type": "content_block_delta", "index": index, "delta": delta}),
                json!({"type": "content_block_stop", "index": index}),
            ]);
        }
        events.extend([
            json!({
                "type": "message_delta",
                "delta": {"stop_reason": self.stop_reason, "stop_sequence": null},
                "usage": self.usage(10),
            }),
            json!({"type": "message_stop"}),
        ]);
        events
    }

    fn usage(&self, output_tokens: u64) -> Value {
        json!({
            "input_tokens": self.input_tokens, "output_tokens": output_tokens,
            "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        })
    }
}

/// `block` with each `{last:BEGIN}` as the last word in `body` that begins so: a script can't
/// know the ids that tools will answer.
fn filled(block: Value, body: &Value) -> Value {
    let text = block.to_string();
    if !text.contains(LAST) {
        return block;
    }
    let seen = body["messages"].to_string();
    let mut parts = text.split(LAST);
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (begin, rest) = part.split_once('}').unwrap_or((part, ""));
        whole.push_str(last_word(&seen, begin));
        whole.push_str(rest);
    }
    serde_json::from_str(&whole).unwrap_or(block)
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

fn opening_and_delta(block: &Value) -> (Value, Value) {
    let mut opening = block.clone();
    if block["type"] == "text" {
        opening["text"] = json!("");
        return (opening, json!({"type": "text_delta", "text": block["text"]}));
    }
    opening["input"] = json!({});
    let input = block["input"].to_string();
    (opening, json!({"type": "input_json_delta", "partial_json": input}))
}
