use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use super::task_tests::{begin_hold, task};
use crate::scene::{NOON, check, command, criterion, frame, receipt, started};
use crate::{
    Binding, Decision, Event, FRAMES_MAX, Facts, Leave, Marker, Mode, Outcome, Parking, Phase,
    Policy, Proof, Rest, Rule, Ruling, Seen, SessionId, Speaker, State, Status, Stopped, Tally,
    TaskHold, Timestamp, ToolUse, UnparkedBy, Verdict, WaitCondition, apply, decide, due, fold,
};

#[test]
fn nothing_begins_without_a_start() {
    for event in one_of_each().into_iter().filter(|event| !matches!(event, Event::Started(_))) {
        assert_eq!(fold([(&event, NOON)]), None, "{event:?}");
    }
}

#[test]
fn a_loop_begins_once() {
    check(
        "loop 3/20
        state => active 3/20",
    );
    let mut again = begun();
    again.updated_at = NOON.plus(5);
    assert_eq!(apply(Some(begun()), &start(), NOON.plus(5)), Some(again));
}

#[test]
fn a_resume_follows_every_outcome_that_permits_it() {
    for outcome in Outcome::ALL {
        let over = after(begun(), &Event::Ended { outcome, why: "so".to_string() });
        let resumed = after(over.clone(), &Event::Resumed { max_iterations: Some(30) });
        if outcome.can_resume() {
            assert_eq!((resumed.phase, resumed.frames[0].max), (Phase::Active, 30), "{outcome}");
        } else {
            assert_eq!(resumed, over, "{outcome}");
        }
    }
    let refused = Outcome::ALL.into_iter().filter(|outcome| !outcome.can_resume());
    let words: Vec<&str> = refused.map(Outcome::word).collect();
    assert_eq!(words, ["done", "attested", "cancelled", "aborted"]);
}

#[test]
fn cancel_is_final_against_every_event() {
    for outcome in Outcome::ALL {
        let over = after(begun(), &Event::Ended { outcome, why: "so".to_string() });
        let cancelled = after(over, &cancel());
        assert!(is_cancelled(&cancelled) || !outcome.can_resume(), "{outcome}");
        for event in one_of_each() {
            let later = after(cancelled.clone(), &event);
            assert_eq!(later, cancelled, "{outcome}, then cancel, then {event:?}");
        }
    }
    for event in one_of_each() {
        let cancelled = after(after(begun(), &event), &cancel());
        assert!(cancelled.outcome().is_some(), "{event:?}");
        assert_eq!(after(cancelled.clone(), &Event::Resumed { max_iterations: None }), cancelled);
    }
}

#[test]
fn an_end_is_changed_only_by_a_resume_or_a_cancel() {
    for outcome in Outcome::ALL {
        let over = after(begun(), &Event::Ended { outcome, why: "so".to_string() });
        for event in one_of_each() {
            let by_person = matches!(
                event,
                Event::Resumed { .. }
                    | Event::Resealed { .. }
                    | Event::JudgesApproved { .. }
                    | Event::Ended { outcome: Outcome::Cancelled, .. }
            );
            let changed = after(over.clone(), &event) != over;
            assert_eq!(changed, by_person && outcome.can_resume(), "{outcome}, {event:?}");
        }
    }
}

#[test]
fn a_resumed_loop_goes_on_where_it_was_and_is_forgiven() {
    check(
        "loop 0/20
        stop*3 no tools => continue 3/20
        stop no tools   => escalate stalled
        resume
        state           => active 3/20
        stop*3 no tools => continue 6/20
        stop no tools   => escalate stalled",
    );
    check(
        "loop 0/2
        stop*2 => continue 2/2
        stop   => escalate max_iterations
        resume
        stop   => escalate max_iterations
        resume 3
        stop   => continue 3/3",
    );
    check(
        "loop 0/20, idle 0, cap 2
        stop*2 no tools => continue 2/20
        stop no tools   => escalate capped
        resume
        stop no tools   => continue 3/20",
    );
    check("loop 0/20\n ends blocked\n later 300m\n resume\n minutes => 0\n stop => continue 1/20");
}

#[test]
fn a_stale_loop_can_be_revived() {
    check(
        "loop 0/20
        later 30m
        stop    => continue 1/20
        later 13h
        stop    => escalate stale
        later 24h
        resume
        minutes => 30
        stop    => continue 2/20",
    );
    check(
        "loop 0/20
        later 30m
        ask which one?
        later 13h
        stop    => escalate needs_input
        resume
        minutes => 30
        stop    => continue 1/20",
    );
}

