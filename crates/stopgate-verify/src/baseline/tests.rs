use std::path::Path;

use proptest::prelude::*;

use super::{CommandExit, Compared, TooMany, compare, failures, take};

fn here() -> &'static Path {
    Path::new("/home/me/demo")
}

fn names(output: &str) -> Vec<String> {
    failures(output, CommandExit::Failed, here()).into_iter().map(|failure| failure.name).collect()
}

#[track_caller]
fn check(before: &str, now: &str, new: &[&str]) -> Compared {
    let baseline = take(before, CommandExit::Failed, here()).expect("few failures");
    let compared = compare(&baseline, now, CommandExit::Failed, here());
    assert_eq!(compared.new, new, "{compared:?}");
    compared
}

const ONE: &str = "
---- a stdout ----
thread 'a' (123) panicked at src/a.rs:1:2:

failures:
    a

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.07s

error: test failed, to rerun pass `--lib`
";

#[test]
fn a_check_that_passes_has_no_failures() {
    assert_eq!(failures(ONE, CommandExit::Passed, here()), []);
    assert_eq!(
        compare(&take(ONE, CommandExit::Failed, here()).unwrap(), ONE, CommandExit::Passed, here()),
        Compared::default()
    );
}

#[test]
fn tests_count_by_name() {
    let other = ONE.replace("    a\n", "    a\n    b\n").replace("1 failed", "2 failed");
    let compared = check(ONE, &other, &["--lib: b"]);
    assert_eq!(compared.known, ["--lib: a"]);
    check(&other, ONE, &[]);
    let renamed = ONE.replace("    a\n", "    c\n");
    check(ONE, &renamed, &["--lib: c"]);
}

#[test]
fn failures_without_a_name_are_not_forgotten() {
    let cut = "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; x";
    assert_eq!(names(cut), ["failures without a name: 2"]);
    check(ONE, cut, &["failures without a name: 2"]);
    check(cut, cut, &[]);
}

#[test]
fn what_is_well_is_no_new_failure() {
    let before = "ok: a.sh\nnot ok: old.sh has tabs\n2 files checked, 1 is bad\n";
    let now = "ok: a.sh\nok: say.sh\nnot ok: old.sh has tabs\n3 files checked, 1 is bad\n";
    check(before, now, &[]);
    check(before, &now.replace("ok: say.sh", "not ok: say.sh"), &["not ok: say.sh"]);
    // Nothing but what is well does not explain why a check fails.
    check(before, "ok: a.sh\n", &["failed without a word"]);
}

#[test]
fn a_linter_beside_known_failures_is_heard() {
    let both = format!("{ONE}\nsrc/x.c:3:5: error: no such thing\n");
    check(ONE, &both, &["src/x.c:3:5: error: no such thing"]);
    let styled = format!("{ONE}\n./a.py:1:1: E302 expected 2 blank lines\n");
    check(ONE, &styled, &["./a.py:1:1: E302 expected 2 blank lines"]);
    let uncovered = format!("{ONE}\nERROR: Coverage for lines (75%) does not meet the threshold\n");
    check(ONE, &uncovered, &["ERROR: Coverage for lines (75%) does not meet the threshold"]);
    let typed = format!("{ONE}\nsrc/a.ts(3,5): error TS2322: no\n");
    check(ONE, &typed, &["src/a.ts(3,5): error TS2322: no"]);
    let linted = format!("{ONE}\n/home/me/a.js\n  3:5  error  'x' is not defined  no-undef\n");
    check(ONE, &linted, &["3:5  error  'x' is not defined  no-undef"]);
    check(&linted, &linted.replace("3:5", "7:1"), &[]);
    let python =
        "ERROR: test_a (t.T)\n--------------------\n\nRan 1 test in 0.1s\n\nFAILED (errors=1)\n";
    assert_eq!(names(python), ["test_a (t.T)"], "once");
}

#[test]
fn what_a_known_failure_prints_may_change() {
    let other =
        ONE.replace("panicked at src/a.rs:1:2:", "panicked at src/a.rs:1:2:\nerror: other\n");
    check(ONE, &other, &[]);
}

#[test]
fn lines_count_without_what_changes() {
    let before = "
   Compiling demo v0.1.0 (/home/me/demo)
error[E0425]: cannot find value `x` in this scope
  --> src/main.rs:12:5
   |
12 |     x
   |     ^ not found in this scope
12 +     y
2026-01-05T10:00:00Z took 0.12s at 0x7ff385ac11d0 in /tmp/abc12/x.log, pid (4711)
error: could not compile `demo` due to 1 previous error in 1.5 s
";
    let now = "
    Blocking waiting for file lock
error[E0425]: cannot find value `x` in this scope
  --> src/main.rs:99:7
   |
99 |     x
   |     ^ not found in this scope
99 +     y
2027-11-15T23:59:01Z took 12ms at 0x55aa00ac11d0 in /tmp/zzz99/x.log, pid (815)
error: could not compile `demo` due to 1 previous error in 22.75 s
";
    check(before, now, &[]);
    check(
        before,
        &now.replace("`x`", "`y`"),
        &["error[E0425]: cannot find value `y` in this scope"],
    );
    check(
        before,
        &now.replace("1 previous", "2 previous"),
        &["error: could not compile `demo` due to 2 previous error in 22.75 s"],
    );
    check(before, &now.replace("src/main.rs", "src/other.rs"), &["--> src/other.rs:99:7"]);
}

