//! Claude Code's transcript: `assistant` records, one for each part of an answer, all of them
//! with the usage of the whole answer under its id.

use serde::Deserialize;
use stopgate_core::{ContextUse, TokenUse};

use super::{Line, name, tell, time};
use crate::count::TokenCount;
use crate::reader::{UsageCall, UsageNews};
use crate::statusline::quota;

/// The model of answers that the client made up itself.
const SYNTHETIC: &str = "<synthetic>";

#[derive(Deserialize)]
struct RecordWire<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(default, rename = "isSidechain")]
    side: bool,
    #[serde(default, borrow)]
    timestamp: Option<&'a str>,
    message: Option<MessageWire>,
    rate_limit_info: Option<LimitWire>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageWire {
    id: String,
    model: String,
    usage: UsageWire,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UsageWire {
    input_tokens: TokenCount,
    cache_read_input_tokens: TokenCount,
    cache_creation_input_tokens: TokenCount,
    cache_creation: Option<CreationWire>,
    output_tokens: TokenCount,
    output_tokens_details: Option<DetailsWire>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CreationWire {
    ephemeral_5m_input_tokens: TokenCount,
    ephemeral_1h_input_tokens: TokenCount,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DetailsWire {
    thinking_tokens: TokenCount,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LimitWire {
    utilization: Option<f64>,
    resets_at: Option<i64>,
    unified_windows: std::collections::BTreeMap<String, WindowWire>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WindowWire {
    utilization: Option<f64>,
    resets_at: Option<i64>,
}

pub(super) fn read(line: &Line<'_>, news: &mut UsageNews) -> Option<()> {
    let wire: RecordWire<'_> = serde_json::from_slice(line.bytes).ok()?;
    if wire.kind == "rate_limit_event" {
        return limits(&wire.rate_limit_info?, news);
    }
    let message = wire.message.filter(|_| wire.kind == "assistant")?;
    if message.model == SYNTHETIC || message.id.is_empty() {
        return None;
    }
    let tokens = message.usage.tokens();
    // A broken-off record must not overwrite what is known of the context.
    if !wire.side && tokens.total() > 0 {
        news.context = Some(ContextUse { used: tokens.total(), window: None });
    }
    let at = time(wire.timestamp);
    tell(
        news,
        UsageCall { id: name([&message.id]), model: message.model, tokens, nanos: None, at },
    );
    Some(())
}

fn limits(info: &LimitWire, news: &mut UsageNews) -> Option<()> {
    let windows =
        info.unified_windows.values().map(|window| (window.utilization, window.resets_at));
    let all = windows.chain([(info.utilization, info.resets_at)]);
    let shares = all.filter_map(|(share, resets_at)| quota(share? * 100.0, resets_at));
    news.quota = Some(shares.max_by_key(|quota| quota.percent)?);
    Some(())
}

impl UsageWire {
    fn tokens(&self) -> TokenUse {
        let told = self.cache_creation.as_ref();
        let long = told.map_or(0, |told| told.ephemeral_1h_input_tokens.0);
        let short = told.map_or(0, |told| told.ephemeral_5m_input_tokens.0);
        // What is not told apart is kept for minutes, as by default.
        let written = self.cache_creation_input_tokens.0.max(short.saturating_add(long));
        TokenUse {
            input: self.input_tokens.0,
            cache_read: self.cache_read_input_tokens.0,
            cache_write: written.saturating_sub(long),
            cache_write_long: long,
            output: self.output_tokens.0,
            reasoning: self.output_tokens_details.as_ref().map_or(0, |told| told.thinking_tokens.0),
        }
    }
}
