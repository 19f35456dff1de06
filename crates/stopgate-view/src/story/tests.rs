//! What a story tells.

use stopgate_core::{LoopState, Outcome};

use super::{CriterionMark, LoopStory, MustAct, PersonsTurn};
use crate::scene::play;

#[track_caller]
fn story(scene: &str) -> LoopStory {
    LoopStory::tell(&play(scene)).expect("a loop")
}

#[test]
fn criteria_turn_green_stop_by_stop() {
    let story = story(
        "loop 20, check tests, check lint\n stop tests fail, lint fail\n \
         stop tests pass, lint fail\n pause\n stop\n resume\n stop tests pass, lint pass",
    );
    let signs = |at: usize| story.criteria[at].marks.iter().map(|m| m.sign()).collect::<String>();
    assert_eq!((signs(0), signs(1)), ("✗✓·✓".into(), "✗✗·✓".into()));
    assert_eq!(story.met(), (2, 2));
    assert_eq!(
        (story.outcome, story.word(), story.act),
        (Some(Outcome::Done), "done", MustAct::Nobody)
    );
    assert_eq!(story.iterations(), (2, 20));
    assert_eq!(story.criteria[0].took_ms, 6_000);
    let kinds: Vec<&str> = story.moments.iter().map(|moment| moment.kind).collect();
    assert_eq!(kinds, ["paused", "resumed"]);
}

#[test]
fn who_must_act_is_said() {
    let act = |scene: &str| story(scene).act;
    assert_eq!(act("loop 20"), MustAct::Agent);
    assert_eq!(act("loop 20\n asked which?"), MustAct::Person(PersonsTurn::Answer));
    assert_eq!(act("loop 20\n pause"), MustAct::Person(PersonsTurn::Resume));
    assert_eq!(act("loop 1\n stop\n stop"), MustAct::Person(PersonsTurn::Look));
    assert_eq!(
        act("loop 9, check tests, approve look\n stop tests pass"),
        MustAct::Person(PersonsTurn::Approve)
    );
    assert_eq!(act("loop 9\n cancel"), MustAct::Nobody);
}

#[test]
fn a_story_can_be_told_as_of_a_stop() {
    let events =
        play("loop 9, check tests\n stop tests fail\n stop tests fail:b\n stop tests pass");
    let then = LoopStory::as_of(&events, 2).expect("a loop");
    assert_eq!((then.stops.len(), then.state, then.iterations()), (2, LoopState::Active, (2, 9)));
    assert_eq!(then.criteria[0].now, CriterionMark::Fail);
    assert_eq!(LoopStory::as_of(&events, 99), LoopStory::tell(&events));
    assert_eq!(LoopStory::as_of(&events, 3).map(|story| story.outcome), Some(Some(Outcome::Done)));
}

#[test]
fn a_claim_and_changed_judges_are_noted() {
    let story = story("loop 9, check tests\n stop tests fail\n stop tests disputed, claim");
    let claims: Vec<bool> = story.stops.iter().map(|stop| stop.is_claim).collect();
    assert_eq!(claims, [false, true]);
    assert_eq!(story.changed_judges, ["tests/cart.rs changed"]);
}
