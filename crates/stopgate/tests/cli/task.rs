//! Tasks in another tool's records: the hook and the commands on one file.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::call::Call;
use crate::stage::{Ran, Stage};

/// As Claude Code 2.1.325 wrote it into its task directory.
const REAL: &str =
    include_str!("../../../stopgate-dialects/src/task/fixtures/claude-code-2.1.325-1.json");

/// A stage with a task record in its project.
fn stage(metadata: &Value) -> Stage {
    let stage = Stage::new();
    let record = json!({
        "id": "t", "subject": "Complete: it", "description": "all of it",
        "status": "in_progress", "metadata": metadata, "mine": [1, 2]
    });
    stage.write("project/task.json", format!("{record:#}\n"));
    stage
}

fn steps() -> Value {
    json!({"maxIterations": 50, "completedSteps": [], "remainingSteps": ["a", "b"]})
}

fn call<'a>(stage: &'a Stage, said: &str) -> Call<'a> {
    let call = stage.stop_call("s1", said).arg("--dialect").arg("task");
    call.arg("--task-file").arg("task.json")
}

fn sent(call: &Call<'_>) -> Ran {
    let ran = call.send_bytes(&call.bytes());
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran}");
    ran
}

fn stop(stage: &Stage, said: &str) -> String {
    let ran = sent(&call(stage, said));
    let answer: Value = serde_json::from_str(&ran.out).expect("one JSON value");
    let blocks = answer["decision"] == "block";
    assert_eq!(answer["ok"], json!(!blocks), "{answer}");
    answer["reason"].as_str().expect("a reason").into()
}

fn record(stage: &Stage) -> Value {
    let text = fs::read_to_string(stage.path("project/task.json")).expect("the record");
    serde_json::from_str(&text).expect("the record is JSON")
}

#[test]
fn a_task_from_its_start_to_its_end() {
    let stage = Stage::new();
    let begun = stage.run(
        "task start --task-file task.json --step one --step two --budget 5 --max-iterations 9 'Do it'",
    );
    assert_eq!(begun.code, 0, "{begun}");
    assert_eq!(stop(&stage, "Thinking."), "next: one");
    let iterated = stage.json("task iterate --task-file task.json --step-done one --cost 1.25");
    assert_eq!(iterated["task"]["told"], "next: two");
    assert_eq!(iterated["task"]["completed"], json!(["one"]));
    assert_eq!(stop(&stage, "One is done."), "next: two");
    let found = record(&stage);
    assert_eq!(found["metadata"]["iteration"], 2);
    assert_eq!(found["metadata"]["cost"], 1.25);
    assert_eq!(stop(&stage, "<loop-complete>\nAll of it.\n</loop-complete>"), "complete");
    assert_eq!(record(&stage)["status"], "completed");
    assert_eq!(stop(&stage, "Bye."), "no active task");
    let refused = stage.run("task iterate --task-file task.json --step-done two");
    assert_eq!(refused.code, 66, "{refused}");
}

#[test]
fn a_pause_says_why_and_how_to_go_on_and_the_command_works() {
    let stage = stage(&json!({"iteration": 2, "maxIterations": 2, "remainingSteps": ["a"]}));
    let ran = sent(&call(&stage, "x"));
    let answer: Value = serde_json::from_str(&ran.out).expect("JSON");
    let resume = "stopgate task resume --task-file task.json";
    let reason = format!(
        "paused (iteration limit): 2 iterations were used. Resume: {resume} --max-iterations 22"
    );
    assert_eq!(answer["reason"], json!(reason));
    assert_eq!(answer["systemMessage"], json!(format!("stopgate: {reason}")));
    assert_eq!(record(&stage)["status"], "in_progress", "agents know no other word for it");
    let refused = stage.run("task resume --task-file task.json");
    assert_eq!(refused.code, 2, "its limit still holds: {refused}");
    assert!(refused.err.contains("--max-iterations"), "{refused}");
    assert!(stop(&stage, "x").starts_with("paused"));
    stage.json("task resume --task-file task.json --max-iterations 4");
    assert_eq!(stop(&stage, "x"), "next: a");
    stage.json("task pause lunch --task-file task.json");
    assert_eq!(stop(&stage, "x"), format!("paused: lunch. Resume: {resume}"));
}

#[test]
fn a_record_that_says_paused_rests_until_it_is_resumed() {
    let stage = stage(&steps());
    let text = fs::read_to_string(stage.path("project/task.json")).expect("the record");
    stage.write("project/task.json", text.replace("in_progress", "paused"));
    let told = "paused. Resume: stopgate task resume --task-file task.json";
    assert_eq!(stop(&stage, "x"), told);
    stage.json("task resume --task-file task.json");
    assert_eq!(stop(&stage, "x"), "next: a");
}

