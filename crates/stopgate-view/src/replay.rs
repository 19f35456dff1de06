//! Every recorded stop, decided again.

use serde::Serialize;
use stopgate_core::{
    Event, Order, Outcome, Rule, Ruling, RulingWord, Seen, State, Stopped, Timestamp, Verified,
    Vouch, apply, conclude, decide, verified,
};

use crate::recall::{UNNAMED, recall, with_objection};

/// One event of a loop and when it happened.
pub type Happened = (Event, Timestamp);

/// What came of deciding one recorded stop again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReplayedStop {
    /// Its number within the loop, from 1.
    pub stop: usize,
    /// When it happened.
    #[serde(skip)]
    pub at: Timestamp,
    /// The rule that answered then.
    pub rule: &'static str,
    /// What was answered then.
    pub verdict: RulingWord,
    /// What came of it now.
    #[serde(flatten)]
    pub result: ReplayResult,
}

/// Whether a stop is decided as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum ReplayResult {
    /// The same verdict, rule and text.
    Same,
    /// Something differs.
    Differs {
        /// What: `rule`, `verdict`, `why` or `text`.
        what: &'static str,
        /// What the journal has.
        recorded: String,
        /// What is decided now.
        now: String,
    },
    /// The journal does not have what the decision rested on.
    NotKnown {
        /// What is missing.
        why: &'static str,
    },
}

/// Why the stops of another tool's loop can't be decided again.
pub(crate) const IN_A_FILE: &str = "the loop is kept in another tool's file";

/// Decides every stop in `events` again.
pub fn replay(events: &[Happened]) -> Vec<ReplayedStop> {
    let mut state: Option<State> = None;
    let mut replayed = Vec::new();
    for (event, at) in events {
        if let (Some(before), Event::Stopped(stopped)) = (&state, event) {
            let result = match again(before, stopped, *at) {
                Ok(_) => ReplayResult::Same,
                Err(result) => result,
            };
            replayed.push(ReplayedStop {
                stop: replayed.len() + 1,
                at: *at,
                rule: stopped.rule.word(),
                verdict: stopped.ruling.word(),
                result,
            });
        }
        state = apply(state, event, *at);
    }
    replayed
}

/// What was seen where the journal has a stop.
pub(crate) enum Recalled {
    /// An agent stopped, and this was seen.
    Stop(Box<Seen>),
    /// Nobody stopped: a person's word ended the loop by command.
    Word,
}

/// What was seen at a recorded stop, if seeing that leads to the recorded answer.
pub(crate) fn again(
    before: &State,
    stopped: &Stopped,
    at: Timestamp,
) -> Result<Recalled, ReplayResult> {
    if before.policy.order != Order::Native {
        return Err(ReplayResult::NotKnown { why: IN_A_FILE });
    }
    let mut seen = recall(before, stopped);
    let mut differs = None;
    for (soundness, file) in UNNAMED {
        (seen.soundness, seen.file) = (soundness, file);
        let decided = decided(before, &seen, at);
        match difference(stopped, decided.as_ref()) {
            None => return Ok(Recalled::Stop(Box::new(seen))),
            Some(found) => differs = differs.or(Some(found)),
        }
        if !hangs_on_unnamed(stopped) {
            break;
        }
        let concluded = conclude(before, &seen).and_then(|decision| of_stop(decision.events));
        if concluded.is_some() && difference(stopped, concluded.as_ref()).is_none() {
            return Ok(Recalled::Word);
        }
    }
    if is_persons_word(before, stopped) {
        return Ok(Recalled::Word);
    }
    Err(differs.unwrap_or(ReplayResult::Same))
}

/// The stop as it would be recorded now; `None` where the loop is over.
pub(crate) fn decided(before: &State, seen: &Seen, at: Timestamp) -> Option<Stopped> {
    let mut stopped = of_stop(decide(before, seen, at).events)?;
    if let (Ruling::Continue, Some(why)) = (stopped.ruling, &seen.objection) {
        stopped.text = with_objection(&stopped.text, why);
    }
    Some(stopped)
}

fn of_stop(events: Vec<Event>) -> Option<Stopped> {
    events.into_iter().find_map(|event| match event {
        Event::Stopped(stopped) => Some(*stopped),
        _other => None,
    })
}

/// Whether the answer may hang on what the journal does not name.
const fn hangs_on_unnamed(stopped: &Stopped) -> bool {
    matches!(stopped.rule, Rule::Proof | Rule::Tampered)
}

/// Whether a person's word ended a loop that had ended as attested: nobody stopped there.
fn is_persons_word(before: &State, stopped: &Stopped) -> bool {
    before.origin.vouched == Some(Vouch::Approved)
        && stopped.rule == Rule::Proof
        && stopped.ruling == Ruling::Complete(Outcome::Done)
        && stopped.tally == before.tally
        && verified(&before.criteria, &stopped.receipts) == Verified::Pass
}

fn difference(recorded: &Stopped, now: Option<&Stopped>) -> Option<ReplayResult> {
    let differs = |what, recorded: &str, now: &str| {
        Some(ReplayResult::Differs { what, recorded: recorded.into(), now: now.into() })
    };
    let Some(now) = now else {
        return differs("rule", recorded.rule.word(), Rule::Ended.word());
    };
    if now.rule != recorded.rule {
        return differs("rule", recorded.rule.word(), now.rule.word());
    }
    if (now.ruling, now.popped) != (recorded.ruling, recorded.popped) {
        let words = |stopped: &Stopped| format!("{:?}, {} popped", stopped.ruling, stopped.popped);
        return differs("verdict", &words(recorded), &words(now));
    }
    // How a person lifts a client's limit is the client's own word, and is not recorded.
    let same_why = match now.rule {
        Rule::Cap => recorded.why.starts_with(&now.why),
        _ => recorded.why == now.why,
    };
    if !same_why {
        return differs("why", &recorded.why, &now.why);
    }
    if now.text != recorded.text {
        return differs("text", &recorded.text, &now.text);
    }
    None
}

#[cfg(test)]
pub(crate) mod tests;
