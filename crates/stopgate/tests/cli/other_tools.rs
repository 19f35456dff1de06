//! Loops in other tools' files: what people outside say to them, and commands behind criteria.

use std::fs;

use serde_json::{Value, json};

use crate::stage::{Ran, Stage};

const IDLE: &str = "project/.claude/idle-loop.local.md";

fn stop(stage: &Stage, dialect: &str, message: &str, variables: &[(&str, &str)]) -> Ran {
    let mut call = stage.stop_call("s1", message).arg("--dialect").arg(dialect);
    for (name, value) in variables {
        call = call.var(name, value);
    }
    call.send_bytes(&call.bytes())
}

fn idle(stage: &Stage, message: &str) -> Ran {
    stop(stage, "idle", message, &[])
}

fn with_idle(fields: &str) -> Stage {
    let stage = Stage::new();
    let text = format!(
        "---\nactive: true\nmode: loop\niteration: 1\nmax_iterations: 9\n{fields}---\nDo it\n"
    );
    stage.write(IDLE, text);
    stage
}

#[test]
fn a_file_in_the_directory_switches_idle_loops_off() {
    let stage = with_idle("");
    stage.write("project/.idle-disabled", "");
    let before = fs::read_to_string(stage.path(IDLE)).expect("the file");
    assert_eq!(idle(&stage, "on").code, 0);
    assert_eq!(fs::read_to_string(stage.path(IDLE)).expect("the file"), before);
    fs::remove_file(stage.path("project/.idle-disabled")).expect("switch it on again");
    assert_eq!(idle(&stage, "on").code, 2);
}

#[test]
fn control_messages_pause_resume_and_cancel_an_idle_loop() {
    const CONTROL: &str = "project/.claude/idle-loop.control.local.md";
    let stage = with_idle("");
    stage.write(CONTROL, "pause\n");
    assert_eq!(idle(&stage, "on").code, 0);
    assert_eq!(idle(&stage, "on").code, 0, "it stays paused");
    assert!(!stage.path(CONTROL).exists(), "a message is heard once");
    stage.write(CONTROL, "resume\n");
    assert_eq!(idle(&stage, "on").code, 2);
    stage.write(CONTROL, "{\"command\": \"cancel\"}\n");
    let ended = idle(&stage, "on");
    assert_eq!(ended.code, 0, "{ended}");
    assert!(ended.err.contains("a control message cancelled it"), "{ended}");
    assert!(!stage.path(IDLE).exists());
    let stage = with_idle("");
    stage.write(CONTROL, "escalate\n");
    let ended = idle(&stage, "on");
    assert!(ended.code == 0 && ended.err.contains("called for a person"), "{ended}");
}

#[test]
fn a_review_comes_before_the_end_of_an_idle_loop_that_asks_for_one() {
    const REVIEW: &str = "project/.claude/idle-loop.review.local.md";
    const DONE: &str = "<loop-done>COMPLETE</loop-done>";
    let stage = with_idle("review: required\n");
    let held = idle(&stage, DONE);
    assert_eq!(held.code, 2, "{held}");
    assert!(held.out.contains("[ITERATION 2/9] The work must be reviewed"), "{held}");
    stage.write(REVIEW, "CHANGES: name the error\n");
    let held = idle(&stage, DONE);
    assert!(
        held.out.contains("[ITERATION 3/9] The review asks for changes: name the error"),
        "{held}"
    );
    stage.write(REVIEW, "APPROVED\n");
    assert_eq!(idle(&stage, DONE).code, 0);
    assert!(!stage.path(IDLE).exists(), "it is over");
    let stage = with_idle("review: required\n");
    let stuck = idle(&stage, "<loop-done>STUCK</loop-done>");
    assert_eq!(stuck.code, 0, "nobody has to review that somebody is stuck: {stuck}");
}

#[test]
fn idle_trace_writes_down_each_decision() {
    const TRACE: &str = "project/.claude/idle-loop.trace.local.jsonl";
    let stage = with_idle("");
    idle(&stage, "on");
    assert!(!stage.path(TRACE).exists(), "only on wish");
    stop(&stage, "idle", "on", &[("IDLE_TRACE", "1")]);
    stop(&stage, "idle", "<loop-done>STUCK</loop-done>", &[("IDLE_TRACE", "1")]);
    let text = fs::read_to_string(stage.path(TRACE)).expect("a trace");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON lines")).collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert_eq!((&lines[0]["decision"], &lines[0]["iteration"]), (&json!("block"), &json!(3)));
    assert_eq!(lines[1]["decision"], "allow");
    assert_eq!(lines[1]["signals"], json!(["<loop-done>STUCK</loop-done>"]));
}

