//! The list: data with a date, kept by hand.
//!
//! List prices in US dollars for a million tokens, as vendors published them for direct use of
//! their interface, without discounts, batches, regions and tools. A person's own prices
//! ([prices] in config.toml) beat them.

use super::Price;

/// The day on which these were the list prices that were known.
pub const PRICES_AS_OF: &str = "2026-11-15";

/// One model of the list.
pub(super) struct Listed {
    /// Its name, without vendor and date.
    pub(super) name: &'static str,
    /// How many tokens fit into its context, where every client has the same.
    pub(super) window: Option<u64>,
    /// Its prices, by how many tokens a call is given at most; the last has no bound.
    pub(super) tiers: &'static [(u64, Price)],
}

impl Listed {
    /// The price of a call that is given so many tokens.
    pub(super) fn price_of(&self, given: u64) -> Price {
        let tier = self.tiers.iter().find(|(most, _)| given <= *most);
        tier.or(self.tiers.last()).map(|(_, price)| *price).unwrap_or_default()
    }
}

const ANY: u64 = u64::MAX;
const GEMINI_WINDOW: u64 = 1_048_576;

/// Dollars with three decimals, as thousandths.
const fn mills(mills: u64) -> u64 {
    mills * 1000
}

/// Anthropic: a read costs a tenth, a write for five minutes a quarter more, for an hour twice.
const fn anthropic(input: u64, output: u64) -> Price {
    Price {
        input: mills(input),
        cache_read: mills(input) / 10,
        cache_write: mills(input) * 5 / 4,
        cache_write_long: mills(input) * 2,
        output: mills(output),
    }
}

/// Others: writing to the cache costs what input costs.
const fn plain(input: u64, cached: u64, output: u64) -> Price {
    Price {
        input: mills(input),
        cache_read: mills(cached),
        cache_write: mills(input),
        cache_write_long: mills(input),
        output: mills(output),
    }
}

const fn one(name: &'static str, tiers: &'static [(u64, Price)]) -> Listed {
    Listed { name, window: None, tiers }
}

const fn windowed(name: &'static str, window: u64, tiers: &'static [(u64, Price)]) -> Listed {
    Listed { name, window: Some(window), tiers }
}

pub(super) const LISTED: &[Listed] = &[
    // Anthropic. The first as Claude Code 2.1.325 itself counts it; the others as published by the
    // end of 2025.
    one(
        "claude-opus-5-5",
        &[(
            ANY,
            Price {
                input: mills(4000),
                cache_read: mills(200),
                cache_write: mills(5000),
                cache_write_long: mills(8000),
                output: mills(20_000),
            },
        )],
    ),
    one("claude-opus-4-5", &[(ANY, anthropic(5000, 25_000))]),
    one("claude-opus-4-1", &[(ANY, anthropic(15_000, 75_000))]),
    one("claude-opus-4", &[(ANY, anthropic(15_000, 75_000))]),
    one("claude-sonnet-4-5", &[(200_000, anthropic(3000, 15_000)), (ANY, anthropic(6000, 22_500))]),
    one("claude-sonnet-4", &[(200_000, anthropic(3000, 15_000)), (ANY, anthropic(6000, 22_500))]),
    one("claude-3-7-sonnet", &[(ANY, anthropic(3000, 15_000))]),
    one("claude-3-5-sonnet", &[(ANY, anthropic(3000, 15_000))]),
    one("claude-haiku-4-5", &[(ANY, anthropic(1000, 5000))]),
    one("claude-3-5-haiku", &[(ANY, anthropic(800, 4000))]),
    // OpenAI, as published by the end of 2025.
    one("gpt-5.2", &[(ANY, plain(1750, 175, 14_000))]),
    one("gpt-5.2-codex", &[(ANY, plain(1750, 175, 14_000))]),
    one("gpt-5.1", &[(ANY, plain(1250, 125, 10_000))]),
    one("gpt-5.1-codex", &[(ANY, plain(1250, 125, 10_000))]),
    one("gpt-5.1-codex-max", &[(ANY, plain(1250, 125, 10_000))]),
    one("gpt-5.1-codex-mini", &[(ANY, plain(250, 25, 2000))]),
    one("gpt-5", &[(ANY, plain(1250, 125, 10_000))]),
    one("gpt-5-codex", &[(ANY, plain(1250, 125, 10_000))]),
    one("gpt-5-mini", &[(ANY, plain(250, 25, 2000))]),
    one("gpt-5-nano", &[(ANY, plain(50, 5, 400))]),
    one("gpt-5-pro", &[(ANY, plain(15_000, 15_000, 120_000))]),
    one("gpt-4.1", &[(ANY, plain(2000, 500, 8000))]),
    one("gpt-4.1-mini", &[(ANY, plain(400, 100, 1600))]),
    one("gpt-4.1-nano", &[(ANY, plain(100, 25, 400))]),
    one("gpt-4o", &[(ANY, plain(2500, 1250, 10_000))]),
    one("gpt-4o-mini", &[(ANY, plain(150, 75, 600))]),
    one("o3", &[(ANY, plain(2000, 500, 8000))]),
    one("o4-mini", &[(ANY, plain(1100, 275, 4400))]),
    one("codex-mini", &[(ANY, plain(1500, 375, 6000))]),
    // Google, as published by the end of 2025.
    windowed(
        "gemini-3-pro-preview",
        GEMINI_WINDOW,
        &[(200_000, plain(2000, 200, 12_000)), (ANY, plain(4000, 400, 18_000))],
    ),
    windowed(
        "gemini-2.5-pro",
        GEMINI_WINDOW,
        &[(200_000, plain(1250, 125, 10_000)), (ANY, plain(2500, 250, 15_000))],
    ),
    windowed("gemini-2.5-flash", GEMINI_WINDOW, &[(ANY, plain(300, 30, 2500))]),
    windowed("gemini-2.5-flash-lite", GEMINI_WINDOW, &[(ANY, plain(100, 10, 400))]),
    windowed("gemini-2.0-flash", GEMINI_WINDOW, &[(ANY, plain(100, 25, 400))]),
    // Qwen, international endpoint, as published by the end of 2025.
    one(
        "qwen3-coder-plus",
        &[
            (32_000, plain(1000, 100, 5000)),
            (128_000, plain(1800, 180, 9000)),
            (256_000, plain(3000, 300, 15_000)),
            (ANY, plain(6000, 600, 60_000)),
        ],
    ),
    one(
        "qwen3-coder-flash",
        &[
            (32_000, plain(300, 80, 1500)),
            (128_000, plain(500, 130, 2500)),
            (256_000, plain(800, 200, 4000)),
            (ANY, plain(1600, 400, 9600)),
        ],
    ),
    one(
        "qwen3-max",
        &[
            (32_000, plain(1200, 240, 6000)),
            (128_000, plain(2400, 480, 12_000)),
            (ANY, plain(3000, 600, 15_000)),
        ],
    ),
    // Moonshot, as published by the end of 2025.
    one("kimi-k2", &[(ANY, plain(600, 150, 2500))]),
    one("kimi-k2-turbo-preview", &[(ANY, plain(1150, 150, 8000))]),
];