#[test]
fn rest_is_counted_once_and_wholly() {
    check(
        "loop 0/20
        later 10m
        pause
        later 60m
        pause
        later 60m
        resume
        minutes => 10",
    );
    check(
        "loop 0/20
        later 10m
        ask which one?
        later 60m
        ask and that one?
        later 60m
        hold
        later 60m
        person p2
        later 5m
        minutes => 15",
    );
    check(
        "loop 0/20
        later 10m
        pause
        later 60m
        ends blocked
        minutes => 10
        later 60m
        resume
        minutes => 10",
    );
}

#[test]
fn a_hold_ends_when_the_person_speaks_and_a_pause_does_not() {
    check("loop 0/20\n hold\n person p2\n stop => continue 1/20");
    check("loop 0/20\n hold\n interjects\n stop => allow person\n stop => continue 1/20");
    check("loop 0/20\n hold\n notified p2\n stop => allow paused");
    check("loop 0/20\n pause\n person p2\n stop => allow paused\n resume\n stop => continue 1/20");
}

#[test]
fn a_pause_outlives_the_agents_question() {
    check(
        "loop 0/20
        pause
        ask may I?
        person p2
        stop  => allow paused
        state => paused 0/20",
    );
}

#[test]
fn a_claim_counts_after_background_work_too() {
    check(
        "loop 0/20
        stop runs build => allow background
        notified p2
        done
        state           => completing 0/20
        stop            => complete attested",
    );
    check("loop 0/20\n pause\n done\n state => paused 0/20");
    check("loop 0/20\n ask why?\n done\n state => completing 0/20");
}

#[test]
fn frames_are_bounded_and_the_outermost_stays() {
    let frames: Vec<Event> = (0..20).map(|_| pushed()).collect();
    let deep = frames.iter().fold(begun(), after);
    assert_eq!(deep.frames.len(), FRAMES_MAX);
    assert!(deep.is_sound());
    let flat = (0..20).fold(deep, |state, _| after(state, &Event::Popped));
    assert_eq!(flat.frames, begun().frames);
}

#[test]
fn a_binding_ends_the_claim_window() {
    let mut pending = begun();
    pending.claim_until = Some(NOON.plus(1));
    let session = SessionId::new("s1").expect("a name");
    let bound = after(pending, &Event::Bound { session: session.clone(), how: Binding::Claimed });
    assert_eq!((bound.session, bound.claim_until), (Some(session), None));
    assert_eq!(SessionId::new(" \t"), None);
}

