use alloc::string::String;
use alloc::vec;

use super::{FirstRun, note_first_runs};
use crate::criterion::{Criterion, Proof};
use crate::receipt::{Evidence, Receipt, Status, Tests};
use crate::time::Timestamp;

fn criterion(first: Option<FirstRun>, ran: Option<u32>) -> Criterion {
    let proof = Proof::Check { command: "true".into(), timeout_ms: 1 };
    Criterion { first, tests: ran.map(tests), ..Criterion::new("tests", proof) }
}

fn tests(collected: u32) -> Tests {
    Tests { collected, ..Tests::default() }
}

fn receipt(status: Status, ran: Option<u32>) -> Receipt {
    Receipt {
        criterion: "tests".into(),
        status,
        exit_code: None,
        duration_ms: 240_000,
        tail: String::new(),
        output_bytes: 0,
        log: None,
        trouble: None,
        at: Timestamp::from_unix_millis(1),
        evidence: Evidence { tests: ran.map(tests), ..Evidence::default() },
    }
}

#[test]
fn the_tests_of_the_start_are_the_floor_whatever_a_stop_counted() {
    for counted in [None, Some(3), Some(12)] {
        let mut criteria = vec![criterion(Some(FirstRun::default()), counted)];
        assert!(criteria[0].awaits_first_run());
        note_first_runs(&mut criteria, &[receipt(Status::Pass, Some(7))]);
        assert_eq!(criteria[0].tests, Some(tests(7)));
        let result = criteria[0].first.as_ref().unwrap().result.unwrap();
        assert_eq!((result.status, result.duration_ms), (Status::Pass, 240_000));
        assert!(!criteria[0].awaits_first_run());
    }
}

#[test]
fn a_run_that_counted_nothing_leaves_the_floor_as_it_is() {
    let mut criteria = vec![criterion(Some(FirstRun::default()), Some(3))];
    note_first_runs(&mut criteria, &[receipt(Status::Timeout, None)]);
    assert_eq!(criteria[0].tests, Some(tests(3)));
    assert!(!criteria[0].awaits_first_run());
}

#[test]
fn it_is_noted_once_and_only_where_it_is_waited_for() {
    let mut criteria = vec![criterion(Some(FirstRun::default()), None), criterion(None, Some(9))];
    criteria[1].name = "other".into();
    let other = Receipt { criterion: "other".into(), ..receipt(Status::Pass, Some(1)) };
    note_first_runs(&mut criteria, &[receipt(Status::Pass, Some(7)), other]);
    note_first_runs(&mut criteria, &[receipt(Status::Pass, Some(1))]);
    assert_eq!(criteria[0].tests, Some(tests(7)));
    assert_eq!((criteria[1].tests, &criteria[1].first), (Some(tests(9)), &None));
}
