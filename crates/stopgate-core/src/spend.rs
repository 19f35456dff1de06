//! What the agent of a loop has used: tokens, money, quota and context.
//!
//! Only what a client wrote down is counted. What nobody knows stays unknown: a call
//! of a model without a price costs an unknown amount, never nothing.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::receipt::OpinionCost;
use crate::stored::is_default;
use crate::time::Timestamp;

/// The share of a limit at which the agent is told to wrap up, in percent.
pub const WRAP_UP_PERCENT: u64 = 90;
/// The share of the context at which the agent is asked to hand over, where nobody chose another.
pub const CONTEXT_WARN_PERCENT: u8 = 80;

const NANOS_PER_MICRO: u64 = 1000;
const MS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// Tokens of one call or of many, with one meaning for every client: no kind includes another,
/// but for `reasoning`, which is a part of `output`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TokenUse {
    /// Given to the model, and neither read from its cache nor written to it.
    #[serde(skip_serializing_if = "is_default")]
    pub input: u64,
    /// Read from the model's cache.
    #[serde(skip_serializing_if = "is_default")]
    pub cache_read: u64,
    /// Written to the cache for minutes, or for a time that nobody told.
    #[serde(skip_serializing_if = "is_default")]
    pub cache_write: u64,
    /// Written to the cache for an hour.
    #[serde(skip_serializing_if = "is_default")]
    pub cache_write_long: u64,
    /// Written by the model, its reasoning included.
    #[serde(skip_serializing_if = "is_default")]
    pub output: u64,
    /// The part of the output that was reasoning, where the client tells.
    #[serde(skip_serializing_if = "is_default")]
    pub reasoning: u64,
}

/// What the agent of one loop has used so far, and up to where its client's files were read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spend {
    /// When this was last brought up to date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// By model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<ModelSpend>,
    /// The files that it was read from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<UsageFile>,
    /// The last days on which something was used, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<DaySpend>,
    /// The subscription's quota, where the client tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quota: Option<QuotaUse>,
    /// The context in use, where the client tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextUse>,
    /// Limits that this loop shares with others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<SharedBudget>,
    /// What was used when a person last allowed as much again.
    #[serde(skip_serializing_if = "SpendMark::is_zero")]
    pub since: SpendMark,
    /// Why less than everything may be counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubt: Option<MeterDoubt>,
}

/// What calls of one model used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelSpend {
    /// The model, in its client's words; empty where the client does not tell.
    pub model: String,
    /// How often it was called.
    pub calls: u64,
    /// Its tokens.
    pub tokens: TokenUse,
    /// What they cost, in billionths of a dollar, as far as a price is known.
    #[serde(skip_serializing_if = "is_default")]
    pub nanos: u64,
    /// Tokens of calls whose price is unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub unpriced: u64,
}

/// Up to where a client's file was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "two facts that have nothing to do with each other"
)]
pub struct UsageFile {
    /// Its path.
    pub path: String,
    /// The agent whose client writes it.
    pub agent: String,
    /// The end of the last whole line that was read.
    pub offset: u64,
    /// Whether what follows is the rest of a line that was too long to read.
    #[serde(skip_serializing_if = "is_default")]
    pub inside_line: bool,
    /// What a line before told about those that follow, such as the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whether each call has a record of its own beside the messages.
    #[serde(skip_serializing_if = "is_default")]
    pub has_records: bool,
    /// The last calls, so that one that is written again is not counted again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recent: Vec<CountedCall>,
}

/// One call that was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CountedCall {
    /// The fingerprint of its name.
    pub id: u64,
    /// The place of its model in [`Spend::models`].
    #[serde(skip_serializing_if = "is_default")]
    pub model: u32,
    /// Its tokens.
    pub tokens: TokenUse,
    /// What it cost; nothing where no price is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nanos: Option<u64>,
    /// The day it was counted on.
    #[serde(skip_serializing_if = "is_default")]
    pub day: u32,
}

/// What was used on one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DaySpend {
    /// Days since 1970, UTC.
    pub day: u32,
    /// All its tokens.
    pub tokens: u64,
    /// What they cost, in billionths of a dollar.
    pub nanos: u64,
}

/// How much of a subscription's window is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotaUse {
    /// Percent of the fullest window.
    pub percent: u8,
    /// When that window begins anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resets_at: Option<Timestamp>,
}

/// How full a context is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextUse {
    /// Tokens in use.
    pub used: u64,
    /// Tokens that fit, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
}

/// A limit that loops share, as it stood when this loop was last looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedBudget {
    /// Who shares it, and what it limits.
    pub kind: BudgetKind,
    /// What the others used: tokens, or billionths of a dollar.
    pub others: u64,
    /// What is allowed, in the same unit.
    pub limit: u64,
}