#[test]
fn criteria_remember_how_they_stood() {
    let seen = Seen { receipts: vec![receipt("tests", Status::Fail, "")], ..Seen::default() };
    let state = stopped(begun(), &seen, NOON.plus(7));
    let last = state.criteria[0].last.clone().expect("it was checked");
    assert_eq!((last.status, last.exit_code), (Status::Fail, Some(101)));
    assert_eq!(state.progress_at, NOON.plus(7));
    let idle = Seen { tools: ToolUse::None, ..seen.clone() };
    let idle = stopped(state, &idle, NOON.plus(9));
    assert_eq!((idle.progress_at, idle.updated_at), (NOON.plus(7), NOON.plus(9)));
    let busy = stopped(idle, &Seen { tools: ToolUse::Used, ..seen }, NOON.plus(11));
    assert_eq!(busy.progress_at, NOON.plus(11));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_journal_is_too_strange_to_fold(journal in journal()) {
        let whole = fold(journal.iter().map(|(event, at)| (event, *at)));
        let mut snapshot = None;
        for (event, at) in &journal {
            let frozen = snapshot.clone().filter(is_cancelled);
            snapshot = apply(snapshot, event, *at);
            if frozen.is_some() {
                prop_assert_eq!(&snapshot, &frozen);
            }
        }
        prop_assert_eq!(&snapshot, &whole);
        if let Some(state) = whole {
            let decision = decide(&state, &Seen::default(), NOON);
            prop_assert_eq!(&decision, &decide(&state, &Seen::default(), NOON));
            for event in &decision.events {
                prop_assert!(apply(Some(state.clone()), event, NOON).is_some());
            }
        }
    }

    #[test]
    fn what_is_stored_comes_back_as_it_was(journal in journal()) {
        for (event, _) in &journal {
            let text = serde_json::to_string(event).expect("an event can be written");
            let read: Event = serde_json::from_str(&text).expect("an event can be read");
            prop_assert_eq!(&read, event);
        }
        if let Some(state) = fold(journal.iter().map(|(event, at)| (event, *at))) {
            let text = serde_json::to_string(&state).expect("a state can be written");
            let read: State = serde_json::from_str(&text).expect("a state can be read");
            prop_assert_eq!(read, state);
        }
    }

    #[test]
    fn every_loop_ends_within_its_limit(
        max in 1_u32..12,
        idle in 0_u32..4,
        turns in proptest::collection::vec(turn(), 60),
    ) {
        let policy = Policy { max_idle: idle, ..Policy::default() };
        let criteria = vec![criterion("tests", command("t")), criterion("docs", Proof::Attest)];
        let start = started(policy, frame(Mode::Loop, 0, max, ""), criteria);
        let mut state = apply(None, &start, NOON).expect("a start begins a state");
        let mut text_before = String::new();
        let (mut continued, mut yielded, mut judged) = (0, 0, 0);
        for (before, seen) in turns {
            if let Some(event) = before {
                state = after(state, &event);
            }
            let decision = judge(&state, seen);
            judged += 1;
            for event in &decision.events {
                state = after(state, event);
            }
            match decision.verdict {
                Verdict::Continue { text } => {
                    continued += 1;
                    prop_assert_ne!(&text, &text_before, "no text is sent twice in a row");
                    text_before = text;
                }
                Verdict::Allow(_) => yielded += 1,
                Verdict::Complete { .. } | Verdict::Escalate { .. } => break,
            }
            prop_assert!(continued <= max);
            prop_assert!(judged <= max + yielded);
        }
        prop_assert!(state.outcome().is_some() || judged == 60);
        prop_assert_eq!(state.frames[0].iteration, continued);
    }
}

/// Judges as the engine does: only what is due is checked.
fn judge(state: &State, mut seen: Seen) -> Decision {
    let due: Vec<String> = due(state, &seen, NOON).iter().map(|due| due.name.clone()).collect();
    seen.receipts.retain(|receipt| due.contains(&receipt.criterion));
    decide(state, &seen, NOON)
}

fn start() -> Event {
    let criteria = vec![criterion("tests", command("t"))];
    started(Policy::default(), frame(Mode::Loop, 0, 20, ""), criteria)
}

fn begun() -> State {
    apply(None, &start(), NOON).expect("a start begins a state")
}

fn after(state: State, event: &Event) -> State {
    apply(Some(state), event, NOON).expect("a state stays one")
}

fn stopped(state: State, seen: &Seen, at: Timestamp) -> State {
    let events = decide(&state, seen, at).events;
    events.iter().fold(state, |state, event| apply(Some(state), event, at).expect("a state"))
}

fn is_cancelled(state: &State) -> bool {
    state.outcome() == Some(Outcome::Cancelled)
}

fn cancel() -> Event {
    Event::Ended { outcome: Outcome::Cancelled, why: "a person cancelled it".to_string() }
}

fn pushed() -> Event {
    Event::Pushed { frame: frame(Mode::Issue, 0, 5, "fix it") }
}

fn parked() -> Event {
    Event::Parked(Box::new(Parking {
        condition: WaitCondition::Time { at: NOON.plus(60_000) },
        deadline: NOON.plus(120_000),
        agent: None,
        host: None,
        driver: None,
        held_at: None,
        checks: None,
    }))
}

fn ruled(ruling: Ruling, rule: Rule, popped: u32) -> Event {
    Event::Stopped(Box::new(Stopped {
        rule,
        ruling,
        why: "so".to_string(),
        popped,
        text: String::new(),
        receipts: vec![receipt("tests", Status::Timeout, "late")],
        gates: None,
        facts: Facts::default(),
        tally: Tally::default(),
    }))
}

