//! What must hold in every history, regardless of which process dies or comes first.

use std::collections::BTreeMap;
use std::fmt;

use stopgate_core::{
    Event, LoopId, Outcome, Ruling, SessionId, State, Status, Stopped, Verdict, fold,
};
use stopgate_store::{
    Appended, EndedFilter, Filter, Journal, JournalEntry, Recorded, Revision, StoreError, Stored,
};
use stopgate_view::{Counterfactual, Happened, PolicyChange, ReplayResult, back_test, replay};

use crate::model::{Model, ModelAnswer};
use crate::run::RunTally;
use crate::world::{passes, version_of};

/// A rule that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: &'static str,
    /// What was seen instead.
    pub seen: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.seen)
    }
}

/// What was seen so far, and the first rule that was broken.
#[derive(Debug)]
pub(crate) struct RuleWatch {
    seed: u64,
    /// The reference model, fed with the same appends.
    oracle: Option<Model>,
    /// Loops in the order in which they began.
    pub(crate) loops: Vec<LoopId>,
    /// Which running loop holds a session.
    holders: BTreeMap<SessionId, LoopId>,
    /// When somebody was told that a loop is cancelled.
    cancelled: BTreeMap<LoopId, u64>,
    /// What somebody was told is stored.
    acknowledged: BTreeMap<LoopId, Revision>,
    moment: u64,
    broken: Option<Violation>,
    pub(crate) tally: RunTally,
}

type Held = Result<(), Violation>;

const LOST: &str = "nothing acknowledged is lost";
const PROVEN: &str = "done only by receipts that pass, all for one state of the files";
const FOLDED: &str = "a state is the fold of its events";
const ALONE: &str = "at most one loop holds a session";

/// A rule that holds where there is nothing to be said against it.
fn hold(rule: &'static str, against: Option<String>) -> Held {
    against.map_or(Ok(()), |seen| Err(Violation { rule, seen }))
}

impl RuleWatch {
    pub(crate) fn new(seed: u64, oracle: Option<Model>) -> Self {
        Self {
            seed,
            oracle,
            loops: Vec::new(),
            holders: BTreeMap::new(),
            cancelled: BTreeMap::new(),
            acknowledged: BTreeMap::new(),
            moment: 0,
            broken: None,
            tally: RunTally::default(),
        }
    }

    /// The first rule that was broken, if any.
    pub(crate) fn broken(&self) -> Option<&Violation> {
        self.broken.as_ref()
    }

    /// A moment that is later than all before.
    pub(crate) fn moment(&mut self) -> u64 {
        self.moment += 1;
        self.moment
    }

    fn note(&mut self, held: Held) {
        if let (Err(violation), None) = (held, &self.broken) {
            self.broken = Some(violation);
        }
    }

    /// A journal answered an append.
    pub(crate) fn appended(
        &mut self,
        expected: Revision,
        events: &[Recorded],
        state: &State,
        appended: Appended,
    ) {
        if let Some(oracle) = &mut self.oracle {
            let model = oracle.append(expected, events, state);
            let held = as_the_model(model, state, appended);
            self.note(held);
        }
        self.tally.appends += 1;
        if !matches!(appended, Appended::Stored(_)) {
            self.tally.conflicts += 1;
            return;
        }
        if expected == Revision::NONE {
            self.loops.push(state.id.clone());
        }
        let held = self.stored(events, state);
        self.note(held);
    }

    fn stored(&mut self, events: &[Recorded], state: &State) -> Held {
        for (at, recorded) in events.iter().enumerate() {
            if let Event::Stopped(stopped) = &recorded.event {
                self.stopped(stopped, events.get(at + 1), state)?;
            }
        }
        within_limits(state)?;
        if self.cancelled.contains_key(&state.id) {
            stays_cancelled(state)?;
        }
        self.holds_alone(state)
    }

