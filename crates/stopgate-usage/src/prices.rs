//! What models cost.
//!
//! List prices with the day on which they were known, and a person's own, which beat them. A model
//! that neither knows has no price; it is never taken for another or for free.

mod list;

use stopgate_core::TokenUse;

use self::list::{LISTED, Listed};

pub use self::list::PRICES_AS_OF;

/// What a million tokens cost, in millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Given to the model.
    pub input: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache for minutes.
    pub cache_write: u64,
    /// Written to the cache for an hour.
    pub cache_write_long: u64,
    /// Written by the model.
    pub output: u64,
}

/// The prices of a person, before those of the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriceBook {
    own: Vec<(String, Price)>,
}

impl PriceBook {
    /// The list, with a person's own prices before it.
    pub const fn with(own: Vec<(String, Price)>) -> Self {
        Self { own }
    }

    /// What one call cost, in billionths of a dollar; nothing where no price is known.
    pub fn nanos(&self, model: &str, tokens: &TokenUse) -> Option<u64> {
        let own = self.own.iter().find(|(name, _)| is_named(model, name));
        let price = match own {
            Some((_, price)) => *price,
            None => listed(model)?.price_of(tokens.given()),
        };
        Some(price.nanos(tokens))
    }

    /// Whether a price is known for `model`.
    pub fn knows(&self, model: &str) -> bool {
        self.nanos(model, &TokenUse::default()).is_some()
    }
}

/// How many tokens fit into a model's context, where that is published and all clients use it.
pub fn known_window(model: &str) -> Option<u64> {
    listed(model)?.window
}

/// An amount of dollars as people write it, in millionths: `25`, `2.50`, `0.000001`.
pub fn parse_usd(text: &str) -> Option<u64> {
    let text = text.trim();
    let text = text.strip_prefix('$').unwrap_or(text);
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = !(whole.is_empty() && fraction.is_empty()) && digits(whole) && digits(fraction);
    if !is_number || whole.len() > 9 || fraction.trim_end_matches('0').len() > 6 {
        return None;
    }
    let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    whole.checked_mul(1_000_000)?.checked_add(micros.parse().ok()?)
}

impl Price {
    fn nanos(&self, tokens: &TokenUse) -> u64 {
        let parts = [
            (tokens.input, self.input),
            (tokens.cache_read, self.cache_read),
            (tokens.cache_write, self.cache_write),
            (tokens.cache_write_long, self.cache_write_long),
            (tokens.output, self.output),
        ];
        // Millionths of a dollar for a million tokens: a thousandth of a billionth for each.
        let sum: u128 =
            parts.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum();
        u64::try_from(sum.div_ceil(1000)).unwrap_or(u64::MAX)
    }
}

fn listed(model: &str) -> Option<&'static Listed> {
    let named = LISTED.iter().filter(|listed| is_named(model, listed.name));
    named.max_by_key(|listed| listed.name.len())
}

/// Whether `model`, as a client calls it, is the model of that name: perhaps with its vendor before
/// it, and a date or a version behind it. A longer name is another model.
fn is_named(model: &str, name: &str) -> bool {
    let bare = model.rsplit('/').next().unwrap_or(model);
    let bare = bare.rsplit_once("anthropic.").map_or(bare, |(_, bare)| bare);
    let Some(rest) = bare.strip_prefix(name) else { return model == name };
    let rest = rest.strip_suffix("[1m]").unwrap_or(rest);
    let Some(tail) = rest.strip_prefix(['-', '@']) else { return rest.is_empty() };
    let is_date = tail.len() >= 8 && tail.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    let is_version = tail.strip_prefix('v').is_some_and(|version| {
        !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit() || b == b':')
    });
    let dated = tail.rsplit_once("-v").map_or(tail, |(date, _)| date);
    let is_dated_version =
        dated.len() == 8 && tail.len() > 8 && dated.bytes().all(|b| b.is_ascii_digit());
    is_date || is_version || is_dated_version || matches!(tail, "latest" | "001" | "002")
}

#[cfg(test)]
mod tests;
