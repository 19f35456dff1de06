//! Every combination of a small state machine, and what must hold in all of them.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::scene::{NOON, check, command, criterion, frame, receipt, spend, started};
use crate::{
    Criterion, Decision, Event, Frame, Leave, Marker, Mode, Outcome, Phase, Policy, Proof, Rest,
    Rule, Seen, State, Status, Tally, Timestamp, ToolUse, Verdict, Waiting, apply, decide, due,
};

const CAP: u32 = 8;
const MAX: u32 = 5;
/// Long before noon, so that no age is hidden by the start.
const LONG_AGO: Timestamp = NOON.plus(-1_000_000_000);

const FRAMES: [Frames; 7] = [
    Frames { base: None, inner: None },
    Frames { base: Some(At::Within), inner: None },
    Frames { base: Some(At::Limit), inner: None },
    Frames { base: Some(At::Within), inner: Some(At::Within) },
    Frames { base: Some(At::Within), inner: Some(At::Limit) },
    Frames { base: Some(At::Limit), inner: Some(At::Within) },
    Frames { base: Some(At::Limit), inner: Some(At::Limit) },
];
const AGES: [Age; 3] = [Age::Fresh, Age::AtLimit, Age::Stale];
const CRITERIA: [&[Kind]; 8] = [
    &[],
    &[Kind::Check(Status::Pass)],
    &[Kind::Check(Status::Fail)],
    &[Kind::Check(Status::Error)],
    &[Kind::Check(Status::Tampered)],
    &[Kind::Attest],
    &[Kind::Check(Status::Pass), Kind::Attest],
    &[Kind::Check(Status::Pass), Kind::Approve],
];
const MARKERS: [Option<Marker>; 4] = [
    None,
    Some(Marker::PromiseComplete),
    Some(Marker::PromiseBlocked),
    Some(Marker::GrindDoneNoMoreIssues),
];
const COUNTERS: [Counter; 6] = [
    Counter::None,
    Counter::Idle,
    Counter::Repeat,
    Counter::Refusals,
    Counter::Errors,
    Counter::All,
];
const TOOLS: [ToolUse; 3] = [ToolUse::Used, ToolUse::None, ToolUse::Unknown];
const TASKS: [Task; 3] = [Task::None, Task::New, Task::Known];
const SPOKE: [bool; 2] = [false, true];
const SPENT: [Spent; 3] = [Spent::Nothing, Spent::Time, Spent::Money];

#[derive(Clone, Copy, Debug, PartialEq)]
enum At {
    Within,
    Limit,
}

#[derive(Clone, Copy, Debug)]
struct Frames {
    base: Option<At>,
    inner: Option<At>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Age {
    Fresh,
    AtLimit,
    Stale,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Check(Status),
    Attest,
    Approve,
}

/// Which counter this stop may bring to its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Counter {
    None,
    Idle,
    Repeat,
    Refusals,
    Errors,
    All,
}

