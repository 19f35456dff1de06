use std::path::Path;

use stopgate_core::{Criterion, Proof, Receipt, Status, Tests, Timestamp};

use super::{TestFloor, floor, read};
use crate::baseline::{self, CommandExit};
use crate::check::Run;

const BAD: &str = "..F       [100%]\n=== short test summary info ===\n\
     FAILED a.py::test_bad - assert 0\n1 failed, 2 passed in 0.01s\n";
const GOOD: &str = "...       [100%]\n3 passed in 0.01s\n";
const DIED: &str = "=== test session starts ===\nplatform linux\ncollected 2 items\n\na.py .";

fn run(status: Status, text: &str) -> Run {
    let receipt = Receipt {
        exit_code: Some(i32::from(status != Status::Pass)),
        duration_ms: 1,
        output_bytes: text.len() as u64,
        ..Receipt::new("tests", status, Timestamp::from_unix_millis(0))
    };
    Run { receipt, text: Some(text.into()) }
}

fn criterion(command: &str) -> Criterion {
    Criterion::new("tests", Proof::Check { command: command.into(), timeout_ms: 1000 })
}

fn told(criterion: &Criterion, status: Status, text: &str) -> String {
    let receipt = read(criterion, run(status, text), Path::new("/home/me/demo"));
    match receipt.trouble {
        Some(trouble) => format!("{}: {trouble}", receipt.status),
        None => receipt.status.to_string(),
    }
}

#[test]
fn an_exit_code_of_zero_is_no_pass_where_the_runner_says_otherwise() {
    let twice = format!("{BAD}{GOOD}");
    let two = format!("{BAD}.......       [100%]\n7 passed in 0.02s\n");
    let expected = format!("{GOOD}{BAD}");
    let failed = "fail: exit code 0, but pytest reports 1 failed";
    let died = "fail: exit code 0, but pytest began 2 tests and never reported a result";
    let rows = [
        ("pytest", GOOD, "pass"),
        ("pytest", BAD, failed),
        ("pytest || true", BAD, failed),
        ("pytest | tee log", BAD, failed),
        ("pytest || pytest", &twice, "pass"),
        ("pytest api && pytest web", &two, failed),
        ("pytest api && sh more.sh", &two, "pass"),
        ("pytest api; pytest web", &two, "pass"),
        ("pytest || true && pytest web", &two, "pass"),
        ("! pytest bad.py", BAD, "pass"),
        ("pytest a && ! pytest bad.py", &expected, "pass"),
        ("pytest a; pytest b", &expected, failed),
        ("pytest", DIED, died),
        ("pytest | head -5", DIED, "pass"),
        ("pytest || true", DIED, died),
        ("./check.sh", "all 3 failed over\n", "pass"),
        ("./check.sh", "", "pass"),
    ];
    for (command, text, expected) in rows {
        assert_eq!(told(&criterion(command), Status::Pass, text), expected, "{command}");
    }
    assert_eq!(told(&criterion("pytest"), Status::Fail, GOOD), "fail");
}

#[test]
fn what_failed_before_may_fail_with_any_exit_code() {
    let root = Path::new("/home/me/demo");
    let mut criterion = criterion("pytest || true");
    criterion.terms.baseline = baseline::take(BAD, CommandExit::Failed, root).ok();
    let known = "pass: only what failed before the start fails";
    assert_eq!(told(&criterion, Status::Pass, BAD), known);
    assert_eq!(told(&criterion, Status::Fail, BAD), known);
    let more = BAD.replace("test_bad", "test_other");
    let new = "fail: 1 new failure: a.py::test_other";
    assert_eq!(told(&criterion, Status::Pass, &more), new);
}

const fn tests(collected: u32, skipped: u32) -> Tests {
    Tests { collected, failed: 0, skipped }
}

#[test]
fn the_floor_is_what_ran() {
    let fewer = |before, now| TestFloor::Fewer { before, now };
    let rows = [
        (None, Some(tests(3, 0)), TestFloor::Unknown),
        (None, None, TestFloor::Unknown),
        (Some(tests(3, 0)), Some(tests(3, 0)), TestFloor::Kept),
        (Some(tests(3, 0)), Some(tests(9, 6)), TestFloor::Kept),
        (Some(tests(5, 2)), Some(tests(3, 0)), TestFloor::Kept),
        (Some(tests(3, 0)), Some(tests(4, 3)), fewer(3, 1)),
        (Some(tests(3, 0)), Some(tests(2, 0)), fewer(3, 2)),
        (Some(tests(3, 0)), Some(tests(3, 1)), fewer(3, 2)),
        (Some(tests(3, 0)), None, fewer(3, 0)),
        (Some(tests(3, 3)), None, TestFloor::Kept),
        (Some(tests(0, 0)), Some(tests(0, 0)), TestFloor::Kept),
    ];
    for (before, now, expected) in rows {
        assert_eq!(floor(before, now), expected, "{before:?} {now:?}");
    }
    let said = [fewer(3, 1), fewer(3, 0)].map(|floor| floor.to_string());
    let words = ["fewer tests ran than at the start: 1, were 3", "no test ran, 3 did at the start"];
    assert_eq!(said, words);
}

#[test]
fn fewer_tests_are_a_fact_and_not_a_verdict() {
    let mut criterion = criterion("pytest");
    criterion.tests = Some(tests(90, 0));
    assert_eq!(told(&criterion, Status::Pass, GOOD), "pass");
    assert_eq!(told(&criterion, Status::Pass, "no output of a runner"), "pass");
}
