//! Kimi Code's wire record: a `usage.record` for each call, without a name of its own, so that
//! its place in the file is its name.

use serde::Deserialize;
use stopgate_core::{ContextUse, Timestamp, TokenUse};

use super::{Line, name, tell};
use crate::count::TokenCount;
use crate::reader::{UsageCall, UsageNews};

#[derive(Default, Deserialize)]
#[serde(default)]
struct RecordWire {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "agentId")]
    agent: String,
    model: String,
    usage: UsageWire,
    tokens: TokenCount,
    time: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct UsageWire {
    input_other: TokenCount,
    output: TokenCount,
    input_cache_read: TokenCount,
    input_cache_creation: TokenCount,
}

pub(super) fn read(line: &Line<'_>, news: &mut UsageNews) -> Option<()> {
    let wire: RecordWire = serde_json::from_slice(line.bytes).ok()?;
    match wire.kind.as_str() {
        "usage.record" => {
            let tokens = TokenUse {
                input: wire.usage.input_other.0,
                cache_read: wire.usage.input_cache_read.0,
                cache_write: wire.usage.input_cache_creation.0,
                output: wire.usage.output.0,
                ..TokenUse::default()
            };
            let id = name(["place", &line.offset.to_string()]) ^ line.scope;
            let at = wire.time.map(Timestamp::from_unix_millis);
            tell(news, UsageCall { id, model: wire.model, tokens, nanos: None, at });
        }
        "token_counting.measured" if matches!(wire.agent.as_str(), "main" | "") => {
            news.context = Some(ContextUse { used: wire.tokens.0, window: None });
        }
        _other => {}
    }
    Some(())
}
