//! The function that says whether an agent may stop.
//!
//! Total and pure: every state, sight and instant has an answer, and the same
//! three always give the same one. Brakes are asked before wishes, so no failing
//! check can hold an agent past its limits; only proof comes before them.

mod ahead;
mod gates;

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

pub use self::ahead::{asks_gates, completes, due, proves};
use crate::brakes::{self, Brake};
use crate::budget::reached_budget;
use crate::clean::{clean, clip};
use crate::criterion::{Criterion, Proof};
use crate::event::{Event, Facts, Leave, Ruling, Stopped};
use crate::idle;
use crate::judges::{self, Checks};
use crate::ledger;
use crate::marker::{Signal, signal};
use crate::outcome::Outcome;
use crate::parking::Parking;
use crate::policy::{GoalShape, Rule};
use crate::prompt;
use crate::receipt::{OriginalRun, OriginalVerdict};
use crate::seen::{Seen, SpokenExit};
use crate::state::{Phase, Rest, State, Waiting};
use crate::tally::Tally;
use crate::time::Timestamp;
use crate::word;
use crate::written;

/// The answer to "may I stop?".
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict {
    /// Yes, for now; the loop is not over because of it.
    Allow(Leave),
    /// No: work on, with this text.
    Continue {
        /// What the agent is told.
        text: String,
    },
    /// Yes: the loop ended as it should.
    Complete {
        /// How.
        outcome: Outcome,
        /// Why, in a sentence.
        why: String,
    },
    /// Yes: the loop ended and a person is needed.
    Escalate {
        /// How.
        outcome: Outcome,
        /// Why, in a sentence.
        why: String,
    },
}

/// A verdict, the rule that gave it, and what the journal must know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Decision {
    /// The answer.
    pub verdict: Verdict,
    /// The rule that answered.
    pub rule: Rule,
    /// What happened, for the journal; nothing once a loop has ended.
    pub events: Vec<Event>,
}

impl Decision {
    /// The same decision in the words of another tool's format; what was answered stays.
    pub fn saying(mut self, words: &str) -> Self {
        let Verdict::Continue { text } = &mut self.verdict else {
            return self;
        };
        *text = words.into();
        for event in &mut self.events {
            if let Event::Stopped(stopped) = event {
                stopped.text = words.into();
            }
        }
        self
    }
}

/// Says whether the agent behind `state` may stop, given what was `seen`.
pub fn decide(state: &State, seen: &Seen, now: Timestamp) -> Decision {
    let tally = state.tally.after(state, seen);
    let (rule, answer) = answer(state, seen, &tally, now);
    record(state, seen, tally, rule, answer)
}

/// The first rule that has something to say, and what it says.
fn answer(state: &State, seen: &Seen, tally: &Tally, now: Timestamp) -> (Rule, RuleAnswer) {
    let rules = state.policy.order.rules().iter();
    let answered =
        rules.into_iter().find_map(|rule| Some((*rule, ask(*rule, state, seen, tally, now)?)));
    answered.unwrap_or((Rule::Continue, RuleAnswer::Continue { popped: 0 }))
}

/// What happens to a loop that waited until its deadline in vain; nothing where it still may wait.
pub fn overdue(state: &State, now: Timestamp) -> Option<Event> {
    match parked(state.parking()?, now) {
        RuleAnswer::Escalate(outcome, why) => Some(Event::Ended { outcome, why }),
        RuleAnswer::Allow(..)
        | RuleAnswer::Pop(_)
        | RuleAnswer::Complete(..)
        | RuleAnswer::Continue { .. } => None,
    }
}

const CHANGED_JUDGES: &str =
    "the checks pass now, but what judged them at the start does not confirm it: a person decides";
const WAITED_IN_VAIN: &str = "what it waited for did not happen before its deadline";
const UNTRUSTED: &str = "nobody trusted the project's file, so its checks were not run";

