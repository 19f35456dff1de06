//! Which parts of a line change from run to run, in a table.

use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(stable(text), expected, "{text:?}");
}

#[test]
fn times_are_left_out_and_other_numbers_stay() {
    check("at 12:30:59 it failed", "at # it failed");
    check("2026-01-05 failed", "# failed");
    check("2026-01-05T10:00:00Z failed", "# failed");
    check("[10:00:00.123] failed", "[#] failed");
    check("1:2:3x is a ratio", "1:2:3x is a ratio");
    check("1-2-3 is a version", "1-2-3 is a version");
    check("12345 errors", "12345 errors");
    check("123-45678 errors", "123-45678 errors");
    check("12345:67 errors", "# errors");
    check("12345:6x errors", "12345:6x errors");
    check("a:b:c12345 errors", "a:b:c12345 errors");
}

#[test]
fn durations_are_left_out_in_one_word_or_two() {
    check("took 0.12s", "took #");
    check("took 1m30s", "took #");
    check("took ~15ms.", "took #");
    check("took 1.5 s", "took #");
    check("took (3 seconds)", "took #");
    check("took 3 seconds,", "took #");
    check("took three seconds", "took three seconds");
    check("took v1 s", "took v1 s");
    check("s", "s");
    check("5x faster", "5x faster");
    check("12sm", "12sm");
}

#[test]
fn addresses_and_long_hashes_are_left_out_and_words_stay() {
    check("at 0x7ff385ac11d0", "at #");
    check("at 0x12", "at 0x12");
    check("at 0xzzzzzz", "at 0xzzzzzz");
    check("id 123e4567-e89b-12d3-a456-426614174000", "id #");
    check("deadbeefdeadbeef failed", "deadbeefdeadbeef failed");
    check("deadbeef12345678 failed", "# failed");
    check("deadbeef1234567 failed", "deadbeef1234567 failed");
    check("characterisation1 failed", "characterisation1 failed");
}

#[test]
fn positions_go_and_names_stay() {
    check("src/a.rs:5:9: unused", "src/a.rs: unused");
    check("src/a.rs:5 unused", "src/a.rs unused");
    check("a.ts(3,5): error", "a.ts: error");
    check("f(3,5): error", "f(3,5): error");
    check("a.ts(x,5): error", "a.ts(x,5): error");
    check("a.ts(): error", "a.ts(): error");
    check("see 5:9", "see #");
    check("src/a.py:12-14 uncovered", "src/a.py uncovered");
    check("key:value", "key:value");
    check("port :8080", "port #");
    check("line 12, in main", "line #, in main");
    check("at line 3.", "at line #.");
    check("line twelve, in main", "line twelve, in main");
    check("12:TODO", "#:TODO");
    check("src/a.py:12:TODO later", "src/a.py:#:TODO later");
    check("a:12:TODO", "a:#:TODO");
    check("a:b:12:TODO", "a:b:12:TODO");
    check("12 | let x = 1;", "| let x = 1;");
    check("> 12 | let x = 1;", "| let x = 1;");
    check("12 + let x = 1;", "+ let x = 1;");
    check("12 errors", "12 errors");
    check("| let x = 1;", "| let x = 1;");
    check("thread 'main' (17018) panicked", "thread 'main' (#) panicked");
    check("wants (12) panicked", "wants (12) panicked");
    check("wants (123) panicked", "wants (#) panicked");
    check("wants [123] panicked", "wants [123] panicked");
    check("wants (a12) panicked", "wants (a12) panicked");
}

#[test]
fn temporary_paths_have_no_name() {
    check("/tmp/rustdoctestGbjToe/a.rs failed", "/tmp/#/a.rs failed");
    check("/tmp/abc: failed", "/tmp/#: failed");
    check("'/tmp/abc' failed", "'/tmp/#' failed");
    check("/tmp/pytest-of-me/pytest-12/test_a0/x.log", "/tmp/#/#/#/x.log");
    let on_macos = concat!("/var/fold", "ers/x1/T/a.rs failed");
    check(on_macos, concat!("/var/fold", "ers/#/T/a.rs failed"));
    check("file:///tmp/abc/a.rs", "file:///tmp/abc/a.rs");
    check("(/tmp/abc/a.rs)", "(/tmp/#/a.rs)");
    check("home/tmp/abc/a.rs", "home/tmp/abc/a.rs");
}

#[test]
fn errors_are_told_from_what_tests_print() {
    for text in [
        "error: unused",
        "error[E0308]: mismatched",
        "src/a.c:3:5: error: unknown",
        "src/a.py:3:5: E302 expected 2 blank lines",
        "  3:5  error  'x' is not defined  no-undef",
        "a.ts(3,5): error TS2304: no name",
        "FAIL Required test coverage of 80% not reached",
    ] {
        assert!(matches!(line(text), LineKind::Error(_)), "{text}");
    }
    for text in [
        "    error: printed by a test",
        "error: test failed, to rerun pass `--lib`",
        "error: 3 targets failed:",
        "error: 1 target failed:",
        "  3:5  warning  'x' is never used",
        "  a:5  error  'x' is never used",
        "12:30 it was",
        "note: 3 warnings",
    ] {
        assert!(matches!(line(text), LineKind::Other(_)), "{text}");
    }
    for text in ["", "----", "   Compiling demo v0.1.0", "PASS [ 0.1s] a", "|  ^^^^"] {
        assert_eq!(line(text), LineKind::Noise, "{text}");
    }
    assert_eq!(line("0x7ff385ac11d0"), LineKind::Other("#".into()), "something was said");
    let told = line("Running 3 tests, 1 failed");
    assert!(matches!(told, LineKind::Other(_)), "progress that says of a failure is heard");
}

#[test]
fn paths_are_told_from_the_place_that_the_check_ran_in() {
    let place = Path::new("/home/me/demo");
    let plain = |text: &'static str| without_place(text, place).into_owned();
    assert_eq!(plain("at /home/me/demo/src/a.py"), "at src/a.py");
    assert_eq!(plain("in /home/me/demo"), "in .");
    assert_eq!(plain("/home/me/demo: /home/me/demo/a"), ".: a");
    assert_eq!(plain("/home/me/demo2/a"), "/home/me/demo2/a");
    assert_eq!(plain("x/home/me/demo/a"), "x/home/me/demo/a");
    assert_eq!(plain("nothing of it"), "nothing of it");
    assert_eq!(without_place("/ and /a", Path::new("/")), "/ and /a");
}
