//! `--dialect criteria`: `.loop/state.json`, by hook and by command.

use std::fs;

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::call::Call;
use crate::stage::{Ran, Stage, begin};

const FILE: &str = "project/.loop/state.json";

const STATE: &str = r#"{
    // the team's own fields stay
    "owner": {"team": "mine"},
    "spec": "original request",
    "criteria": ["tests pass", "lint clean"],
    "criteriaStatus": {"tests pass": false, "lint clean": true},
    "exit_signal": false,
    "steps": ["s1", "s2"], "completedSteps": ["s1"], "remainingSteps": ["s2"],
    "iteration": 2,
    "status": "in_progress",
    "circuitBreaker": {"stuckCount": 0, "lastUnmet": "", "note": "mine"},
}
"#;

fn stage(text: &str) -> Stage {
    let stage = Stage::new();
    stage.write(FILE, text);
    stage
}

fn call<'s>(stage: &'s Stage, message: &str) -> Call<'s> {
    stage.stop_call("s1", message).arg("--dialect").arg("criteria")
}

fn send(call: &Call<'_>) -> Ran {
    let ran = call.send_bytes(&call.bytes());
    assert_eq!((ran.code, &*ran.err), (0, ""), "{ran}");
    ran
}

fn stop(stage: &Stage) -> Ran {
    send(&call(stage, "I stop here."))
}

fn file(stage: &Stage) -> String {
    fs::read_to_string(stage.path(FILE)).expect("a state file")
}

fn counts(stage: &Stage) -> (u64, u64) {
    let answer = stage.json("iterate --dialect criteria");
    let record = &answer["record"];
    let count = |key: &str| record[key].as_u64().expect("a count");
    // The command itself counted once.
    (count("iteration") - 1, count("stuck_count"))
}