    fn stopped(&mut self, stopped: &Stopped, next: Option<&Recorded>, state: &State) -> Held {
        if stopped.ruling != Ruling::Complete(Outcome::Done) {
            return Ok(());
        }
        self.tally.done += 1;
        let version = stopped.receipts.first().and_then(version_of);
        let required = state.criteria.iter().filter(|c| c.is_required() && c.is_checked());
        for criterion in required {
            let proven = stopped.receipts.iter().any(|receipt| {
                receipt.criterion == criterion.name
                    && receipt.status == Status::Pass
                    && version_of(receipt) == version
                    && version.is_some_and(|version| passes(self.seed, version, &criterion.name))
            });
            hold(PROVEN, (!proven).then(|| format!("loop {}: {}", state.id, criterion.name)))?;
        }
        let signed = matches!(next.map(|next| &next.event), Some(Event::Certified { .. }));
        hold("done is signed in the same append", (!signed).then(|| state.id.to_string()))
    }

    /// At most one loop holds a session.
    fn holds_alone(&mut self, state: &State) -> Held {
        self.holders.retain(|_, holder| *holder != state.id);
        let Some(session) = state.session.clone().filter(|_| state.outcome().is_none()) else {
            return Ok(());
        };
        let other = self.holders.insert(session.clone(), state.id.clone());
        let seen = |other| format!("session {session}: loops {other} and {}", state.id);
        hold(ALONE, other.map(seen))
    }

    /// Somebody was told that this is stored.
    pub(crate) fn acknowledged(&mut self, stored: &Stored) {
        let known = self.acknowledged.entry(stored.state.id.clone()).or_default();
        *known = stored.revision.max(*known);
        if stored.state.outcome() == Some(Outcome::Cancelled) {
            let moment = self.moment();
            self.cancelled.entry(stored.state.id.clone()).or_insert(moment);
            self.tally.cancelled += 1;
        }
    }

    /// A stop that began at `begun` was answered.
    pub(crate) fn answered(
        &mut self,
        session: &SessionId,
        state: &State,
        verdict: &Verdict,
        begun: u64,
    ) {
        if !matches!(verdict, Verdict::Continue { .. }) {
            return;
        }
        self.tally.continued += 1;
        let who = || format!("session {session}, loop {} of {:?}", state.id, state.session);
        let foreign = state.session.as_ref() != Some(session);
        let over = state.outcome().is_some();
        let cancelled = self.cancelled.get(&state.id).is_some_and(|told| *told < begun);
        for held in [
            hold("only the session of a loop is held", foreign.then(who)),
            hold("a loop that is over holds nobody", over.then(who)),
            hold("a cancelled loop sends nobody back", cancelled.then(who)),
            within_limits(state),
        ] {
            self.note(held);
        }
    }

    /// Looks at everything that is left at the end.
    pub(crate) fn end(&mut self, journal: &mut dyn Journal) {
        let looked = self.look(journal).unwrap_or_else(|error| {
            Err(Violation { rule: "a journal can be read", seen: error.to_string() })
        });
        self.note(looked);
    }

    fn look(&mut self, journal: &mut dyn Journal) -> Result<Held, StoreError> {
        let loops = self.loops.clone();
        for id in &loops {
            let stored = journal.load(id)?;
            let history = journal.history(id)?;
            let held = self.compare(id, stored.as_ref(), &history);
            let history: Vec<Happened> = history.into_iter().map(happened).collect();
            let held = held.and_then(|()| self.look_at(id, stored.as_ref(), &history));
            if held.is_err() {
                return Ok(held);
            }
        }
        one_holder_each(journal)
    }

    /// Compares a loop with the model's.
    fn compare(&self, id: &LoopId, stored: Option<&Stored>, history: &[JournalEntry]) -> Held {
        let Some(oracle) = &self.oracle else { return Ok(()) };
        let seen = || {
            let (events, known) = (history.len(), oracle.events(id));
            format!("loop {id}: {events} events, the model has {known}")
        };
        hold(LOST, (!oracle.agrees(id, stored, history)).then(seen))
    }