#[test]
fn errors_by_command_count_by_their_class() {
    let stage = stage(&steps());
    stage.json("task iterate --task-file task.json --error 'logic:2 tests fail'");
    assert_eq!(stop(&stage, "x"), "next: a");
    stage.json("task iterate --task-file task.json --error 'blocking:no key'");
    assert!(stop(&stage, "x").starts_with("paused: a blocking error: no key."));
    let wrong = stage.run("task iterate --task-file task.json --error 'cosmic:rays'");
    assert_eq!(wrong.code, 2, "{wrong}");
}

#[test]
fn strict_answers_have_two_fields() {
    let stage = stage(&steps());
    let held = sent(&call(&stage, "x").arg("--strict-ok"));
    assert_eq!(held.out, "{\"ok\":false,\"reason\":\"next: a\"}\n");
    let ended = sent(&call(&stage, "<loop-complete>").arg("--strict-ok"));
    assert_eq!(ended.out, "{\"ok\":true,\"reason\":\"complete\"}\n");
}

#[test]
fn the_end_is_summed_up_for_the_person() {
    let stage = stage(&json!({"iteration": 4, "completedSteps": ["a"], "errors": ["odd test"]}));
    let ran = sent(&call(&stage, "<loop-complete>"));
    let answer: Value = serde_json::from_str(&ran.out).expect("JSON");
    let told = "stopgate: Task \"Complete: it\" is complete by the agent's word: \
                4 of 10 iterations, 1 steps completed, 1 errors along the way.";
    assert_eq!(answer["systemMessage"], json!(told));
}

#[test]
fn the_agents_own_directory_is_found_without_being_named() {
    let stage = Stage::new();
    stage.write("user/.claude/tasks/s1/1.json", REAL);
    stage.write("user/.claude/tasks/s1/.lock", "");
    stage.write("user/.claude/tasks/s1/2.json", "no task at all");
    stage.write("user/.claude/tasks/s2/1.json", REAL.replace("step2", "other"));
    let ran = sent(&stage.stop_call("s1", "x").arg("--dialect").arg("task"));
    assert_eq!(ran.out, "{\"ok\":false,\"reason\":\"next: step2\",\"decision\":\"block\"}\n");
    let shown = stage.run_as("s1", "task iterate --step-done step2 --json");
    assert_eq!(shown.code, 0, "{shown}");
    let text = fs::read_to_string(stage.path("user/.claude/tasks/s1/1.json")).expect("the task");
    let found: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(found["metadata"]["iteration"], 2);
    assert_eq!(found["metadata"]["completedSteps"], json!(["step1", "step2"]));
    assert_eq!(found["activeForm"], "Moving the tests");
    let other = sent(&stage.stop_call("s3", "x").arg("--dialect").arg("task"));
    assert_eq!(other.out, "{\"ok\":true,\"reason\":\"no active task\"}\n");
    assert_eq!(stage.complaints(), Vec::<String>::new());
}

#[test]
fn a_new_task_replaces_none_that_is_there() {
    let stage = Stage::new();
    stage.write("user/.claude/tasks/s1/1.json", REAL.replace("in_progress", "completed"));
    let refused = stage.run_as("s1", "task start 'Do it'");
    assert_eq!(refused.code, 2, "{refused}");
    assert!(refused.err.contains("--id"), "{refused}");
    let begun = stage.run_as("s1", "task start 'Do it' --id ../7");
    assert_eq!(begun.code, 0, "{begun}");
    assert!(stage.path("user/.claude/tasks/s1/---7.json").exists(), "it stays in its directory");
    stage.write("project/notes.json", "not a task");
    let refused = stage.run("task start 'Do it' --task-file notes.json");
    assert_ne!(refused.code, 0, "{refused}");
    let kept = fs::read_to_string(stage.path("project/notes.json")).expect("the notes");
    assert_eq!(kept, "not a task");
}

#[test]
fn a_shared_list_is_taken_from_its_variable() {
    let stage = Stage::new();
    stage.write("user/.claude/tasks/our-list/1.json", REAL);
    let call = stage.stop_call("s1", "x").arg("--dialect").arg("task");
    let ran = sent(&call.var("CLAUDE_CODE_TASK_LIST_ID", "our/list"));
    assert!(ran.out.contains("next: step2"), "{ran}");
}

