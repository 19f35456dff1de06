use std::fmt::Write;

use proptest::prelude::*;

use super::{read, read_junit};

/// The report of a kept output in one line for the counts, and one for each failure.
#[track_caller]
fn check(file: &str, expected: &str) {
    let path = format!("{}/tests/reports/{file}", env!("CARGO_MANIFEST_DIR"));
    let output = std::fs::read_to_string(&path).expect("a kept output");
    check_text(&output, expected);
    // The tail alone has the same counts.
    if !file.contains("junit") && !file.contains("go") && !file.contains("collect") {
        let whole = shown(&output);
        let cut: String = output.split_inclusive('\n').skip(1).collect();
        assert_eq!(whole.lines().next(), shown(&cut).lines().next(), "the tail of {file}");
    }
}

#[track_caller]
pub(super) fn check_text(output: &str, expected: &str) {
    let expected: Vec<&str> = expected.trim().lines().map(str::trim).collect();
    let shown = shown(output);
    assert_eq!(shown.lines().collect::<Vec<_>>(), expected, "{shown}");
}

fn shown(output: &str) -> String {
    let Some(report) = read(output) else { return "not recognised".into() };
    let tests = report.tests;
    let mut text = format!("{} tests, {} failed", tests.collected, tests.failed);
    let _ = write!(text, ", {} skipped", tests.skipped);
    for name in report.failures {
        let _ = write!(text, "\n{name}");
    }
    text
}

#[test]
fn cargo_test_is_summed_over_its_programs() {
    let all = "8 tests, 3 failed, 1 skipped
        --lib: tests::fails
        --test it: fails
        --doc: src/lib.rs - three";
    check("cargo.txt", all);
    check("cargo-quiet.txt", all);
    check("cargo-filtered.txt", "2 tests, 0 failed, 0 skipped");
}

#[test]
fn a_program_that_dies_has_failed() {
    let died = "6 tests, 4 failed, 0 skipped
        --lib: ended before its result";
    check("cargo-abort.txt", died);
}

#[test]
fn a_program_without_a_harness_is_one_test_whether_it_passes_or_dies() {
    let head = "
    Finished `test` profile [unoptimized + debuginfo] target(s) in 0.01s
     Running unittests src/lib.rs (target/debug/deps/lease-fe24d1ce8eaaef04)

running 2 tests
..
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

     Running benches/leases.rs (target/debug/deps/leases-babd45d1f8690889)
late: 10 of 10
";
    let more = "     Running tests/cli.rs (target/debug/deps/cli-babd45d1f8690889)
   Doc-tests lease
";
    let died = "error: test failed, to rerun pass `--bench leases`\n";
    check_text(head, "3 tests, 0 failed, 0 skipped");
    check_text(&format!("{head}{more}"), "4 tests, 0 failed, 0 skipped");
    let dead = "3 tests, 1 failed, 0 skipped\n--bench leases: ended before its result";
    check_text(&format!("{head}{died}"), dead);
    let alone = "     Running benches/leases.rs (target/debug/deps/leases-babd45d1f8690889)\n";
    check_text(alone, "1 tests, 0 failed, 0 skipped");
    let silent = format!("     Running unittests src/lib.rs (target/debug/deps/lease-1)\n{alone}");
    check_text(&silent, "1 tests, 0 failed, 0 skipped");
}

#[test]
fn a_quiet_cargo_does_not_tell_of_programs_without_a_harness() {
    let head = "
running 2 tests
..
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

";
    let died = "error: test failed, to rerun pass `--bench leases`\n";
    check_text(head, "2 tests, 0 failed, 0 skipped");
    let dead = "2 tests, 1 failed, 0 skipped\n--bench leases: ended before its result";
    check_text(&format!("{head}{died}"), dead);
}

