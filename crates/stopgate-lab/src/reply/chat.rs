//! The words of `OpenAI`'s chat completions.

use serde_json::{Value, json};

use super::{ReplyBlock, ReplyWire, bare_event};
use crate::turn::TurnUsage;

/// The whole completion at once.
pub(crate) fn whole(reply: &ReplyWire) -> Value {
    let choice =
        json!({"index": 0, "message": message(reply), "finish_reason": finish_reason(reply)});
    json!({
        "id": id(reply), "object": "chat.completion", "created": 0, "model": reply.model,
        "choices": [choice], "usage": usage(reply),
    })
}

/// The same completion as the events of a stream.
pub(crate) fn events(reply: &ReplyWire) -> Vec<String> {
    let choice = |delta: &Value, finish: &Value| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    let mut opening = message(reply);
    opening["content"] = json!("");
    let calls = opening.as_object_mut().and_then(|opening| opening.remove("tool_calls"));
    let mut chunks = vec![chunk(reply, &choice(&opening, &Value::Null))];
    if !reply.text().is_empty() {
        chunks.push(chunk(reply, &choice(&json!({"content": reply.text()}), &Value::Null)));
    }
    if let Some(calls) = calls {
        chunks.push(chunk(reply, &choice(&json!({"tool_calls": calls}), &Value::Null)));
    }
    chunks.push(chunk(reply, &choice(&json!({}), &json!(finish_reason(reply)))));
    let mut last = chunk(reply, &json!([]));
    last["usage"] = usage(reply);
    chunks.push(last);
    chunks.iter().map(bare_event).chain(["data: [DONE]\n\n".into()]).collect()
}

fn id(reply: &ReplyWire) -> String {
    format!("chatcmpl-{}", reply.serial)
}

fn chunk(reply: &ReplyWire, choices: &Value) -> Value {
    json!({
        "id": id(reply), "object": "chat.completion.chunk", "created": 0, "model": reply.model,
        "choices": choices,
    })
}

fn message(reply: &ReplyWire) -> Value {
    let call = |block: &ReplyBlock| match block {
        ReplyBlock::Text(_) => None,
        ReplyBlock::Tool { id, name, input } => {
            let function = json!({"name": name, "arguments": input.to_string()});
            Some(json!({"id": id, "type": "function", "function": function}))
        }
    };
    let mut calls: Vec<Value> = reply.blocks.iter().filter_map(call).collect();
    for (index, call) in calls.iter_mut().enumerate() {
        call["index"] = json!(index);
    }
    let mut message = json!({"role": "assistant", "content": reply.text()});
    if !calls.is_empty() {
        message["tool_calls"] = json!(calls);
    }
    message
}

fn finish_reason(reply: &ReplyWire) -> &'static str {
    if reply.wants_tool() { "tool_calls" } else { "stop" }
}

fn usage(reply: &ReplyWire) -> Value {
    let TurnUsage { input, cached, output, reasoning } = reply.usage;
    json!({
        "prompt_tokens": input + cached, "completion_tokens": output,
        "total_tokens": input + cached + output,
        "prompt_tokens_details": {"cached_tokens": cached},
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    })
}
