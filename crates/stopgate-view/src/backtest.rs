//! What another policy would have done to a loop that already ran.
//!
//! The recorded stops are decided once more under the changed limits, in step with the record, as
//! long as both agree. The first stop at which they part is the answer: from there on nobody
//! knows what the agent would have done, so nothing is said about it.

use serde::Serialize;
use stopgate_core::{Event, Outcome, Ruling, Seen, State, Stopped, Timestamp, ToolUse, apply, due};

use crate::recall::is_counted;
use crate::replay::{Happened, IN_A_FILE, Recalled, ReplayResult, again, decided};

/// Limits to try; `None` keeps what the loop had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PolicyChange {
    /// How often the agent may be sent back.
    pub max_iterations: Option<u32>,
    /// Minutes of work allowed; 0 means no limit.
    pub max_minutes: Option<u32>,
    /// Idle continuations in a row allowed; 0 means no limit.
    pub max_idle: Option<u32>,
    /// Continuations with the same failures in a row allowed; 0 means no limit.
    pub max_repeat: Option<u32>,
    /// Tokens allowed; 0 means no limit.
    pub max_tokens: Option<u64>,
    /// Money allowed, in millionths of a dollar; 0 means no limit.
    pub max_cost_micros: Option<u64>,
    /// How long a loop may stay untouched.
    pub stale_after_ms: Option<i64>,
}

/// What a changed policy would have done to one loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum Counterfactual {
    /// The same answers at every stop.
    Same {
        /// How the loop ended; `None` while it runs.
        outcome: Option<Outcome>,
        /// The outcome it would have had instead, at the same stop.
        #[serde(skip_serializing_if = "Option::is_none")]
        otherwise: Option<Outcome>,
    },
    /// It would have ended at an earlier stop.
    EndsEarlier {
        /// The stop, from 1.
        stop: usize,
        /// How.
        outcome: Outcome,
        /// Continuations that would not have happened.
        iterations_saved: u32,
        /// Milliseconds of work that would not have been done.
        ms_saved: i64,
        /// Whether the loop was proven later, which would have been lost.
        loses_proof: bool,
    },
    /// It would not have ended where it did; what comes then is unknown.
    GoesOn {
        /// The stop at which it would have gone on, from 1.
        stop: usize,
        /// How it ended there.
        instead_of: Outcome,
    },
    /// The journal does not have what the answer rests on.
    NotKnown {
        /// The stop from which on it is not known, from 1; `None` for the whole loop.
        stop: Option<usize>,
        /// What is missing.
        why: &'static str,
    },
}

const NO_START: &str = "the journal does not have its beginning";
const NO_REPLAY: &str = "the recorded stop can't be decided again";
const NO_CHECKS: &str = "its checks did not run at that stop";
const NO_USE: &str = "what the agent used was not counted at each stop";
const NO_MESSAGE: &str = "whether the agent was idle at that stop is not in the journal";

/// Tries `change` on the loop that `events` tell.
pub fn back_test(events: &[Happened], change: &PolicyChange) -> Counterfactual {
    let Some(((Event::Started(started), at), later)) = events.split_first() else {
        return Counterfactual::NotKnown { stop: None, why: NO_START };
    };
    let begun = apply(None, &Event::Started(started.clone()), *at);
    let Some(recorded) = begun else {
        return Counterfactual::NotKnown { stop: None, why: NO_START };
    };
    if !recorded.policy.order.is_native() {
        return Counterfactual::NotKnown { stop: None, why: IN_A_FILE };
    }
    let limits_spend = |limit: Option<u64>| limit.is_some_and(|limit| limit > 0);
    if (limits_spend(change.max_tokens) || limits_spend(change.max_cost_micros))
        && !recorded.policy.counts_spend()
    {
        return Counterfactual::NotKnown { stop: None, why: NO_USE };
    }
    let tried = changed(&recorded, change);
    let mut trial = Trial { events, recorded, tried, stop: 0 };
    for (event, at) in later {
        if let Some(found) = trial.step(event, *at) {
            return found;
        }
    }
    Counterfactual::Same { outcome: trial.recorded.outcome(), otherwise: None }
}

fn changed(state: &State, change: &PolicyChange) -> State {
    let mut state = state.clone();
    let policy = &mut state.policy;
    policy.max_minutes = change.max_minutes.unwrap_or(policy.max_minutes);
    policy.max_idle = change.max_idle.unwrap_or(policy.max_idle);
    policy.max_repeat = change.max_repeat.unwrap_or(policy.max_repeat);
    policy.max_tokens = change.max_tokens.unwrap_or(policy.max_tokens);
    policy.max_cost_micros = change.max_cost_micros.unwrap_or(policy.max_cost_micros);
    policy.stale_after_ms = change.stale_after_ms.unwrap_or(policy.stale_after_ms);
    if let (Some(max), Some(frame)) = (change.max_iterations, state.frames.first_mut()) {
        frame.max = max;
    }
    state
}

/// The record and the trial, in step.
struct Trial<'a> {
    events: &'a [Happened],
    recorded: State,
    tried: State,
    stop: usize,
}

