//! Codex's rollout: a `token_usage_record` for each call, written before its tools run.
//! Rollouts without such records have only running totals, in `token_count`.

use serde::Deserialize;
use stopgate_core::{ContextUse, TokenUse, UsageFile};

use super::{Line, name, tell, time};
use crate::count::TokenCount;
use crate::reader::{UsageCall, UsageNews};
use crate::statusline::quota;

#[derive(Deserialize)]
struct RecordWire<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(default, borrow)]
    timestamp: Option<&'a str>,
    payload: PayloadWire,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PayloadWire {
    #[serde(rename = "type")]
    kind: Option<String>,
    model: Option<String>,
    thread_id: Option<String>,
    response_id: Option<String>,
    usage: Option<UsageWire>,
    info: Option<InfoWire>,
    rate_limits: Option<LimitsWire>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "the names are the client's")]
struct UsageWire {
    input_tokens: TokenCount,
    cached_input_tokens: TokenCount,
    cache_write_input_tokens: TokenCount,
    output_tokens: TokenCount,
    reasoning_output_tokens: TokenCount,
    total_tokens: TokenCount,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InfoWire {
    total_token_usage: UsageWire,
    last_token_usage: UsageWire,
    model_context_window: TokenCount,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LimitsWire {
    primary: Option<WindowWire>,
    secondary: Option<WindowWire>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WindowWire {
    used_percent: Option<f64>,
    resets_at: Option<i64>,
}

pub(super) fn read(line: &Line<'_>, file: &mut UsageFile, news: &mut UsageNews) -> Option<()> {
    let wire: RecordWire<'_> = serde_json::from_slice(line.bytes).ok()?;
    let at = time(wire.timestamp);
    let payload = wire.payload;
    let model = || file.model.clone().unwrap_or_default();
    match (wire.kind, payload.kind.as_deref()) {
        ("turn_context", _) => file.model = Some(payload.model?),
        ("token_usage_record", _) => {
            let (usage, response) = (payload.usage?, payload.response_id?);
            let id = name([payload.thread_id.as_deref().unwrap_or_default(), &response]);
            let model = payload.model.unwrap_or_else(model);
            file.has_records = true;
            tell(news, UsageCall { id, model, tokens: usage.tokens(), nanos: None, at });
        }
        ("event_msg", Some("token_count")) => {
            if let Some(info) = payload.info {
                let used = info.last_token_usage.total_tokens.0;
                let window = Some(info.model_context_window.0).filter(|window| *window > 0);
                news.context = Some(ContextUse { used, window });
                if !file.has_records {
                    let total = info.total_token_usage.total_tokens.0.to_string();
                    let (id, model) = (name(["total", &total]), model());
                    let tokens = info.last_token_usage.tokens();
                    tell(news, UsageCall { id: id ^ line.scope, model, tokens, nanos: None, at });
                }
            }
            let limits = payload.rate_limits?;
            let windows = [limits.primary, limits.secondary].into_iter().flatten();
            let shares = windows.filter_map(|window| quota(window.used_percent?, window.resets_at));
            news.quota = Some(shares.max_by_key(|quota| quota.percent)?);
        }
        _other => {}
    }
    Some(())
}

impl UsageWire {
    /// Here the input includes what was cached.
    const fn tokens(&self) -> TokenUse {
        let cached = self.cached_input_tokens.0.saturating_add(self.cache_write_input_tokens.0);
        TokenUse {
            input: self.input_tokens.0.saturating_sub(cached),
            cache_read: self.cached_input_tokens.0,
            cache_write: self.cache_write_input_tokens.0,
            cache_write_long: 0,
            output: self.output_tokens.0,
            reasoning: self.reasoning_output_tokens.0,
        }
    }
}