#[test]
fn ctest_is_read_from_its_summary() {
    let output = "
Test project /tmp/b
    Start 1: good
1/5 Test #1: good .............................   Passed    0.01 sec
    Start 2: bad
2/5 Test #2: bad ..............................***Failed    0.00 sec
==== test session starts ====
collected 5 items
a.py F....
==== 1 failed, 4 passed in 0.1s ====

    Start 3: skip
3/5 Test #3: skip .............................***Skipped   0.00 sec

50% tests passed, 2 tests failed out of 4

Total Test time (real) =   0.01 sec

The following tests did not run:
\t  3 - skip (Skipped)
\t  4 - off (Disabled)

The following tests FAILED:
\t  2 - bad (Failed)
\t  5 - none (Not Run)
Errors while running CTest
";
    check_text(output, "4 tests, 2 failed, 1 skipped\nbad\nnone");
    let good = "100% tests passed, 0 tests failed out of 2\n";
    check_text(good, "2 tests, 0 failed, 0 skipped");
    check_text("100% tests passed out of 2\n", "2 tests, 0 failed, 0 skipped");
    check_text("100% tests passed, all of them", "not recognised");
}

#[test]
fn a_summary_that_a_test_printed_is_not_cargos() {
    let output = "
running 1 test
test a ... FAILED

failures:

---- a stdout ----
test result: ok. 90 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.07s
Ran 50 tests in 0.1s

failures:
    a

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.07s
";
    check_text(output, "1 tests, 1 failed, 0 skipped\na");
}

#[test]
fn documentation_tests_of_one_item_are_told_apart() {
    let output = "
failures:
    src/lib.rs - three (line 6)
    src/lib.rs - three (line 60)

test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.07s
";
    let both = "2 tests, 2 failed, 0 skipped\nsrc/lib.rs - three\nsrc/lib.rs - three #2";
    check_text(output, both);
}

#[test]
fn nextest_is_read_from_its_summary() {
    let all = "6 tests, 2 failed, 1 skipped\ndemo tests::fails\ndemo::it fails";
    check("nextest.txt", all);
    check("nextest-color.txt", all);
    check("nextest-pass.txt", "6 tests, 0 failed, 4 skipped");
    let odd = "
     Summary [   9.182s] 5/9 tests run: 2 passed (1 slow, 1 flaky), 1 failed, 1 timed out, 3 skipped
     TIMEOUT [   8.000s] demo a::b
  TRY 2 SIGABRT [   0.1s] (2/5) demo::it c
   FLAKY 2/2 [   0.01s] demo d
";
    check_text(odd, "12 tests, 2 failed, 7 skipped\ndemo a::b\ndemo::it c");
}

#[test]
fn pytest_is_read_in_every_loudness() {
    let all = "16 tests, 9 failed, 4 skipped
        tests/test_a.py::test_bad
        tests/test_a.py::test_p[2]
        tests/test_a.py::test_p[a b]
        tests/test_a.py::TestK::test_m
        tests/test_u.py::T::test_bad
        tests/test_u.py::T::test_err
        tests/test_u.py::T::test_sub (i=0)
        tests/test_u.py::T::test_sub (i=2)
        tests/test_a.py::test_err";
    check("pytest.txt", all);
    check("pytest-quiet.txt", all);
    check("pytest-verbose-color.txt", all);
}

#[test]
fn pytest_without_a_summary_is_counted_by_its_letters() {
    let path = format!("{}/tests/reports/pytest-qq.txt", env!("CARGO_MANIFEST_DIR"));
    let output = std::fs::read_to_string(path).expect("a kept output");
    let report = read(&output).expect("a report");
    assert_eq!((report.tests.collected, report.tests.skipped), (16, 4));
    assert_eq!(report.failures.len(), 9);
}

#[test]
fn pytest_says_what_it_left_out_or_could_not_load() {
    check("pytest-deselected.txt", "2 tests, 0 failed, 0 skipped");
    check("pytest-none.txt", "0 tests, 0 failed, 0 skipped");
    check("pytest-collect.txt", "1 tests, 1 failed, 0 skipped\ntest_c.py");
    check_text("no tests ran in 0.01s", "0 tests, 0 failed, 0 skipped");
    let odd = "
ERROR tests/a.py::b - - x
FAILED tests/a.py::c[a - b] - assert 0
FAILED tests/a.py::d[a - b]
=== 2 failed, 7 passed, 3 subtests passed, 1 error, 2 warnings in 61.20s (0:01:01) ===
";
    let names = "10 tests, 3 failed, 0 skipped
        tests/a.py::b
        tests/a.py::c[a - b]
        tests/a.py::d[a - b]";
    check_text(odd, names);
}

