//! Every class, every count, every state of a session.

use super::*;

const LIMITS: FailureLimits =
    FailureLimits { max_failures: 3, retry_after: Duration::from_secs(30), waits: Waits::ForReset };
const STATES: [FailedSessionState; 3] =
    [FailedSessionState::Lost, FailedSessionState::Stored, FailedSessionState::Compacting];

fn failed(class: FailureClass, in_row: u32) -> FailedSession {
    FailedSession {
        class,
        in_row,
        failures: in_row,
        reset_in: None,
        session: FailedSessionState::Stored,
        chance: 0,
    }
}

fn everything() -> Vec<(FailedSession, FailureLimits)> {
    let resets = [None, Some(Duration::ZERO), Some(Duration::from_hours(5))];
    let counted =
        FailureClass::ALL.into_iter().flat_map(|class| (1..=60).map(move |n| failed(class, n)));
    counted
        .flat_map(|one| STATES.map(|session| FailedSession { session, ..one }))
        .flat_map(|one| resets.map(|reset_in| FailedSession { reset_in, ..one }))
        .flat_map(|one| [0, 255].map(|chance| FailedSession { chance, ..one }))
        .flat_map(|one| {
            [Waits::ForReset, Waits::Never].map(|waits| (one, FailureLimits { waits, ..LIMITS }))
        })
        .collect()
}

#[test]
fn no_class_is_tried_for_ever() {
    for (one, limits) in everything().into_iter().filter(|(one, _)| one.in_row > 24) {
        let step = next_step(one, limits);
        assert!(
            matches!(step, NextStep::GiveUp | NextStep::Person | NextStep::Leave),
            "{one:?}: {step:?}"
        );
    }
}

#[test]
fn a_lost_session_is_never_resumed_and_a_stored_one_is_kept_but_for_its_length() {
    for (one, limits) in everything() {
        match next_step(one, limits) {
            NextStep::Resume(_) => assert_ne!(one.session, FailedSessionState::Lost, "{one:?}"),
            NextStep::Fresh(_) => assert!(
                one.session == FailedSessionState::Lost || one.class == FailureClass::Context,
                "{one:?}"
            ),
            NextStep::Person | NextStep::GiveUp | NextStep::Leave => {}
        }
    }
}

#[test]
fn only_rate_limits_end_as_such_and_only_logins_call_a_person() {
    for (one, limits) in everything() {
        let step = next_step(one, limits);
        assert_eq!(step == NextStep::Person, one.class == FailureClass::Auth, "{one:?}");
        if step == NextStep::Leave {
            assert_eq!(one.class, FailureClass::RateLimit, "{one:?}");
        }
        if one.class == FailureClass::RateLimit {
            let leaves = limits.waits == Waits::Never || one.in_row > LIMITS_MAX;
            assert_eq!(step == NextStep::Leave, leaves, "{one:?}");
        }
    }
}

#[test]
fn a_rate_limit_is_waited_for_until_after_its_reset_and_not_much_longer() {
    for (one, limits) in everything() {
        let (NextStep::Resume(wait) | NextStep::Fresh(wait)) = next_step(one, limits) else {
            continue;
        };
        if let (FailureClass::RateLimit, Some(reset)) = (one.class, one.reset_in) {
            assert!(wait > reset && wait <= reset + SLACK + JITTER_MAX, "{one:?}: {wait:?}");
        } else {
            assert!(wait <= LIMIT_PAUSE_MAX + JITTER_MAX, "{one:?}: {wait:?}");
        }
    }
}

#[test]
fn the_table() {
    use FailureClass::{
        Auth, Context, Hang, Killed, Network, Overloaded, RateLimit, Server, Unknown,
    };
    let seconds = |seconds| NextStep::Resume(Duration::from_secs(seconds));
    let step = |class, in_row| next_step(failed(class, in_row), LIMITS);
    assert_eq!(step(RateLimit, 1), seconds(60));
    assert_eq!(step(RateLimit, 2), seconds(120));
    assert_eq!(step(RateLimit, 12), seconds(1800));
    for outage in [Overloaded, Server, Network] {
        assert_eq!(step(outage, 1), seconds(30));
        assert_eq!(step(outage, 2), seconds(60));
        assert_eq!(step(outage, 11), seconds(600));
        assert_eq!(step(outage, 12), NextStep::GiveUp);
    }
    assert_eq!(step(Auth, 1), NextStep::Person);
    assert_eq!(step(Context, 1), NextStep::Fresh(Duration::ZERO));
    assert_eq!(step(Context, 2), NextStep::GiveUp);
    assert_eq!(step(Hang, 1), seconds(0));
    assert_eq!(step(Hang, 2), NextStep::GiveUp);
    for unknown in [Killed, Unknown] {
        assert_eq!(step(unknown, 1), seconds(0));
        assert_eq!(step(unknown, 2), seconds(30));
        assert_eq!(step(unknown, 3), NextStep::GiveUp);
    }
}

#[test]
fn a_client_that_compacts_is_resumed_once_and_then_begun_afresh() {
    let compacting = |in_row| FailedSession {
        session: FailedSessionState::Compacting,
        ..failed(FailureClass::Context, in_row)
    };
    assert_eq!(next_step(compacting(1), LIMITS), NextStep::Resume(Duration::ZERO));
    assert_eq!(next_step(compacting(2), LIMITS), NextStep::Fresh(Duration::ZERO));
    assert_eq!(next_step(compacting(3), LIMITS), NextStep::GiveUp);
}

#[test]
fn failures_of_changing_classes_end_as_well() {
    let mixed = FailedSession { failures: 6, ..failed(FailureClass::Killed, 1) };
    assert_eq!(next_step(mixed, LIMITS), NextStep::GiveUp);
}

#[test]
fn the_older_kinds_of_errors_are_those_of_the_table() {
    for class in FailureClass::ALL {
        let step = next_step(failed(class, 1), LIMITS);
        match kind(class) {
            ErrorKind::Transient | ErrorKind::Unknown => {
                assert!(matches!(step, NextStep::Resume(_)), "{class:?} is tried again");
            }
            ErrorKind::Blocking => assert_eq!(step, NextStep::Person),
            ErrorKind::Logic => assert_eq!(step, NextStep::Fresh(Duration::ZERO)),
        }
    }
}