/// A point from which use is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpendMark {
    /// Tokens until then.
    pub tokens: u64,
    /// Billionths of a dollar until then.
    pub nanos: u64,
}

/// Why the count may lack something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MeterDoubt {
    /// The client keeps no record that can be read.
    NoRecord,
    /// The record could not be opened.
    Unreadable,
    /// There is more to read than one stop reads; the rest follows.
    Behind,
    /// A line was too long to be read.
    Skipped,
}

/// One kind of limit on what is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetKind {
    /// The loop's tokens.
    Tokens,
    /// The loop's money.
    Cost,
    /// The subscription's window.
    Quota,
    /// The tokens of all loops on one day.
    TokensPerDay,
    /// The money of all loops on one day.
    CostPerDay,
    /// The tokens of all loops of the project.
    TokensPerProject,
    /// The money of all loops of the project.
    CostPerProject,
}

impl TokenUse {
    /// All tokens, cached ones included.
    pub const fn total(&self) -> u64 {
        self.given().saturating_add(self.output)
    }

    /// All tokens that the model was given, cached ones included.
    pub const fn given(&self) -> u64 {
        let cached = self.cache_read.saturating_add(self.cache_write);
        self.input.saturating_add(cached).saturating_add(self.cache_write_long)
    }

    /// Both together.
    #[must_use]
    pub const fn plus(&self, other: &Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            cache_write_long: self.cache_write_long.saturating_add(other.cache_write_long),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }

    /// What is left without the other.
    #[must_use]
    pub const fn minus(&self, other: &Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            cache_read: self.cache_read.saturating_sub(other.cache_read),
            cache_write: self.cache_write.saturating_sub(other.cache_write),
            cache_write_long: self.cache_write_long.saturating_sub(other.cache_write_long),
            output: self.output.saturating_sub(other.output),
            reasoning: self.reasoning.saturating_sub(other.reasoning),
        }
    }
}

impl Spend {
    /// All tokens, by kind.
    pub fn tokens(&self) -> TokenUse {
        self.models.iter().fold(TokenUse::default(), |sum, model| sum.plus(&model.tokens))
    }

    /// What is known to be spent, in billionths of a dollar.
    pub fn nanos(&self) -> u64 {
        self.models.iter().fold(0, |sum, model| sum.saturating_add(model.nanos))
    }

    /// The models without a price that were called.
    pub fn unpriced(&self) -> impl Iterator<Item = &str> {
        self.models.iter().filter(|model| model.unpriced > 0).map(|model| model.model.as_str())
    }

    /// Whether nothing was counted because there is nothing to count from.
    pub fn is_unknown(&self) -> bool {
        let cannot = matches!(self.doubt, Some(MeterDoubt::NoRecord | MeterDoubt::Unreadable));
        cannot && self.tokens().total() == 0
    }

    /// Whether every token was counted from the client's own record.
    pub const fn is_measured(&self) -> bool {
        self.doubt.is_none()
    }

    /// Counts one call; one that was counted before under this name is replaced, so that the
    /// last record of a call wins.
    pub fn count(&mut self, call: &CountedCall, earlier: Option<&CountedCall>) {
        if let Some(earlier) = earlier {
            self.take_back(earlier);
        }
        if let Some(model) = self.model_at(call.model) {
            model.calls = model.calls.saturating_add(1);
            model.tokens = model.tokens.plus(&call.tokens);
            match call.nanos {
                Some(nanos) => model.nanos = model.nanos.saturating_add(nanos),
                None => model.unpriced = model.unpriced.saturating_add(call.tokens.total()),
            }
        }
        let day = self.day(call.day);
        day.tokens = day.tokens.saturating_add(call.tokens.total());
        day.nanos = day.nanos.saturating_add(call.nanos.unwrap_or(0));
    }

    /// Counts calls of a model that are in no client's file.
    pub(crate) fn add(&mut self, cost: &OpinionCost, at: Timestamp) {
        let known = self.models.iter().position(|own| own.model == cost.model);
        let model = known.unwrap_or_else(|| {
            self.models.push(ModelSpend { model: cost.model.clone(), ..ModelSpend::default() });
            self.models.len() - 1
        });
        let day = at.unix_millis().div_euclid(MS_PER_DAY);
        let call = CountedCall {
            model: u32::try_from(model).unwrap_or(u32::MAX),
            tokens: cost.tokens,
            nanos: cost.nanos,
            day: u32::try_from(day).unwrap_or(0),
            ..CountedCall::default()
        };
        self.count(&call, None);
    }

