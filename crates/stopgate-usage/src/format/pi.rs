//! Pi's session file: the usage of each answer in its `message` record, with what it cost.

use serde::Deserialize;
use stopgate_core::{ContextUse, TokenUse};

use super::{Line, name, tell, time};
use crate::count::{TokenCount, scaled};
use crate::reader::{UsageCall, UsageNews};

#[derive(Default, Deserialize)]
#[serde(default)]
struct RecordWire {
    #[serde(rename = "type")]
    kind: String,
    id: String,
    timestamp: Option<String>,
    message: MessageWire,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct MessageWire {
    role: String,
    model: String,
    response_id: Option<String>,
    usage: UsageWire,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct UsageWire {
    input: TokenCount,
    output: TokenCount,
    cache_read: TokenCount,
    cache_write: TokenCount,
    reasoning: TokenCount,
    cost: CostWire,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CostWire {
    total: Option<f64>,
}

pub(super) fn read(line: &Line<'_>, news: &mut UsageNews) -> Option<()> {
    let wire: RecordWire = serde_json::from_slice(line.bytes).ok()?;
    let message = wire.message;
    let is_answer = matches!(wire.kind.as_str(), "message" | "message_end");
    if !is_answer || message.role != "assistant" {
        return None;
    }
    let usage = message.usage;
    let tokens = TokenUse {
        input: usage.input.0,
        cache_read: usage.cache_read.0,
        cache_write: usage.cache_write.0,
        cache_write_long: 0,
        output: usage.output.0,
        reasoning: usage.reasoning.0,
    };
    if tokens.total() > 0 {
        news.context = Some(ContextUse { used: tokens.total(), window: None });
    }
    // A model that Pi has no price for costs 0 there, which is not a price.
    let nanos = usage.cost.total.map(|usd| scaled(usd, 9)).filter(|nanos| *nanos > 0);
    let id = name([&wire.id, message.response_id.as_deref().unwrap_or_default()]);
    let at = time(wire.timestamp.as_deref());
    tell(news, UsageCall { id, model: message.model, tokens, nanos, at });
    Some(())
}