#[test]
fn a_quiet_pytest_without_a_list_still_has_its_last_line() {
    let output = "
.F [100%]
=========== FAILURES ===========
___________ test_bad ___________

    def test_bad():
>       assert 0
----- Captured stdout call -----
9 passed in 0.01s
tests/test_a.py:3: AssertionError
1 failed, 1 passed in 0.06s
";
    check_text(output, "2 tests, 1 failed, 0 skipped\ntest_bad");
}

#[test]
fn unittest_is_read() {
    let all = "6 tests, 4 failed, 2 skipped
        test_err (__main__.T.test_err)
        test_bad (__main__.T.test_bad)
        test_sub (__main__.T.test_sub) (i=0)
        test_sub (__main__.T.test_sub) (i=2)";
    check("unittest.txt", all);
    check("unittest-verbose.txt", all);
    check_text("Ran 1 test in 0.001s\n\nOK\n", "1 tests, 0 failed, 0 skipped");
    let odd = "Ran 3 tests in 1.0s\n\nFAILED (unexpected successes=1)\n";
    check_text(odd, "3 tests, 1 failed, 0 skipped");
}

#[test]
fn jest_is_read() {
    let all = "6 tests, 2 failed, 2 skipped
        j/a.test.js › math › fails
        j/b.test.js › Test suite failed to run";
    check("jest.txt", all);
    check("jest-verbose-color.txt", all);
    check("jest-pass.txt", "1 tests, 0 failed, 0 skipped");
}

#[test]
fn vitest_is_read() {
    let all = "6 tests, 2 failed, 2 skipped
        v/b.test.mjs [ v/b.test.mjs ]
        v/a.test.mjs > math > fails";
    check("vitest.txt", all);
    check("vitest-color.txt", all);
    check("vitest-pass.txt", "1 tests, 0 failed, 0 skipped");
    let unhandled = "      Tests  2 passed (2)\n     Errors  1 error\n";
    check_text(unhandled, "2 tests, 1 failed, 0 skipped\n1 unhandled errors");
}

#[test]
fn mocha_is_read() {
    check("mocha.txt", "5 tests, 2 failed, 2 skipped\nmath › fails\nmath › deep › fails too");
}

#[test]
fn nodes_runner_is_read() {
    check("node-tap.txt", "5 tests, 2 failed, 2 skipped\nfails\ndeep › fails too");
    check(
        "node-spec.txt",
        "5 tests, 2 failed, 2 skipped\nn/a.test.js › fails\nn/a.test.js › fails too",
    );
}

#[test]
fn any_tap_is_read() {
    check("tap.txt", "4 tests, 1 failed, 2 skipped\nsubtracts");
}

#[test]
fn go_counts_packages_or_tests() {
    let packages = "4 tests, 2 failed, 0 skipped
        example.com/b.TestAdds
        example.com/b.TestAdds/neg
        example.com/c";
    check("go.txt", packages);
    let tests = "4 tests, 2 failed, 1 skipped
        example.com/b.TestAdds
        example.com/b.TestAdds/neg";
    check("go-verbose.txt", tests);
    check("go-json.txt", "4 tests, 2 failed, 1 skipped\nexample.com/b.TestAdds\nexample.com/c");
}

#[test]
fn junit_is_read() {
    let all = "4 tests, 2 failed, 1 skipped
        com.example.CalcTest::adds
        com.example.CalcTest::breaks";
    check("surefire-junit.xml", all);
    let all = "16 tests, 8 failed, 4 skipped
        tests.test_a::test_bad
        tests.test_a::test_err
        tests.test_a::test_p[2]
        tests.test_a::test_p[a b]
        tests.test_a.TestK::test_m
        tests.test_u.T::test_bad
        tests.test_u.T::test_err
        tests.test_u.T::test_sub";
    check("pytest-junit.xml", all);
    assert_eq!(read_junit("<html></html>"), None);
    assert_eq!(read_junit("<testsuite><testcase name='a'/>"), None, "cut");
    let summed =
        "<testsuites><testsuite tests='3' failures='1'/><testsuite tests='2'/></testsuites>";
    check_text(summed, "5 tests, 1 failed, 0 skipped");
}

