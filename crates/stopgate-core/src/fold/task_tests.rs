use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec;

use crate::scene::{NOON, frame, started};
use crate::{
    Event, Mode, Outcome, Phase, Policy, SessionId, State, Surface, TaskHold, TaskNote, apply,
};

pub(super) fn task(hold: TaskHold) -> Event {
    Event::Task(Box::new(TaskNote { steps: vec!["{}".to_string()], hold }))
}

pub(super) fn begin_hold(session: &str) -> TaskHold {
    let frame = frame(Mode::Loop, 0, 7, "iterate");
    TaskHold::Begin { session: SessionId::new(session), frame }
}

fn after(state: State, event: &Event) -> State {
    apply(Some(state), event, NOON).expect("a loop stays one")
}

fn begun() -> State {
    let start = started(Policy::default(), frame(Mode::Loop, 0, 20, "work"), vec![]);
    apply(None, &start, NOON).expect("a loop")
}

#[test]
fn a_tasks_steps_follow_every_end_but_a_cancel() {
    let task_loop = State { surface: Surface::Tools, ..begun() };
    for outcome in Outcome::ALL {
        let over = after(task_loop.clone(), &Event::Ended { outcome, why: "so".to_string() });
        let again = after(over.clone(), &task(begin_hold("s9")));
        if outcome == Outcome::Cancelled {
            assert_eq!(again, over);
        } else {
            assert_eq!(again.phase, Phase::Active, "{outcome}");
            assert_eq!(again.session, SessionId::new("s9"), "{outcome}");
            assert_eq!((again.frames.len(), again.frames[0].max), (1, 7), "{outcome}");
        }
    }
}

#[test]
fn a_task_that_is_open_holds_nobody_and_one_that_ended_neither() {
    let task_loop = State { surface: Surface::Tools, ..begun() };
    let held = after(task_loop, &task(begin_hold("s9")));
    assert_eq!(after(held.clone(), &task(TaskHold::Keep)).session, SessionId::new("s9"));
    let why = "so".to_string();
    let over = after(held.clone(), &task(TaskHold::End { outcome: Outcome::Attested, why }));
    assert_eq!(over.outcome(), Some(Outcome::Attested));
    let open = after(over, &task(TaskHold::Open));
    assert_eq!((open.outcome(), open.session), (None, None));
}

#[test]
fn steps_of_a_task_are_nothing_to_a_loop_that_is_none() {
    for hold in [TaskHold::Keep, begin_hold("s9"), TaskHold::Open] {
        assert_eq!(after(begun(), &task(hold)), begun());
    }
}
