//! What each format of loops promises, one JSON object a line in `cases.jsonl`.
//!
//! A case gives files, a transcript and a payload, and says what must come back: the
//! decision, the exit code, the answer, and what the files hold afterwards. In expected
//! values, a string that begins with `~` is a regular expression, and an object must be
//! contained in what came back.

#![expect(clippy::expect_used, reason = "a case that can't be set up is a failed test")]

mod expect;
mod room;
mod surface;

use serde_json::Value;

const CASES: &str = include_str!("cases.jsonl");

/// Runs the cases of the surfaces that begin with `surface`; there must be some.
#[track_caller]
fn check(surface: &str) {
    let cases = CASES.lines().map(|line| serde_json::from_str::<Value>(line).expect("a case"));
    let of_surface =
        |case: &Value| case["surface"].as_str().is_some_and(|s| s.starts_with(surface));
    let mut ran = 0;
    let mut failed = Vec::new();
    for case in cases.filter(of_surface) {
        ran += 1;
        let wrong = surface::run(&case);
        if !wrong.is_empty() {
            failed.push(format!("{} {}: {}", case["id"], case["title"], wrong.join("; ")));
        }
    }
    assert!(ran > 0, "no case is about {surface}");
    assert!(failed.is_empty(), "{} of {ran} failed:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn idle_stops() {
    check("stop/idle");
}

#[test]
fn features_stops() {
    check("stop/ralph");
}

#[test]
fn criteria_stops() {
    check("stop/loop");
}

#[test]
fn criteria_are_announced() {
    check("session/loop");
}

#[test]
fn task_stops() {
    check("stop/tasks");
}

#[test]
fn commands_of_the_formats() {
    check("cli");
}

#[test]
fn every_case_is_run_by_one_of_these() {
    let known = ["stop/idle", "stop/ralph", "stop/loop", "session/loop", "stop/tasks", "cli"];
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let surface = case["surface"].as_str().expect("a case has a surface");
        assert!(known.iter().any(|known| surface.starts_with(known)), "{surface}");
    }
}
