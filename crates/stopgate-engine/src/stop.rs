//! One stop, from request to verdict: the place where judgement meets the world.

mod checks;

use std::borrow::Cow;
use std::path::Path;

use stopgate_agents::Call;
use stopgate_core::{
    Criterion, Decision, Event, GateWord, Outcome, Parking, Phase, Receipt, Seen, SessionId,
    Soundness, Spend, State, Surface, Timestamp, UnparkedBy, Verdict, WaitCondition, advance,
    asks_gates, clean, completes, decide, due, proves,
};
use stopgate_store::Stored;
use stopgate_verify::ProcessMark;

use self::checks::{CheckedStop, DueStop};
use crate::config::CHECKS_TIME_MAX;
use crate::context::{Context, Stocked};
use crate::failure::Failure;
use crate::home::Home;
use crate::judging::background::first_run_of;
use crate::judging::certificate::certify;
use crate::judging::condition::{ConditionWord, ask_condition};
use crate::judging::gates::ask_loop_gates;
use crate::judging::origin::{file_trust, is_agents, typed, typed_at_last};
use crate::judging::task_claim::{TaskWord, judge_task};
use crate::metering::Metering;
use crate::observe::{ClientFacts, HeardMessage, hear, observe};
use crate::trust::Trust;

const TRIES_MAX: usize = 64;

/// A stop that was judged: the loop as it is now, and the verdict.
pub(crate) struct JudgedStop {
    pub(crate) state: State,
    pub(crate) verdict: Verdict,
}

/// Stops, and how they are judged.
pub(crate) struct Stops<'a> {
    pub(crate) context: &'a mut Context,
}

