//! The limits that let an agent go, whatever it wishes.

use alloc::format;
use alloc::string::{String, ToString};

use crate::outcome::Outcome;
use crate::receipt::Status;
use crate::seen::{CapScope, ClientCap, Seen};
use crate::soundness::Soundness;
use crate::state::{Phase, State, Waiting};
use crate::tally::Tally;
use crate::time::Timestamp;

const FORGED: &str = "its record was changed outside of stopgate";

/// A brake that holds: how the loop ends, and why.
pub(crate) type Brake = Option<(Outcome, String)>;

pub(crate) fn corrupt(state: &State) -> Brake {
    (!state.is_sound()).then(|| (Outcome::Aborted, "the loop's record is not sound".to_string()))
}

pub(crate) fn stale(state: &State, now: Timestamp) -> Brake {
    let age_ms = now.since(state.updated_at);
    if age_ms <= state.policy.stale_after_ms {
        return None;
    }
    // A wait has a deadline of its own.
    if state.parking().is_some() {
        return None;
    }
    if let Phase::Waiting { on: Waiting::Answer(question), .. } = &state.phase {
        return Some((Outcome::NeedsInput, format!("nobody answered: {question}")));
    }
    if let Phase::Waiting { on: Waiting::Approval, .. } = &state.phase {
        return Some((Outcome::NeedsApproval, "nobody approved it".to_string()));
    }
    let minutes = age_ms / 60_000;
    Some((Outcome::Stale, format!("it was not touched for {minutes} minutes")))
}

/// The agent is told once to put it right; if it stays as it is, a person is needed.
pub(crate) fn tampered(seen: &Seen, tally: &Tally) -> Brake {
    if seen.soundness == Soundness::Forged {
        return Some((Outcome::Tampered, FORGED.to_string()));
    }
    if tally.tampered < 2 {
        return None;
    }
    let changed = seen.receipts.iter().find(|r| r.status == Status::Tampered)?;
    let trouble = changed.trouble.as_deref().unwrap_or("what it judges by was changed");
    let why =
        format!("check \"{}\": {trouble}; it was not put right when asked", changed.criterion);
    Some((Outcome::Tampered, why))
}

pub(crate) fn infra(seen: &Seen, tally: &Tally) -> Brake {
    if tally.errors < 2 {
        return None;
    }
    let broken = seen.receipts.iter().find(|r| r.status == Status::Error)?;
    let trouble = broken.trouble.as_deref().unwrap_or("it could not be run");
    Some((
        Outcome::InfraError,
        format!("check \"{}\": {trouble}, twice in a row", broken.criterion),
    ))
}

pub(crate) fn iterations(state: &State) -> Brake {
    let outermost = state.frames.first()?;
    (outermost.iteration >= outermost.max)
        .then(|| (Outcome::MaxIterations, format!("{} iterations were used", outermost.max)))
}

pub(crate) fn time(state: &State, now: Timestamp) -> Brake {
    let minutes = state.policy.max_minutes;
    let spent = minutes > 0 && state.used_ms(now) >= i64::from(minutes) * 60_000;
    spent.then(|| (Outcome::Budget, format!("{minutes} minutes were used")))
}

pub(crate) fn idle(state: &State, tally: &Tally) -> Brake {
    let max = state.policy.max_idle;
    (max > 0 && tally.idle >= max).then(|| {
        (Outcome::Stalled, format!("{max} continuations in a row led to no tool use and no change"))
    })
}

pub(crate) fn repeat(state: &State, tally: &Tally) -> Brake {
    let max = state.policy.max_repeat;
    (max > 0 && tally.repeat >= max).then(|| {
        (
            Outcome::Stalled,
            format!(
                "the same checks failed in the same way {} times",
                tally.repeat.saturating_add(1)
            ),
        )
    })
}

pub(crate) fn oscillation(state: &State, tally: &Tally) -> Brake {
    let rounds = state.policy.max_rounds;
    tally.oscillates(rounds).then(|| {
        (Outcome::Oscillating, format!("two sets of failures took turns for {rounds} rounds"))
    })
}

pub(crate) fn cap(seen: &Seen, tally: &Tally) -> Brake {
    let cap = seen.cap?;
    let ClientCap { refusals, scope, lift } = cap;
    (tally.refusals >= refusals).then(|| {
        let plural = if refusals == 1 { "" } else { "s" };
        let within = match scope {
            CapScope::SinceTool => " without a tool call",
            CapScope::Turn => "",
        };
        let joint = if lift.is_empty() { "" } else { "; " };
        let why =
            format!("the client ends a turn after {refusals} refusal{plural}{within}{joint}{lift}");
        (Outcome::Capped, why)
    })
}

#[cfg(test)]
mod tests;
