//! Loops whose frames a file tells, and what a resume keeps.

use alloc::vec;
use alloc::vec::Vec;

use crate::scene::{NOON, frame, started};
use crate::{Event, FRAMES_MAX, Frame, Mode, Order, Outcome, Policy, State, apply};

fn begun(order: Order) -> State {
    let policy = Policy { order, ..Policy::default() };
    let event = started(policy, frame(Mode::Loop, 3, 20, "work"), Vec::new());
    apply(None, &event, NOON).expect("a start begins a loop")
}

fn told(state: State, frames: Vec<Frame>) -> State {
    apply(Some(state), &Event::Synced { frames }, NOON).expect("a loop stays a loop")
}

#[test]
fn a_file_tells_the_frames_of_its_own_loop() {
    for order in [Order::Idle, Order::Features, Order::Criteria, Order::Task] {
        let frames = vec![frame(Mode::Loop, 7, 9, "outer"), frame(Mode::Issue, 1, 2, "inner")];
        assert_eq!(told(begun(order), frames.clone()).frames, frames, "{order:?}");
    }
}

#[test]
fn a_native_loop_counts_for_itself() {
    let native = begun(Order::Native);
    assert_eq!(told(native.clone(), vec![frame(Mode::Loop, 7, 9, "x")]).frames, native.frames);
}

#[test]
fn a_file_with_no_frame_or_too_many_tells_nothing() {
    let before = begun(Order::Idle);
    let one = frame(Mode::Loop, 1, 2, "x");
    assert_eq!(told(before.clone(), Vec::new()).frames, before.frames);
    assert_eq!(told(before.clone(), vec![one.clone(); FRAMES_MAX + 1]).frames, before.frames);
    assert_eq!(told(before, vec![one; FRAMES_MAX]).frames.len(), FRAMES_MAX);
}

#[test]
fn a_resume_forgives_everything_but_the_count() {
    let mut spent = begun(Order::Native);
    spent.tally.stops = 9;
    spent.tally.idle = 3;
    let ended = Event::Ended { outcome: Outcome::Stalled, why: "idle".into() };
    let over = apply(Some(spent), &ended, NOON).expect("a loop stays a loop");
    let resumed = apply(Some(over), &Event::Resumed { max_iterations: None }, NOON);
    let tally = resumed.expect("a loop stays a loop").tally;
    assert_eq!((tally.stops, tally.idle), (9, 0));
}