/// At least one event of every kind, with every variant of what it carries.
fn one_of_each() -> Vec<Event> {
    let word = "so".to_string();
    let session = SessionId::new("s1").expect("a name");
    let mut events = vec![
        start(),
        Event::Bound { session, how: Binding::Carried },
        pushed(),
        Event::Popped,
        Event::Claimed,
        Event::Asked { question: word.clone() },
        Event::Answered { text: word.clone() },
        Event::Edited(Box::default()),
        parked(),
        Event::ConditionHeld,
        Event::Unparked { by: UnparkedBy::Client { process: word.clone() } },
        Event::WakeFailed { why: word.clone() },
        Event::Detached { claim_until: NOON },
        Event::Metered(Box::default()),
        Event::JudgesApproved { digest: word.clone(), by: word.clone() },
        Event::Paused { rest: Rest::NextPrompt },
        Event::Paused { rest: Rest::Resume },
        Event::Resumed { max_iterations: None },
        Event::Resumed { max_iterations: Some(99) },
        Event::Cleared { client: word.clone() },
        Event::Compacted { trigger: word.clone() },
        Event::TurnFailed { error: word.clone(), text: word.clone() },
        Event::SessionEnded { reason: word.clone() },
        Event::Approved { criterion: word.clone() },
        Event::Resealed { seal: word.clone(), changes: vec![word.clone()], source: None },
        Event::Certified { key: word.clone(), signature: word.clone(), repository: None },
        Event::Vouched { how: crate::Vouch::Typed },
        Event::Merged { commit: word.clone() },
        Event::Preflighted { receipts: Vec::new() },
        task(TaskHold::Keep),
        task(begin_hold("s9")),
        task(TaskHold::Open),
        task(TaskHold::End { outcome: Outcome::Blocked, why: word.clone() }),
        ruled(Ruling::Continue, Rule::Continue, 0),
        ruled(Ruling::Continue, Rule::FrameLimit, 7),
        ruled(Ruling::Escalate(Outcome::Stale), Rule::Stale, 0),
    ];
    for speaker in [Speaker::Interjection, Speaker::Person, Speaker::Notification] {
        events.push(Event::Prompted { prompt_id: Some(word.clone()), speaker });
    }
    let leaves = [
        Leave::Ended,
        Leave::Paused,
        Leave::Waiting,
        Leave::Background,
        Leave::Person,
        Leave::Untrusted,
        Leave::Approval,
    ];
    events.extend(leaves.map(|leave| ruled(Ruling::Allow(leave), Rule::Person, u32::MAX)));
    for outcome in Outcome::ALL {
        events.push(Event::Ended { outcome, why: word.clone() });
        events.push(ruled(Ruling::Complete(outcome), Rule::Proof, 1));
    }
    events
}

/// A journal in any order, at any time; most begin with a start.
fn journal() -> impl Strategy<Value = Vec<(Event, Timestamp)>> {
    let times = select(vec![0, 1, -7, 60_000, 90_000_000, i64::MAX, i64::MIN]);
    let event = (select(one_of_each()), times).prop_map(|(event, ms)| (event, NOON.plus(ms)));
    (any::<bool>(), proptest::collection::vec(event, 0..40)).prop_map(|(begun, mut journal)| {
        if begun {
            journal.insert(0, (start(), NOON));
        }
        journal
    })
}

/// What may happen before a stop, and what is seen at it.
fn turn() -> impl Strategy<Value = (Option<Event>, Seen)> {
    let word = "p".to_string();
    let between = select(vec![
        pushed(),
        Event::Popped,
        Event::Claimed,
        Event::Prompted { prompt_id: Some(word.clone()), speaker: Speaker::Interjection },
        Event::Prompted { prompt_id: Some(word), speaker: Speaker::Person },
    ]);
    let statuses = select(vec![Status::Fail, Status::Fail, Status::Error, Status::Pass]);
    let markers = select(vec![
        Marker::PromiseComplete,
        Marker::IssueComplete,
        Marker::GrindDoneMaxIssues,
        Marker::LoopDoneMaxIterations,
    ]);
    let seen = (
        select(vec![ToolUse::Used, ToolUse::None, ToolUse::Unknown]),
        statuses,
        of(markers),
        of(select(vec!["server".to_string(), "build".to_string()])),
        "[a-c]{1,2}",
    );
    (of(between), seen).prop_map(|(before, (tools, status, marker, task, tail))| {
        let receipts = vec![receipt("tests", status, &tail)];
        let markers = marker.into_iter().collect();
        let background = task.into_iter().collect();
        (before, Seen { markers, tools, background, receipts, ..Seen::default() })
    })
}
