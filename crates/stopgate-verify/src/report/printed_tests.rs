//! What tests and programs print is not what their runner says.

use std::fmt::Write;

use super::{failed_names, nothing_ran, read};

fn kept(file: &str) -> String {
    let path = format!("{}/tests/reports/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).expect("a kept output")
}

/// `ran 3, 1 failed, 2 skipped`, and the last summaries that are not good.
fn told(output: &str) -> String {
    let Some(report) = read(output) else { return "not recognised".into() };
    let tests = report.tests;
    let mut text =
        format!("ran {}, {} failed, {} skipped", tests.ran(), tests.failed, tests.skipped);
    for last in report.last.iter().filter(|last| last.is_bad()) {
        let _ = write!(text, "; {last}");
    }
    text
}

#[test]
fn captured_outputs_count_only_what_the_runner_says() {
    let rows = [
        ("pytest-printed.txt", "ran 3, 0 failed, 0 skipped"),
        ("pytest-printed-quiet.txt", "ran 3, 0 failed, 0 skipped"),
        ("pytest-twice-quiet.txt", "ran 6, 1 failed, 2 skipped; pytest reports 1 failed"),
        ("pytest-verbose-skips.txt", "ran 3, 1 failed, 2 skipped; pytest reports 1 failed"),
        ("pytest-passes.txt", "ran 3, 0 failed, 0 skipped"),
        ("pytest-xdist.txt", "ran 3, 0 failed, 0 skipped"),
        ("pytest-last-failed.txt", "ran 6, 1 failed, 2 skipped; pytest reports 1 failed"),
        ("pytest-collect-only.txt", "ran 0, 0 failed, 0 skipped"),
        ("pytest-atexit.txt", "ran 2, 1 failed, 0 skipped; pytest reports 1 failed"),
        (
            "pytest-exit.txt",
            "ran 2, 2 failed, 0 skipped; pytest began 2 tests and never reported a result",
        ),
        ("pytest-nested.txt", "ran 2, 0 failed, 0 skipped"),
        ("pytest-none.txt", "ran 0, 0 failed, 0 skipped"),
        ("pytest-collect.txt", "ran 1, 1 failed, 0 skipped; pytest reports 1 failed"),
        ("unittest-printed.txt", "ran 3, 1 failed, 1 skipped; unittest reports 1 failed"),
        ("unittest-printed-verbose.txt", "ran 3, 1 failed, 1 skipped; unittest reports 1 failed"),
        ("unittest-none.txt", "ran 0, 0 failed, 0 skipped"),
        ("node-tap-printed.txt", "ran 4, 1 failed, 3 skipped; TAP reports 1 failed"),
        ("node-spec-printed.txt", "ran 4, 1 failed, 3 skipped; node --test reports 1 failed"),
        ("jest-printed.txt", "ran 2, 0 failed, 2 skipped"),
        ("jest-printed-verbose.txt", "ran 2, 0 failed, 2 skipped"),
        ("jest-json.txt", "ran 2, 0 failed, 2 skipped"),
        ("jest-none.txt", "ran 0, 0 failed, 0 skipped"),
        ("vitest-printed.txt", "ran 2, 1 failed, 2 skipped; vitest reports 1 failed"),
        ("vitest-none.txt", "ran 0, 0 failed, 0 skipped"),
        ("mocha-printed.txt", "ran 2, 1 failed, 2 skipped; mocha reports 1 failed"),
        ("mocha-dot.txt", "ran 2, 1 failed, 2 skipped; mocha reports 1 failed"),
        ("mocha-tap.txt", "ran 2, 1 failed, 0 skipped; TAP reports 1 failed"),
        ("mocha-none.txt", "ran 0, 0 failed, 0 skipped"),
        ("bats.txt", "ran 2, 1 failed, 1 skipped; TAP reports 1 failed"),
        ("bats-pretty.txt", "ran 2, 1 failed, 1 skipped; prove or bats reports 1 failed"),
        ("prove.txt", "ran 3, 1 failed, 0 skipped; prove or bats reports 1 failed"),
        ("prove-verbose.txt", "ran 6, 1 failed, 0 skipped; prove or bats reports 1 failed"),
        ("go-none.txt", "ran 1, 0 failed, 0 skipped"),
        ("go-printed.txt", "ran 2, 0 failed, 1 skipped"),
        ("go-json-printed.txt", "ran 2, 0 failed, 1 skipped"),
        ("cargo-abort.txt", "ran 6, 4 failed, 0 skipped; cargo test reports 4 failed"),
        ("nextest.txt", "ran 5, 2 failed, 1 skipped; nextest reports 2 failed"),
        ("surefire.txt", "ran 3, 2 failed, 1 skipped; Maven reports 2 failed"),
    ];
    for (file, expected) in rows {
        assert_eq!(told(&kept(file)), expected, "{file}");
    }
}

#[test]
fn failing_and_skipped_tests_have_names() {
    let rows: [(&str, &[&str], &[&str]); 15] = [
        (
            "pytest-verbose-skips.txt",
            &["tests/test_a.py::test_bad"],
            &["tests/test_a.py::test_sk", "tests/test_a.py::test_x", "tests/test_a.py:4: platform"],
        ),
        ("pytest-nested.txt", &[], &[]),
        ("pytest-last-failed.txt", &["tests/test_a.py::test_bad"], &[]),
        ("unittest-printed.txt", &["test_d (__main__.T.test_d) (i=0)"], &[]),
        (
            "unittest-printed-verbose.txt",
            &["test_d (__main__.T.test_d) (i=0)"],
            &["test_c (__main__.T.test_c)"],
        ),
        ("node-tap-printed.txt", &["bad"], &["sk", "td", "grp › in2"]),
        ("node-spec-printed.txt", &["n/a.test.js › bad"], &["sk", "in2"]),
        ("jest-printed-verbose.txt", &[], &["later"]),
        ("vitest-printed.txt", &["v/a.test.mjs > math > bad"], &["later"]),
        ("mocha-printed.txt", &["math › bad"], &["later", "pend"]),
        ("bats.txt", &["bad"], &["later"]),
        ("bats-pretty.txt", &["bad"], &["later (skipped: slow)"]),
        ("prove.txt", &["a.t"], &[]),
        ("go-printed.txt", &[], &["TestSkip"]),
        (
            "cargo.txt",
            &["--lib: tests::fails", "--test it: fails", "--doc: src/lib.rs - three"],
            &["tests::slow"],
        ),
    ];
    for (file, failed, skipped) in rows {
        let output = kept(file);
        assert_eq!(failed_names(&output), failed, "{file}");
        assert_eq!(read(&output).expect("a report").skipped, skipped, "{file}");
    }
}

#[test]
fn names_are_few_and_short() {
    let mut output =
        "==== test session starts ====\ncollected 500 items\n\na.py F [100%]\n".to_owned();
    output.push_str("==== short test summary info ====\n");
    for number in 0..500 {
        let _ = writeln!(output, "FAILED a.py::test_{number}[{}]", "x".repeat(1000));
    }
    output.push_str("====== 500 failed in 1.00s ======\n");
    let names = failed_names(&output);
    assert_eq!(names.len(), 100);
    assert!(names.iter().all(|name| name.chars().count() <= 240));
    assert_eq!(read(&output).expect("a report").failures.len(), 500, "all of them count");
}

const CARGO: &str = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; \
     finished in 0.07s\n";
const CARGO_BAD: &str = "test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; \
     0 filtered out; finished in 0.07s\n";
const CARGO_MANY: &str = "test result: ok. 90 passed; 0 failed; 0 ignored; 0 measured; \
     0 filtered out; finished in 0.07s\n";
const RUNNING: &str = "\nrunning 2 tests\ntest a ... ok\n";
const LABEL: &str = "     Running unittests src/lib.rs (target/debug/deps/demo-83)\n";
const FINISHED: &str = "    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.28s\n";
const RERUN: &str = "error: test failed, to rerun pass `--lib`\n";
const TARGETS: &str = "error: 1 target failed:\n    `--lib`\n";

#[test]
fn cargo_counts_programs_and_not_what_they_print() {
    let inner = format!("{RUNNING}{CARGO}");
    let rows: Vec<(Vec<&str>, &str)> = vec![
        (vec![RUNNING, CARGO], "ran 2, 0 failed, 0 skipped"),
        (vec![RUNNING, CARGO, RUNNING, CARGO], "ran 4, 0 failed, 0 skipped"),
        (
            vec![FINISHED, LABEL, RUNNING, CARGO, LABEL, RUNNING, CARGO],
            "ran 4, 0 failed, 0 skipped",
        ),
        // Printed by a test, alone or with a beginning of its own.
        (vec![RUNNING, CARGO_MANY, CARGO], "ran 2, 0 failed, 0 skipped"),
        (vec![RUNNING, "\nrunning 90 tests\n", CARGO_MANY, CARGO], "ran 2, 0 failed, 0 skipped"),
        (vec![RUNNING, "\nrunning 90 tests\n", CARGO], "ran 2, 0 failed, 0 skipped"),
        (vec![RUNNING, LABEL, &inner, CARGO], "ran 2, 0 failed, 0 skipped"),
        (vec![RUNNING, CARGO, CARGO_MANY], "ran 2, 0 failed, 0 skipped"),
        (
            vec![RUNNING, CARGO, CARGO_BAD],
            "ran 2, 1 failed, 0 skipped; cargo test reports 1 failed",
        ),
        (
            vec![RUNNING, CARGO_BAD, CARGO],
            "ran 2, 1 failed, 0 skipped; cargo test reports 1 failed",
        ),
        // A failure in the middle of one invocation counts, one of an earlier try does not.
        (
            vec![RUNNING, CARGO_BAD, RERUN, RUNNING, CARGO, TARGETS],
            "ran 4, 1 failed, 0 skipped; cargo test reports 1 failed",
        ),
        (vec![RUNNING, CARGO_BAD, RERUN, RUNNING, CARGO], "ran 2, 0 failed, 0 skipped"),
        (
            vec![FINISHED, LABEL, RUNNING, CARGO_BAD, RERUN, FINISHED, LABEL, RUNNING, CARGO],
            "ran 2, 0 failed, 0 skipped",
        ),
        // It began and never came to an end.
        (
            vec![LABEL, RUNNING],
            "ran 2, 2 failed, 0 skipped; cargo test began 2 tests and never reported a result",
        ),
        (vec![LABEL, RUNNING, RERUN], "ran 2, 2 failed, 0 skipped; cargo test reports 2 failed"),
        (vec![RUNNING], "not recognised"),
        // Only the results are kept.
        (vec![CARGO], "ran 2, 0 failed, 0 skipped"),
        (vec![CARGO, CARGO], "ran 4, 0 failed, 0 skipped"),
        (vec![CARGO, RUNNING, CARGO], "ran 4, 0 failed, 0 skipped"),
    ];
    for (parts, expected) in rows {
        assert_eq!(told(&parts.concat()), expected, "{parts:#?}");
    }
}

const PYTEST: &str = "===== test session starts =====\nplatform linux -- Python 3.11.7\n\
     collected 3 items\n\na.py ...      [100%]\n\n";
const PASSED: &str = "===== 3 passed in 0.01s =======\n";
const FAILED: &str = "== 2 failed, 1 passed in 0.01s ==\n";
const QUIET: &str = "...                     [100%]\n3 passed in 0.01s\n";
const QUIET_BAD: &str = "..F                     [100%]\n1 failed, 2 passed in 0.01s\n";

#[test]
fn pytest_counts_sessions_and_not_what_tests_print() {
    let nested = format!("{PYTEST}{FAILED}");
    let rows: Vec<(Vec<&str>, &str)> = vec![
        (vec![PYTEST, PASSED], "ran 3, 0 failed, 0 skipped"),
        (vec![PYTEST, PASSED, PYTEST, PASSED], "ran 6, 0 failed, 0 skipped"),
        (vec![QUIET], "ran 3, 0 failed, 0 skipped"),
        (vec![QUIET, QUIET], "ran 6, 0 failed, 0 skipped"),
        (vec![PYTEST, PASSED, QUIET], "ran 6, 0 failed, 0 skipped"),
        (vec![QUIET, PYTEST, PASSED], "ran 6, 0 failed, 0 skipped"),
        // Not as wide as the header, with more passes than items, or after the end.
        (vec![PYTEST, "5 passed in 0.01s\n", PASSED], "ran 3, 0 failed, 0 skipped"),
        (vec![PYTEST, "= 5 passed in 0.01s =\n", PASSED], "ran 3, 0 failed, 0 skipped"),
        (vec![PYTEST, "===== 99 passed in 0.01s =======\n", PASSED], "ran 3, 0 failed, 0 skipped"),
        (vec![PYTEST, PASSED, "9 passed in 0.01s\n"], "ran 3, 0 failed, 0 skipped"),
        (vec![PYTEST, PASSED, FAILED], "ran 3, 0 failed, 0 skipped"),
        (vec![PYTEST, FAILED, PASSED], "ran 3, 2 failed, 0 skipped; pytest reports 2 failed"),
        (vec![QUIET, "9 failed in 0.01s\n"], "ran 3, 0 failed, 0 skipped"),
        (
            vec![QUIET_BAD, "3 passed in 0.01s\n"],
            "ran 3, 1 failed, 0 skipped; pytest reports 1 failed",
        ),
        // Another runner's summary is printed by a test, or is another runner's.
        (vec![PYTEST, CARGO_MANY, PASSED], "ran 3, 0 failed, 0 skipped"),
        (vec![PYTEST, "Ran 50 tests in 0.1s\n\nOK\n", PASSED], "ran 3, 0 failed, 0 skipped"),
        (vec![PYTEST, RUNNING, CARGO, PASSED], "ran 3, 0 failed, 0 skipped"),
        (vec![PYTEST, "TAP version 13\n1..1\nok 1\n", PASSED], "ran 3, 0 failed, 0 skipped"),
        (vec![PYTEST, PASSED, RUNNING, CARGO], "ran 5, 0 failed, 0 skipped"),
        (vec![RUNNING, CARGO, QUIET], "ran 5, 0 failed, 0 skipped"),
        // A session inside a session.
        (vec![PYTEST, &nested, ".\n", PASSED], "ran 3, 0 failed, 0 skipped"),
        // A second try of the same tests counts instead of the first.
        (vec![QUIET_BAD, QUIET], "ran 3, 0 failed, 0 skipped"),
        (vec![QUIET, QUIET_BAD], "ran 6, 1 failed, 0 skipped; pytest reports 1 failed"),
        (vec![PYTEST, FAILED, PYTEST, PASSED], "ran 3, 0 failed, 0 skipped"),
        // One runner's last word is not another's.
        (vec![QUIET_BAD, RUNNING, CARGO], "ran 5, 1 failed, 0 skipped; pytest reports 1 failed"),
        (vec!["3 passed in 0.01s\n"], "ran 3, 0 failed, 0 skipped"),
        (
            vec!["1 failed, 2 passed in 0.01s\n"],
            "ran 3, 1 failed, 0 skipped; pytest reports 1 failed",
        ),
        (vec!["2 passed, 1 deselected in 0.01s\n"], "ran 2, 0 failed, 0 skipped"),
        (vec!["1 passed, 2 xfailed, 1 xpassed in 0.01s\n"], "ran 2, 0 failed, 2 skipped"),
        (vec!["2 passed, 1 rerun in 0.01s\n"], "ran 2, 0 failed, 0 skipped"),
    ];
    for (parts, expected) in rows {
        assert_eq!(told(&parts.concat()), expected, "{parts:#?}");
    }
}

const RULE: &str = "----------------------------------------------------------------------\n";

#[test]
fn runners_without_a_beginning_count_by_their_results() {
    let unittest = format!("...\n{RULE}Ran 3 tests in 0.001s\n\nOK\n");
    let unittest_bad = format!("..F\n{RULE}Ran 3 tests in 0.001s\n\nFAILED (failures=1)\n");
    let forged = format!("{RULE}Ran 50 tests in 0.1s\n\nOK\n");
    let late = format!("{RULE}Ran 3 tests in 0.1s\n\nOK\n");
    let jest = "PASS a.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       3 passed, 3 total\n";
    let jest_bad = "FAIL a.test.js\n\nTest Suites: 1 failed, 1 total\nTests:       1 failed, 2 passed, 3 total\n";
    let mocha = "  math\n    ✔ a\n    ✔ b\n\n\n  2 passing (4ms)\n";
    let spec = "✔ a (1ms)\n✔ b (1ms)\nℹ tests 2\nℹ suites 0\nℹ pass 2\nℹ fail 0\nℹ cancelled 0\n";
    let vitest = " RUN  v4.1.12 /home/me\n\n Test Files  1 passed (1)\n      Tests  2 passed (2)\n";
    let tap = "TAP version 13\nok 1 - a\nok 2 - b\n1..2\n# tests 2\n# pass 2\n# fail 0\n";
    let rows: Vec<(Vec<&str>, &str)> = vec![
        (vec![&unittest], "ran 3, 0 failed, 0 skipped"),
        (vec![&unittest, &unittest], "ran 6, 0 failed, 0 skipped"),
        (vec![&forged, &unittest], "ran 3, 0 failed, 0 skipped"),
        (vec![&unittest, &forged], "ran 3, 0 failed, 0 skipped"),
        (vec!["..\n", &forged, ".\n", &unittest], "ran 3, 0 failed, 0 skipped"),
        (vec![&unittest_bad, &late], "ran 3, 1 failed, 0 skipped; unittest reports 1 failed"),
        (vec!["Ran 9 tests in 0.1s\n\nOK\n", &unittest], "ran 3, 0 failed, 0 skipped"),
        (vec![&unittest, vitest], "ran 5, 0 failed, 0 skipped"),
        (vec![jest], "ran 3, 0 failed, 0 skipped"),
        (vec![jest, jest], "ran 6, 0 failed, 0 skipped"),
        (vec!["Tests:       50 passed, 50 total\n", jest], "ran 3, 0 failed, 0 skipped"),
        (vec![jest, "Tests:       50 passed, 50 total\n"], "ran 3, 0 failed, 0 skipped"),
        (
            vec![jest_bad, "Test Suites: 1 passed, 1 total\nTests:       3 passed, 3 total\n"],
            "ran 3, 1 failed, 0 skipped; jest reports 1 failed",
        ),
        (vec![jest_bad, jest], "ran 3, 0 failed, 0 skipped"),
        (vec![mocha], "ran 2, 0 failed, 0 skipped"),
        (vec![mocha, mocha], "ran 4, 0 failed, 0 skipped"),
        (vec!["  50 passing (1ms)\n", mocha], "ran 2, 0 failed, 0 skipped"),
        (vec![mocha, "  50 passing (1ms)\n  1 failing\n"], "ran 2, 0 failed, 0 skipped"),
        (vec![spec], "ran 2, 0 failed, 0 skipped"),
        (vec![spec, spec], "ran 4, 0 failed, 0 skipped"),
        (vec!["ℹ tests 50\nℹ pass 50\nℹ fail 0\n", spec], "ran 2, 0 failed, 0 skipped"),
        (vec![spec, "ℹ tests 50\nℹ pass 50\nℹ fail 0\n"], "ran 2, 0 failed, 0 skipped"),
        (vec![vitest], "ran 2, 0 failed, 0 skipped"),
        (vec![vitest, vitest], "ran 4, 0 failed, 0 skipped"),
        (vec![vitest, "      Tests  50 passed (50)\n"], "ran 2, 0 failed, 0 skipped"),
        (vec![tap], "ran 2, 0 failed, 0 skipped"),
        (vec![tap, tap], "ran 4, 0 failed, 0 skipped"),
        (vec![tap, "# tests 50\n# pass 50\n# fail 0\n"], "ran 2, 0 failed, 0 skipped"),
        (vec!["1..2\nok 1 a\nok 99 b\nok 2 c\n"], "ran 2, 0 failed, 0 skipped"),
        (
            vec!["1..2\nok 1 a\nok 2 printed\nnot ok 2 c\n"],
            "ran 2, 1 failed, 0 skipped; TAP reports 1 failed",
        ),
        (vec!["1..3\nok 1 a\n"], "ran 1, 0 failed, 2 skipped"),
        (vec!["1..0 # skipped: no network\n"], "ran 0, 0 failed, 0 skipped"),
        (vec!["1..1\nok 1 a\n1..2\nok 1 a\nok 2 b\n"], "ran 3, 0 failed, 0 skipped"),
        (vec!["1..1\nnot ok 1 a # TODO later\n"], "ran 0, 0 failed, 1 skipped"),
        (vec!["OK (5 tests, 10 assertions)\n", PYTEST, PASSED], "ran 3, 0 failed, 0 skipped"),
        (
            vec!["Time: 00:00.003, Memory: 8.00 MB\n\nOK (5 tests, 10 assertions)\n"],
            "ran 5, 0 failed, 0 skipped",
        ),
        (
            vec!["9 examples, 9 failures\n", "Finished in 0.1 seconds\n3 examples, 0 failures\n"],
            "ran 3, 0 failed, 0 skipped",
        ),
    ];
    for (parts, expected) in rows {
        assert_eq!(told(&parts.concat()), expected, "{parts:#?}");
    }
}

#[test]
fn errors_that_vitest_ignores_are_not_its_last_word() {
    let output = " RUN  v4.1.12 /home/me\n\n Test Files  1 passed (1)\n      Tests  2 passed (2)\n\
                       Errors  1 error\n";
    assert_eq!(told(output), "ran 2, 1 failed, 0 skipped");
}

#[test]
fn a_runner_that_ran_nothing_says_so() {
    let rows = [
        ("no tests ran in 0.01s", Some("no test ran: the runner found none")),
        (
            "collected 0 items\n\n=== no tests ran in 0.01s ===",
            Some("no test ran: the runner found none"),
        ),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", Some("no test ran: the runner found none")),
        ("?   \texample.com/d\t[no test files]", Some("no test ran: the runner found none")),
        ("ok  \texample.com/d\t0.1s [no tests to run]", Some("no test ran: the runner found none")),
        ("No tests found, exiting with code 0", Some("no test ran: the runner found none")),
        ("No test files found, exiting with code 0", Some("no test ran: the runner found none")),
        ("\n  0 passing (1ms)\n", Some("no test ran: the runner found none")),
        ("ℹ tests 0\nℹ suites 0\nℹ pass 0\nℹ fail 0", Some("no test ran: the runner found none")),
        ("3 skipped in 0.01s", Some("no test ran: all 3 were skipped")),
        ("1 skipped in 0.01s", Some("no test ran: the only one was skipped")),
        ("1 passed, 3 skipped in 0.01s", None),
    ];
    for (output, expected) in rows {
        let tests = read(output).unwrap_or_else(|| panic!("{output}")).tests;
        assert_eq!(nothing_ran(tests).as_deref(), expected, "{output}");
    }
}
