use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{TASKS_MAX, Tally, unmet_names};
use crate::scene::{NOON, criterion, frame, receipt, started};
use crate::{
    Criterion, Evidence, Mode, Policy, Proof, Receipt, Seen, Standing, State, Status, ToolUse,
    apply,
};

fn tasks(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("task {number}")).collect()
}

#[test]
fn tasks_that_ended_are_forgotten_only_where_there_are_too_many() {
    let full = Tally { tasks: tasks(TASKS_MAX), ..Tally::default() };
    assert_eq!(full.passed_over(&Seen::default()).tasks.len(), TASKS_MAX);
    let seen = Seen { background: Vec::from([String::from("one more")]), ..Seen::default() };
    assert_eq!(full.passed_over(&seen).tasks, ["one more"]);
}

#[test]
fn a_tally_reads_back_and_says_nothing_that_is_usual() {
    let counted = Tally {
        stops: 1,
        idle: 2,
        repeat: 3,
        refusals: 4,
        errors: 5,
        tampered: 6,
        person_spoke: true,
        ..Tally::default()
    };
    let text = serde_json::to_string(&counted).expect("a tally can be written");
    assert_eq!(serde_json::from_str::<Tally>(&text).ok(), Some(counted), "{text}");
    let usual = serde_json::to_string(&Tally::default()).expect("a tally can be written");
    assert!(!usual.contains("person_spoke") && !usual.contains("tampered"), "{usual}");
}

fn begun(criteria: Vec<Criterion>) -> State {
    let event = started(Policy::default(), frame(Mode::Loop, 0, 20, "work"), criteria);
    apply(None, &event, NOON).expect("a start begins a loop")
}

#[test]
fn what_a_person_approved_is_not_unmet() {
    let mut approved = criterion("a person's word", Proof::Approve);
    let unmet = |criteria: Vec<Criterion>| unmet_names(&begun(criteria), &Seen::default());
    assert_ne!(unmet(Vec::from([approved.clone()])), unmet(Vec::new()));
    approved.approved_at = Some(NOON);
    assert_eq!(unmet(Vec::from([approved])), unmet(Vec::new()));
}

/// A loop whose check last failed on this tree, and a stop that finds it on that one.
fn idle_between(before: Option<&str>, now: Option<&str>) -> u32 {
    let failed = |tree: Option<&str>| {
        let evidence = Evidence { tree: tree.map(String::from), ..Evidence::default() };
        Receipt { evidence, ..receipt("tests", Status::Fail, "") }
    };
    let mut state = begun(Vec::from([criterion("tests", Proof::Approve)]));
    let seen = |tree| Seen {
        tools: ToolUse::None,
        receipts: Vec::from([failed(tree)]),
        ..Seen::default()
    };
    state.tally = state.tally.after(&state, &seen(before));
    state.criteria[0].last = Some(Standing::of(&failed(before)));
    state.tally.after(&state, &seen(now)).idle
}

#[test]
fn files_that_changed_are_no_idleness_and_unknown_ones_say_nothing() {
    assert_eq!(idle_between(Some("a"), Some("b")), 0);
    assert_eq!(idle_between(Some("a"), Some("a")), 1);
    assert_eq!(idle_between(None, Some("b")), 1);
    assert_eq!(idle_between(Some("a"), None), 1);
}