/// What a person's word comes to, given what the checks produced just now; nothing where
/// something still stands in the way.
pub fn conclude(state: &State, seen: &Seen) -> Option<Decision> {
    let answer = match proof(state, seen)? {
        RuleAnswer::Complete(outcome, why) => RuleAnswer::Complete(outcome, why),
        RuleAnswer::Allow(..)
        | RuleAnswer::Pop(_)
        | RuleAnswer::Escalate(..)
        | RuleAnswer::Continue { .. } => return None,
    };
    Some(record(state, seen, state.tally.passed_over(seen), Rule::Proof, answer))
}

/// What a rule answers, before it is put into words.
pub(crate) enum RuleAnswer {
    Allow(Leave, &'static str),
    /// The frame on top goes, and the stop is allowed.
    Pop(String),
    Complete(Outcome, String),
    Escalate(Outcome, String),
    Continue {
        popped: u32,
    },
}

fn ask(
    rule: Rule,
    state: &State,
    seen: &Seen,
    tally: &Tally,
    now: Timestamp,
) -> Option<RuleAnswer> {
    let hold = |brake: Brake| brake.map(|(outcome, why)| RuleAnswer::Escalate(outcome, why));
    match rule {
        Rule::Ended => state.outcome().map(|_| RuleAnswer::Allow(Leave::Ended, "the loop is over")),
        Rule::Paused => paused(state),
        Rule::Waiting => waiting(state, now),
        Rule::Trust => seen.untrusted.then_some(RuleAnswer::Allow(Leave::Untrusted, UNTRUSTED)),
        Rule::Background => background(state, seen),
        Rule::Person => state
            .tally
            .person_spoke
            .then_some(RuleAnswer::Allow(Leave::Person, "a person spoke during the turn")),
        Rule::Proof => proof(state, seen),
        Rule::FrameLimit => frame_limit(state),
        Rule::Signals => signals(state, seen),
        Rule::Gates => gates::ask(state, seen),
        Rule::TopLimit => idle::top_limit(state),
        Rule::Said => idle::said(state, &seen.markers),
        Rule::Empty => written::empty(state),
        Rule::Stuck => written::stuck(state),
        Rule::Written => written::written(state, seen),
        Rule::Continue => Some(RuleAnswer::Continue { popped: 0 }),
        Rule::Corrupt => hold(brakes::corrupt(state)),
        Rule::Stale => hold(brakes::stale(state, now)),
        Rule::Tampered => hold(brakes::tampered(seen, tally)),
        Rule::Infra => hold(brakes::infra(seen, tally)),
        Rule::Iterations => hold(brakes::iterations(state)),
        Rule::Time => hold(brakes::time(state, now)),
        Rule::Budget => hold(reached_budget(state)),
        Rule::Idle => hold(brakes::idle(state, tally)),
        Rule::Repeat => hold(brakes::repeat(state, tally)),
        Rule::Oscillation => hold(brakes::oscillation(state, tally)),
        Rule::Cap => hold(brakes::cap(seen, tally)),
        Rule::Errors => hold(ledger::errors(&seen.ledger)),
        Rule::Spend => hold(ledger::spend(&seen.ledger)),
    }
}

fn paused(state: &State) -> Option<RuleAnswer> {
    let Phase::Paused { rest, .. } = state.phase else { return None };
    Some(match rest {
        Rest::NextPrompt | Rest::Resume => {
            RuleAnswer::Allow(Leave::Paused, "a person paused the loop")
        }
        Rest::NextSession => RuleAnswer::Allow(Leave::Paused, "another session should go on"),
    })
}

fn waiting(state: &State, now: Timestamp) -> Option<RuleAnswer> {
    match &state.phase {
        Phase::Waiting { on: Waiting::Answer(_), .. } => {
            Some(RuleAnswer::Allow(Leave::Waiting, "the agent waits for a person's answer"))
        }
        Phase::Waiting { on: Waiting::Condition(parking), .. } => Some(parked(parking, now)),
        Phase::Waiting { .. }
        | Phase::Active
        | Phase::Completing
        | Phase::Paused { .. }
        | Phase::Ended { .. } => None,
    }
}

/// A parked loop holds nobody; one that waited in vain needs a person.
fn parked(parking: &Parking, now: Timestamp) -> RuleAnswer {
    if parking.held_at.is_none() && now >= parking.deadline {
        return RuleAnswer::Escalate(Outcome::NeedsInput, WAITED_IN_VAIN.into());
    }
    let why = match parking.checks {
        Some(_) => "its checks go on in the background",
        None => "the loop is parked until something happens",
    };
    RuleAnswer::Allow(Leave::Waiting, why)
}

/// Work that started since the last stop will wake the agent; each task parks once,
/// so that a server left running does not disarm the loop.
fn background(state: &State, seen: &Seen) -> Option<RuleAnswer> {
    let fresh = seen.background.iter().any(|task| !state.tally.tasks.contains(task));
    fresh.then_some(RuleAnswer::Allow(Leave::Background, "background work will wake the agent"))
}

/// The criteria are the whole loop's: a nested frame is judged by them only when the
/// loop would end for want of iterations or of money, for proof beats that.
fn asks_for_proof(state: &State) -> bool {
    let spent = state.frames.first().is_some_and(|frame| frame.iteration >= frame.max);
    state.frames.len() == 1 || (spent || reached_budget(state).is_some())
}

/// Proof counts only where something was checked, and only what the loop can't do without.
fn proof(state: &State, seen: &Seen) -> Option<RuleAnswer> {
    let required = || state.criteria.iter().filter(|criterion| criterion.is_required());
    let checked = required().filter(|criterion| criterion.is_checked()).count();
    if !asks_for_proof(state) || checked == 0 {
        return None;
    }
    match judges::checks(state, seen) {
        Checks::Unmet | Checks::Disputed => return None,
        Checks::ForPerson => return Some(RuleAnswer::Allow(Leave::Approval, CHANGED_JUDGES)),
        Checks::Passed => {}
    }
    let checks = match checked {
        1 => "its check passes".into(),
        2 => "both checks pass".into(),
        more => format!("all {more} checks pass"),
    };
    if checked == required().count() {
        return Some(proven(state, seen, checks));
    }
    // A claim in a nested frame is about that frame.
    if required().any(|c| c.proof == Proof::Attest)
        && !(state.frames.len() == 1 && claims(state, seen))
    {
        return None;
    }
    Some(if required().any(needs_approval) {
        RuleAnswer::Allow(Leave::Approval, "only a person's word is missing")
    } else {
        let why = if required().any(|c| c.proof == Proof::Attest) {
            format!("{checks}; the rest is the agent's word")
        } else {
            format!("{checks}; the rest is a person's word")
        };
        RuleAnswer::Complete(Outcome::Attested, why)
    })
}

/// A pass that rests on an agent's word is not a proof.
fn proven(state: &State, seen: &Seen, checks: String) -> RuleAnswer {
    let required = state.criteria.iter().filter(|c| c.is_required() && c.is_checked());
    // A second opinion is an agent's, whatever its receipt says.
    let is_word = |criterion: &&Criterion| {
        criterion.is_review() || seen.receipt(&criterion.name).is_some_and(|r| r.evidence.word)
    };
    match (required.into_iter().find(is_word), &state.ground.approved) {
        (Some(criterion), _) => {
            let whose = if criterion.is_review() { "a reviewing" } else { "the" };
            let why = format!("{checks}; \"{}\" rests on {whose} agent's word", criterion.name);
            RuleAnswer::Complete(Outcome::Attested, why)
        }
        (None, Some(approved)) if rests_on_approval(seen) => {
            let checks = format!("{checks}; the changed judges were approved by {}", approved.by);
            let (outcome, why) = word::proven(state, seen, checks);
            RuleAnswer::Complete(outcome, why)
        }
        (None, _) => {
            let (outcome, why) = word::proven(state, seen, checks);
            RuleAnswer::Complete(outcome, why)
        }
    }
}

fn rests_on_approval(seen: &Seen) -> bool {
    let approved = |run: &OriginalRun| run.verdict == OriginalVerdict::Approved;
    seen.receipts.iter().any(|receipt| receipt.evidence.original.as_ref().is_some_and(approved))
}

fn needs_approval(criterion: &Criterion) -> bool {
    criterion.proof == Proof::Approve && criterion.approved_at.is_none()
}

/// A nested frame at its limit is taken off; it never ends the loop around it.
fn frame_limit(state: &State) -> Option<RuleAnswer> {
    spent_frames(state).map(|popped| RuleAnswer::Continue { popped })
}

/// How many frames go because one of them, or one below them, is at its limit.
fn spent_frames(state: &State) -> Option<u32> {
    let spent = state.frames.iter().skip(1).position(|frame| frame.iteration >= frame.max)?;
    Some(count(state.frames.len() - (spent + 1)))
}

fn signals(state: &State, seen: &Seen) -> Option<RuleAnswer> {
    match &seen.exit {
        Some(SpokenExit::Blocked(why)) => {
            return Some(RuleAnswer::Escalate(Outcome::Blocked, why.clone()));
        }
        Some(SpokenExit::Impossible(why)) => {
            return Some(RuleAnswer::Escalate(Outcome::Impossible, why.clone()));
        }
        Some(SpokenExit::Ask(_)) => {
            return Some(RuleAnswer::Allow(Leave::Waiting, "the agent asks a person"));
        }
        None => {}
    }
    let top = state.top()?;
    match signal(top.mode, &seen.markers) {
        Some(Signal::Blocked) => Some(RuleAnswer::Escalate(
            Outcome::Blocked,
            "the agent said that it is blocked".to_string(),
        )),
        Some(Signal::Escalate) => Some(RuleAnswer::Escalate(
            Outcome::NeedsInput,
            "the agent asked for a person".to_string(),
        )),
        Some(Signal::Complete) | None if !claims(state, seen) => None,
        // A colleague shows each step before the next one.
        Some(Signal::Complete) | None
            if state.frames.len() > 1 && state.policy.shape == Some(GoalShape::Colleague) =>
        {
            Some(RuleAnswer::Pop("a step is finished, and the person is asked".into()))
        }
        Some(Signal::Complete) | None if state.frames.len() > 1 => {
            Some(RuleAnswer::Continue { popped: spent_frames(state).unwrap_or(1) })
        }
        Some(Signal::Complete) | None => attested(state),
    }
}

/// The agent's word ends a loop only where nothing could be checked.
fn attested(state: &State) -> Option<RuleAnswer> {
    if state.criteria.iter().any(|c| c.is_required() && c.is_checked()) {
        return None;
    }
    if state.criteria.iter().any(|c| c.is_required() && needs_approval(c)) {
        return Some(RuleAnswer::Allow(Leave::Approval, "only a person's word is missing"));
    }
    let why = "the agent said so; no check proved it".to_string();
    Some(RuleAnswer::Complete(Outcome::Attested, why))
}

/// Whether the agent claims that the top frame is finished.
pub(crate) fn claims(state: &State, seen: &Seen) -> bool {
    if seen.exit.is_some() || seen.objection.is_some() {
        return false;
    }
    match state.top().and_then(|top| signal(top.mode, &seen.markers)) {
        Some(Signal::Complete) => true,
        // Who asked for verification and then gives up has not finished.
        Some(Signal::Blocked | Signal::Escalate) => false,
        None => state.phase == Phase::Completing,
    }
}

fn count(frames: usize) -> u32 {
    u32::try_from(frames).unwrap_or(u32::MAX)
}

/// What a person is asked when a step of a loop is finished.
fn step_question(state: &State) -> String {
    let step = state.top().map_or("", |frame| frame.prompt.lines().next().unwrap_or_default());
    format!("The step \"{}\" is finished. Go on with the next one?", clip(&clean(step), 200))
}

/// What is proven in a worktree is not the end: the merge is, once it holds there, too.
fn merge_first(state: &State, answer: RuleAnswer) -> RuleAnswer {
    if matches!(answer, RuleAnswer::Complete(..)) && state.worktree.is_some() {
        return RuleAnswer::Allow(
            Leave::Merge,
            "it holds in the loop's worktree; the merge is left",
        );
    }
    answer
}

/// Puts an answer into words and into the journal's form.
fn record(
    state: &State,
    seen: &Seen,
    mut tally: Tally,
    rule: Rule,
    answer: RuleAnswer,
) -> Decision {
    let mut popped = 0;
    let (verdict, ruling, why) = match merge_first(state, answer) {
        RuleAnswer::Allow(leave, why) => {
            tally = state.tally.passed_over(seen);
            (Verdict::Allow(leave), Ruling::Allow(leave), why.to_string())
        }
        RuleAnswer::Pop(why) => {
            popped = 1;
            (Verdict::Allow(Leave::Popped), Ruling::Allow(Leave::Popped), why)
        }
        RuleAnswer::Complete(outcome, why) => {
            (Verdict::Complete { outcome, why: why.clone() }, Ruling::Complete(outcome), why)
        }
        RuleAnswer::Escalate(outcome, why) => {
            (Verdict::Escalate { outcome, why: why.clone() }, Ruling::Escalate(outcome), why)
        }
        RuleAnswer::Continue { popped: frames } => {
            popped = frames;
            tally.refusals = tally.refusals.saturating_add(1);
            let text = prompt::text(state, seen, &tally, popped);
            (Verdict::Continue { text }, Ruling::Continue, String::new())
        }
    };
    if verdict == Verdict::Allow(Leave::Ended) {
        return Decision { verdict, rule, events: Vec::new() };
    }
    let text = match &verdict {
        Verdict::Continue { text } => text.clone(),
        Verdict::Allow(_) | Verdict::Complete { .. } | Verdict::Escalate { .. } => String::new(),
    };
    let mut receipts = seen.receipts.clone();
    let looked = receipts.iter_mut().filter_map(|receipt| receipt.evidence.changed_files.take());
    let facts = Facts {
        changed_files: looked.max(),
        markers: seen.markers.clone(),
        exit: seen.exit.clone(),
        tools: seen.tools,
        background: seen.background.clone(),
        cap: seen.cap.map(|cap| cap.refusals),
        continued: seen.continued,
        untrusted: seen.untrusted,
        message: seen.message.filter(|_| tally.message != seen.message),
        tool_mark: seen.tool_mark.filter(|_| tally.tool_mark != seen.tool_mark),
        transcript_mark: seen
            .transcript_mark
            .filter(|_| tally.transcript_mark != seen.transcript_mark),
    };
    let gates = seen.gates.clone();
    let stopped = Stopped { rule, ruling, why, popped, text, receipts, gates, facts, tally };
    let mut events = vec![Event::Stopped(Box::new(stopped))];
    if let (Rule::Signals, Some(SpokenExit::Ask(question))) = (rule, &seen.exit) {
        events.push(Event::Asked { question: question.clone() });
    }
    if rule == Rule::Signals && verdict == Verdict::Allow(Leave::Popped) {
        events.push(Event::Asked { question: step_question(state) });
    }
    Decision { verdict, rule, events }
}

#[cfg(test)]
mod enumeration;
#[cfg(test)]
mod ground_tests;
#[cfg(test)]
mod rest_tests;
#[cfg(test)]
mod tests;