    fn look_at(&self, id: &LoopId, stored: Option<&Stored>, history: &[Happened]) -> Held {
        let Some(Stored { state, revision, .. }) = stored else {
            return hold(LOST, Some(format!("loop {id} is gone")));
        };
        let told = self.acknowledged.get(id).copied().unwrap_or_default();
        let seen = || format!("loop {id} is at {revision:?}, somebody was told {told:?}");
        hold(LOST, (told > *revision).then(seen))?;
        let count = u64::try_from(history.len()).unwrap_or(u64::MAX);
        let seen = || format!("loop {id} is at {revision:?} with {count} events");
        hold("every event is kept", (count != revision.0).then(seen))?;
        let folded = fold(history.iter().map(|(event, at)| (event, *at)));
        let differs = folded.as_ref() != Some(state);
        let seen = || format!("loop {id}: {state:?}\nfolded: {folded:?}");
        hold(FOLDED, differs.then(seen))?;
        if self.cancelled.contains_key(id) {
            stays_cancelled(state)?;
        }
        decided_again(id, history)?;
        counted(state, history)
    }
}

/// A journal answers as the model does, and what is appended to it is what the events make.
fn as_the_model(model: ModelAnswer, state: &State, appended: Appended) -> Held {
    let (ModelAnswer::Answers(expected) | ModelAnswer::OtherState(expected)) = model;
    let seen = || format!("loop {}: {appended:?}, the model says {expected:?}", state.id);
    hold("a journal answers as the model does", (expected != appended).then(seen))?;
    let other = matches!(model, ModelAnswer::OtherState(_));
    hold(FOLDED, other.then(|| format!("loop {}, as it was appended: {state:?}", state.id)))
}

fn happened(entry: JournalEntry) -> Happened {
    (entry.recorded.event, entry.recorded.at)
}

/// Every recorded stop is decided as it was, and an unchanged policy changes nothing.
fn decided_again(id: &LoopId, history: &[Happened]) -> Held {
    // A back test decides every stop again, too, and gives up at one that comes out otherwise.
    let found = back_test(history, &PolicyChange::default());
    if matches!(found, Counterfactual::Same { otherwise: None, .. }) {
        return Ok(());
    }
    let stops = replay(history);
    let odd = stops.into_iter().find(|stop| stop.result != ReplayResult::Same);
    hold("a stop is decided again as it was", odd.map(|stop| format!("loop {id}: {stop:?}")))?;
    hold("an unchanged policy changes nothing", Some(format!("loop {id}: {found:?}")))
}

fn within_limits(state: &State) -> Held {
    let over = state.frames.iter().find(|frame| frame.iteration > frame.max);
    hold("counts never exceed limits", over.map(|frame| format!("loop {}: {frame:?}", state.id)))
}

fn stays_cancelled(state: &State) -> Held {
    let lives = state.outcome() != Some(Outcome::Cancelled);
    let seen = || format!("loop {} is {:?}", state.id, state.phase);
    hold("what is cancelled stays cancelled", lives.then(seen))
}

/// Each time that an agent was sent back is counted once.
fn counted(state: &State, history: &[Happened]) -> Held {
    let sent_back = |(event, _): &&Happened| match event {
        Event::Stopped(stopped) => stopped.ruling == Ruling::Continue,
        _other => false,
    };
    let times = history.iter().filter(sent_back).count();
    let count = state.frames.first().map_or(0, |frame| frame.iteration);
    let seen = || format!("loop {}: counted {count}, sent back {times} times", state.id);
    hold("every refusal is counted once", (u32::try_from(times) != Ok(count)).then(seen))
}

fn one_holder_each(journal: &mut dyn Journal) -> Result<Held, StoreError> {
    let running = journal.list(&Filter { standing: EndedFilter::Running, ..Filter::default() })?;
    let mut sessions: Vec<&SessionId> =
        running.iter().filter_map(|stored| stored.state.session.as_ref()).collect();
    let all = sessions.len();
    sessions.sort();
    sessions.dedup();
    Ok(hold(ALONE, (sessions.len() != all).then(|| format!("{sessions:?}"))))
}
