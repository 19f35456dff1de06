//! Gemini CLI's session file: a `gemini` record for each call, written once more when its tools
//! have run; the last one wins.

use serde::Deserialize;
use stopgate_core::{ContextUse, TokenUse};

use super::{Line, name, tell, time};
use crate::count::TokenCount;
use crate::prices::known_window;
use crate::reader::{UsageCall, UsageNews};

#[derive(Deserialize)]
struct RecordWire<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    id: &'a str,
    #[serde(default, borrow)]
    timestamp: Option<&'a str>,
    #[serde(default)]
    model: String,
    tokens: TokensWire,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct TokensWire {
    input: TokenCount,
    output: TokenCount,
    cached: TokenCount,
    thoughts: TokenCount,
    tool: TokenCount,
}

pub(super) fn read(line: &Line<'_>, news: &mut UsageNews) -> Option<()> {
    let wire: RecordWire<'_> = serde_json::from_slice(line.bytes).ok()?;
    if wire.kind != "gemini" {
        return None;
    }
    let TokensWire { input, output, cached, thoughts, tool } = wire.tokens;
    // The input includes what was cached; the output lacks the thoughts.
    let tokens = TokenUse {
        input: input.0.saturating_sub(cached.0).saturating_add(tool.0),
        cache_read: cached.0,
        output: output.0.saturating_add(thoughts.0),
        reasoning: thoughts.0,
        ..TokenUse::default()
    };
    if tokens.total() > 0 {
        let window = known_window(&wire.model);
        news.context = Some(ContextUse { used: tokens.total(), window });
    }
    let (id, at) = (name([wire.id]), time(wire.timestamp));
    tell(news, UsageCall { id, model: wire.model, tokens, nanos: None, at });
    Some(())
}
