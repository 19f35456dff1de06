//! What [`decide`](super::decide) would do, asked before it is: nothing is put into words.

use alloc::vec::Vec;

use super::{RuleAnswer, answer, ask, asks_for_proof};
use crate::criterion::Criterion;
use crate::policy::Rule;
use crate::seen::Seen;
use crate::state::State;
use crate::time::Timestamp;

/// The checks that must run before [`decide`](super::decide()) is asked; none where it won't look at them.
pub fn due<'a>(state: &'a State, seen: &Seen, now: Timestamp) -> Vec<&'a Criterion> {
    let tally = state.tally.after(state, seen);
    let before_proof = state.policy.order.rules().iter().take_while(|rule| **rule != Rule::Proof);
    let settled =
        before_proof.into_iter().any(|rule| ask(*rule, state, seen, &tally, now).is_some());
    if settled || !asks_for_proof(state) {
        return Vec::new();
    }
    state.criteria.iter().filter(|criterion| criterion.is_checked()).collect()
}

/// Whether [`decide`](super::decide()) would hear the loop's gates; asked once the checks that are due have run.
pub fn asks_gates(state: &State, seen: &Seen, now: Timestamp) -> bool {
    if state.gates.is_empty() {
        return false;
    }
    let tally = state.tally.after(state, seen);
    let mut earlier = state.policy.order.rules().iter().take_while(|rule| **rule != Rule::Gates);
    earlier.all(|rule| ask(*rule, state, seen, &tally, now).is_none())
}

/// Whether [`decide`](super::decide()) would end the loop as it should.
pub fn completes(state: &State, seen: &Seen, now: Timestamp) -> bool {
    // What is proven in a worktree is not the end: the merge is.
    state.worktree.is_none() && proves(state, seen, now)
}

/// Whether [`decide`](super::decide()) would end the loop as it should, or have what was proven
/// in its worktree merged.
pub fn proves(state: &State, seen: &Seen, now: Timestamp) -> bool {
    let tally = state.tally.after(state, seen);
    matches!(answer(state, seen, &tally, now), (_, RuleAnswer::Complete(..)))
}
