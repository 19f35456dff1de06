//! The words of `OpenAI`'s Responses API.

use serde_json::{Value, json};

use super::{ReplyBlock, ReplyWire, named_event};
use crate::turn::TurnUsage;

/// The whole response at once.
pub(crate) fn whole(reply: &ReplyWire) -> Value {
    let items: Vec<Value> = items(reply).collect();
    let TurnUsage { input, cached, output, reasoning } = reply.usage;
    json!({
        "id": id(reply), "object": "response", "status": "completed", "model": reply.model,
        "output": items,
        "usage": {
            "input_tokens": input + cached, "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": output, "output_tokens_details": {"reasoning_tokens": reasoning},
            "total_tokens": input + cached + output,
        },
    })
}

/// The same response as the events of a stream.
pub(crate) fn events(reply: &ReplyWire) -> Vec<String> {
    let mut events = vec![json!({"type": "response.created", "response": {
        "id": id(reply), "object": "response", "status": "in_progress", "output": [],
    }})];
    for (index, item) in items(reply).enumerate() {
        let mut opening = item.clone();
        opening["status"] = json!("in_progress");
        let delta = if let Some(text) = item["content"][0]["text"].as_str() {
            opening["content"] = json!([]);
            json!({
                "type": "response.output_text.delta", "item_id": item["id"],
                "output_index": index, "content_index": 0, "delta": text,
            })
        } else {
            opening["arguments"] = json!("");
            json!({
                "type": "response.function_call_arguments.delta", "item_id": item["id"],
                "output_index": index, "delta": item["arguments"],
            })
        };
        events.extend([
            json!({"type": "response.output_item.added", "output_index": index, "item": opening}),
            delta,
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        ]);
    }
    events.push(json!({"type": "response.completed", "response": whole(reply)}));
    events.iter().map(named_event).collect()
}

fn id(reply: &ReplyWire) -> String {
    format!("resp_{:020}", reply.serial)
}

fn items(reply: &ReplyWire) -> impl Iterator<Item = Value> {
    reply.blocks.iter().enumerate().map(|(at, block)| match block {
        ReplyBlock::Text(text) => json!({
            "type": "message", "role": "assistant", "id": format!("msg_{}_{at}", reply.serial),
            "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        }),
        ReplyBlock::Tool { id, name, input } => json!({
            "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
            "arguments": input.to_string(), "status": "completed",
        }),
    })
}