impl Stops<'_> {
    /// Judges one stop; nothing where no loop holds the session.
    pub(crate) fn judge_stop(
        &mut self,
        call: &Call<'_>,
        session: &SessionId,
        project: Option<&Path>,
        client: &ClientFacts,
    ) -> Result<Option<JudgedStop>, Failure> {
        let heard = hear(call);
        let mut known = Known::default();
        let mut loaded = None;
        for _ in 0..TRIES_MAX {
            self.context.journal.begin()?;
            let held = match loaded.take() {
                Some(held) => Some(held),
                None => self.load_held(session, project)?,
            };
            let Some(held) = held else {
                self.context.journal.end();
                return Ok(None);
            };
            // What was said matters only to a loop: a session without one is none of our business.
            let heard = match &heard {
                Ok(heard) => heard,
                Err(error) => return Err(Failure::fault(error.story())),
            };
            match self.try_stop(held, call, heard, client, &mut known)? {
                Step::Judged(judged) => return Ok(Some(*judged)),
                Step::Interrupted => return Ok(None),
                Step::Learned(held) => loaded = Some(*held),
                Step::Conflict => {}
            }
            self.context.journal.end();
        }
        Err(Failure::fault("could not answer the stop: other processes kept changing the loop"))
    }

    /// The loop that holds the session.
    fn load_held(
        &mut self,
        session: &SessionId,
        project: Option<&Path>,
    ) -> Result<Option<HeldLoop>, Failure> {
        let Some((stored, claim)) = self.context.holder(session, project)? else {
            self.drop_stale_sign(session);
            return Ok(None);
        };
        self.context.signs.watch_tools(session.as_str());
        Ok(Some(HeldLoop { stored, claim }))
    }

    /// Judges the loop as it was loaded. No turn at the journal is held while anything takes
    /// time; what others wrote meanwhile shows as a conflict when the verdict is stored.
    fn try_stop(
        &mut self,
        held: HeldLoop,
        call: &Call<'_>,
        heard: &HeardMessage,
        client: &ClientFacts,
        known: &mut Known,
    ) -> Result<Step, Failure> {
        let now = self.context.now();
        let mut claim = held.claim.clone();
        claim.extend(known.typed.clone().or_else(|| typed(self.context, &held.stored.state, call)));
        let Some(before) = self.before_the_stop(&held.stored.state, call, known) else {
            return Ok(held.learned());
        };
        claim.extend(before);
        claim.extend(known.parked(&held.stored.state));
        let state = claimed(&held.stored.state, &claim, now);
        let mut seen = observe(&state, call, heard, client, &self.context.signs);
        self.see_trust(&mut seen, &state, held.stored.soundness);
        let wanted = due(&state, &seen, now);
        if !wanted.is_empty() && known.lacks_receipts(&state) {
            self.context.journal.end();
            let stop = DueStop { state: &state, seen: &seen, heard, agent: call.agent, client };
            known.note_first_run(&self.context.home, &state);
            match self.run_checks(stop) {
                CheckedStop::Receipts(receipts) => known.receipts = Some(receipts),
                CheckedStop::Parked(parking) => known.parking = Some(parking),
                CheckedStop::Interrupted => return Ok(Step::Interrupted),
            }
            return Ok(held.learned());
        }
        seen.receipts = kept(known.receipts.as_deref(), &wanted);
        if asks_gates(&state, &seen, now) {
            if known.gates.is_none() {
                self.context.journal.end();
                let said = ask_loop_gates(self.context, &state, heard, &seen.receipts, now);
                known.gates = Some(said);
                return Ok(held.learned());
            }
            seen.gates.clone_from(&known.gates);
        }
        if state.surface == Surface::Tools && known.task.is_none() && completes(&state, &seen, now)
        {
            known.task = Some(self.judge_task(&held.stored, heard)?);
            return Ok(held.learned());
        }
        if known.typed.is_none() && !known.looked && self.ends_as_agents(&state, &seen, now) {
            known.looked = true;
            self.context.journal.end();
            known.typed = typed_at_last(&state, call);
            return Ok(held.learned());
        }
        let stop = DueStop { state: &state, seen: &seen, heard, agent: call.agent, client };
        if self.waits_for_first_run(stop, known, now) {
            return Ok(held.learned());
        }
        seen.objection = known.task.as_ref().and_then(|word| word.objection.clone());
        claim.extend(known.task.as_ref().map(TaskWord::event).transpose()?.flatten());
        let settled = self.decide_soundly(&state, &seen, now)?;
        if Self::is_uncounted(&settled.verdict, &state, known) {
            known.metered = Some(self.meter_end(&held.stored.state, call));
            return Ok(held.learned());
        }
        self.context.saw_parked = state.parking().is_some_and(|parking| parking.held_at.is_none());
        let Decision { verdict, events, .. } = objected(settled, &seen);
        claim.extend(events);
        claim.extend(self.certificate(&verdict, &state, &seen, now)?);
        self.settle_stop(held.stored, claim, verdict, now)
    }

    /// What the rules and gates of a task say to its end.
    fn judge_task(&mut self, stored: &Stored, heard: &HeardMessage) -> Result<TaskWord, Failure> {
        self.context.journal.end();
        let said = heard.message.as_deref().unwrap_or_default();
        judge_task(self.context, stored, said, CHECKS_TIME_MAX)
    }

    /// What was used up to the end of the loop.
    fn meter_end(&mut self, state: &State, call: &Call<'_>) -> MeteredStop {
        self.context.journal.end();
        let event = Metering { context: self.context }.meter_end(state, call);
        MeteredStop { base: state.spend.clone(), event }
    }

    /// What is signed where the loop ends as done.
    fn certificate(
        &mut self,
        verdict: &Verdict,
        state: &State,
        seen: &Seen,
        now: Timestamp,
    ) -> Result<Option<Event>, Failure> {
        let is_done = matches!(verdict, Verdict::Complete { outcome: Outcome::Done, .. });
        is_done.then(|| certify(self.context, state, &seen.receipts, now)).transpose()
    }

    /// Whether the client's use is still to be counted, at the stop that ends the loop.
    fn is_uncounted(verdict: &Verdict, state: &State, known: &Known) -> bool {
        let ends = matches!(verdict, Verdict::Complete { .. } | Verdict::Escalate { .. });
        ends && known.metered.is_none() && state.policy.order.is_native()
    }

    /// Whether the loop would be proven while checks of it still run for the first time: it is parked
    /// then, for nobody knows how many tests must run.
    fn waits_for_first_run(
        &mut self,
        stop: DueStop<'_>,
        known: &mut Known,
        now: Timestamp,
    ) -> bool {
        let Some(process) = known.first_run.filter(|_| proves(stop.state, stop.seen, now)) else {
            return false;
        };
        self.context.journal.end();
        known.first_run = None;
        known.parking = Some(self.await_first_runs(stop, process));
        true
    }

    /// What is trusted here, and whether the record is to be believed.
    fn see_trust(&self, seen: &mut Seen, state: &State, soundness: Soundness) {
        seen.untrusted = Trust::of(&self.context.home).lacks(state);
        seen.file = file_trust(self.context, state);
        // What a forged record looks like proves nothing; what merely can't be told is asked
        // about when something would be proven by it.
        if soundness == Soundness::Forged {
            seen.soundness = Soundness::Forged;
        }
    }

    /// What happened up to this stop: what was used, and what a parked loop waited for. Nothing
    /// where it took time to find out, so that the loop is judged again.
    fn before_the_stop(
        &mut self,
        state: &State,
        call: &Call<'_>,
        known: &mut Known,
    ) -> Option<Vec<Event>> {
        if state.policy.counts_spend() && !known.is_metered(state) {
            // No turn is held while files are read.
            self.context.journal.end();
            let event = Metering { context: self.context }.meter_stop(state, call);
            known.metered = Some(MeteredStop { base: state.spend.clone(), event });
            return None;
        }
        let mut events: Vec<Event> = known.metered(state).into_iter().collect();
        if let Some(parking) = state.parking() {
            match self.condition_of_stop(state, parking, known)? {
                ConditionWord::Holds => events.push(Event::Unparked { by: UnparkedBy::Stop }),
                ConditionWord::Open => {}
            }
        }
        Some(events)
    }

    /// Whether what a parked loop waits for has happened; nothing where it took time
    /// to find out, so that the loop is judged again.
    fn condition_of_stop(
        &mut self,
        state: &State,
        parking: &Parking,
        known: &mut Known,
    ) -> Option<ConditionWord> {
        let id = &state.id;
        if parking.held_at.is_some() {
            return Some(ConditionWord::Holds);
        }
        if parking.condition.is_cheap() && parking.checks.is_none() {
            return Some(ask_condition(self.context, id, &parking.condition));
        }
        match &known.condition {
            // Another wait may have taken its place meanwhile.
            Some((asked, word)) if *asked == parking.condition => Some(*word),
            Some(_) | None => {
                self.context.journal.end();
                let mut word = ask_condition(self.context, id, &parking.condition);
                // What runs for other files than there are now is not worth waiting for.
                if parking.checks.is_some() && word == ConditionWord::Open && self.is_stale(state) {
                    word = ConditionWord::Holds;
                }
                known.condition = Some((parking.condition.clone(), word));
                None
            }
        }
    }

    /// Whether the loop would end here, and only for want of a person's word not as done.
    fn ends_as_agents(&self, state: &State, seen: &Seen, now: Timestamp) -> bool {
        completes(state, seen, now) && !state.criteria.is_empty() && is_agents(self.context, state)
    }

    fn settle_stop(
        &mut self,
        stored: Stored,
        events: Vec<Event>,
        verdict: Verdict,
        now: Timestamp,
    ) -> Result<Step, Failure> {
        if events.is_empty() {
            return Ok(Step::Judged(Box::new(JudgedStop { state: stored.state, verdict })));
        }
        Ok(match self.context.store(stored, events, now)? {
            Stocked::Stored(stored) => {
                Step::Judged(Box::new(JudgedStop { state: stored.state, verdict }))
            }
            Stocked::Conflict | Stocked::SessionTaken => Step::Conflict,
        })
    }

    /// Decides; where the loop would end as it should, its whole record is looked at first.
    fn decide_soundly(
        &mut self,
        state: &State,
        seen: &Seen,
        now: Timestamp,
    ) -> Result<Decision, Failure> {
        let decision = decide(state, seen, now);
        if !matches!(decision.verdict, Verdict::Complete { .. }) {
            return Ok(decision);
        }
        let soundness = self.context.journal.soundness(&state.id)?;
        Ok(decide(state, &Seen { soundness, ..seen.clone() }, now))
    }

    fn drop_stale_sign(&mut self, session: &SessionId) {
        if self.context.signs.may_hold(session.as_str()) {
            self.context.take_held_sign(session);
        }
    }
}

