//! Which checks do not fit into the time of a stop.

use stopgate_core::{
    Criterion, Event, Frame, Ground, LoopId, Mode, Origin, Policy, Proof, Standing, Started, State,
    Status, Surface, Timestamp, apply,
};

use super::{known_ms, too_long};
use std::time::Duration;

const MINUTE: u64 = 60_000;

/// A check that may take an hour, took `last` minutes, and `first` at the start.
fn check(name: &str, last: Option<u64>, first: Option<u64>) -> Criterion {
    let proof = Proof::Check { command: "true".into(), timeout_ms: 60 * MINUTE };
    let standing = |minutes: u64| Standing {
        status: Status::Fail,
        exit_code: None,
        duration_ms: minutes * MINUTE,
        at: Timestamp::from_unix_millis(0),
        log: None,
        kept: None,
    };
    let (last, takes_ms) = (last.map(standing), first.map(|minutes| minutes * MINUTE));
    Criterion { last, takes_ms, ..Criterion::new(name, proof) }
}

fn state(criteria: Vec<Criterion>) -> State {
    let started = Started {
        id: LoopId::new("l"),
        goal: String::new(),
        project: "/".into(),
        session: None,
        claim_until: None,
        policy: Policy::default(),
        frame: Frame { mode: Mode::Loop, iteration: 0, max: 1, prompt: String::new() },
        criteria,
        ground: Ground::default(),
        surface: Surface::default(),
        gates: Vec::new(),
        origin: Origin::default(),
        commit: None,
    };
    let at = Timestamp::from_unix_millis(0);
    apply(None, &Event::Started(Box::new(started)), at).expect("a loop")
}

fn long(criteria: Vec<Criterion>, known: &[&str]) -> Vec<String> {
    let known: Vec<String> = known.iter().map(ToString::to_string).collect();
    too_long(&state(criteria), Duration::from_mins(9), &known)
}

#[test]
fn what_is_not_known_to_be_long_is_tried() {
    assert!(long(vec![check("a", None, None), check("b", Some(8), None)], &[]).is_empty());
}

#[test]
fn the_quickest_are_run_and_the_rest_waits() {
    let all =
        vec![check("slow", Some(20), None), check("a", Some(4), None), check("b", Some(5), None)];
    assert_eq!(long(all, &[]), ["slow"]);
    let all = vec![check("a", Some(4), None), check("b", Some(4), None), check("c", Some(4), None)];
    assert_eq!(long(all, &[]), ["c"], "together they do not fit");
}

#[test]
fn a_quick_failure_does_not_make_a_long_check_short() {
    assert_eq!(long(vec![check("a", Some(0), Some(20))], &[]), ["a"]);
    assert_eq!(long(vec![check("a", Some(0), None)], &["a"]), ["a"]);
}

#[test]
fn what_may_not_take_longer_than_a_stop_fits() {
    let mut short = check("a", None, None);
    short.proof = Proof::Check { command: "true".into(), timeout_ms: 5 * MINUTE };
    assert!(long(vec![short], &["a"]).is_empty());
}

#[test]
fn a_run_that_did_not_end_says_nothing_about_the_time() {
    assert_eq!(known_ms(&check("a", None, Some(60))), None, "as long as it may take at all");
    assert_eq!(known_ms(&check("a", None, Some(20))), Some(20 * MINUTE));
    assert_eq!(known_ms(&check("a", Some(30), Some(20))), Some(30 * MINUTE));
}
