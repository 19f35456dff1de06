use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use crate::scene::{NOON, command, criterion, frame, receipt, started};
use crate::{
    Criterion, Decision, Event, Leave, LoopWorktree, Marker, Mode, Outcome, Phase, Policy, Proof,
    Seen, State, Status, Verdict, apply, conclude, decide,
};

/// A loop in a worktree.
fn placed(criteria: Vec<Criterion>) -> State {
    let begun = started(Policy::default(), frame(Mode::Loop, 0, 9, "work"), criteria);
    let worktree = LoopWorktree {
        directory: "/work-l1".into(),
        branch: "stopgate/l1".into(),
        target: "main".into(),
        is_proven: false,
    };
    let state = apply(None, &begun, NOON);
    apply(state, &Event::Placed(Box::new(worktree)), NOON).expect("a loop")
}

fn checked() -> State {
    placed(vec![criterion("tests", command("make test"))])
}

fn seen(status: Status) -> Seen {
    Seen { receipts: vec![receipt("tests", status, "")], ..Seen::default() }
}

fn after(state: State, decision: &Decision) -> State {
    let mut events = decision.events.iter();
    events.try_fold(state, |state, event| apply(Some(state), event, NOON)).expect("a loop")
}

fn is_proven(state: &State) -> bool {
    state.worktree.as_ref().is_some_and(|worktree| worktree.is_proven)
}

#[test]
fn the_work_is_where_the_worktree_is_until_it_is_merged() {
    let state = checked();
    assert_eq!((state.root(), &*state.project), ("/work-l1", "/work"));
    let merged = apply(Some(state), &Event::Merged { commit: "c".into() }, NOON).expect("a loop");
    assert_eq!(merged.root(), "/work");
}

#[test]
fn a_proof_in_a_worktree_is_not_the_end() {
    let proven = decide(&checked(), &seen(Status::Pass), NOON);
    assert_eq!(proven.verdict, Verdict::Allow(Leave::Merge));
    let state = after(checked(), &proven);
    assert_eq!((state.outcome(), is_proven(&state)), (None, true));
    assert_eq!(state.phase, Phase::Completing);
    // An agent that is sent back has something left to do.
    let sent_back = after(state.clone(), &decide(&state, &seen(Status::Fail), NOON));
    assert!(!is_proven(&sent_back));
}

#[test]
fn the_merge_ends_it_as_its_own_receipts_say() {
    let state = after(checked(), &decide(&checked(), &seen(Status::Pass), NOON));
    let merged = apply(Some(state.clone()), &Event::Merged { commit: "c".into() }, NOON);
    let merged = merged.expect("a loop");
    assert_eq!(conclude(&merged, &seen(Status::Fail)), None);
    let done = conclude(&merged, &seen(Status::Pass)).expect("a conclusion");
    assert_eq!(after(merged, &done).outcome(), Some(Outcome::Done));
    // A person's word alone does not end it before.
    let early = conclude(&state, &seen(Status::Pass)).expect("a conclusion");
    assert_eq!(early.verdict, Verdict::Allow(Leave::Merge));
}

#[test]
fn a_claim_is_merged_too_and_limits_end_as_ever() {
    let claims = Seen { markers: vec![Marker::PromiseComplete], ..Seen::default() };
    let loose = placed(vec![criterion("said", Proof::Attest)]);
    assert_eq!(decide(&loose, &claims, NOON).verdict, Verdict::Allow(Leave::Merge));
    let mut spent = checked();
    spent.frames[0].iteration = spent.frames[0].max;
    let ended = decide(&spent, &seen(Status::Fail), NOON);
    assert_eq!(after(spent, &ended).outcome(), Some(Outcome::MaxIterations));
}

#[test]
fn a_held_merge_can_be_tried_again() {
    let state = after(checked(), &decide(&checked(), &seen(Status::Pass), NOON));
    let why = "a conflict".to_string();
    let held = Event::Ended { outcome: Outcome::NeedsApproval, why };
    let held = apply(Some(state), &held, NOON);
    let again = apply(held, &Event::Resumed { max_iterations: None }, NOON).expect("a loop");
    assert!(is_proven(&again) && again.outcome().is_none());
}
