//! Both orders, whole: every small file, against the documented list in plain words.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::scene::{NOON, criterion, frame, started};
use crate::{
    Criterion, Decision, Marker, Mode, Order, Outcome, Phase, Policy, Proof, Rest, Seen, Standing,
    State, Status, Verdict, apply, decide,
};

fn standing(status: Status) -> Standing {
    Standing { status, exit_code: None, duration_ms: 0, at: NOON, log: None, kept: None }
}

fn every_phase() -> Vec<Phase> {
    let ended = |outcome| Phase::Ended { outcome, why: String::new(), at: NOON };
    let paused = |rest| Phase::Paused { rest, since: NOON };
    vec![
        Phase::Active,
        Phase::Completing,
        paused(Rest::Resume),
        paused(Rest::NextSession),
        ended(Outcome::Attested),
        ended(Outcome::Cancelled),
    ]
}

/// All lists of up to two criteria, each met, unmet or unknown.
fn every_list() -> Vec<Vec<Criterion>> {
    let marks = [None, Some(Status::Pass), Some(Status::Fail)];
    let one = |name: &str, mark: Option<Status>| {
        let mut criterion = criterion(name, Proof::Attest);
        criterion.last = mark.map(standing);
        criterion
    };
    let mut lists = vec![vec![]];
    for first in marks {
        lists.push(vec![one("a", first)]);
        for second in marks {
            lists.push(vec![one("a", first), one("b", second)]);
        }
    }
    lists
}

fn every_state(order: Order) -> Vec<State> {
    let counts = [(0, 0), (0, 1), (1, 1), (2, 1), (0, 3)];
    let with = |phase: &Phase, criteria: &[Criterion], (iteration, max), repeat| {
        let policy = Policy { order, max_repeat: 5, ..Policy::default() };
        let frame = frame(Mode::Loop, iteration, max, "x");
        let start = started(policy, frame, criteria.to_vec());
        let mut state = apply(None, &start, NOON).expect("a state");
        state.phase = phase.clone();
        state.tally.repeat = repeat;
        state
    };
    let mut states = vec![];
    for phase in every_phase() {
        for criteria in every_list() {
            let each = counts.iter().flat_map(|count| [0, 4, 5, 6].map(|stuck| (*count, stuck)));
            states.extend(each.map(|(count, stuck)| with(&phase, &criteria, count, stuck)));
        }
    }
    states
}

fn every_sight() -> [Seen; 3] {
    let claim = Seen { markers: vec![Marker::LoopComplete], ..Seen::default() };
    let busy = Seen { background: vec!["t1".to_string()], ..Seen::default() };
    [Seen::default(), claim, busy]
}

fn all_met(state: &State) -> bool {
    let met = |c: &Criterion| c.last.as_ref().map(|last| last.status) == Some(Status::Pass);
    state.criteria.iter().all(met)
}

/// The documented list for feature files.
fn features(state: &State, seen: &Seen) -> &'static str {
    let frame = &state.frames[0];
    let wants = state.phase == Phase::Completing || !seen.markers.is_empty();
    match &state.phase {
        Phase::Ended { .. } => "allow",
        _ if !seen.background.is_empty() => "allow",
        _ if state.criteria.is_empty() => "allow",
        _ if all_met(state) && wants => "complete attested",
        _ if frame.iteration >= frame.max => "escalate max_iterations",
        Phase::Paused { .. } => "allow",
        _ => "continue",
    }
}

/// The documented list for criteria files.
fn criteria(state: &State, seen: &Seen) -> &'static str {
    let wants = state.phase == Phase::Completing || !seen.markers.is_empty();
    match &state.phase {
        Phase::Ended { .. } | Phase::Paused { .. } => "allow",
        _ if !seen.background.is_empty() => "allow",
        _ if state.tally.repeat >= 5 => "escalate stalled",
        _ if state.criteria.is_empty() => "allow",
        _ if all_met(state) && wants => "complete attested",
        _ => "continue",
    }
}

fn said(decision: &Decision) -> String {
    match &decision.verdict {
        Verdict::Allow(_) => "allow".into(),
        Verdict::Continue { .. } => "continue".into(),
        Verdict::Complete { outcome, .. } => format!("complete {outcome}"),
        Verdict::Escalate { outcome, .. } => format!("escalate {outcome}"),
    }
}

#[track_caller]
fn check_all(order: Order, expected: fn(&State, &Seen) -> &'static str) {
    let mut judged = 0;
    for state in every_state(order) {
        for seen in every_sight() {
            let decision = decide(&state, &seen, NOON);
            assert_eq!(said(&decision), expected(&state, &seen), "{state:?} {seen:?}");
            judged += 1;
        }
    }
    assert_eq!(judged, 6 * 13 * 5 * 4 * 3);
}

#[test]
fn feature_files_are_judged_as_documented() {
    check_all(Order::Features, features);
}

#[test]
fn criteria_files_are_judged_as_documented() {
    check_all(Order::Criteria, criteria);
}

#[test]
fn a_file_that_says_so_is_never_done() {
    for order in [Order::Features, Order::Criteria] {
        for state in every_state(order) {
            let decision = decide(&state, &Seen::default(), NOON);
            assert!(!said(&decision).ends_with("done"), "{state:?}");
        }
    }
}

#[test]
fn a_breaker_without_a_limit_never_opens() {
    let stuck = |max_repeat, repeat| {
        let policy = Policy { order: Order::Criteria, max_repeat, ..Policy::default() };
        let criteria = vec![criterion("a", Proof::Attest)];
        let start = started(policy, frame(Mode::Loop, 0, 20, "work"), criteria);
        let mut state = apply(None, &start, NOON).expect("a loop");
        state.tally.repeat = repeat;
        super::stuck(&state).is_some()
    };
    assert!(!stuck(0, 0) && !stuck(0, 9), "0 means no limit");
    assert!(!stuck(3, 2) && stuck(3, 3) && stuck(3, 4));
}
