//! Something happens to a loop: found, changed and stored, as often as others get in between.

use stopgate_core::{Event, LoopId, Outcome, State};
use stopgate_dialects::Dialect;
use stopgate_store::Stored;

use super::{Change, Context, LoopTarget};
use crate::checking::end_checks;
use crate::failure::Failure;

/// What becomes of a loop that holds the session when another is to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incumbent {
    /// It stays, and the new one is refused.
    Keep,
    /// It is cancelled.
    Replace,
}

impl Context {
    /// Ends a loop by command, whatever it is doing.
    pub(crate) fn end(
        &mut self,
        id: &LoopId,
        outcome: Outcome,
        why: &str,
    ) -> Result<Stored, Failure> {
        let ended =
            self.update(&mut |context| Ok(context.journal.load(id)?), &mut |state, _| {
                Ok(match state.outcome() {
                    Some(_) => Vec::new(),
                    None => vec![Event::Ended { outcome, why: why.into() }],
                })
            })?;
        end_checks(&self.home, id);
        ended.ok_or_else(|| gone(id))
    }

    /// Something happens to a loop, whatever it is doing.
    pub(crate) fn on_loop(
        &mut self,
        target: &LoopTarget,
        happened: Change<'_>,
    ) -> Result<Stored, Failure> {
        let id = self.resolve(target)?.state.id;
        let changed = self.update(&mut |context| Ok(context.journal.load(&id)?), happened)?;
        changed.ok_or_else(|| gone(&id))
    }

    /// Something happens to a loop that must still be running.
    pub(crate) fn on_running(
        &mut self,
        target: &LoopTarget,
        happened: &mut dyn FnMut(&State) -> Result<Vec<Event>, Failure>,
    ) -> Result<Stored, Failure> {
        let found = self.resolve(target)?;
        refuse_trail(&found.state)?;
        let id = found.state.id;
        let changed =
            self.update(&mut |context| Ok(context.journal.load(&id)?), &mut |state, _| {
                if let Some(outcome) = state.outcome() {
                    return Err(over(state, outcome));
                }
                happened(state)
            })?;
        changed.ok_or_else(|| gone(&id))
    }
}

/// An audit trail only tells what another tool's file says: that is where it is acted upon.
pub(crate) fn refuse_trail(state: &State) -> Result<(), Failure> {
    let Some(dialect) = Dialect::of(state.policy.order) else {
        return Ok(());
    };
    let what = format!("loop {} is only the audit trail of a loop in a file", state.id);
    Err(Failure::usage(what)
        .hint(format!("act on the file's loop: stopgate status|cancel --dialect {dialect}")))
}

fn over(state: &State, outcome: Outcome) -> Failure {
    let failure = Failure::usage(format!("loop {} is over: {outcome}", state.id));
    if outcome.can_resume() {
        failure.hint(format!("bring it back with: stopgate resume {}", state.id))
    } else {
        failure.hint("begin a new one with: stopgate start")
    }
}

/// A loop that was there before.
pub(crate) fn gone(id: &LoopId) -> Failure {
    Failure::no_loop(format!("loop {id} is gone"))
}
