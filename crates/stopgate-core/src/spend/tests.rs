use alloc::vec;

use super::{ContextUse, CountedCall, ModelSpend, Spend, TokenUse, tokens_text, usd_text};

fn call(id: u64, input: u64, nanos: Option<u64>, day: u32) -> CountedCall {
    let tokens = TokenUse { input, ..TokenUse::default() };
    CountedCall { id, model: 0, tokens, nanos, day }
}

fn blank() -> Spend {
    let model = ModelSpend { model: "opus".into(), ..ModelSpend::default() };
    Spend { models: vec![model], ..Spend::default() }
}

#[test]
fn the_last_record_of_a_call_wins() {
    let mut spend = blank();
    let (first, last) = (call(1, 10, Some(100), 7), call(1, 30, Some(300), 7));
    spend.count(&first, None);
    spend.count(&last, Some(&first));
    assert_eq!((spend.tokens().total(), spend.nanos(), spend.models[0].calls), (30, 300, 1));
    assert_eq!((spend.on_day(7).tokens, spend.on_day(7).nanos), (30, 300));
}

#[test]
fn an_unknown_price_is_not_a_price_of_nothing() {
    let mut spend = blank();
    spend.count(&call(1, 10, None, 7), None);
    assert_eq!((spend.nanos(), spend.unpriced().collect::<vec::Vec<_>>()), (0, vec!["opus"]));
    spend.count(&call(1, 10, Some(5), 7), Some(&call(1, 10, None, 7)));
    assert_eq!((spend.nanos(), spend.unpriced().count()), (5, 0));
}

#[test]
fn a_few_days_are_remembered() {
    let mut spend = blank();
    for day in 1..=5 {
        spend.count(&call(u64::from(day), 1, None, day), None);
    }
    spend.begin_day(6);
    assert_eq!(spend.days.iter().map(|day| day.day).collect::<vec::Vec<_>>(), [4, 5, 6]);
    // A record that comes late is counted, and forgotten first.
    spend.count(&call(9, 1, None, 1), None);
    assert_eq!(spend.on_day(6).tokens, 0);
    assert_eq!(spend.tokens().total(), 6);
}

#[test]
fn amounts_read_as_people_write_them() {
    for (tokens, text) in
        [(0, "0"), (999, "999"), (1000, "1.0 k"), (12_345, "12.3 k"), (1_234_567, "1.2 M")]
    {
        assert_eq!(tokens_text(tokens), text);
    }
    let amounts = [
        (0, "$0.00"),
        (1, "$0.000001"),
        (2_100_000, "$0.0021"),
        (10_000_000, "$0.01"),
        (3_400_000_000, "$3.40"),
        (25_000_000_000, "$25.00"),
    ];
    for (nanos, text) in amounts {
        assert_eq!(usd_text(nanos), text);
    }
}

#[test]
fn a_share_of_the_context_needs_a_window() {
    let share = |used, window| ContextUse { used, window }.percent();
    assert_eq!(share(50, Some(200)), Some(25));
    assert_eq!(share(500, Some(200)), Some(100));
    assert_eq!((share(50, None), share(50, Some(0))), (None, None));
}

#[test]
fn nothing_counted_is_unknown_only_where_there_is_no_record() {
    use crate::MeterDoubt;
    let with = |spend: Spend, doubt| Spend { doubt, ..spend };
    for doubt in [MeterDoubt::NoRecord, MeterDoubt::Unreadable] {
        assert!(with(blank(), Some(doubt)).is_unknown(), "{doubt:?}");
        assert!(
            !with(crate::scene::spend(7), Some(doubt)).is_unknown(),
            "{doubt:?}: 7 were counted"
        );
    }
    for doubt in [None, Some(MeterDoubt::Behind), Some(MeterDoubt::Skipped)] {
        assert!(!with(blank(), doubt).is_unknown(), "{doubt:?}");
    }
}

#[test]
fn a_day_without_use_is_that_day() {
    let nothing = blank().on_day(7);
    assert_eq!((nothing.day, nothing.tokens, nothing.nanos), (7, 0, 0));
}
