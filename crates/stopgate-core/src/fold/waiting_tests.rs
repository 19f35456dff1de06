//! Parked loops, prompts of a person, and terms that a person changes.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec;

use super::task_tests::{begin_hold, task};
use crate::scene::{NOON, command, criterion, frame, started};
use crate::{
    BackgroundChecks, Event, LoopEdit, Mode, Outcome, Parking, Phase, Policy, Proof, Rest, Speaker,
    State, Surface, Tally, Timestamp, UnparkedBy, WaitCondition, Waiting, WokenClient, apply,
};

const MINUTE: i64 = 60_000;

fn begun() -> State {
    let criteria = vec![
        criterion("tests", command("t")),
        criterion("look", Proof::Approve),
        criterion("lint", command("l")),
    ];
    let start = started(Policy::default(), frame(Mode::Loop, 0, 20, "work"), criteria);
    apply(None, &start, NOON).expect("a loop")
}

fn after(state: State, event: &Event, at: Timestamp) -> State {
    apply(Some(state), event, at).expect("a loop stays one")
}

fn parking() -> Parking {
    Parking {
        condition: WaitCondition::Url { url: "http://localhost/".to_string() },
        deadline: NOON.plus(90 * MINUTE),
        agent: None,
        host: None,
        driver: None,
        held_at: None,
        checks: None,
    }
}

fn park() -> Event {
    Event::Parked(Box::new(parking()))
}

fn by_client() -> Event {
    Event::Unparked { by: UnparkedBy::Client { process: "7 1".to_string() } }
}

fn prompted(prompt_id: Option<&str>) -> Event {
    Event::Prompted { prompt_id: prompt_id.map(String::from), speaker: Speaker::Person }
}

fn edited(edit: LoopEdit) -> Event {
    Event::Edited(Box::new(edit))
}

#[test]
fn a_parked_loop_rests_until_its_condition_holds() {
    let parked = after(begun(), &park(), NOON);
    assert_eq!(parked.parking(), Some(&parking()));
    let on = Waiting::Condition(Box::new(parking()));
    assert_eq!(parked.phase, Phase::Waiting { on, since: NOON });
    let by_stop = Event::Unparked { by: UnparkedBy::Stop };
    let woken = after(parked, &by_stop, NOON.plus(5 * MINUTE));
    assert_eq!((woken.phase, woken.rest_ms, woken.woken), (Phase::Active, 5 * MINUTE, None));
}

#[test]
fn a_pause_outlives_the_agents_wait() {
    let paused = after(begun(), &Event::Paused { rest: Rest::Resume }, NOON);
    let later = after(paused.clone(), &park(), NOON);
    assert_eq!(later.phase, paused.phase);
    assert_eq!(later.parking(), None);
}

#[test]
fn that_a_condition_held_is_noted_once_and_only_of_a_parked_loop() {
    let held = |state: State, minutes: i64| {
        after(state, &Event::ConditionHeld, NOON.plus(minutes * MINUTE))
    };
    let parked = held(after(begun(), &park(), NOON), 3);
    let first = parked.parking().and_then(|parking| parking.held_at);
    assert_eq!(first, Some(NOON.plus(3 * MINUTE)));
    let again = held(parked, 4);
    assert_eq!(again.parking().and_then(|parking| parking.held_at), first);
    assert_eq!(held(begun(), 3).phase, Phase::Active);
}

#[test]
fn the_client_that_wakes_a_loop_is_known_until_it_fails() {
    let woken = after(after(begun(), &park(), NOON), &by_client(), NOON.plus(MINUTE));
    let client = WokenClient { process: "7 1".to_string(), at: NOON.plus(MINUTE) };
    assert_eq!(woken.woken, Some(client));
    assert_eq!((&woken.phase, woken.rest_ms), (&Phase::Active, MINUTE));
    let failed = Event::WakeFailed { why: "it is gone".to_string() };
    let over = after(woken, &failed, NOON.plus(2 * MINUTE));
    assert_eq!((over.outcome(), over.woken), (Some(Outcome::NeedsInput), None));
}

#[test]
fn nobody_wakes_or_fails_to_wake_a_loop_that_does_not_wait() {
    let later = NOON.plus(MINUTE);
    let untouched = State { updated_at: later, ..begun() };
    assert_eq!(after(begun(), &by_client(), later), untouched);
    let failed = Event::WakeFailed { why: "it is gone".to_string() };
    assert_eq!(after(begun(), &failed, later), untouched);
}

#[test]
fn a_claim_ends_a_wait_and_the_wait_was_not_work() {
    let claimed = after(after(begun(), &park(), NOON), &Event::Claimed, NOON.plus(MINUTE));
    assert_eq!((claimed.phase, claimed.rest_ms), (Phase::Completing, MINUTE));
}

