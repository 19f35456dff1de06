//! Whether changed judges stand between the work and `done`.
//!
//! Everything passes as the judges are now, but those of the start do not accept the work, or
//! could not be asked. The agent is told once; then a person decides.

use crate::criterion::Criterion;
use crate::receipt::{OriginalVerdict, Receipt, Status};
use crate::seen::Seen;
use crate::state::State;

/// How the checks that a loop can't do without stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Checks {
    /// At least one does not pass.
    Unmet,
    /// All pass, but for judges that changed: the agent has not been told yet.
    Disputed,
    /// The same, and it is a person's turn.
    ForPerson,
    /// All pass.
    Passed,
}

/// What checks of criteria come to, all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verified {
    /// Every required check passes.
    Pass,
    /// At least one does not.
    Fail,
    /// Every one passes, but for judges that changed since the start.
    NeedsApproval,
    /// What was noted at the start was forged.
    Tampered,
    /// There is nothing that could be checked.
    Nothing,
}

/// What the checks of `criteria` come to.
pub fn verified(criteria: &[Criterion], receipts: &[Receipt]) -> Verified {
    let mut worst = Verified::Nothing;
    for criterion in criteria.iter().filter(|c| c.is_required() && c.is_checked()) {
        let mut own = receipts.iter().filter(|receipt| receipt.criterion == criterion.name);
        let one = own.clone().map(|receipt| of_status(receipt.status)).max_by_key(|v| rank(*v));
        let one = if own.next().is_none() { Verified::Fail } else { one.unwrap_or(Verified::Fail) };
        worst = if rank(one) > rank(worst) { one } else { worst };
    }
    worst
}

const fn of_status(status: Status) -> Verified {
    match status {
        Status::Pass => Verified::Pass,
        Status::NeedsApproval => Verified::NeedsApproval,
        Status::Tampered => Verified::Tampered,
        Status::Fail | Status::Error | Status::Timeout => Verified::Fail,
    }
}

const fn rank(verified: Verified) -> u8 {
    match verified {
        Verified::Nothing => 0,
        Verified::Pass => 1,
        Verified::NeedsApproval => 2,
        Verified::Fail => 3,
        Verified::Tampered => 4,
    }
}

/// How the required checks stand, as far as was seen.
pub(crate) fn checks(state: &State, seen: &Seen) -> Checks {
    let required = || state.criteria.iter().filter(|c| c.is_required() && c.is_checked());
    if required().all(|criterion| seen.passed(&criterion.name)) {
        return Checks::Passed;
    }
    if !required().all(|c| seen.passed(&c.name) || is_disputed(c, seen)) {
        return Checks::Unmet;
    }
    // A loop that can't be sent back any more waits for a person instead of failing.
    let spent = state.frames.first().is_some_and(|frame| frame.iteration >= frame.max);
    let mut disputed = required().filter(|c| !seen.passed(&c.name));
    if spent || disputed.all(|criterion| was_told(criterion, seen)) {
        Checks::ForPerson
    } else {
        Checks::Disputed
    }
}

/// Whether every check passes, and only what judged at the start does not confirm it.
pub(crate) fn is_only_disputed(state: &State, seen: &Seen) -> bool {
    matches!(checks(state, seen), Checks::Disputed | Checks::ForPerson)
}

fn is_disputed(criterion: &Criterion, seen: &Seen) -> bool {
    let mut named = seen.receipts.iter().filter(|receipt| receipt.criterion == criterion.name);
    seen.receipt(&criterion.name).is_some()
        && named.all(|receipt| matches!(receipt.status, Status::Pass | Status::NeedsApproval))
}

/// Whether the agent can do no more about it, or has left it as it is.
fn was_told(criterion: &Criterion, seen: &Seen) -> bool {
    let told_before =
        criterion.last.as_ref().is_some_and(|last| last.status == Status::NeedsApproval);
    told_before || seen.receipt(&criterion.name).is_some_and(is_undecided)
}

/// Whether nothing that the agent does can make the judges of the start speak.
fn is_undecided(receipt: &Receipt) -> bool {
    let original = receipt.evidence.original.as_ref();
    original.is_none_or(|run| run.verdict == OriginalVerdict::Undecided)
}