#[test]
fn others_are_read() {
    check("phpunit.txt", "5 tests, 1 failed, 1 skipped\nApp\\Tests\\CalcTest::testAdds");
    check("rspec.txt", "3 tests, 1 failed, 1 skipped\n./spec/calc_spec.rb › Calc adds");
    check("dotnet.txt", "4 tests, 1 failed, 1 skipped\nDemo.CalcTests.Adds");
    check("surefire.txt", "4 tests, 2 failed, 1 skipped\nCalcTest.adds\nCalcTest.breaks");
    check("gradle.txt", "4 tests, 1 failed, 1 skipped\nCalcTest > adds()");
    let new = "Test summary: total: 4, failed: 1, succeeded: 2, skipped: 1, duration: 1.2s";
    check_text(new, "4 tests, 1 failed, 1 skipped");
    check_text("OK (5 tests, 10 assertions)", "5 tests, 0 failed, 0 skipped");
}

#[test]
fn two_tools_are_added_up() {
    let both = "
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.07s
===== 3 passed, 1 skipped in 0.10s =====
";
    check_text(both, "6 tests, 0 failed, 1 skipped");
}

#[test]
fn other_output_is_not_a_report() {
    for text in
        ["", "hello", "error: could not compile `demo`", "ok", "Tests:", "1..", "passed in 3s"]
    {
        check_text(text, "not recognised");
    }
}

proptest! {
    #[test]
    fn no_text_is_too_odd(text in any::<String>()) {
        let _ = read(&text);
        let _ = read_junit(&text);
    }

    #[test]
    fn no_mixture_is_too_odd(lines in proptest::collection::vec(piece(), 0..40)) {
        let text = lines.concat();
        let _ = read(&text);
        let _ = read_junit(&format!("<testsuite {text}"));
    }
}

/// What runners say, cut and glued in any order.
fn piece() -> impl Strategy<Value = String> {
    let words = [
        "test result: ok. ",
        "4294967295 passed; ",
        "1 failed; ",
        "9 ignored",
        "failures:\n",
        "    a\n",
        "---- a stdout ----\n",
        "running 3 tests\n",
        "error: test failed, to rerun pass `",
        "--lib`",
        "     Summary [",
        "] 5/9 tests run: ",
        "FAIL [",
        "FAILED ",
        "::[",
        "] - ",
        " in 1.0s",
        "=== ",
        "___ ",
        "ERROR ",
        "Ran 99999999999 tests in 1s\n",
        "Tests: ",
        "Tests  ",
        "● ",
        "  ",
        "FAIL ",
        "  1 passing (1ms)\n",
        "  2 failing\n",
        "  1) ",
        "# tests ",
        "ℹ tests ",
        "not ok ",
        "1..",
        "\t",
        "--- FAIL: ",
        "{\"Action\":",
        "<testcase ",
        "<failure",
        ">",
        "\u{1b}[",
        "\u{1b}]",
        "\n",
        "\r",
        "é",
    ];
    prop_oneof![
        proptest::sample::select(words.to_vec()).prop_map(String::from),
        "[0-9a-z:() ]{0,6}"
    ]
}

#[test]
fn of_two_results_of_one_go_test_the_worse_counts() {
    let printed = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n";
    let real =
        "=== RUN   TestA\n--- SKIP: TestA (0.00s)\n=== RUN   TestB\n--- PASS: TestB (0.00s)\n";
    let text = format!("{printed}{real}PASS\nok  \texample.com/a\t0.002s\n");
    let report = read(&text).expect("a report");
    assert_eq!((report.tests.ran(), report.tests.skipped), (1, 1), "{report:?}");
    let event = |action: &str| {
        format!("{{\"Action\":\"{action}\",\"Package\":\"a\",\"Test\":\"TestA\"}}\n")
    };
    let text: String = ["run", "pass", "run", "fail"].map(event).concat();
    let report = read(&text).expect("a report");
    assert_eq!(report.failures, ["a.TestA"], "{report:?}");
}
