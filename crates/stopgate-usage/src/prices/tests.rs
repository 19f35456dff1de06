use stopgate_core::TokenUse;

use super::{LISTED, PriceBook, parse_usd};

fn tokens(input: u64, cache_read: u64, output: u64) -> TokenUse {
    TokenUse { input, cache_read, output, ..TokenUse::default() }
}

#[test]
fn a_model_is_known_with_its_vendor_and_its_date() {
    let book = PriceBook::default();
    for model in [
        "claude-sonnet-4-5",
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4-5[1m]",
        "claude-opus-4-1-20250805",
        "us.anthropic.claude-sonnet-4-20250514-v1:0",
        "anthropic/claude-haiku-4-5",
        "claude-haiku-4-5@20251001",
        "gpt-5-2025-08-07",
        "openai/gpt-5.1-codex-mini",
        "models/gemini-2.5-pro",
        "gemini-2.5-flash-001",
        "claude-3-5-sonnet-latest",
        "qwen3-coder-plus-2025-09-23",
    ] {
        assert!(book.knows(model), "{model}");
    }
}

#[test]
fn a_longer_name_is_another_model_whose_price_nobody_knows() {
    let book = PriceBook::default();
    for model in
        ["", "gpt-5-turbo", "gpt-55", "claude-opus-4-7", "claude-opus-5", "fake", "gpt-5-", "o3-x"]
    {
        assert_eq!(book.nanos(model, &tokens(1, 0, 0)), None, "{model}");
    }
    // And not that of a shorter one.
    let (mini, full) = ("gpt-5.1-codex-mini", "gpt-5.1-codex");
    assert_ne!(book.nanos(mini, &tokens(9, 9, 9)), book.nanos(full, &tokens(9, 9, 9)));
}

#[test]
fn a_call_costs_the_sum_of_its_parts() {
    let book = PriceBook::default();
    let million = tokens(1_000_000, 0, 0);
    assert_eq!(book.nanos("claude-haiku-4-5", &million), Some(1_000_000_000));
    let mixed = TokenUse {
        input: 100,
        cache_read: 1000,
        cache_write: 200,
        cache_write_long: 300,
        output: 50,
        reasoning: 20,
    };
    // 100 + 100 + 250 + 600 + 250 millionths of a dollar.
    assert_eq!(book.nanos("claude-haiku-4-5", &mixed), Some(1_300_000));
}

#[test]
fn a_long_context_costs_more() {
    let book = PriceBook::default();
    assert_eq!(book.nanos("gemini-2.5-pro", &tokens(200_000, 0, 0)), Some(250_000_000));
    assert_eq!(book.nanos("gemini-2.5-pro", &tokens(1, 200_000, 0)), Some(50_002_500));
}

#[test]
fn a_person_s_own_price_beats_the_list() {
    let own = super::Price { input: 7_000_000, ..super::Price::default() };
    let book = PriceBook::with(vec![("gpt-5".into(), own), ("my/model:7".into(), own)]);
    assert_eq!(book.nanos("gpt-5", &tokens(1000, 0, 0)), Some(7_000_000));
    assert_eq!(book.nanos("my/model:7", &tokens(1000, 0, 0)), Some(7_000_000));
    assert_eq!(book.nanos("gpt-5-mini", &tokens(1000, 0, 0)), Some(250_000));
}

#[test]
fn the_list_makes_sense() {
    for (place, listed) in LISTED.iter().enumerate() {
        assert!(!LISTED[..place].iter().any(|other| other.name == listed.name), "{}", listed.name);
        assert_eq!(listed.tiers.last().map(|tier| tier.0), Some(u64::MAX), "{}", listed.name);
        for (_, price) in listed.tiers {
            assert!(price.input > 0 && price.output >= price.input, "{}", listed.name);
            assert!(price.cache_read <= price.input, "{}", listed.name);
        }
    }
}

#[test]
fn money_is_read_as_people_write_it() {
    for (text, micros) in [
        ("25", 25_000_000),
        ("$2.50", 2_500_000),
        (".5", 500_000),
        ("0.000001", 1),
        ("1.5000000", 1_500_000),
        ("0", 0),
    ] {
        assert_eq!(parse_usd(text), Some(micros), "{text}");
    }
    for text in ["", ".", "-1", "1e3", "1.0000001", "ten", "12345678901", "1.2.3", "NaN"] {
        assert_eq!(parse_usd(text), None, "{text}");
    }
}