    fn take_back(&mut self, call: &CountedCall) {
        if let Some(model) = self.model_at(call.model) {
            model.calls = model.calls.saturating_sub(1);
            model.tokens = model.tokens.minus(&call.tokens);
            match call.nanos {
                Some(nanos) => model.nanos = model.nanos.saturating_sub(nanos),
                None => model.unpriced = model.unpriced.saturating_sub(call.tokens.total()),
            }
        }
        if let Some(day) = self.days.iter_mut().find(|day| day.day == call.day) {
            day.tokens = day.tokens.saturating_sub(call.tokens.total());
            day.nanos = day.nanos.saturating_sub(call.nanos.unwrap_or(0));
        }
    }

    fn model_at(&mut self, index: u32) -> Option<&mut ModelSpend> {
        self.models.get_mut(usize::try_from(index).ok()?)
    }

    fn day(&mut self, day: u32) -> &mut DaySpend {
        /// What a limit per day needs, with one to spare around midnight.
        const DAYS_MAX: usize = 3;
        let at = match self.days.binary_search_by_key(&day, |known| known.day) {
            Ok(at) => at,
            Err(at) => {
                self.days.insert(at, DaySpend { day, ..DaySpend::default() });
                at
            }
        };
        if self.days.len() > DAYS_MAX && at > 0 {
            self.days.remove(0);
            return &mut self.days[at - 1];
        }
        &mut self.days[at]
    }

    /// From now on it is `day`, even if nothing was used yet.
    pub fn begin_day(&mut self, day: u32) {
        self.day(day);
    }

    /// What was used on `day`.
    pub fn on_day(&self, day: u32) -> DaySpend {
        let found = self.days.iter().find(|known| known.day == day);
        found.copied().unwrap_or(DaySpend { day, ..DaySpend::default() })
    }

    /// What was used since a person last allowed as much again.
    pub fn counted(&self) -> SpendMark {
        SpendMark {
            tokens: self.tokens().total().saturating_sub(self.since.tokens),
            nanos: self.nanos().saturating_sub(self.since.nanos),
        }
    }

    /// Allows as much again.
    pub(crate) fn begin_anew(&mut self) {
        self.since = SpendMark { tokens: self.tokens().total(), nanos: self.nanos() };
    }
}

impl SpendMark {
    const fn is_zero(&self) -> bool {
        self.tokens == 0 && self.nanos == 0
    }
}

impl ContextUse {
    /// How full it is, in percent; nothing where nobody knows how much fits.
    pub fn percent(&self) -> Option<u8> {
        let window = self.window.filter(|window| *window > 0)?;
        let percent = u128::from(self.used) * 100 / u128::from(window);
        Some(u8::try_from(percent.min(100)).unwrap_or(100))
    }
}

impl BudgetKind {
    /// Whether it limits money.
    pub const fn is_money(self) -> bool {
        matches!(self, Self::Cost | Self::CostPerDay | Self::CostPerProject)
    }

    /// What it limits, for people and agents.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Tokens => "the token limit",
            Self::Cost => "the cost limit",
            Self::Quota => "the limit on the subscription's quota",
            Self::TokensPerDay => "the day's token limit",
            Self::CostPerDay => "the day's cost limit",
            Self::TokensPerProject => "the project's token limit",
            Self::CostPerProject => "the project's cost limit",
        }
    }

    /// An amount of what it limits.
    pub fn amount(self, amount: u64) -> String {
        match self {
            Self::Tokens | Self::TokensPerDay | Self::TokensPerProject => {
                format!("{} tokens", tokens_text(amount))
            }
            Self::Cost | Self::CostPerDay | Self::CostPerProject => usd_text(amount),
            Self::Quota => format!("{amount} %"),
        }
    }
}

/// A number of tokens as people write it: 950, 12.3 k, 1.2 M.
pub fn tokens_text(tokens: u64) -> String {
    let (unit, name) = match tokens {
        0..1_000 => return format!("{tokens}"),
        1_000..1_000_000 => (1_000, "k"),
        _more => (1_000_000, "M"),
    };
    format!("{}.{} {name}", tokens / unit, tokens % unit / (unit / 10))
}

/// Billionths of a dollar as people write money: $3.40; less than a cent in full: $0.0021.
pub fn usd_text(nanos: u64) -> String {
    let micros = nanos.div_ceil(NANOS_PER_MICRO);
    let (dollars, rest) = (micros / 1_000_000, micros % 1_000_000);
    if dollars == 0 && (1..10_000).contains(&rest) {
        let digits = format!("{rest:06}");
        return format!("$0.{}", digits.trim_end_matches('0'));
    }
    format!("${dollars}.{:02}", rest / 10_000)
}

#[cfg(test)]
mod tests;