impl Trial<'_> {
    /// Takes one more event; the answer, where record and trial part at it.
    fn step(&mut self, event: &Event, at: Timestamp) -> Option<Counterfactual> {
        let tried = match event {
            Event::Stopped(stopped) => {
                self.stop += 1;
                match self.compare(stopped, at) {
                    Ok(stopped) => Event::Stopped(Box::new(stopped)),
                    Err(found) => return Some(found),
                }
            }
            _other => event.clone(),
        };
        self.recorded = next(&self.recorded, event, at);
        self.tried = next(&self.tried, &tried, at);
        None
    }

    /// The stop as the trial records it, where both answer alike.
    fn compare(&self, stopped: &Stopped, at: Timestamp) -> Result<Stopped, Counterfactual> {
        let unknown = |why| Counterfactual::NotKnown { stop: Some(self.stop), why };
        let recalled = again(&self.recorded, stopped, at).map_err(|result| match result {
            ReplayResult::NotKnown { why } => unknown(why),
            ReplayResult::Same | ReplayResult::Differs { .. } => unknown(NO_REPLAY),
        })?;
        if self.hangs_on_message(stopped) {
            return Err(unknown(NO_MESSAGE));
        }
        // A person's word by command is nobody's stop: it stays what it was.
        let Recalled::Stop(seen) = recalled else { return Ok(stopped.clone()) };
        let Some(now) = decided(&self.tried, &seen, at) else { return Ok(stopped.clone()) };
        if same_kind(now.ruling, stopped.ruling) {
            return Ok(now);
        }
        match (ending(stopped.ruling), ending(now.ruling)) {
            _unchecked if self.lacks_checks(&seen, at) => Err(unknown(NO_CHECKS)),
            (Some(was), Some(outcome)) if !is_success(was) => {
                Err(Counterfactual::Same { outcome: Some(was), otherwise: Some(outcome) })
            }
            (_, Some(outcome)) => Err(self.ends_earlier(outcome, at)),
            (Some(instead_of), None) => Err(Counterfactual::GoesOn { stop: self.stop, instead_of }),
            (None, None) => Err(unknown(NO_REPLAY)),
        }
    }

    /// Whether the trial would ask for checks that the record did not run.
    fn lacks_checks(&self, seen: &Seen, at: Timestamp) -> bool {
        let wanted = due(&self.tried, seen, at);
        wanted.iter().any(|criterion| seen.receipt(&criterion.name).is_none())
    }

    /// An agent that asks is passed over, so its last message is not in the tally; earlier versions
    /// noted it nowhere.
    fn hangs_on_message(&self, stopped: &Stopped) -> bool {
        let heard = stopped.rule == stopgate_core::Rule::Signals && !is_counted(stopped.ruling);
        heard
            && stopped.facts.tools == ToolUse::Unknown
            && stopped.facts.message.is_none()
            && self.tried.policy.max_idle != self.recorded.policy.max_idle
    }

    fn ends_earlier(&self, outcome: Outcome, at: Timestamp) -> Counterfactual {
        let rulings = self.events.iter().filter_map(|(event, _)| match event {
            Event::Stopped(stopped) => Some(stopped.ruling),
            _other => None,
        });
        let (mut continued, mut proven) = (0_u32, false);
        for ruling in rulings.skip(self.stop.saturating_sub(1)) {
            continued += u32::from(ruling == Ruling::Continue);
            proven |= ruling == Ruling::Complete(Outcome::Done);
        }
        let saved = self.used_in_all().saturating_sub(self.tried.used_ms(at));
        Counterfactual::EndsEarlier {
            stop: self.stop,
            outcome,
            iterations_saved: continued,
            ms_saved: saved.max(0),
            loses_proof: proven,
        }
    }

    /// Milliseconds of work in the whole record.
    fn used_in_all(&self) -> i64 {
        let state = stopgate_core::fold(self.events.iter().map(|(event, at)| (event, *at)));
        let last = self.events.last().map(|(_, at)| *at);
        state.zip(last).map_or(0, |(state, last)| state.used_ms(last))
    }
}

fn next(state: &State, event: &Event, at: Timestamp) -> State {
    apply(Some(state.clone()), event, at).unwrap_or_else(|| state.clone())
}

/// Whether two answers lead to the same, however they are worded.
fn same_kind(now: Ruling, then: Ruling) -> bool {
    match (now, then) {
        (Ruling::Allow(now), Ruling::Allow(then)) => now == then,
        (Ruling::Continue, Ruling::Continue) => true,
        (Ruling::Complete(now), Ruling::Complete(then))
        | (Ruling::Escalate(now), Ruling::Escalate(then)) => now == then,
        _different => false,
    }
}

const fn ending(ruling: Ruling) -> Option<Outcome> {
    match ruling {
        Ruling::Complete(outcome) | Ruling::Escalate(outcome) => Some(outcome),
        Ruling::Allow(_) | Ruling::Continue => None,
    }
}

const fn is_success(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Done | Outcome::Attested)
}

#[cfg(test)]
mod tests;
