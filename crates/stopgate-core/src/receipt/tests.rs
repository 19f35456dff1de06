use alloc::string::ToString;

use crate::scene::receipt;
use crate::{Evidence, Status, Strength};

#[test]
fn flaky_is_what_passes_at_a_later_try() {
    for (status, retries, flaky) in [
        (Status::Pass, 0, false),
        (Status::Pass, 1, true),
        (Status::Pass, 2, true),
        (Status::Fail, 1, false),
        (Status::Fail, 0, false),
    ] {
        let mut told = receipt("tests", status, "");
        told.evidence.retries = retries;
        assert_eq!(told.is_flaky(), flaky, "{status} after {retries}");
    }
}

#[test]
fn evidence_that_says_something_is_stored() {
    assert!(Evidence::default().is_empty());
    let told = Evidence { word: true, ..Evidence::default() };
    assert!(!told.is_empty());
    let mut with = receipt("tests", Status::Pass, "");
    let plain = serde_json::to_value(&with).expect("it can be written");
    assert_eq!(plain.get("evidence"), None, "nothing is written where there is nothing to say");
    with.evidence = told.clone();
    let text = serde_json::to_string(&with).expect("it can be written");
    let again: crate::Receipt = serde_json::from_str(&text).expect("it reads back");
    assert_eq!(again.evidence, told);
}

#[test]
fn strengths_are_shown_by_their_words() {
    for strength in [Strength::Plain, Strength::Original, Strength::Clean, Strength::Hermetic] {
        assert_eq!(strength.to_string(), strength.word());
    }
}
