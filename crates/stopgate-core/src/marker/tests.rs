use alloc::vec::Vec;

use super::*;

const ALL: [Marker; 10] = [
    Marker::LoopDoneComplete,
    Marker::LoopDoneMaxIterations,
    Marker::LoopDoneStuck,
    Marker::IssueComplete,
    Marker::GrindDoneNoMoreIssues,
    Marker::GrindDoneMaxIssues,
    Marker::PromiseComplete,
    Marker::PromiseBlocked,
    Marker::PromiseEscalate,
    Marker::LoopComplete,
];

#[test]
fn each_mode_hears_its_own_claims() {
    check(
        Mode::Loop,
        Signal::Complete,
        &[Marker::LoopDoneComplete, Marker::PromiseComplete, Marker::LoopComplete],
    );
    check(
        Mode::Issue,
        Signal::Complete,
        &[
            Marker::LoopDoneComplete,
            Marker::IssueComplete,
            Marker::PromiseComplete,
            Marker::LoopComplete,
        ],
    );
    check(
        Mode::Grind,
        Signal::Complete,
        &[Marker::GrindDoneNoMoreIssues, Marker::GrindDoneMaxIssues],
    );
}

#[test]
fn every_mode_hears_the_honest_exits() {
    for mode in [Mode::Loop, Mode::Issue, Mode::Grind] {
        check(mode, Signal::Blocked, &[Marker::LoopDoneStuck, Marker::PromiseBlocked]);
        check(mode, Signal::Escalate, &[Marker::PromiseEscalate]);
    }
}

#[test]
fn who_says_two_things_is_heard_by_the_more_honest_one() {
    let (blocked, escalate) = (Marker::PromiseBlocked, Marker::PromiseEscalate);
    for other in ALL {
        for said in [[blocked, other], [other, blocked]] {
            assert_eq!(signal(Mode::Loop, &said), Some(Signal::Blocked), "{said:?}");
        }
    }
    for said in [[escalate, Marker::PromiseComplete], [Marker::PromiseComplete, escalate]] {
        assert_eq!(signal(Mode::Loop, &said), Some(Signal::Escalate), "{said:?}");
    }
}

#[test]
fn silence_is_no_signal() {
    for mode in [Mode::Loop, Mode::Issue, Mode::Grind] {
        assert_eq!(signal(mode, &[]), None);
    }
}

#[track_caller]
fn check(mode: Mode, wanted: Signal, expected: &[Marker]) {
    let heard = ALL.into_iter().filter(|marker| signal(mode, &[*marker]) == Some(wanted));
    assert_eq!(heard.collect::<Vec<_>>(), expected, "{mode}: {wanted:?}");
}
