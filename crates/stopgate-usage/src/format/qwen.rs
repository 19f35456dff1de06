//! Qwen Code's transcript: a `ui_telemetry` record for each response, side calls included, and the
//! usage of the main conversation in `assistant` records. The latter count only where there
//! are none of the former.

use serde::Deserialize;
use stopgate_core::{ContextUse, TokenUse, UsageFile};

use super::{Line, name, tell, time};
use crate::count::TokenCount;
use crate::reader::{UsageCall, UsageNews};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RecordWire {
    #[serde(rename = "type")]
    kind: String,
    uuid: String,
    session_id: String,
    timestamp: Option<String>,
    model: Option<String>,
    usage_metadata: Option<MetadataWire>,
    context_window_size: Option<TokenCount>,
    system_payload: Option<PayloadWire>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the names are the client's")]
struct MetadataWire {
    prompt_token_count: TokenCount,
    candidates_token_count: TokenCount,
    thoughts_token_count: TokenCount,
    cached_content_token_count: TokenCount,
    total_token_count: TokenCount,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PayloadWire {
    ui_event: Option<EventWire>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EventWire {
    #[serde(rename = "event.name")]
    event: String,
    response_id: String,
    model: String,
    input_token_count: TokenCount,
    output_token_count: TokenCount,
    cached_content_token_count: TokenCount,
    thoughts_token_count: TokenCount,
}

pub(super) fn read(line: &Line<'_>, file: &mut UsageFile, news: &mut UsageNews) -> Option<()> {
    let wire: RecordWire = serde_json::from_slice(line.bytes).ok()?;
    let at = time(wire.timestamp.as_deref());
    if let Some(event) = wire.system_payload.and_then(|payload| payload.ui_event) {
        if !event.event.ends_with(".api_response") || event.response_id.is_empty() {
            return None;
        }
        file.has_records = true;
        let id = name([&wire.session_id, &event.response_id]);
        let tokens = tokens(
            event.input_token_count,
            event.cached_content_token_count,
            event.output_token_count,
            event.thoughts_token_count,
        );
        tell(news, UsageCall { id, model: event.model, tokens, nanos: None, at });
        return Some(());
    }
    let usage = wire.usage_metadata.filter(|_| wire.kind == "assistant")?;
    let used = usage.total_token_count.0;
    if used > 0 {
        let window = wire.context_window_size.map(|size| size.0).filter(|size| *size > 0);
        news.context = Some(ContextUse { used, window });
    }
    if !file.has_records {
        let tokens = tokens(
            usage.prompt_token_count,
            usage.cached_content_token_count,
            usage.candidates_token_count,
            usage.thoughts_token_count,
        );
        let model = wire.model.unwrap_or_default();
        tell(news, UsageCall { id: name([&wire.uuid]), model, tokens, nanos: None, at });
    }
    Some(())
}

/// The input includes what was cached, and the output the thoughts.
const fn tokens(
    input: TokenCount,
    cached: TokenCount,
    output: TokenCount,
    thoughts: TokenCount,
) -> TokenUse {
    TokenUse {
        input: input.0.saturating_sub(cached.0),
        cache_read: cached.0,
        cache_write: 0,
        cache_write_long: 0,
        output: output.0,
        reasoning: thoughts.0,
    }
}