/// Which of the loop's means this stop finds used up.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Spent {
    Nothing,
    Time,
    Money,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Task {
    None,
    New,
    Known,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stand {
    Active,
    Completing,
    Background,
    Answer,
    Hold,
    Pause,
    Ended(Outcome),
}

#[derive(Clone, Copy, Debug)]
struct Case {
    stand: Stand,
    frames: Frames,
    age: Age,
    criteria: &'static [Kind],
    marker: Option<Marker>,
    counter: Counter,
    tools: ToolUse,
    task: Task,
    spoke: bool,
    spent: Spent,
}

#[test]
fn every_live_state_keeps_the_invariants() {
    let stands = [
        Stand::Active,
        Stand::Completing,
        Stand::Background,
        Stand::Answer,
        Stand::Hold,
        Stand::Pause,
    ];
    let checked = every_case(&stands, &COUNTERS, &TOOLS, &TASKS);
    assert_eq!(checked, 6 * 7 * 3 * 8 * 4 * 6 * 3 * 3 * 2 * 3);
}

#[test]
fn every_ended_state_lets_go_in_silence() {
    let stands = Outcome::ALL.map(Stand::Ended);
    let checked =
        every_case(&stands, &[Counter::None, Counter::All], &[ToolUse::None], &[Task::New]);
    assert_eq!(checked, 17 * 7 * 3 * 8 * 4 * 2 * 2 * 3);
}

/// The five states' transition table, row by row.
#[test]
fn the_transition_table_of_the_five_states_holds() {
    // IDLE → ACTIVE: loop start, stack not empty.
    check("loop 0/3\n state => active 0/3");
    // ACTIVE → ACTIVE: iteration, no completion signal.
    check("loop 0/3\n stop => continue 1/3\n state => active 1/3");
    // ACTIVE → COMPLETING → IDLE: completion, stack empty after pop.
    check(
        "loop 0/3\n done\n state => completing 0/3\n stop => complete attested\n state => idle 0/3",
    );
    check("loop 0/3\n stop LOOP-DONE COMPLETE => complete attested\n state => idle 0/3");
    // ACTIVE → COMPLETING → ACTIVE: pop frame, outer loop continues.
    check(
        "loop 0/3
        push issue 0/2
        done
        state => completing 0/3 > 0/2
        stop  => continue 1/3
        state => active 1/3",
    );
    // ACTIVE → STUCK: iteration >= max.
    check("loop 3/3\n stop => escalate max_iterations\n state => stuck 3/3");
    // ACTIVE → STUCK: staleness, strictly older than the limit.
    check("loop 0/3, minutes 0\n later 12h\n stop => continue 1/3");
    check(
        "loop 0/3, minutes 0\n later 12h\n later 1s\n stop => escalate stale\n state => stuck 0/3",
    );
    // ACTIVE → ABORTED: corruption, or an abort event.
    check("loop 0/0\n stop => escalate aborted\n state => aborted 0/0");
    check("loop 0/3\n ends cancelled\n state => aborted 0/3\n stop => allow ended");
    // IDLE, STUCK and ABORTED stay: the stop is allowed.
    check(
        "loop 0/3\n stop COMPLETE => complete attested\n stop => allow ended\n state => idle 0/3",
    );
    check("loop 3/3\n stop => escalate max_iterations\n stop => allow ended\n state => stuck 3/3");
}

/// Walks through all combinations and says how many there were.
fn every_case(stands: &[Stand], counters: &[Counter], tools: &[ToolUse], tasks: &[Task]) -> usize {
    let sizes = [
        stands.len(),
        FRAMES.len(),
        AGES.len(),
        CRITERIA.len(),
        MARKERS.len(),
        counters.len(),
        tools.len(),
        tasks.len(),
        SPOKE.len(),
        SPENT.len(),
    ];
    let total: usize = sizes.iter().product();
    for number in 0..total {
        let mut rest = number;
        let digits = sizes.map(|size| {
            let digit = rest % size;
            rest /= size;
            digit
        });
        let [stand, frames, age, criteria, marker, counter, tool, task, spoke, spent] = digits;
        assert_invariants(Case {
            stand: stands[stand],
            frames: FRAMES[frames],
            age: AGES[age],
            criteria: CRITERIA[criteria],
            marker: MARKERS[marker],
            counter: counters[counter],
            tools: tools[tool],
            task: tasks[task],
            spoke: SPOKE[spoke],
            spent: SPENT[spent],
        });
    }
    total
}

fn assert_invariants(case: Case) {
    let state = case.state();
    let mut seen = case.seen();
    let due: Vec<&str> = due(&state, &seen, NOON).iter().map(|due| due.name.as_str()).collect();
    assert_eq!(due.is_empty(), !case.looks_at_checks(), "due: {case:?}");
    if due.is_empty() {
        // Whatever somebody hands in, what is not due changes nothing.
        let handed = Seen { receipts: case.passing(), ..seen.clone() };
        assert_eq!(
            decide(&state, &handed, NOON).rule,
            decide(&state, &seen, NOON).rule,
            "{case:?}"
        );
    } else {
        seen.receipts = case.receipts();
    }
    let decision = decide(&state, &seen, NOON);
    assert_eq!(decision, decide(&state, &seen, NOON), "the same answer twice: {case:?}");
    match &decision.verdict {
        Verdict::Continue { text } => {
            assert_eq!(case.reason_to_let_go(), None, "{case:?} {decision:?}");
            assert!(text.starts_with("Loop "), "{text}");
        }
        Verdict::Complete { outcome, .. } => case.assert_complete(*outcome, &decision),
        Verdict::Allow(_) | Verdict::Escalate { .. } => {
            assert!(case.reason_to_let_go().is_some(), "{case:?}");
        }
    }
    assert_follows(case, state, &decision);
}

/// The events of a decision lead to the state that its verdict promises.
fn assert_follows(case: Case, state: State, decision: &Decision) {
    if state.outcome().is_some() {
        assert_eq!(decision.events, [], "{case:?}");
        return;
    }
    let [event @ Event::Stopped(stopped)] = decision.events.as_slice() else {
        panic!("one stop, one event: {case:?}");
    };
    let before = state.clone();
    let after = apply(Some(state), event, NOON).expect("a state stays one");
    match &decision.verdict {
        Verdict::Continue { text } => {
            let left = before.frames.len() - usize::try_from(stopped.popped).unwrap_or(usize::MAX);
            let counted = before.frames[..left].iter().cloned();
            let counted = counted.map(|f| Frame { iteration: f.iteration + 1, ..f });
            assert_eq!(after.frames, counted.collect::<Vec<_>>(), "{case:?}");
            assert_eq!((&after.phase, text), (&Phase::Active, &stopped.text), "{case:?}");
        }
        Verdict::Complete { outcome, why } | Verdict::Escalate { outcome, why } => {
            let ended = Phase::Ended { outcome: *outcome, why: why.clone(), at: NOON };
            assert_eq!((after.phase, after.frames), (ended, before.frames), "{case:?}");
        }
        Verdict::Allow(Leave::Background) => {
            let parked = Phase::Waiting { on: Waiting::Background, since: NOON };
            assert_eq!((after.phase, after.frames), (parked, before.frames), "{case:?}");
        }
        Verdict::Allow(Leave::Approval) => {
            let parked = Phase::Waiting { on: Waiting::Approval, since: NOON };
            assert_eq!((after.phase, after.frames), (parked, before.frames), "{case:?}");
        }
        Verdict::Allow(_) => {
            assert_eq!((after.phase, after.frames), (before.phase, before.frames), "{case:?}");
        }
    }
}

impl Case {
    fn state(self) -> State {
        let policy = Policy { max_minutes: 30, max_tokens: 100, ..Policy::default() };
        let outermost = frame(Mode::Loop, 0, MAX, "the whole");
        let start = started(policy, outermost, self.criteria());
        let mut state = apply(None, &start, LONG_AGO).expect("a start begins a state");
        state.frames = self.frames();
        state.tally = self.tally(&state);
        state.phase = self.phase();
        let age_ms = match self.age {
            Age::Fresh => 0,
            Age::AtLimit => policy.stale_after_ms,
            Age::Stale => policy.stale_after_ms + 1,
        };
        state.updated_at = NOON.plus(-age_ms);
        let used_ms = match self.spent {
            Spent::Nothing | Spent::Money => 30 * 60_000 - 1,
            Spent::Time => 30 * 60_000,
        };
        state.spend = Some(Box::new(spend(if self.spent == Spent::Money { 100 } else { 99 })));
        state.rest_ms = NOON.since(LONG_AGO) - used_ms;
        state
    }

    fn criteria(self) -> Vec<Criterion> {
        let proof = |kind: &Kind| match kind {
            Kind::Check(_) => criterion("tests", command("cargo test")),
            Kind::Attest => criterion("docs", Proof::Attest),
            Kind::Approve => criterion("design", Proof::Approve),
        };
        self.criteria.iter().map(proof).collect()
    }

    fn frames(self) -> Vec<Frame> {
        let count = |at: At| if at == At::Limit { MAX } else { MAX - 1 };
        let base = self.frames.base.map(|at| frame(Mode::Loop, count(at), MAX, "the whole"));
        let inner = self.frames.inner.map(|at| frame(Mode::Issue, count(at), MAX, "a part"));
        base.into_iter().chain(inner).collect()
    }

    /// What was counted before: the stop before this one saw the same.
    fn tally(self, state: &State) -> Tally {
        let same = Seen { receipts: self.receipts(), ..self.seen() };
        let is = |counter| self.counter == counter || self.counter == Counter::All;
        let mut tally = Tally::default().after(state, &same);
        tally.idle = if is(Counter::Idle) { state.policy.max_idle - 1 } else { 0 };
        tally.repeat = if is(Counter::Repeat) { state.policy.max_repeat - 1 } else { 0 };
        tally.refusals = if is(Counter::Refusals) { CAP } else { 0 };
        tally.errors = u32::from(is(Counter::Errors));
        tally.tampered = u32::from(is(Counter::Errors));
        tally.person_spoke = self.spoke;
        tally.tasks = vec!["known".to_string()];
        tally
    }

    fn phase(self) -> Phase {
        let since = NOON;
        match self.stand {
            Stand::Active => Phase::Active,
            Stand::Completing => Phase::Completing,
            Stand::Background => Phase::Waiting { on: Waiting::Background, since },
            Stand::Answer => Phase::Waiting { on: Waiting::Answer("which?".to_string()), since },
            Stand::Hold => Phase::Paused { rest: Rest::NextPrompt, since },
            Stand::Pause => Phase::Paused { rest: Rest::Resume, since },
            Stand::Ended(outcome) => Phase::Ended { outcome, why: String::new(), at: since },
        }
    }

    fn seen(self) -> Seen {
        let background = match self.task {
            Task::None => vec![],
            Task::New => vec!["known".to_string(), "new".to_string()],
            Task::Known => vec!["known".to_string()],
        };
        Seen {
            markers: self.marker.into_iter().collect(),
            message: Some(7),
            tools: self.tools,
            background,
            cap: Some(crate::ClientCap {
                refusals: CAP,
                scope: crate::CapScope::SinceTool,
                lift: "",
            }),
            ..Seen::default()
        }
    }

    fn receipts(self) -> Vec<crate::Receipt> {
        let statuses = self.criteria.iter().filter_map(|kind| match kind {
            Kind::Check(status) => Some(*status),
            Kind::Attest | Kind::Approve => None,
        });
        statuses.map(|status| receipt("tests", status, "1 test failed")).collect()
    }

    fn passing(self) -> Vec<crate::Receipt> {
        self.receipts().iter().map(|_| receipt("tests", Status::Pass, "")).collect()
    }

    fn is_steering(self) -> bool {
        matches!(self.stand, Stand::Active | Stand::Completing | Stand::Background)
    }

    fn has(self, kind: Kind) -> bool {
        self.criteria.contains(&kind)
    }

    fn has_check(self) -> bool {
        self.criteria.iter().any(|kind| matches!(kind, Kind::Check(_)))
    }

    fn claims(self) -> bool {
        let said = self.marker == Some(Marker::PromiseComplete);
        let blocked = self.marker == Some(Marker::PromiseBlocked);
        said || (self.stand == Stand::Completing && !blocked)
    }

    fn says_blocked(self) -> bool {
        self.marker == Some(Marker::PromiseBlocked)
    }

    /// Whether proof is asked for at all: nothing before it answers, no frame hides it.
    fn looks_at_checks(self) -> bool {
        let settled = self.spoke || self.task == Task::New || self.age == Age::Stale;
        // A nested frame is judged by the loop's criteria only where the loop ends anyway.
        let whole = match self.frames.base {
            Some(At::Limit) => true,
            Some(At::Within) => self.frames.inner.is_none() || self.spent == Spent::Money,
            None => false,
        };
        self.is_steering() && whole && !settled && self.has_check()
    }

    fn at(self, counter: Counter) -> bool {
        self.counter == counter || self.counter == Counter::All
    }

    /// Why such a stop may never be refused; the first that applies.
    fn reason_to_let_go(self) -> Option<&'static str> {
        let nested = self.frames.inner.is_some();
        let fails = [Status::Fail, Status::Error, Status::Tampered]
            .into_iter()
            .any(|status| self.has(Kind::Check(status)));
        let unproven = !nested && self.has_check();
        let reasons = [
            (!self.is_steering(), "it is ended, paused or waiting for an answer"),
            (self.frames.base.is_none(), "the record is corrupt"),
            (self.age == Age::Stale, "it is stale"),
            (self.task == Task::New, "background work started"),
            (self.spoke, "a person spoke"),
            (unproven && self.criteria == [Kind::Check(Status::Pass)], "it is proven"),
            (unproven && self.has(Kind::Approve), "only a person's word is missing"),
            (
                self.at(Counter::Errors) && !nested && self.has(Kind::Check(Status::Tampered)),
                "what judges it was changed, and not put right",
            ),
            (
                self.at(Counter::Errors) && !nested && self.has(Kind::Check(Status::Error)),
                "a check could not be run, twice",
            ),
            (self.frames.base == Some(At::Limit), "the iterations are used"),
            (self.spent == Spent::Time, "the time is used"),
            (self.spent == Spent::Money, "the tokens are used"),
            (self.at(Counter::Idle) && self.tools != ToolUse::Used, "it is idle"),
            (self.at(Counter::Repeat) && !nested && fails, "it repeats"),
            (self.at(Counter::Refusals) && self.tools != ToolUse::Used, "it is capped"),
            (self.says_blocked(), "it is blocked"),
            (!nested && self.claims() && !fails, "it is claimed and nothing fails"),
        ];
        reasons.into_iter().find_map(|(holds, why)| holds.then_some(why))
    }

    /// Nothing but proof of every criterion is done; nothing but a claim is attested.
    fn assert_complete(self, outcome: Outcome, decision: &Decision) {
        let at_the_limit = self.frames.base == Some(At::Limit) || self.spent == Spent::Money;
        let proven_at_the_limit = outcome == Outcome::Done && at_the_limit;
        assert!(self.is_steering(), "{self:?}");
        assert!(self.frames.inner.is_none() || proven_at_the_limit, "{self:?}");
        let Some(Event::Stopped(stopped)) = decision.events.first() else {
            panic!("an end is recorded: {self:?}");
        };
        let passed = stopped.receipts.iter().filter(|receipt| receipt.status == Status::Pass);
        if outcome == Outcome::Done {
            assert_eq!(self.criteria, [Kind::Check(Status::Pass)], "{self:?}");
            assert_eq!((passed.count(), decision.rule), (1, Rule::Proof), "{self:?}");
        } else {
            assert_eq!(outcome, Outcome::Attested, "{self:?}");
            assert!(self.claims(), "{self:?}");
            assert_eq!(passed.count(), stopped.receipts.len(), "{self:?}");
        }
    }
}
