//! Limits on tokens, money and quota: what is left of them, and what the agent is told.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;

use crate::outcome::Outcome;
use crate::policy::Policy;
use crate::spend::{
    BudgetKind, CONTEXT_WARN_PERCENT, ContextUse, MeterDoubt, Spend, WRAP_UP_PERCENT, tokens_text,
    usd_text,
};
use crate::state::State;

const NANOS_PER_MICRO: u64 = 1000;
const MODEL_BYTES_MAX: usize = 60;

/// How much of one limit is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetUse {
    /// Which limit.
    pub kind: BudgetKind,
    /// What is used: tokens, billionths of a dollar, or percent.
    pub used: u64,
    /// What is allowed, in the same unit.
    pub limit: u64,
}

impl BudgetUse {
    /// Whether nothing is left.
    pub const fn is_spent(&self) -> bool {
        self.used >= self.limit
    }

    fn is_nearly_spent(&self) -> bool {
        u128::from(self.used) * 100 >= u128::from(self.limit) * u128::from(WRAP_UP_PERCENT)
    }
}

/// The limits of a loop on what is used, those that it shares with others included.
pub fn budgets(state: &State) -> Vec<BudgetUse> {
    let Policy { max_tokens, max_cost_micros, max_quota, .. } = state.policy;
    let spend = state.spend.as_deref();
    let counted = spend.map(Spend::counted).unwrap_or_default();
    let quota = spend.and_then(|spend| spend.quota).map_or(0, |quota| u64::from(quota.percent));
    let own = [
        (BudgetKind::Tokens, counted.tokens, max_tokens),
        (BudgetKind::Cost, counted.nanos, max_cost_micros.saturating_mul(NANOS_PER_MICRO)),
        (BudgetKind::Quota, quota, u64::from(max_quota)),
    ];
    let own = own.into_iter().map(|(kind, used, limit)| BudgetUse { kind, used, limit });
    let shared = spend.map_or(&[][..], |spend| &spend.shared).iter().map(|shared| BudgetUse {
        kind: shared.kind,
        used: shared.others.saturating_add(spend.map_or(0, |spend| own_part(spend, shared.kind))),
        limit: shared.limit,
    });
    own.chain(shared).filter(|budget| budget.limit > 0).collect()
}

/// What the loop itself adds to a limit that it shares.
fn own_part(spend: &Spend, kind: BudgetKind) -> u64 {
    let today = spend.days.last().copied().unwrap_or_default();
    match kind {
        BudgetKind::TokensPerDay => today.tokens,
        BudgetKind::CostPerDay => today.nanos,
        BudgetKind::Tokens | BudgetKind::TokensPerProject => spend.tokens().total(),
        BudgetKind::Cost | BudgetKind::CostPerProject => spend.nanos(),
        BudgetKind::Quota => 0,
    }
}

/// Whether a limit on what is used is reached, and which.
pub fn reached_budget(state: &State) -> Option<(Outcome, String)> {
    let spent = budgets(state).into_iter().find(BudgetUse::is_spent)?;
    let BudgetUse { kind, used, limit } = spent;
    let (used, limit, words) = (kind.amount(used), kind.amount(limit), kind.words());
    Some((Outcome::Budget, format!("{words} is reached: {used} of {limit} were used")))
}

/// How full the agent's context is, where that is worth a word.
pub fn crowded_context(state: &State) -> Option<(ContextUse, u8)> {
    let threshold = state.policy.context_warn.unwrap_or(CONTEXT_WARN_PERCENT);
    let context = state.spend.as_deref()?.context?;
    let percent = context.percent()?;
    (threshold > 0 && percent >= threshold).then_some((context, percent))
}

/// What a loop's agent has used, in a line for people: `1.2 M tokens, $3.40 of $25.00 (measured)`;
/// nothing where nothing was counted and nothing is limited.
pub fn spend_words(state: &State) -> Option<String> {
    let limits = budgets(state);
    let Some(spend) = state.spend.as_deref() else {
        let asked = limits.iter().map(|budget| budget.kind.amount(budget.limit));
        let asked: Vec<String> = asked.collect();
        return (!asked.is_empty()).then(|| format!("nothing counted yet of {}", asked.join(", ")));
    };
    Some(spend_line(spend, &limits))
}

