//! What Claude Code tells the program behind its status line.

use serde::Deserialize;
use stopgate_core::{ContextUse, QuotaUse, Timestamp};

use crate::count::{TokenCount, scaled};

/// What a status line's input says about what was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatuslineHint {
    /// What the session cost so far, in billionths of a dollar, by the client's own count.
    pub session_nanos: Option<u64>,
    /// How full its context is.
    pub context: Option<ContextUse>,
    /// How much of the subscription's window is used.
    pub quota: Option<QuotaUse>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputWire {
    cost: Option<CostWire>,
    context_window: Option<WindowWire>,
    rate_limits: Option<LimitsWire>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CostWire {
    total_cost_usd: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WindowWire {
    context_window_size: TokenCount,
    current_usage: Option<CurrentWire>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "the names are the client's")]
struct CurrentWire {
    input_tokens: TokenCount,
    output_tokens: TokenCount,
    cache_creation_input_tokens: TokenCount,
    cache_read_input_tokens: TokenCount,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LimitsWire {
    five_hour: Option<LimitWire>,
    seven_day: Option<LimitWire>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LimitWire {
    used_percentage: Option<f64>,
    resets_at: Option<i64>,
}

/// Reads a status line's input; what is not there stays unknown.
pub fn read_statusline(input: &[u8]) -> StatuslineHint {
    let Ok(wire) = serde_json::from_slice::<InputWire>(input) else {
        return StatuslineHint::default();
    };
    let limits = wire.rate_limits.unwrap_or_default();
    let windows = [limits.five_hour, limits.seven_day].into_iter().flatten();
    StatuslineHint {
        session_nanos: wire.cost.and_then(|cost| cost.total_cost_usd).map(|usd| scaled(usd, 9)),
        context: wire.context_window.and_then(|window| context(&window)),
        quota: windows
            .filter_map(|limit| quota(limit.used_percentage?, limit.resets_at))
            .max_by_key(|quota| quota.percent),
    }
}

fn context(wire: &WindowWire) -> Option<ContextUse> {
    let now = wire.current_usage.as_ref()?;
    let given = now.input_tokens.0.saturating_add(now.cache_creation_input_tokens.0);
    let used =
        given.saturating_add(now.cache_read_input_tokens.0).saturating_add(now.output_tokens.0);
    let window = Some(wire.context_window_size.0).filter(|window| *window > 0);
    Some(ContextUse { used, window })
}

/// A percentage and the second at which it begins anew.
pub(crate) fn quota(percent: f64, resets_at: Option<i64>) -> Option<QuotaUse> {
    if !percent.is_finite() || percent < 0.0 {
        return None;
    }
    let percent = scaled(percent.min(100.0).floor(), 0);
    let resets_at =
        resets_at.map(|seconds| Timestamp::from_unix_millis(seconds.saturating_mul(1000)));
    Some(QuotaUse { percent: u8::try_from(percent).unwrap_or(100), resets_at })
}

#[cfg(test)]
mod tests;