#[test]
fn a_second_one_of_the_same_kind_is_new() {
    check("a.c:3: error: odd\n", "a.c:3: error: odd\na.c:9: error: odd\n", &["a.c:9: error: odd"]);
}

#[test]
fn silence_is_a_failure_unless_it_was_before() {
    check("", "", &[]);
    check("\n  \n---\n", "", &[]);
    check("error: x", "", &["failed without a word"]);
    check("", "error: x", &["error: x"]);
    let passed = take("all fine", CommandExit::Passed, here()).unwrap();
    assert_eq!(passed.failures, Vec::<u64>::new());
    assert_eq!(compare(&passed, "", CommandExit::Failed, here()).new, ["failed without a word"]);
}

#[test]
fn a_runner_that_counts_no_failure_is_read_by_lines() {
    let output = "==== 3 passed in 0.10s ====\nFAIL Required test coverage of 80% not reached\n";
    assert_eq!(names(output).len(), 2);
}

#[test]
fn a_baseline_keeps_few_names_and_refuses_a_flood() {
    let lines =
        |count: usize| (0..count).map(|n| format!("odd {n}")).collect::<Vec<_>>().join("\n");
    let baseline = take(&lines(4000), CommandExit::Failed, here()).expect("just enough");
    assert_eq!((baseline.failures.len(), baseline.names.len()), (4000, 16));
    assert_eq!(take(&lines(4001), CommandExit::Failed, here()), Err(TooMany { count: 4001 }));
}

#[test]
fn a_line_that_moved_is_the_same_failure() {
    let rows = [
        ("12:TODO fix this\n", "14:TODO fix this\n"),
        ("src/a.py:12:TODO fix this\n", "src/a.py:99:TODO fix this\n"),
        ("src/a.py:12:    indented\n", "src/a.py:13:    indented\n"),
        ("./Makefile:3:all: build\n", "./Makefile:4:all: build\n"),
        ("a.c:3:5: error: odd\n", "a.c:7:1: error: odd\n"),
        ("a.ts(3,5): error TS1: no\n", "a.ts(9,1): error TS1: no\n"),
        ("  File \"a.py\", line 12, in main\n", "  File \"a.py\", line 3, in main\n"),
        ("died at a.t line 3.\n", "died at a.t line 44.\n"),
        ("In a.sh line 3:\n", "In a.sh line 5:\n"),
        ("wrong on line 3, column 9\n", "wrong on line 5, column 1\n"),
        ("12 | let x = 1;\nodd\n", "99 | let x = 1;\nodd\n"),
        ("TODO at /home/me/demo/src/a.py:3\n", "TODO at src/a.py:5\n"),
        ("no /home/me/demo: x\n", "no .: x\n"),
        (
            "see /tmp/pytest-of-me/pytest-3/test_a0/out.log\n",
            "see /tmp/pytest-of-me/pytest-4/test_a1/out.log\n",
        ),
        ("see /tmp/tmp.aX3/f\n", "see /tmp/tmp.bY4/f\n"),
        ("2 odd in 0.12s\n", "2 odd in 3.5s\n"),
    ];
    for (before, now) in rows {
        check(before, now, &[]);
        check(now, before, &[]);
    }
}

#[test]
fn another_failure_is_another_one_whatever_its_line() {
    let rows = [
        ("12:TODO fix this\n", "12:TODO fix that\n"),
        ("src/a.py:12:TODO\n", "src/b.py:12:TODO\n"),
        ("12:TODO\n", "12:TODO\n14:TODO\n"),
        ("a.py:1:x\n", "a.py:1:x\nb.py:1:x\n"),
        ("line 3: bad a\n", "line 3: bad b\n"),
        ("2 errors\n", "3 errors\n"),
        ("see /home/me/demo/a\n", "see /home/me/demo/b\n"),
        ("see /home/me/demo/a\n", "see /home/me/demonstration/a\n"),
        ("at 10.0.0.1 port 80\n", "at 10.0.0.1 port 81\n"),
        ("version 1.2\n", "version 1.3\n"),
    ];
    for (before, now) in rows {
        let baseline = take(before, CommandExit::Failed, here()).expect("few failures");
        assert_eq!(
            compare(&baseline, now, CommandExit::Failed, here()).new.len(),
            1,
            "{before} {now}"
        );
    }
}

#[test]
fn a_copy_of_the_project_fails_alike() {
    let before = "/home/me/demo/src/a.py:3:5: E302 blank lines\ncould not open /home/me/demo/x\n";
    let baseline = take(before, CommandExit::Failed, here()).expect("few failures");
    let copy = Path::new("/var/lib/copies/1");
    let now = before.replace("/home/me/demo", "/var/lib/copies/1").replace(":3:5:", ":8:5:");
    assert_eq!(compare(&baseline, &now, CommandExit::Failed, copy).new, Vec::<String>::new());
}

proptest! {
    #[test]
    fn every_output_is_its_own_baseline(output in "(?s).{0,200}") {
        let baseline = take(&output, CommandExit::Failed, here()).expect("few failures");
        prop_assert_eq!(compare(&baseline, &output, CommandExit::Failed, here()).new, Vec::<String>::new());
        prop_assert!(!baseline.failures.is_empty());
    }

    #[test]
    fn no_line_is_too_odd(output in "[a/:.(),0-9xTs|> \\n-]{0,80}") {
        let _ = take(&output, CommandExit::Failed, here());
    }
}