/// What was used, of these limits, in a line for people.
pub fn spend_line(spend: &Spend, limits: &[BudgetUse]) -> String {
    let limit = |kind| limits.iter().find(|budget| budget.kind == kind).map(|budget| budget.limit);
    let (tokens, cost) = (limit(BudgetKind::Tokens), limit(BudgetKind::Cost));
    if spend.is_unknown() {
        return unknown_use(spend, limits);
    }
    let of = |limit: Option<String>| limit.map(|limit| format!(" of {limit}")).unwrap_or_default();
    let mut text = tokens_text(spend.counted().tokens);
    let _ = write!(text, "{} tokens, ", of(tokens.map(tokens_text)));
    let known = usd_text(spend.counted().nanos);
    let cost = of(cost.map(usd_text));
    let _ = match (unknown_prices(spend), spend.nanos()) {
        (None, _) => write!(text, "{known}{cost}"),
        (Some(models), 0) => write!(text, "cost unknown (no price for {models})"),
        (Some(models), _) => write!(text, "at least {known}{cost} (no price for {models})"),
    };
    if let Some(quota) = spend.quota {
        let most = of(limit(BudgetKind::Quota).map(|most| format!("{most} %")));
        let _ = write!(text, ", quota {} %{most}", quota.percent);
    }
    let sure = match spend.doubt {
        None => "measured",
        Some(MeterDoubt::Behind) => "estimated: more is still to be read",
        Some(MeterDoubt::Skipped) => "estimated: a line was too long to be read",
        Some(MeterDoubt::NoRecord) => "estimated: the agent keeps no record of it",
        Some(MeterDoubt::Unreadable) => "estimated: the agent's record can't be read",
    };
    let _ = write!(text, " ({sure})");
    text
}

/// Nothing was counted, and that says nothing about what was used.
fn unknown_use(spend: &Spend, limits: &[BudgetUse]) -> String {
    let why = match spend.doubt {
        Some(MeterDoubt::NoRecord) => "the agent keeps no record of it",
        _ => "the agent's record can't be read",
    };
    let kept: Vec<String> = limits.iter().map(|budget| budget.kind.amount(budget.limit)).collect();
    if kept.is_empty() {
        return format!("unknown: {why}");
    }
    format!("unknown: {why}, so the limit of {} can't be kept", kept.join(", "))
}

/// The models without a price, as people read them.
fn unknown_prices(spend: &Spend) -> Option<String> {
    let names: Vec<String> = spend.unpriced().take(3).map(model_name).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

fn model_name(model: &str) -> String {
    let model = crate::clean::clip(&crate::clean::clean(model), MODEL_BYTES_MAX);
    if model.is_empty() { "an unnamed model".into() } else { model }
}

/// What an agent that is sent back should know about its budget and its context.
pub(crate) fn remark(text: &mut String, state: &State) {
    let limits = budgets(state);
    if let Some(tight) = limits
        .iter()
        .filter(|budget| budget.is_nearly_spent())
        .max_by_key(|b| u128::from(b.used) * 1000 / u128::from(b.limit.max(1)))
    {
        let BudgetUse { kind, used, limit } = *tight;
        let _ = write!(
            text,
            "Nearly all of {} is used ({} of {}): finish what you are doing, commit, and report \
             what is done and what is open. ",
            kind.words(),
            kind.amount(used),
            kind.amount(limit)
        );
    }
    unkept(text, state, &limits);
    if let Some((context, percent)) = crowded_context(state) {
        let _ = write!(
            text,
            "Your context is {percent} % full ({} tokens): write down what is done, what is open \
             and what comes next, so that nothing is lost when it is compacted (/compact) or a \
             fresh session takes over. ",
            tokens_text(context.used)
        );
    }
}

/// Says so where a limit can't be kept.
fn unkept(text: &mut String, state: &State, limits: &[BudgetUse]) {
    let Some(spend) = state.spend.as_deref() else { return };
    let counts = |budget: &BudgetUse| budget.kind != BudgetKind::Quota;
    if matches!(spend.doubt, Some(MeterDoubt::NoRecord | MeterDoubt::Unreadable))
        && limits.iter().any(counts)
    {
        text.push_str("Limits on tokens and cost can't be kept: usage is unknown here. ");
        return;
    }
    if let (Some(model), true) =
        (spend.unpriced().next(), limits.iter().any(|budget| budget.kind.is_money()))
    {
        let model = model_name(model);
        let _ = write!(text, "The cost limit can't be kept: no price is known for {model}. ");
    }
}

#[cfg(test)]
mod tests;
