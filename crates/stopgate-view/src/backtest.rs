//! What another policy would have done to a loop that already ran.
//!
//! The recorded stops are decided once more under the changed policy, in step with the record, as
//! long as both agree. The first stop at which they part is the answer: from there on nobody
//! knows what the agent would have done, so nothing is said about it. Nothing is run: a check or
//! a gate whose answer the journal does not have is not known.

mod change;

use serde::Serialize;
use stopgate_core::{
    Criterion, Event, FileTrust, Outcome, Ruling, Seen, State, Stopped, Timestamp, ToolUse,
    advance, apply, asks_gates, due,
};
use stopgate_gates::{RecordedStop, ask_recorded};

pub use self::change::PolicyChange;
use self::change::{is_same_check, results_for};
use crate::recall::is_counted;
use crate::replay::{Happened, IN_A_FILE, Recalled, ReplayResult, again, decided};

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
        /// Money that would not have been spent, in millionths of a dollar; `None` where it was
        /// not counted at each stop.
        #[serde(skip_serializing_if = "Option::is_none")]
        micros_saved: Option<u64>,
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
const NO_RESULT: &str = "a check of this policy has no recorded result";
const NO_TRUST: &str = "whether a person trusted the project's file then is not in the journal";
const PARTED: &str = "the agent would have got another answer there, and gone on";
const NO_MESSAGE: &str = "whether the agent was idle at that stop is not in the journal";

/// Tries `change` on the loop that `events` tell.
pub fn back_test(events: &[Happened], change: &PolicyChange) -> Counterfactual {
    let Some(((start, at), later)) = events.split_first() else {
        return Counterfactual::NotKnown { stop: None, why: NO_START };
    };
    let Some(recorded) = apply(None, start, *at) else {
        return Counterfactual::NotKnown { stop: None, why: NO_START };
    };
    if !recorded.policy.order.is_native() {
        return Counterfactual::NotKnown { stop: None, why: IN_A_FILE };
    }
    if change.limits_spend() && !recorded.policy.counts_spend() {
        return Counterfactual::NotKnown { stop: None, why: NO_USE };
    }
    let tried = change.applied_to(&recorded);
    let mut trial = Trial { events, recorded, tried, stop: 0 };
    for (event, at) in later {
        if let Some(found) = trial.step(event, *at) {
            return found;
        }
    }
    Counterfactual::Same { outcome: trial.recorded.outcome(), otherwise: None }
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
        let Event::Stopped(stopped) = event else {
            self.go_on(event, event, at);
            return None;
        };
        self.stop += 1;
        match self.compare(stopped, at) {
            Ok(tried) => self.go_on(event, &Event::Stopped(Box::new(tried)), at),
            Err(found) => return Some(found),
        }
        None
    }

    /// Both take what happened to them.
    fn go_on(&mut self, recorded: &Event, tried: &Event, at: Timestamp) {
        advance(&mut self.recorded, recorded, at);
        advance(&mut self.tried, tried, at);
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
        let seen = self.as_seen(*seen, stopped, at).map_err(unknown)?;
        let Some(now) = decided(&self.tried, &seen, at) else { return Ok(stopped.clone()) };
        if now.ruling == stopped.ruling {
            return Ok(now);
        }
        match (stopped.ruling.outcome(), now.ruling.outcome()) {
            _unchecked if self.lacks_checks(&seen, at) => Err(unknown(NO_CHECKS)),
            (None, Some(outcome)) if self.hangs_on_trust(&seen, at) && is_success(outcome) => {
                Err(unknown(NO_TRUST))
            }
            (Some(was), Some(outcome)) if !is_success(was) => {
                Err(Counterfactual::Same { outcome: Some(was), otherwise: Some(outcome) })
            }
            (_, Some(outcome)) => Err(self.ends_earlier(outcome, at)),
            (Some(instead_of), None) => Err(Counterfactual::GoesOn { stop: self.stop, instead_of }),
            (None, None) => Err(unknown(PARTED)),
        }
    }

    /// What the trial sees at a recorded stop; what is missing, where something is.
    fn as_seen(
        &self,
        mut seen: Seen,
        stopped: &Stopped,
        at: Timestamp,
    ) -> Result<Seen, &'static str> {
        seen.receipts = results_for(&self.tried, &self.recorded, &seen.receipts);
        if self.lacks_results(&seen, stopped, at) {
            return Err(NO_RESULT);
        }
        let same_gates = self.tried.gates == self.recorded.gates;
        if same_gates && seen.receipts == stopped.receipts && seen.gates.is_some() {
            return Ok(seen);
        }
        seen.gates = None;
        if asks_gates(&self.tried, &seen, at) {
            if self.lacks_checks(&seen, at) {
                return Err(NO_CHECKS);
            }
            let stop = RecordedStop {
                state: &self.tried,
                had: &self.recorded.gates,
                stopped,
                receipts: &seen.receipts,
            };
            seen.gates = Some(ask_recorded(&stop).map_err(stopgate_gates::ContextFact::what)?);
        }
        Ok(seen)
    }

    /// Whether the trial would ask for checks that the record never ran, or not on these terms.
    fn lacks_results(&self, seen: &Seen, stopped: &Stopped, at: Timestamp) -> bool {
        due(&self.tried, seen, at).into_iter().any(|tried| {
            let same = |known: &Criterion| known.name == tried.name && is_same_check(known, tried);
            let ran = stopped.receipts.iter().any(|receipt| receipt.criterion == tried.name);
            let known = self.recorded.criteria.iter().any(same);
            seen.receipt(&tried.name).is_none() && (ran || !known)
        })
    }

    /// Whether the end hangs on a person's trust, which the journal does not name.
    fn hangs_on_trust(&self, seen: &Seen, at: Timestamp) -> bool {
        let ruled = |file: FileTrust| {
            decided(&self.tried, &Seen { file, ..seen.clone() }, at).map(|stopped| stopped.ruling)
        };
        ruled(FileTrust::Trusted) != ruled(FileTrust::Untrusted)
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
        let (used_ms, nanos) = self.used_in_all();
        let saved = used_ms.saturating_sub(self.tried.used_ms(at));
        let counted = self.recorded.policy.counts_spend();
        Counterfactual::EndsEarlier {
            stop: self.stop,
            outcome,
            iterations_saved: continued,
            ms_saved: saved.max(0),
            micros_saved: counted.then(|| nanos.saturating_sub(spent(&self.recorded)) / 1000),
            loses_proof: proven && outcome != Outcome::Done,
        }
    }

    /// Milliseconds of work and billionths of a dollar in the whole record.
    fn used_in_all(&self) -> (i64, u64) {
        let state = stopgate_core::fold(self.events.iter().map(|(event, at)| (event, *at)));
        let last = self.events.last().map(|(_, at)| *at);
        state.zip(last).map_or((0, 0), |(state, last)| (state.used_ms(last), spent(&state)))
    }
}

fn spent(state: &State) -> u64 {
    state.spend.as_ref().map_or(0, |spend| spend.nanos())
}

const fn is_success(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Done | Outcome::Attested)
}

#[cfg(test)]
mod tests;