#[test]
fn a_tool_call_that_would_change_the_loops_own_file_is_denied() {
    let stage = with_idle("");
    let asked = |tool: &str, input: Value| {
        let payload = json!({
            "session_id": "s1", "cwd": stage.path("project"), "hook_event_name": "PreToolUse",
            "tool_name": tool, "tool_input": input,
        });
        let call = stage.stop_call("s1", "").arg("--dialect").arg("idle");
        call.send_bytes(payload.to_string().as_bytes())
    };
    let file = stage.path(IDLE).display().to_string();
    let denied = asked("Edit", json!({"file_path": file}));
    assert_eq!(denied.code, 0, "{denied}");
    let told: Value = serde_json::from_str(&denied.out).expect("one JSON value");
    assert_eq!(told["hookSpecificOutput"]["permissionDecision"], "deny", "{told}");
    assert_eq!(asked("Read", json!({"file_path": file})).out, "");
    assert_eq!(asked("Edit", json!({"file_path": "src/a.rs"})).out, "");
    fs::remove_file(stage.path(IDLE)).expect("end the loop");
    assert_eq!(asked("Edit", json!({"file_path": file})).out, "", "no loop, no guard");
}

#[test]
fn a_record_that_is_named_by_a_relative_path_is_found_after_cd() {
    let stage = Stage::new();
    stage.make_directory("project/sub/deep");
    let metadata = json!({"maxIterations": 9, "remainingSteps": ["a"]});
    let record = json!({"id": "t", "subject": "s", "status": "in_progress", "metadata": metadata});
    stage.write("project/task.json", record.to_string());
    for directory in ["project/sub/deep", "other"] {
        let payload = json!({
            "session_id": "s1", "cwd": stage.path(directory), "hook_event_name": "Stop",
            "last_assistant_message": "on",
        });
        let project = stage.path("project").display().to_string();
        let call = stage.stop_call("s1", "").arg("--dialect").arg("task");
        let call = call.arg("--task-file").arg("task.json").var("CLAUDE_PROJECT_DIR", &project);
        let ran = call.send_bytes(payload.to_string().as_bytes());
        assert!(ran.out.contains("next: a"), "{directory}: {ran}");
    }
}

fn criteria_stop(stage: &Stage) -> Value {
    let ran = stop(stage, "criteria", "I stop here.", &[]);
    serde_json::from_str(&ran.out).expect("one JSON value")
}

#[test]
fn checks_of_a_criteria_loop_run_at_each_iteration_and_at_the_stop() {
    let stage = Stage::new();
    let begun = stage.run(
        "start --dialect criteria 'Make it work in src/a.rs' --check 'works=test -e done' --criterion 'documented'",
    );
    assert_eq!(begun.code, 0, "{begun}");
    let told = stage.run("iterate --dialect criteria --met works --met documented");
    assert!(told.out.contains("- [ ] works") && told.out.contains("- [x] documented"), "{told}");
    assert_eq!(criteria_stop(&stage)["reason"], "unmet criteria: works");
    assert_eq!(stage.run("complete --dialect criteria").code, 1);
    stage.write("project/done", "");
    let told = stage.json("iterate --dialect criteria");
    assert_eq!(told["record"]["exit_signal"], true, "{told}");
    fs::remove_file(stage.path("project/done")).expect("break it again");
    assert_eq!(criteria_stop(&stage)["reason"], "unmet criteria: works", "seen at the stop");
    stage.write("project/done", "");
    assert_eq!(criteria_stop(&stage)["ok"], true);
}

