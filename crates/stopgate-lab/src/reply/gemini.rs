//! The words of Gemini's `generateContent`.

use serde_json::{Value, json};

use super::{ReplyBlock, ReplyWire, bare_event};
use crate::turn::TurnUsage;

/// The whole answer at once.
pub(crate) fn whole(reply: &ReplyWire) -> Value {
    answer(reply, &reply.blocks.iter().map(part).collect::<Vec<_>>(), Some("STOP"))
}

/// The same answer as the events of a stream: one for each part, and the end.
pub(crate) fn events(reply: &ReplyWire) -> Vec<String> {
    let parts = reply.blocks.iter().map(|block| answer(reply, &[part(block)], None));
    let end = answer(reply, &[json!({"text": ""})], Some("STOP"));
    parts.chain([end]).map(|event| bare_event(&event)).collect()
}

fn answer(reply: &ReplyWire, parts: &[Value], finish: Option<&str>) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let TurnUsage { input, cached, output, reasoning } = reply.usage;
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": input + cached, "cachedContentTokenCount": cached,
            "candidatesTokenCount": output - reasoning, "thoughtsTokenCount": reasoning,
            "totalTokenCount": input + cached + output,
        },
        "modelVersion": "fake", "responseId": format!("r{}", reply.serial),
    })
}

fn part(block: &ReplyBlock) -> Value {
    match block {
        ReplyBlock::Text(text) => json!({"text": text}),
        ReplyBlock::Tool { id, name, input } => {
            json!({"functionCall": {"id": id, "name": name, "args": input}})
        }
    }
}