/// What was found out about a stop so far, and need not be found out again.
#[derive(Default)]
struct Known {
    receipts: Option<Vec<Receipt>>,
    gates: Option<GateWord>,
    /// What the task's own rules and gates say about a claim.
    task: Option<TaskWord>,
    /// That a person typed the command that began the loop, where the transcript shows it.
    typed: Option<Event>,
    /// Whether a late transcript was waited for.
    looked: bool,
    /// What the agent has used.
    metered: Option<MeteredStop>,
    /// Whether what the loop waits for has happened.
    condition: Option<(WaitCondition, ConditionWord)>,
    /// That the checks go on in the background.
    parking: Option<Box<Parking>>,
    /// The process that ran checks for the first time when those of this stop began.
    first_run: Option<ProcessMark>,
    /// How many first runs were not known then.
    awaited: usize,
}

/// What was counted for a stop, and what it was counted on.
struct MeteredStop {
    base: Option<Box<Spend>>,
    event: Option<Event>,
}

impl Known {
    /// Whether there are no receipts, or only some that were made before it was known how many
    /// tests must run.
    fn lacks_receipts(&self, state: &State) -> bool {
        self.receipts.is_none() || self.awaited != awaited(state)
    }

    /// Notes whether checks of the loop run for the first time while those of the stop do.
    fn note_first_run(&mut self, home: &Home, state: &State) {
        self.first_run = first_run_of(home, state);
        self.awaited = awaited(state);
    }

