use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use crate::scene::{NOON, frame, started};
use crate::{
    Decision, Frame, Leave, Marker, Mode, Order, Outcome, Phase, Policy, Rule, Seen, State,
    Verdict, apply, decide, idle_signal,
};

const ORDERS: [Order; 2] = [Order::Idle, Order::RalphLoop];
const MODES: [Mode; 3] = [Mode::Loop, Mode::Issue, Mode::Grind];
const COUNTS: [(u32, u32); 4] = [(0, 3), (3, 3), (4, 3), (0, 0)];
const AGES_MS: [i64; 3] = [0, 7_200_000, 7_200_001];
const MARKERS: [Option<Marker>; 7] = [
    None,
    Some(Marker::LoopDoneComplete),
    Some(Marker::LoopDoneStuck),
    Some(Marker::LoopDoneMaxIterations),
    Some(Marker::IssueComplete),
    Some(Marker::GrindDoneNoMoreIssues),
    Some(Marker::PromiseComplete),
];

/// Every state that the two formats can be in, and every stop.
fn every_case(mut each: impl FnMut(&State, &Seen)) -> usize {
    let mut cases = 0;
    for state in every_state() {
        for seen in every_sight() {
            each(&state, &seen);
            cases += 1;
        }
    }
    cases
}

fn every_state() -> Vec<State> {
    let mut states = Vec::new();
    for frames in every_stack() {
        for (order, age_ms) in ORDERS.iter().flat_map(|order| AGES_MS.map(|age| (*order, age))) {
            let ends = [None, Some(Outcome::Aborted), Some(Outcome::Attested)];
            states.extend(ends.map(|ended| state(order, &frames, age_ms, ended)));
        }
    }
    states
}

fn every_sight() -> Vec<Seen> {
    let sight = |marker: Option<Marker>, background: &[&str]| Seen {
        markers: marker.into_iter().collect(),
        background: background.iter().map(ToString::to_string).collect(),
        ..Seen::default()
    };
    MARKERS.iter().flat_map(|marker| [sight(*marker, &[]), sight(*marker, &["b1"])]).collect()
}

fn every_stack() -> Vec<Vec<Frame>> {
    let mut stacks = vec![Vec::new(), vec![frame(Mode::Loop, 0, 3, "x"); 17]];
    for mode in MODES {
        for (iteration, max) in COUNTS {
            let top = frame(mode, iteration, max, "top");
            stacks.push(vec![top.clone()]);
            stacks.push(vec![frame(Mode::Grind, 3, 3, "base"), top]);
        }
    }
    stacks
}

fn state(order: Order, frames: &[Frame], age_ms: i64, ended: Option<Outcome>) -> State {
    let policy = Policy { order, stale_after_ms: 7_200_000, ..Policy::default() };
    let start = started(policy, frame(Mode::Loop, 0, 3, "base"), Vec::new());
    let mut state = apply(None, &start, NOON).expect("a start begins a state");
    state.frames = frames.to_vec();
    state.updated_at = NOON.plus(-age_ms);
    if let Some(outcome) = ended {
        state.phase = Phase::Ended { outcome, why: "over".into(), at: NOON };
    }
    state
}

fn after(state: &State, decision: &Decision) -> State {
    let step = |state: State, event| apply(Some(state), event, NOON);
    decision.events.iter().try_fold(state.clone(), step).expect("a state stays one")
}

fn blocks(decision: &Decision) -> bool {
    matches!(decision.verdict, Verdict::Continue { .. })
}

#[test]
fn only_a_loop_that_iterates_is_sent_back() {
    let cases = every_case(|state, seen| {
        let decision = decide(state, seen, NOON);
        let top = state.top().cloned();
        let sound = (1..=16).contains(&state.frames.len());
        let stale = NOON.since(state.updated_at) > 7_200_000;
        let idle = state.policy.order == Order::Idle;
        if blocks(&decision) {
            assert!(sound && state.outcome().is_none(), "{state:?}");
            assert!(!(idle && stale), "a stale loop is never continued: {state:?}");
            let top = top.expect("a sound loop has a frame");
            assert!(!idle || top.iteration < top.max, "the limit holds: {state:?}");
            assert!(!idle || idle_signal(top.mode, &seen.markers).is_none(), "{state:?}");
            assert!(seen.background.is_empty(), "{state:?}");
        } else if sound && state.outcome().is_none() && seen.markers.is_empty() {
            let spent = state.frames.iter().any(|frame| frame.iteration >= frame.max);
            let excuse = spent || (idle && stale) || !seen.background.is_empty();
            assert!(excuse, "nothing else lets it go: {state:?}");
        }
    });
    assert_eq!(cases, 2 * 26 * 3 * 7 * 3 * 2);
}

#[test]
fn nothing_is_ever_done_without_proof() {
    every_case(|state, seen| {
        let decision = decide(state, seen, NOON);
        if let Verdict::Complete { outcome, .. } = decision.verdict {
            assert_eq!(outcome, Outcome::Attested);
        }
        assert!(after(state, &decision).outcome() != Some(Outcome::Done));
    });
}

#[test]
fn one_stop_moves_one_frame_and_spares_the_others() {
    every_case(|state, seen| {
        let decision = decide(state, seen, NOON);
        let after = after(state, &decision);
        let below = state.frames.len().saturating_sub(1);
        match decision.verdict {
            Verdict::Continue { .. } => {
                assert_eq!(after.frames[..below], state.frames[..below]);
                assert_eq!(after.frames[below].iteration, state.frames[below].iteration + 1);
            }
            Verdict::Allow(Leave::Popped) => {
                assert!(below > 0, "the last frame goes only with its loop");
                assert_eq!(after.frames, state.frames[..below]);
                assert_eq!(after.outcome(), None);
            }
            Verdict::Allow(_) | Verdict::Complete { .. } | Verdict::Escalate { .. } => {
                assert_eq!(after.frames, state.frames);
            }
        }
    });
}

#[test]
fn the_limit_answers_before_the_word() {
    every_case(|state, seen| {
        let decision = decide(state, seen, NOON);
        let spent = state.top().is_some_and(|top| top.iteration >= top.max);
        assert!(!(spent && decision.rule == Rule::Said), "{state:?}");
    });
}