#[test]
fn unmet_criteria_hold_the_agent_and_the_breaker_lets_it_go() {
    let stage = stage(STATE);
    let held = r#"{"ok":false,"reason":"unmet criteria: tests pass","decision":"block"}"#;
    for stuck in 0..=5 {
        assert_eq!(stop(&stage).out.trim_end(), held, "after {stuck}");
    }
    let expected = STATE.replace("\"iteration\": 2", "\"iteration\": 8").replace(
        "\"stuckCount\": 0, \"lastUnmet\": \"\"",
        "\"stuckCount\": 5, \"lastUnmet\": \"tests pass\"",
    );
    assert_eq!(file(&stage), expected, "comments, layout and foreign fields stay");
    assert_snapshot!(stop(&stage), @r#"{"ok":true,"reason":"circuit breaker open: \"tests pass\" stayed unmet for 5 iterations; look at it, then go on with: stopgate resume --dialect criteria","systemMessage":"Loop in .loop/state.json: circuit breaker open: \"tests pass\" stayed unmet for 5 iterations; look at it, then go on with: stopgate resume --dialect criteria"}"#);
    assert_eq!(file(&stage), expected);
    stop(&stage);
    let loops = stage.json("list")["loops"].clone();
    let outcomes: Vec<&Value> =
        loops.as_array().expect("loops").iter().map(|found| &found["outcome"]).collect();
    assert_eq!(outcomes, [&json!("stalled")], "one trail, ended once");
    assert_snapshot!(stage.run("resume --dialect criteria"), @"
    The loop goes on.
    ---LOOP_STATUS---
    STATUS: IN_PROGRESS
    ITERATION: 8
    STEPS: 1/2
    CRITERIA: 1/2 met
    - [ ] tests pass
    - [x] lint clean
    STUCK: 0/5
    EXIT_SIGNAL: false
    NEXT: s2
    ---END_LOOP_STATUS---
    ");
    assert_eq!(stop(&stage).out.trim_end(), held);
}

#[test]
fn what_the_agent_counts_itself_is_not_counted_again() {
    let stage = stage(STATE);
    stop(&stage);
    let once = file(&stage);
    assert!(once.contains("\"iteration\": 3"));
    let own =
        once.replace("\"iteration\": 3", "\"iteration\": 4").replace("Count\": 0", "Count\": 1");
    stage.write(FILE, &own);
    stop(&stage);
    assert_eq!(file(&stage), own, "the agent counted this one");
    stop(&stage);
    assert!(file(&stage).contains("\"iteration\": 5") && file(&stage).contains("Count\": 2"));
    assert_eq!(counts(&stage), (5, 3));
    let by_command = file(&stage);
    stop(&stage);
    assert_eq!(file(&stage), by_command, "the command counted this one");
}

#[test]
fn both_conditions_let_the_agent_go() {
    let met = STATE.replace("\"tests pass\": false", "\"tests pass\": true");
    let stage = stage(&met);
    let asked = r#"{"ok":false,"reason":"criteria met but exit_signal not set - verify completion","decision":"block"}"#;
    assert_eq!(stop(&stage).out.trim_end(), asked);
    stage.write(FILE, met.replace("\"exit_signal\": false", "\"exit_signal\": true"));
    assert_eq!(stop(&stage).out.trim_end(), r#"{"ok":true}"#);
    let said = stage_with_marker(&met);
    assert_eq!(said.out.trim_end(), r#"{"ok":true}"#, "the marker is the same intent");
    let unmet = stage_with_marker(STATE);
    assert!(unmet.out.contains("\"ok\":false"), "criteria rule: {unmet}");
}

fn stage_with_marker(text: &str) -> Ran {
    let stage = stage(text);
    send(&call(&stage, "All is verified.\n\n<loop-complete>\n"))
}

#[test]
fn the_strict_form_says_ok_and_reason_alone() {
    let stage = stage(STATE);
    let strict = |stage: &Stage| send(&call(stage, "x").arg("--strict-ok")).out;
    assert_eq!(strict(&stage), "{\"ok\":false,\"reason\":\"unmet criteria: tests pass\"}\n");
    stage.write(FILE, "{oops");
    assert_eq!(strict(&stage), "{\"ok\":true,\"reason\":\"invalid state file\"}\n");
    stage.write(FILE, STATE.replace("in_progress", "paused"));
    assert!(strict(&stage).starts_with("{\"ok\":true,\"reason\":\"the loop is paused"));
}

#[test]
fn whatever_is_no_state_file_lets_the_agent_go() {
    let told = r#"{"ok":true,"reason":"invalid state file","systemMessage":"Loop in .loop/state.json: invalid state file"}"#;
    for text in ["", "{oops", "[]", "7", "\u{feff}"] {
        let stage = stage(text);
        assert_eq!(stop(&stage).out.trim_end(), told, "{text:?}");
        assert_eq!(file(&stage), text, "left as it is");
        assert_eq!(stage.complaints().len(), 1);
    }
    let stage = Stage::new();
    assert_eq!(stop(&stage).out.trim_end(), r#"{"ok":true}"#);
    stage.make_directory(FILE);
    assert!(stop(&stage).out.contains("invalid state file"));
}

#[test]
fn subagents_and_background_work_are_not_counted() {
    let stage = stage(STATE);
    let sub = stage.subagent_stop("s1", "worker", "done").arg("--dialect").arg("criteria");
    assert_eq!(send(&sub).out.trim_end(), r#"{"ok":true}"#);
    let task = json!([{"id": "t1", "type": "shell", "status": "running"}]);
    let busy = call(&stage, "x").with("background_tasks", task);
    assert_eq!(send(&busy).out.trim_end(), r#"{"ok":true}"#);
    assert_eq!(file(&stage), STATE);
    assert!(send(&busy).out.contains("\"ok\":false"), "each task parks once");
}

#[test]
fn a_session_is_told_of_the_loop() {
    let announce = |stage: &Stage, source: &str| {
        let call = stage.session_start("s1", source).arg("--dialect").arg("criteria");
        let ran = send(&call);
        if ran.out.is_empty() {
            return String::new();
        }
        let answer: Value = serde_json::from_str(&ran.out).expect("JSON");
        let output = &answer["hookSpecificOutput"];
        assert_eq!(output["hookEventName"], json!("SessionStart"));
        output["additionalContext"].as_str().expect("a text").into()
    };
    let stage = stage(STATE);
    assert_snapshot!(announce(&stage, "startup"), @"
    [LOOP RESUME] Active loop detected
    Spec: original request
    Progress: 1/2 steps | Iteration: 2
    Unmet criteria: tests pass
    Next: s2
    ");
    assert_eq!(announce(&stage, "compact"), announce(&stage, "resume"));
    assert_eq!(file(&stage), STATE);
    stage.write(FILE, STATE.replace("in_progress", "paused"));
    assert_snapshot!(announce(&stage, "startup"), @"
    [LOOP RESUME] Paused loop detected
    Spec: original request
    Progress: 1/2 steps | Iteration: 2
    Unmet criteria: tests pass
    Next: s2
    It is paused. Let it go on with: stopgate resume --dialect criteria
    ");
    for text in [STATE.replace("in_progress", "cancelled"), "{oops".into()] {
        stage.write(FILE, text);
        assert_eq!(announce(&stage, "startup"), "");
    }
}

#[test]
fn a_loop_begins_by_command() {
    let stage = Stage::new();
    assert_snapshot!(stage.run("iterate --dialect criteria"), @r#"
    [stderr]
    error: there is no loop in $STAGE/project/.loop/state.json
     hint: begin one: stopgate start --dialect criteria --criterion NAME "what was asked for"
    [exit 66]
    "#);
    assert_snapshot!(stage.run("start --dialect criteria 'do it'"), @r#"
    [stderr]
    error: a loop without criteria proves nothing
     hint: name at least one: --criterion "tests pass"
    [exit 2]
    "#);
    assert_snapshot!(stage.run("start --dialect criteria --criterion a --criterion b --step s1 --step s2 'do it'"), @"
    The loop has begun in $STAGE/project/.loop/state.json.
    ---LOOP_STATUS---
    STATUS: IN_PROGRESS
    ITERATION: 0
    STEPS: 0/2
    CRITERIA: 0/2 met
    - [ ] a
    - [ ] b
    STUCK: 0/5
    EXIT_SIGNAL: false
    NEXT: s1
    ---END_LOOP_STATUS---
    The request is vague (2 of 10 points): stopgate lint says what to make clearer.
    ");
    assert_snapshot!(stage.run("start --dialect criteria --criterion c other"), @"
    [stderr]
    error: a loop still runs in $STAGE/project/.loop/state.json
     hint: end it: stopgate cancel --dialect criteria, or start --replace
    [exit 2]
    ");
}

fn begun() -> Stage {
    let stage = Stage::new();
    stage.start("--dialect criteria --criterion a --criterion b --step s1 --step s2 'do it'");
    stage
}

#[test]
fn a_loop_is_iterated_by_command_and_not_completed_too_early() {
    let stage = begun();
    assert_snapshot!(stage.run("iterate --dialect criteria --met a --step-done s1"), @"
    ---LOOP_STATUS---
    STATUS: IN_PROGRESS
    ITERATION: 1
    STEPS: 1/2
    CRITERIA: 1/2 met
    - [x] a
    - [ ] b
    STUCK: 0/5
    EXIT_SIGNAL: false
    NEXT: s2
    ---END_LOOP_STATUS---
    ");
    assert_snapshot!(stage.run("iterate --dialect criteria --met typo"), @r#"
    [stderr]
    error: could not find a criterion called "typo"
     hint: see what is listed: stopgate status --dialect criteria
    [exit 2]
    "#);
    assert_snapshot!(stage.run("complete --dialect criteria"), @"
    Not done: could not complete the loop: unmet criteria: b
    ---LOOP_STATUS---
    STATUS: IN_PROGRESS
    ITERATION: 1
    STEPS: 1/2
    CRITERIA: 1/2 met
    - [x] a
    - [ ] b
    STUCK: 0/5
    EXIT_SIGNAL: false
    NEXT: s2
    ---END_LOOP_STATUS---
    [exit 1]
    ");
}

#[test]
fn a_loop_rests_goes_on_and_ends_by_command() {
    let stage = begun();
    stage.json("iterate --dialect criteria --met a --step-done s1");
    assert_snapshot!(stage.run("pause --dialect criteria"), @"The loop is paused; go on with: stopgate resume --dialect criteria");
    assert_snapshot!(stage.run("iterate --dialect criteria --met b"), @"
    [stderr]
    error: could not go on: the loop is paused
     hint: let it go on: stopgate resume --dialect criteria
    [exit 2]
    ");
    assert_eq!(stage.run("resume --dialect criteria").code, 0);
    assert_eq!(stage.run("iterate --dialect criteria --met b --step-done s2").code, 0);
    assert_snapshot!(stage.run("status --dialect criteria --block"), @"
    ---LOOP_STATUS---
    STATUS: IN_PROGRESS
    ITERATION: 2
    STEPS: 2/2
    CRITERIA: 2/2 met
    - [x] a
    - [x] b
    STUCK: 0/5
    EXIT_SIGNAL: true
    NEXT: continue work
    ---END_LOOP_STATUS---
    ");
    assert_snapshot!(stage.run("complete --dialect criteria"), @"<loop-complete>");
    assert_eq!(stop(&stage).out.trim_end(), r#"{"ok":true}"#);
    assert_snapshot!(stage.run("cancel --dialect criteria"), @"
    [stderr]
    error: could not go on: the loop is completed
     hint: begin another: stopgate start --dialect criteria
    [exit 2]
    ");
    assert_snapshot!(file(&stage), @r#"
    {
      "spec": "do it",
      "criteria": ["a", "b"],
      "criteriaStatus": {"a": true, "b": true},
      "exit_signal": true,
      "steps": ["s1", "s2"],
      "completedSteps": ["s1", "s2"],
      "remainingSteps": [],
      "iteration": 2,
      "status": "completed",
      "circuitBreaker": {"stuckCount": 0, "lastUnmet": ""},
      "score": 2,
      "shape": "clarify"
    }
    "#);
}

#[test]
fn a_flag_that_means_nothing_to_the_file_is_an_error() {
    let stage = Stage::new();
    let begin = "start --dialect criteria --criterion a 'do it'";
    for flag in ["--max-iterations 3", "--gate tdd", "--session s1", "--max-idle 2"] {
        let ran = stage.run(&format!("{begin} {flag}"));
        assert_eq!(ran.code, 2, "{flag}: {ran}");
    }
    assert_eq!(stage.run("start --step s1 'do it'").code, 2, "steps are a file's");
    assert_eq!(stage.run("start --dialect idle --check t=true 'do it'").code, 2);
    assert_eq!(stage.run("iterate --dialect idle").code, 2);
    assert_eq!(stage.run("complete --dialect features").code, 2);
    assert_eq!(stage.run("status --dialect idle --block").code, 2);
    assert!(!stage.path(FILE).exists());
}

#[test]
fn a_cancelled_loop_keeps_its_progress() {
    let stage = stage(STATE);
    stop(&stage);
    assert_snapshot!(stage.run("cancel --dialect criteria"), @"
    The loop is cancelled; its agent may stop. Its record stays in $STAGE/project/.loop/state.json.
    Steps done: s1
    Steps left: s2
    ");
    assert!(file(&stage).contains("\"status\": \"cancelled\""));
    assert_eq!(stop(&stage).out.trim_end(), r#"{"ok":true}"#);
    let loops = stage.json("list")["loops"].clone();
    assert_eq!(loops[0]["outcome"], json!("cancelled"));
}

#[test]
fn commands_answer_in_json_with_the_loop() {
    let stage = Stage::new();
    let lines = [
        ("start --dialect criteria --criterion a 'do it'", "active"),
        ("status --dialect criteria", "active"),
        ("pause --dialect criteria", "paused"),
        ("resume --dialect criteria", "active"),
        ("iterate --dialect criteria --met a", "completing"),
        ("complete --dialect criteria", "idle"),
        ("start --dialect criteria --criterion a 'do it again'", "active"),
        ("cancel --dialect criteria", "aborted"),
    ];
    for (line, state) in lines {
        let answer = stage.json(line);
        assert_eq!(answer["schema_version"], json!(1), "{line}");
        assert_eq!(answer["loop"]["state"], json!(state), "{line}: {answer}");
    }
    stage.start("--dialect criteria --criterion a 'do it'");
    let ran = stage.run("complete --dialect criteria --json");
    let answer: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(
        (ran.code, &answer["refused"]),
        (1, &json!("could not complete the loop: unmet criteria: a"))
    );
}

#[test]
fn the_doctor_explains_a_loop_that_stops_too_early() {
    let stage = stage(&STATE.replace("\"exit_signal\": false", "\"exit_signal\": true"));
    let ran = stage.run("doctor --json");
    let answer: Value = serde_json::from_str(&ran.out).expect("JSON");
    let findings = answer["findings"].as_array().expect("findings").clone();
    let about = |finding: &&Value| finding["about"] == json!("criteria");
    let found: Vec<&Value> = findings.iter().filter(about).collect();
    assert_eq!(found.len(), 1, "{ran}");
    assert!(found[0]["text"].as_str().expect("a text").contains("may stop too early"), "{ran}");
    stage.write(FILE, STATE);
    assert!(stage.run("doctor").out.contains(".loop/state.json is as it should be"));
}

#[test]
fn every_one_of_many_stops_is_counted() {
    let stage = stage(STATE);
    let calls: Vec<Call<'_>> = (0..5).map(|_| call(&stage, "x")).collect();
    let children: Vec<_> = calls.iter().map(|call| begin(&mut call.command())).collect();
    for (child, call) in children.into_iter().zip(&calls) {
        let ran = stage.end(child, &call.bytes());
        assert!(ran.out.contains("\"ok\":false"), "{ran}");
    }
    assert!(file(&stage).contains("\"iteration\": 7") && file(&stage).contains("Count\": 4"));
}
