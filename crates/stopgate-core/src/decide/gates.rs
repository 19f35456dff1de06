//! What a loop's gates may decide: to call for a person, and little else.

use alloc::format;

use super::{RuleAnswer, attested};
use crate::gate::GateAction;
use crate::outcome::Outcome;
use crate::seen::Seen;
use crate::state::State;

/// A gate may call for a person at any time; it may end a loop only where nothing could be
/// checked, and then as no more than a word.
pub(super) fn ask(state: &State, seen: &Seen) -> Option<RuleAnswer> {
    let said = seen.gates.as_ref()?;
    match said.action {
        GateAction::Escalate => Some(RuleAnswer::Escalate(
            Outcome::NeedsInput,
            format!("gate {}: {}", said.gate, said.reason),
        )),
        GateAction::Complete if state.frames.len() == 1 => match attested(state)? {
            RuleAnswer::Complete(outcome, _) => Some(RuleAnswer::Complete(
                outcome,
                format!("gate {}: {}; no check proved it", said.gate, said.reason),
            )),
            other => Some(other),
        },
        GateAction::Complete | GateAction::Continue => None,
    }
}

#[cfg(test)]
mod tests;