#[test]
fn a_new_prompt_counts_its_own_refusals() {
    let tally = Tally { refusals: 3, prompt_id: Some("p1".to_string()), ..Tally::default() };
    let state = State { tally, ..begun() };
    for (prompt, refusals, kept) in [(Some("p1"), 3, "p1"), (None, 3, "p1"), (Some("p2"), 0, "p2")]
    {
        let tally = after(state.clone(), &prompted(prompt), NOON).tally;
        assert_eq!(tally.refusals, refusals, "{prompt:?}");
        assert_eq!(tally.prompt_id.as_deref(), Some(kept), "{prompt:?}");
    }
}

#[test]
fn a_resume_keeps_the_prompt_and_forgives_refusals_only_after_an_end() {
    let tally =
        Tally { stops: 9, refusals: 3, prompt_id: Some("p1".to_string()), ..Tally::default() };
    let state = State { tally, ..begun() };
    let resumed = Event::Resumed { max_iterations: None };
    let rested = after(state.clone(), &Event::Paused { rest: Rest::Resume }, NOON);
    let ended = Event::Ended { outcome: Outcome::Blocked, why: "so".to_string() };
    for (before, refusals) in [(rested, 3), (after(state, &ended, NOON), 0)] {
        let tally = after(before, &resumed, NOON).tally;
        assert_eq!((tally.stops, tally.refusals), (9, refusals));
        assert_eq!(tally.prompt_id.as_deref(), Some("p1"));
    }
}

#[test]
fn another_goal_is_told_where_the_goal_was_told() {
    let goal =
        |goal: &str| edited(LoopEdit { goal: Some(goal.to_string()), ..LoopEdit::default() });
    let same = State { goal: "work".to_string(), ..begun() };
    let now = after(same, &goal("work well"), NOON);
    assert_eq!((&*now.goal, &*now.frames[0].prompt), ("work well", "work well"));
    let other = State { goal: "ship".to_string(), ..begun() };
    let now = after(other, &goal("ship it"), NOON);
    assert_eq!((&*now.goal, &*now.frames[0].prompt), ("ship it", "work"), "a text of its own");
}

#[test]
fn an_edit_changes_what_it_names_and_nothing_else() {
    let mut before = begun();
    before.ground.seal = Some("old".to_string());
    let edit = LoopEdit {
        max_iterations: Some(7),
        max_minutes: Some(3),
        max_tokens: Some(11),
        max_cost_micros: Some(13),
        max_quota: Some(17),
        added: vec![criterion("more", command("m"))],
        dropped: vec!["lint".to_string()],
        seal: Some("new".to_string()),
        ..LoopEdit::default()
    };
    let now = after(before.clone(), &edited(edit), NOON);
    assert_eq!((now.frames[0].max, &*now.goal), (7, &*before.goal));
    let policy = now.policy;
    assert_eq!((policy.max_minutes, policy.max_tokens), (3, 11));
    assert_eq!((policy.max_cost_micros, policy.max_quota), (13, 17));
    let names: alloc::vec::Vec<&str> = now.criteria.iter().map(|one| &*one.name).collect();
    assert_eq!(names, ["tests", "look", "more"]);
    assert_eq!(now.ground.seal.as_deref(), Some("new"));
    assert_eq!(after(before.clone(), &edited(LoopEdit::default()), NOON), before);
}

#[test]
fn an_approval_is_of_the_named_criterion_that_waits_for_one() {
    let approved = |name: &str| {
        let event = Event::Approved { criterion: name.to_string() };
        let state = after(begun(), &event, NOON);
        let approved = state.criteria.iter().filter(|one| one.approved_at.is_some());
        approved.map(|one| one.name.clone()).collect::<alloc::vec::Vec<_>>()
    };
    assert_eq!(approved("look"), ["look"]);
    assert_eq!(approved("tests"), alloc::vec::Vec::<String>::new(), "a check is not approved");
    assert_eq!(approved("other"), alloc::vec::Vec::<String>::new());
}

#[test]
fn a_task_that_is_held_again_keeps_its_number_of_stops() {
    let tally = Tally { stops: 5, refusals: 2, ..Tally::default() };
    let state = State { tally, surface: Surface::Tools, ..begun() };
    let held = after(state, &task(begin_hold("s9")), NOON);
    assert_eq!(held.tally, Tally { stops: 5, ..Tally::default() });
}

/// The agent asked for verification, and its checks went on in the background: it need not ask
/// again, no matter what ends the wait.
#[test]
fn a_claim_outlives_a_wait_for_checks() {
    let checks = |claimed| BackgroundChecks {
        names: vec!["tests".to_string()],
        usual_ms: None,
        hook_ms: 1,
        logs: None,
        claimed,
        first: false,
    };
    for (claimed, phase) in [(true, Phase::Completing), (false, Phase::Active)] {
        let parked = Parking { checks: Some(checks(claimed)), ..parking() };
        let parked = after(begun(), &Event::Parked(Box::new(parked)), NOON);
        for by in [Event::Unparked { by: UnparkedBy::Stop }, by_client()] {
            assert_eq!(after(parked.clone(), &by, NOON).phase, phase);
        }
    }
}