#[test]
fn without_a_task_nothing_is_made() {
    let stage = Stage::new();
    assert_eq!(stop(&stage, "hello"), "no active task");
    let left = fs::read_dir(stage.path("home")).expect("the home").count();
    assert_eq!(left, 0, "the home stays empty");
}

#[test]
fn a_record_that_makes_no_sense_lets_the_agent_go_and_is_left_alone() {
    for text in ["{", "[]", "{\"status\": \"in_progress\", \"metadata\": {\"iteration\": \"x\"}}"] {
        let stage = Stage::new();
        stage.write("project/task.json", text);
        let ran = sent(&call(&stage, "x"));
        assert_eq!(ran.out, "{\"ok\":true}\n", "{text}");
        let kept = fs::read_to_string(stage.path("project/task.json")).expect("the record");
        assert_eq!(kept, text);
        assert_eq!(stage.complaints().len(), 1, "{text}: {:?}", stage.complaints());
    }
}

#[test]
fn a_subagent_and_background_work_are_not_counted() {
    let stage = stage(&steps());
    let subagent = stage.subagent_stop("s1", "general-purpose", "x").arg("--dialect").arg("task");
    sent(&subagent.arg("--task-file").arg("task.json"));
    assert_eq!(record(&stage)["metadata"]["iteration"], Value::Null);
    let running = json!([{"id": "b1", "type": "shell", "status": "running", "description": "d"}]);
    let parked = call(&stage, "x").with("background_tasks", running);
    assert!(sent(&parked).out.starts_with("{\"ok\":true"));
    assert_eq!(record(&stage)["metadata"]["iteration"], Value::Null);
    assert!(sent(&parked).out.starts_with("{\"ok\":false"), "each task parks once");
    assert_eq!(record(&stage)["metadata"]["iteration"], 1);
}

#[test]
fn the_record_is_kept_before_its_first_change_and_stays_what_it_was() {
    let stage = stage(&steps());
    let path = stage.path("project/task.json");
    let before = fs::read_to_string(&path).expect("the record");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
    stage.make_directory("project/links");
    symlink(&path, stage.path("project/links/task.json")).expect("a link");
    for _ in 0..2 {
        let linked = stage.stop_call("s1", "x").arg("--dialect").arg("task");
        sent(&linked.arg("--task-file").arg("links/task.json"));
    }
    assert!(stage.path("project/links/task.json").is_symlink(), "a link stays a link");
    let mode = fs::metadata(&path).expect("the record").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(record(&stage)["metadata"]["iteration"], 2);
    assert_eq!(record(&stage)["mine"], json!([1, 2]));
    let directories = fs::read_dir(stage.path("home/backups")).expect("backups");
    let kept: Vec<_> = directories
        .flat_map(|directory| {
            fs::read_dir(directory.expect("a directory").path()).expect("its files")
        })
        .map(|file| fs::read_to_string(file.expect("a file").path()).expect("a backup"))
        .collect();
    assert_eq!(kept, [before]);
}

#[test]
fn the_journal_tells_what_happened() {
    let stage = stage(&steps());
    stop(&stage, "x");
    stop(&stage, "<loop-complete>");
    let listed = stage.json("list");
    let found = &listed["loops"][0];
    assert_eq!((&found["goal"], &found["outcome"]), (&json!("Complete: it"), &json!("attested")));
    assert_eq!(found["session"], Value::Null, "it holds nobody");
    let history = stage.history(found["id"].as_str().expect("an id"));
    assert_eq!(history.lines().count(), 3, "{history}");
    assert!(history.contains("next: a"), "{history}");
}

#[test]
fn the_prompt_for_a_judging_model_is_there_to_be_copied() {
    let stage = Stage::new();
    let prompt = stage.run("task prompt");
    assert!(prompt.out.ends_with("JSON ONLY:\n"), "{prompt}");
    let settings: Value =
        serde_json::from_str(&stage.run("task prompt --settings").out).expect("settings");
    let hook = &settings["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!((&hook["type"], &hook["timeout"]), (&json!("prompt"), &json!(30)));
    assert_eq!(stage.json("task prompt")["timeout"], 30);
}

#[test]
fn points_are_added_up() {
    let stage = Stage::new();
    assert_eq!(stage.run("score 2 2 2 1 1").out, "8 of 10: tool; let the agent work alone\n");
    assert_eq!(stage.json("score 2 2 2 1 0")["shape"], "colleague");
    assert_eq!(stage.run("score 2 2 2 1 3").code, 2);
}
