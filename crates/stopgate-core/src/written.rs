//! What another tool's file says about itself, as rules.
//!
//! A file's "met" is somebody's word: it ends a loop as attested, never as done.

use alloc::format;
use alloc::string::ToString;

use crate::criterion::Criterion;
use crate::decide::{RuleAnswer, claims};
use crate::event::Leave;
use crate::outcome::Outcome;
use crate::receipt::Status;
use crate::seen::Seen;
use crate::state::{Phase, State};

/// A list without an entry proves nothing, and nothing can be asked for.
pub(crate) fn empty(state: &State) -> Option<RuleAnswer> {
    state.criteria.is_empty().then_some(RuleAnswer::Allow(Leave::Empty, "nothing is to be proven"))
}

/// The file's own breaker, as it stood before this stop.
pub(crate) fn stuck(state: &State) -> Option<RuleAnswer> {
    let (count, max) = (state.tally.repeat, state.policy.max_repeat);
    let why = || format!("the circuit breaker is open: stuck {count} times on the same criterion");
    (max > 0 && count >= max).then(|| RuleAnswer::Escalate(Outcome::Stalled, why()))
}

/// All of the file's criteria are written down as met, and the agent means to finish.
pub(crate) fn written(state: &State, seen: &Seen) -> Option<RuleAnswer> {
    let wants = state.phase == Phase::Completing || claims(state, seen);
    let met = !state.criteria.is_empty() && state.criteria.iter().all(is_met);
    let why = "the file says that all of it is met; no check proved it";
    (wants && met).then(|| RuleAnswer::Complete(Outcome::Attested, why.to_string()))
}

/// Whether the file says that a criterion holds.
fn is_met(criterion: &Criterion) -> bool {
    criterion.last.as_ref().is_some_and(|last| last.status == Status::Pass)
}

#[cfg(test)]
mod tests;
