//! What a driver heard of use in a client's output and wrote down, where the client itself keeps no
//! record that can be read: a line of ours for each call, whose place in the file is its name.

use serde::Deserialize;
use stopgate_core::{ContextUse, Timestamp, TokenUse};

use super::{Line, name, tell};
use crate::count::{TokenCount, scaled};
use crate::reader::{UsageCall, UsageNews};

#[derive(Default, Deserialize)]
#[serde(default)]
struct HeardWire {
    #[serde(rename = "type")]
    kind: String,
    time: Option<i64>,
    model: String,
    input: TokenCount,
    cache_read: TokenCount,
    cache_write: TokenCount,
    output: TokenCount,
    cost_usd: Option<f64>,
}

pub(super) fn read(line: &Line<'_>, news: &mut UsageNews) -> Option<()> {
    let wire: HeardWire = serde_json::from_slice(line.bytes).ok()?;
    if wire.kind != "stopgate.use" {
        return None;
    }
    let tokens = TokenUse {
        input: wire.input.0,
        cache_read: wire.cache_read.0,
        cache_write: wire.cache_write.0,
        output: wire.output.0,
        ..TokenUse::default()
    };
    if tokens.total() > 0 {
        news.context = Some(ContextUse { used: tokens.total(), window: None });
    }
    // A client without a price for a model says 0, which is not a price.
    let nanos = wire.cost_usd.map(|usd| scaled(usd, 9)).filter(|nanos| *nanos > 0);
    let id = name(["place", &line.offset.to_string()]) ^ line.scope;
    let at = wire.time.map(Timestamp::from_unix_millis);
    tell(news, UsageCall { id, model: wire.model, tokens, nanos, at });
    Some(())
}
