//! Copilot CLI's events: a `session.usage_record` for each call.

use serde::Deserialize;
use stopgate_core::{ContextUse, TokenUse};

use super::{Line, name, tell, time};
use crate::count::TokenCount;
use crate::reader::{UsageCall, UsageNews};

/// The calls whose input is the conversation's context.
const CONVERSATION: &str = "conversation-agent";

#[derive(Deserialize)]
struct RecordWire {
    #[serde(rename = "type")]
    kind: String,
    timestamp: Option<String>,
    data: DataWire,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DataWire {
    usage: Option<UsageWire>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct UsageWire {
    model: String,
    input_tokens: TokenCount,
    output_tokens: TokenCount,
    cache_read_tokens: TokenCount,
    cache_write_tokens: TokenCount,
    reasoning_tokens: TokenCount,
    max_prompt_tokens: TokenCount,
    interaction_type: Option<String>,
    api_call_id: Option<String>,
    accounting: AccountingWire,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AccountingWire {
    source_session_id: String,
    usage_id: String,
}

pub(super) fn read(line: &Line<'_>, news: &mut UsageNews) -> Option<()> {
    let wire: RecordWire = serde_json::from_slice(line.bytes).ok()?;
    let usage = wire.data.usage.filter(|_| wire.kind == "session.usage_record")?;
    let AccountingWire { source_session_id, usage_id } = &usage.accounting;
    let call = if usage_id.is_empty() { usage.api_call_id.as_deref()? } else { usage_id };
    // The input includes what was cached.
    let cached = usage.cache_read_tokens.0.saturating_add(usage.cache_write_tokens.0);
    let tokens = TokenUse {
        input: usage.input_tokens.0.saturating_sub(cached),
        cache_read: usage.cache_read_tokens.0,
        cache_write: usage.cache_write_tokens.0,
        cache_write_long: 0,
        output: usage.output_tokens.0,
        reasoning: usage.reasoning_tokens.0,
    };
    if usage.interaction_type.as_deref().is_none_or(|kind| kind == CONVERSATION) {
        let window = Some(usage.max_prompt_tokens.0).filter(|window| *window > 0);
        news.context = Some(ContextUse { used: tokens.total(), window });
    }
    let (id, at) = (name([source_session_id, call]), time(wire.timestamp.as_deref()));
    tell(news, UsageCall { id, model: usage.model, tokens, nanos: None, at });
    Some(())
}
