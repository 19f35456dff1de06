use alloc::string::ToString;
use alloc::vec::Vec;
use std::prelude::v1::*;

use super::{ErrorClass, Ledger, WrittenError, errors, money, spend};

#[test]
fn money_is_used_up_when_it_is_all_spent() {
    let spent = |spent_micros, budget_micros| {
        let ledger = Ledger { spent_micros, budget_micros, errors: Vec::new() };
        spend(&ledger).map(|(outcome, why)| format!("{outcome}: {why}"))
    };
    assert_eq!(spent(24_999_999, Some(25_000_000)), None);
    let over = "budget: the budget of 25 is used up: 25.5 was spent";
    assert_eq!(spent(25_500_000, Some(25_000_000)).as_deref(), Some(over));
    assert!(spent(25_000_000, Some(25_000_000)).is_some());
    assert_eq!(spent(u64::MAX, None), None);
}

#[test]
fn errors_count_by_their_class() {
    check("", "go on");
    check("logic:a", "go on");
    check("logic:a logic:b logic:a", "go on");
    check("logic:a logic:b logic:a logic:a", "stalled: the same error occurred 3 times: a");
    check("transient:net", "go on");
    check("transient:net logic:a", "go on");
    let again = "infra_error: a transient error persisted after a retry: dns";
    check("transient:net transient:dns", again);
    check("blocking:no-disk", "blocked: a blocking error: no-disk");
    check("unknown:what", "needs_input: an unknown error: what");
    check("logic:a logic:a logic:a blocking:b unknown:c", "blocked: a blocking error: b");
    check("transient:x logic:x unknown:x", "needs_input: an unknown error: x");
}

#[track_caller]
fn check(scene: &str, expected: &str) {
    let ledger =
        Ledger { errors: scene.split_whitespace().map(error).collect(), ..Ledger::default() };
    let found = errors(&ledger).map(|(outcome, why)| format!("{outcome}: {why}"));
    assert_eq!(found.unwrap_or_else(|| "go on".into()), expected, "{scene}");
}

fn error(text: &str) -> WrittenError {
    let (class, message) = text.split_once(':').unwrap();
    let class = match class {
        "transient" => ErrorClass::Transient,
        "logic" => ErrorClass::Logic,
        "blocking" => ErrorClass::Blocking,
        _other => ErrorClass::Unknown,
    };
    WrittenError { class, message: message.to_string() }
}

#[test]
fn money_reads_as_people_write_it() {
    let shown = [0, 25_000_000, 25_500_000, 1, 4_050_000].map(money);
    assert_eq!(shown, ["0", "25", "25.5", "0.000001", "4.05"]);
}
