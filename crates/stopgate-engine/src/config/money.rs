//! `[limits]` and `[prices]`: what all loops of a person may use, and what models cost them.

use std::collections::BTreeMap;

use serde::Deserialize;
use stopgate_usage::{Price, PriceBook};

use crate::dollars::Dollars;

/// What all loops of a person together may use; 0 means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SharedLimits {
    /// Tokens on one day.
    pub(crate) tokens_per_day: u64,
    /// Money on one day, in millionths of a dollar.
    pub(crate) cost_micros_per_day: u64,
    /// Tokens of one project.
    pub(crate) tokens_per_project: u64,
    /// Money of one project, in millionths of a dollar.
    pub(crate) cost_micros_per_project: u64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_field_names, reason = "the names are those of the file")]
pub(super) struct SharedWire {
    max_tokens_per_day: u64,
    max_cost_per_day_usd: Dollars,
    max_tokens_per_project: u64,
    max_cost_per_project_usd: Dollars,
}

/// Dollars for a million tokens.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PriceWire {
    input: Dollars,
    output: Dollars,
    cache_read: Option<Dollars>,
    cache_write: Option<Dollars>,
    cache_write_long: Option<Dollars>,
}

impl SharedLimits {
    /// Whether any loop must be counted for them.
    pub(crate) fn is_any(self) -> bool {
        self != Self::default()
    }
}

impl SharedWire {
    pub(super) const fn limits(self) -> SharedLimits {
        SharedLimits {
            tokens_per_day: self.max_tokens_per_day,
            cost_micros_per_day: self.max_cost_per_day_usd.micros,
            tokens_per_project: self.max_tokens_per_project,
            cost_micros_per_project: self.max_cost_per_project_usd.micros,
        }
    }
}

/// The person's prices; what they leave out costs what input costs.
pub(super) fn price_book(wires: BTreeMap<String, PriceWire>) -> PriceBook {
    let price = |wire: PriceWire| {
        let or = |price: Option<Dollars>, other: u64| price.map_or(other, |price| price.micros);
        let cache_write = or(wire.cache_write, wire.input.micros);
        Price {
            input: wire.input.micros,
            cache_read: or(wire.cache_read, wire.input.micros),
            cache_write,
            cache_write_long: or(wire.cache_write_long, cache_write),
            output: wire.output.micros,
        }
    };
    PriceBook::with(wires.into_iter().map(|(model, wire)| (model, price(wire))).collect())
}

#[cfg(test)]
mod tests {
    use stopgate_core::TokenUse;

    use crate::config::Config;

    #[test]
    fn prices_and_shared_limits_are_read() {
        let text = "[limits]\nmax_cost_per_day_usd = 50\nmax_tokens_per_project = 7\n\
                    [prices.\"my-model\"]\ninput = 2\noutput = 10.5\n";
        let config = Config::parse(text).unwrap();
        assert_eq!(config.shared.cost_micros_per_day, 50_000_000);
        assert_eq!(config.shared.tokens_per_project, 7);
        let tokens =
            TokenUse { input: 1000, cache_read: 1000, output: 1000, ..TokenUse::default() };
        assert_eq!(config.prices.nanos("my-model", &tokens), Some(14_500_000));
        assert_eq!(config.prices.nanos("other-model", &tokens), None);
        assert!(!Config::parse("").unwrap().shared.is_any());
    }

    #[test]
    fn what_is_not_a_price_is_refused() {
        let texts = [
            "[prices.m]\ninput = 1",
            "[prices.m]\ninput = -1\noutput = 1",
            "[prices.m]\ninput = \"1\"\noutput = 1",
            "[prices.m]\ninput = 1\noutput = 1\ncached = 1",
            "[limits]\nmax_cost_per_week_usd = 1",
            "[limits]\nmax_cost_per_day_usd = 1.0000001",
        ];
        for text in texts {
            assert!(Config::parse(text).is_err(), "{text}");
        }
    }
}