#[test]
fn checks_that_nobody_trusts_do_not_run() {
    let stage = Stage::new();
    let line = "start --dialect criteria 'Do it' --check 'works=touch ran'";
    assert_eq!(stage.run_as("s1", line).code, 0);
    let told = stage.run("iterate --dialect criteria");
    assert!(told.out.contains("Its checks did not run"), "{told}");
    let reason = criteria_stop(&stage)["reason"].as_str().expect("a reason").to_string();
    assert!(reason.contains("stopgate trust --dialect criteria"), "{reason}");
    assert!(!stage.path("project/ran").exists());
    assert_eq!(stage.run_as("s1", "trust --dialect criteria --yes").code, 2, "not an agent's word");
    let shown = stage.run("trust --dialect criteria --yes");
    assert!(shown.code == 0 && shown.out.contains("touch ran"), "{shown}");
    assert_eq!(criteria_stop(&stage)["ok"], false, "all met, and nobody said that it is done");
    assert!(stage.path("project/ran").exists());
    let text = fs::read_to_string(stage.path("project/.loop/state.json")).expect("the file");
    stage.write("project/.loop/state.json", text.replace("touch ran", "touch other"));
    criteria_stop(&stage);
    assert!(!stage.path("project/other").exists(), "other commands are not trusted");
}

#[test]
fn doctor_misses_the_announcement_of_a_criteria_loop() {
    let stage = Stage::new();
    stage.run("start --dialect criteria 'Do it' --criterion c");
    let entry = json!([{"hooks": [{"type": "command", "command": "stopgate hook claude --dialect criteria"}]}]);
    let settings = json!({"hooks": {"Stop": entry}});
    stage.write("project/.claude/settings.json", settings.to_string());
    assert!(stage.run("doctor").out.contains("no SessionStart hook with --dialect criteria"));
    let settings = json!({"hooks": {"Stop": entry, "SessionStart": entry}});
    stage.write("project/.claude/settings.json", settings.to_string());
    assert!(!stage.run("doctor").out.contains("no SessionStart hook"));
}

#[test]
fn a_criteria_loop_keeps_the_score_of_its_request() {
    let stage = Stage::new();
    stage.run(
        "start --dialect criteria 'Document every public function in src/lib.rs' --criterion c",
    );
    let text = fs::read_to_string(stage.path("project/.loop/state.json")).expect("the file");
    let kept: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(kept["shape"], "colleague", "{text}");
    assert!(kept["score"].as_u64().is_some_and(|score| (5..8).contains(&score)), "{text}");
}

fn with_task(metadata: &Value) -> Stage {
    let stage = Stage::new();
    let record = json!({"id": "t", "subject": "s", "status": "in_progress", "metadata": metadata});
    stage.write("project/task.json", record.to_string());
    stage
}

fn told(stage: &Stage, arguments: &str) -> String {
    let answer = stage.json(&format!("task iterate --task-file task.json {arguments}"));
    answer["task"]["told"].as_str().expect("a sentence").into()
}

fn task_stop(stage: &Stage) -> Value {
    let call = stage.stop_call("s1", "on").arg("--dialect").arg("task");
    let call = call.arg("--task-file").arg("task.json");
    serde_json::from_str(&call.send_bytes(&call.bytes()).out).expect("one JSON value")
}

#[test]
fn a_transient_error_is_tried_again_and_a_tripped_breaker_is_said() {
    let stage = with_task(&json!({"maxIterations": 50, "remainingSteps": ["fetch it"]}));
    assert!(
        told(&stage, "--error 'transient:network is down'").starts_with("next: retry fetch it")
    );
    assert!(task_stop(&stage)["reason"].as_str().is_some_and(|r| r.starts_with("next: retry")));
    let said = told(&stage, "--error 'transient:network is down'");
    assert!(said.starts_with("The circuit breaker trips: "), "{said}");
    assert_eq!(task_stop(&stage)["ok"], true);
    let stage = with_task(&json!({"maxIterations": 50, "remainingSteps": ["fix it"]}));
    assert_eq!(told(&stage, "--error 'logic:2 tests fail'"), "next: fix it");
    let said = told(&stage, "--error 'blocking:permission denied'");
    assert!(said.contains("The next stop pauses the task"), "{said}");
}

#[test]
fn a_colleague_asks_after_each_step_and_a_tool_does_not() {
    for (shape, asks) in [("colleague", true), ("tool", false)] {
        let stage = with_task(
            &json!({"maxIterations": 50, "shape": shape, "remainingSteps": ["a", "b", "c"]}),
        );
        assert_eq!(task_stop(&stage)["reason"], "next: a");
        told(&stage, "--step-done a");
        let answer = task_stop(&stage);
        assert_eq!(answer["ok"], json!(asks), "{shape}: {answer}");
        assert_eq!(task_stop(&stage)["reason"], "next: b", "asked once");
    }
}
