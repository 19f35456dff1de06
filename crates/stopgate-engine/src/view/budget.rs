//! What a loop may use and has used, as people and programs see it.

use serde::Serialize;
use stopgate_core::{ContextUse, ModelSpend, Spend, State, Timestamp, TokenUse, spend_words};

use super::time_text;

/// What a loop may use and has used.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetView {
    /// Minutes allowed; 0 means no limit.
    pub max_minutes: u32,
    /// Milliseconds of work so far.
    pub used_ms: i64,
    /// Idle continuations in a row, and how many are allowed.
    pub idle: u32,
    /// See `idle`; 0 means no limit.
    pub max_idle: u32,
    /// Stops in a row with the same failures, and how many are allowed.
    pub repeat: u32,
    /// See `repeat`; 0 means no limit.
    pub max_repeat: u32,
    /// Tokens used, cached ones included; nothing where they were not counted.
    pub tokens: Option<u64>,
    /// Tokens allowed; 0 means no limit.
    pub max_tokens: u64,
    /// US dollars spent, as far as prices are known; nothing where they are not.
    pub cost_usd: Option<f64>,
    /// US dollars allowed; 0 means no limit.
    pub max_cost_usd: f64,
    /// Whether every token was counted from the client's own record.
    pub measured: bool,
    /// Models that were called and have no price.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpriced_models: Vec<String>,
    /// Percent of the subscription's window that is used, where the client tells.
    pub quota_percent: Option<u8>,
    /// Percent of it that may be used; 0 means no limit.
    pub max_quota: u8,
    /// When that window begins anew.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota_resets_at: Option<String>,
    /// Tokens in the context, where the client tells.
    pub context_tokens: Option<u64>,
    /// How full it is, where the window is known.
    pub context_percent: Option<u8>,
    /// By model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelSpendView>,
    /// All of it in a line for people.
    #[serde(skip)]
    pub words: Option<String>,
}

/// What the calls of one model used.
#[derive(Clone, Debug, Serialize)]
pub struct ModelSpendView {
    /// The model, in its client's words.
    pub model: String,
    /// How often it was called.
    pub calls: u64,
    /// Tokens by kind; none includes another, but for `reasoning`, a part of `output`.
    pub tokens: TokenUse,
    /// US dollars; nothing where the price is unknown.
    pub cost_usd: Option<f64>,
}

pub(super) fn budget_view(state: &State, now: Timestamp) -> BudgetView {
    let spend = state.spend.as_deref();
    let models = spend.map_or(&[][..], |spend| &spend.models);
    let quota = spend.and_then(|spend| spend.quota);
    let context = spend.and_then(|spend| spend.context);
    BudgetView {
        max_minutes: state.policy.max_minutes,
        used_ms: state.used_ms(now),
        idle: state.tally.idle,
        max_idle: state.policy.max_idle,
        repeat: state.tally.repeat,
        max_repeat: state.policy.max_repeat,
        tokens: spend.filter(|spend| !spend.is_unknown()).map(|spend| spend.tokens().total()),
        max_tokens: state.policy.max_tokens,
        cost_usd: spend.and_then(cost),
        max_cost_usd: usd(state.policy.max_cost_micros.saturating_mul(1000)),
        measured: spend.is_some_and(Spend::is_measured),
        unpriced_models: spend.into_iter().flat_map(Spend::unpriced).map(String::from).collect(),
        quota_percent: quota.map(|quota| quota.percent),
        max_quota: state.policy.max_quota,
        quota_resets_at: quota.and_then(|quota| quota.resets_at).map(time_text),
        context_tokens: context.map(|context| context.used),
        context_percent: context.as_ref().and_then(ContextUse::percent),
        models: models.iter().map(model_view).collect(),
        words: spend_words(state),
    }
}

/// What is known to be spent; nothing where nothing of it has a price.
fn cost(spend: &Spend) -> Option<f64> {
    let unpriced = spend.nanos() == 0 && spend.unpriced().next().is_some();
    let unknown = unpriced || spend.is_unknown();
    (!unknown).then(|| usd(spend.nanos()))
}

fn model_view(model: &ModelSpend) -> ModelSpendView {
    ModelSpendView {
        model: model.model.clone(),
        calls: model.calls,
        tokens: model.tokens,
        cost_usd: (model.unpriced == 0).then(|| usd(model.nanos)),
    }
}

/// Billionths of a dollar as a number of dollars.
fn usd(nanos: u64) -> f64 {
    let micros = nanos.div_ceil(1000);
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.parse().unwrap_or_default()
}
