use stopgate_core::{ContextUse, QuotaUse, Timestamp};

use super::{StatuslineHint, read_statusline};

#[test]
fn the_input_of_a_status_line_says_how_full_the_context_is() {
    let input = br#"{"cost":{"total_cost_usd":0.213624},"context_window":{"context_window_size":1000000,
        "current_usage":{"input_tokens":14103,"output_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":7}},
        "rate_limits":{"five_hour":{"used_percentage":23.5,"resets_at":1738425600},"seven_day":{"used_percentage":41.2,"resets_at":1738857600}}}"#;
    let hint = read_statusline(input);
    assert_eq!(hint.session_nanos, Some(213_624_000));
    assert_eq!(hint.context, Some(ContextUse { used: 14_125, window: Some(1_000_000) }));
    let resets_at = Some(Timestamp::from_unix_millis(1_738_857_600_000));
    assert_eq!(hint.quota, Some(QuotaUse { percent: 41, resets_at }));
}

#[test]
fn what_is_missing_or_makes_no_sense_stays_unknown() {
    for input in
        ["", "{}", "[]", "{\"context_window\":null}", "{\"rate_limits\":{\"five_hour\":{}}}"]
    {
        assert_eq!(read_statusline(input.as_bytes()), StatuslineHint::default(), "{input}");
    }
}