    /// Whether the count is still about the loop as it is.
    fn is_metered(&self, state: &State) -> bool {
        self.metered.as_ref().is_some_and(|metered| metered.base == state.spend)
    }

    /// That the loop is parked until its checks have ended, unless something else happened to it
    /// meanwhile.
    fn parked(&self, state: &State) -> Option<Event> {
        let rests = matches!(state.phase, Phase::Paused { .. } | Phase::Ended { .. });
        self.parking.clone().filter(|_| !rests).map(Event::Parked)
    }

    /// What was counted on the loop as it is.
    fn metered(&self, state: &State) -> Option<Event> {
        self.metered.as_ref().filter(|_| self.is_metered(state))?.event.clone()
    }
}

/// What one try at a stop led to.
enum Step {
    Judged(Box<JudgedStop>),
    /// Something is known now that was not: judge the same loop again.
    Learned(Box<HeldLoop>),
    /// Others changed the loop: load it again.
    Conflict,
    Interrupted,
}

/// A loop that holds the session, as it was loaded.
struct HeldLoop {
    stored: Stored,
    /// What makes a pending loop this session's own.
    claim: Vec<Event>,
}

impl HeldLoop {
    fn learned(self) -> Step {
        Step::Learned(Box::new(self))
    }
}

/// How many first runs of checks are not known to be over.
fn awaited(state: &State) -> usize {
    state.criteria.iter().filter(|criterion| criterion.awaits_first_run()).count()
}

/// Tells the agent why its task's own rules or gates do not believe its claim.
fn objected(decision: Decision, seen: &Seen) -> Decision {
    let (Verdict::Continue { text }, Some(why)) = (&decision.verdict, &seen.objection) else {
        return decision;
    };
    let why = clean(why);
    let text = format!(
        "{text}\nYou said that it is complete, but the task's own rules do not agree:\n{why}\n"
    );
    decision.saying(&text)
}

/// Receipts of criteria that are still due; a check that nobody wants proves nothing.
fn kept(receipts: Option<&[Receipt]>, wanted: &[&Criterion]) -> Vec<Receipt> {
    let is_wanted = |receipt: &&Receipt| wanted.iter().any(|c| c.name == receipt.criterion);
    receipts.unwrap_or_default().iter().filter(is_wanted).cloned().collect()
}

/// The loop with what comes before the stop; mostly that is nothing, and costs no copy.
fn claimed<'a>(state: &'a State, claim: &[Event], now: Timestamp) -> Cow<'a, State> {
    let mut state = Cow::Borrowed(state);
    for event in claim {
        advance(state.to_mut(), event, now);
    }
    state
}
