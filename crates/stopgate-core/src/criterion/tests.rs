use alloc::string::{String, ToString};

use super::Standing;
use crate::scene::{criterion, receipt};
use crate::{Criterion, Proof, Status};

#[test]
fn a_command_reads_as_a_shell_takes_it() {
    let check = |word: &str, shown: &str| {
        let proof: Proof =
            serde_json::from_value(serde_json::json!({"run": {"argv": [word], "timeout_ms": 1}}))
                .expect("a run");
        assert_eq!(criterion("c", proof).command().as_deref(), Some(shown), "{word:?}");
    };
    check("cargo", "cargo");
    check("a-b_c./=:,@%+9", "a-b_c./=:,@%+9");
    check("", "''");
    check("two words", "'two words'");
    check("it's", r"'it'\''s'");
    check("$HOME", "'$HOME'");
    check("a;b", "'a;b'");
}

#[test]
fn what_waits_for_a_person_or_has_a_tree_is_known_later() {
    let kept = |status: Status, tree: Option<&str>| {
        let mut told = receipt("tests", status, "the end");
        told.evidence.tree = tree.map(ToString::to_string);
        Standing::of(&told).kept.map(|kept| kept.tail)
    };
    let tail = Some(String::from("the end"));
    assert_eq!(kept(Status::NeedsApproval, None), tail);
    assert_eq!(kept(Status::Fail, Some("t1")), tail);
    assert_eq!(kept(Status::Pass, Some("t1")), tail);
    assert_eq!(kept(Status::Fail, None), None);
    assert_eq!(kept(Status::Pass, None), None);
}

#[test]
fn only_what_is_unusual_is_written() {
    let usual = criterion("tests", Proof::Attest);
    let written = serde_json::to_value(&usual).expect("it can be written");
    assert_eq!(written.get("weight"), None);
    let mut advisory = usual.clone();
    advisory.weight = crate::Weight::Advisory;
    let text = serde_json::to_string(&advisory).expect("it can be written");
    let again: Criterion = serde_json::from_str(&text).expect("it reads back");
    assert_eq!(again, advisory);
}
