//! The words of Anthropic's Messages API.

use serde_json::{Value, json};

use super::{ReplyBlock, ReplyWire, named_event};

/// The whole message at once.
pub(crate) fn whole(reply: &ReplyWire) -> Value {
    let blocks: Vec<Value> = reply.blocks.iter().map(block_wire).collect();
    json!({
        "id": id(reply), "type": "message", "role": "assistant", "model": reply.model,
        "content": blocks, "stop_reason": stop_reason(reply), "stop_sequence": null,
        "usage": usage(reply, reply.usage.output),
    })
}

/// The same message as the events of a stream.
pub(crate) fn events(reply: &ReplyWire) -> Vec<String> {
    let mut events = vec![json!({"type": "message_start", "message": {
        "id": id(reply), "type": "message", "role": "assistant", "model": reply.model,
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage(reply, 1),
    }})];
    for (index, block) in reply.blocks.iter().enumerate() {
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
            "delta": {"stop_reason": stop_reason(reply), "stop_sequence": null},
            "usage": usage(reply, reply.usage.output),
        }),
        json!({"type": "message_stop"}),
    ]);
    events.iter().map(named_event).collect()
}

fn id(reply: &ReplyWire) -> String {
    format!("msg_{:020}", reply.serial)
}

fn stop_reason(reply: &ReplyWire) -> &'static str {
    if reply.wants_tool() { "tool_use" } else { "end_turn" }
}

fn usage(reply: &ReplyWire, output_tokens: u64) -> Value {
    json!({
        "input_tokens": reply.usage.input, "output_tokens": output_tokens,
        "cache_creation_input_tokens": 0, "cache_read_input_tokens": reply.usage.cached,
    })
}

fn block_wire(block: &ReplyBlock) -> Value {
    match block {
        ReplyBlock::Text(text) => json!({"type": "text", "text": text}),
        ReplyBlock::Tool { id, name, input } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
    }
}

fn opening_and_delta(block: &ReplyBlock) -> (Value, Value) {
    match block {
        ReplyBlock::Text(text) => {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": text}))
        }
        ReplyBlock::Tool { id, name, input } => (
            json!({"type": "tool_use", "id": id, "name": name, "input": {}}),
            json!({"type": "input_json_delta", "partial_json": input.to_string()}),
        ),
    }
}
