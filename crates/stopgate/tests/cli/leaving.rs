//! Leaving always works: no command guesses between loops, checks that run are ended, and a
//! session that was freed stays free.

use std::fs;
use std::time::Duration;

use insta::assert_snapshot;

use crate::doors;
use crate::stage::{Stage, begin};

#[test]
fn with_several_loops_an_acting_command_refuses_and_lists_them() {
    let stage = Stage::new();
    stage.start("first --check t=false");
    stage.start("second --check t=false");
    assert!(stage.stop("s1", "one").text.contains("first"));
    assert_snapshot!(stage.run("cancel"), @"
    [stderr]
    error: 2 loops run in this project
     hint: name the one you mean:
      2stage0000  waits for a session: second
      1stage0000  holds session s1: first
    [exit 2]
    ");
    assert_snapshot!(stage.run("pause").code, @"2");
    assert_eq!(stage.standing("1stage0000"), "active 1/20 s1");
    assert_snapshot!(stage.run("cancel 1stage0000"), @"Loop 1stage0000 is cancelled; its agent may stop.");
    assert_snapshot!(stage.stop("s1", "two"), @"allowed");
    // One is left, so nothing is guessed any more.
    assert_snapshot!(stage.run("cancel"), @"Loop 2stage0000 is cancelled; its agent may stop.");
}

#[test]
fn with_several_loops_a_reading_command_shows_all_of_them() {
    let stage = Stage::new();
    stage.start("first --session s1");
    stage.start("second --session s2");
    let shown = stage.run("status").out;
    assert!(shown.contains("1stage0000  ACTIVE  first"), "{shown}");
    assert!(shown.contains("2stage0000  ACTIVE  second"), "{shown}");
    assert_eq!(stage.json("status")["loops"].as_array().map(Vec::len), Some(2));
    let log = stage.run("log").out;
    assert!(log.contains("first") && log.contains("second"), "{log}");
    // In an agent's shell its own loop is meant.
    assert_eq!(stage.run_as("s2", "cancel").code, 0);
    assert_eq!(stage.standing("1stage0000"), "active 0/20 s1");
    assert_eq!(stage.standing("2stage0000"), "cancelled 0/20 s2");
}

#[test]
fn a_loop_that_nobody_claimed_does_not_stand_in_the_way() {
    let stage = Stage::new();
    stage.start("'Never claimed' --claim-within 10m");
    stage.advance_minutes(11);
    stage.start("Finish --session s1");
    assert_snapshot!(stage.run("pause"), @"Loop 2stage0000 is paused; let it go on with: stopgate resume.");
}

#[test]
fn a_freed_session_claims_no_older_loop_before_its_next_prompt() {
    let stage = Stage::new();
    stage.start("first --check t=false");
    stage.start("second --check t=false");
    assert!(stage.stop("s1", "one").text.contains("first"));
    stage.advance_minutes(1);
    stage.run("cancel 1stage0000");
    assert_snapshot!(stage.stop("s1", "two"), @"allowed");
    assert_snapshot!(stage.session_start("s1", "resume").send(), @"allowed");
    assert_snapshot!(stage.stop("s1", "three"), @"allowed");
    assert_eq!(stage.standing("2stage0000"), "active 0/20 nobody");
    // Background news is nobody's wish; a person's prompt is.
    stage
        .prompt("s1", "p2", "<task-notification>\n<task-id>x</task-id>\n</task-notification>")
        .send();
    assert_snapshot!(stage.stop("s1", "four"), @"allowed");
    let told = stage.prompt("s1", "p3", "And now?").send();
    assert!(told.text.contains("second"), "{told}");
}

#[test]
fn a_loop_begun_after_the_session_was_freed_is_claimed() {
    let stage = Stage::with_loop("first");
    stage.run("cancel");
    stage.advance_minutes(1);
    stage.start("second");
    assert!(stage.stop("s1", "one").text.contains("second"));
}

#[test]
fn start_names_the_loop_that_waits_already() {
    let stage = Stage::new();
    stage.start("first");
    let ran = stage.run("start second");
    assert!(ran.err.contains("loop 1stage0000 (first) waits for a session"), "{ran}");
}

#[test]
fn cancel_ends_the_checks_that_run() {
    let stage = Stage::with_loop("Finish --no-preflight --check 'slow=touch started; sleep 60'");
    let call = stage.stop_call("s1", "one");
    let mut child = begin(&mut call.command());
    {
        use std::io::Write;
        let mut pipe = child.stdin.take().expect("a pipe");
        pipe.write_all(&call.bytes()).expect("hand the payload over");
    }
    let until = doors::now() + Duration::from_secs(20);
    while !stage.path("project/started").exists() {
        assert!(doors::now() < until, "the check never began");
        std::thread::sleep(Duration::from_millis(10));
    }
    let seen = stage.json("status");
    assert_eq!(seen["loop"]["checking"]["checks"], serde_json::json!(["slow"]), "{seen}");
    assert!(stage.run("status").out.contains("checking slow"));
    let asked = doors::now();
    assert_snapshot!(stage.run("cancel"), @"Loop 1stage0000 is cancelled; its agent may stop.");
    let ended = child.wait_with_output().expect("wait for the hook");
    assert!(doors::now() - asked < Duration::from_secs(20), "it waited for the check");
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "");
    assert_eq!(stage.standing("1stage0000"), "cancelled 0/20 s1");
    let left = fs::read_dir(stage.path("home/running")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "a note was left behind");
}

#[test]
fn cancel_says_what_is_over_already() {
    let stage = Stage::with_loop("Finish");
    stage.stop("s1", "<promise>COMPLETE</promise>");
    assert_snapshot!(stage.run("cancel"), @"Loop 1stage0000 is over already (attested); nothing to cancel.");
    assert_snapshot!(stage.run("cancel --all"), @"No loop runs: nothing to cancel.");
}

#[test]
fn done_says_what_decides_whatever_kind_of_check_it_is() {
    let stage = Stage::new();
    stage.write(
        "project/stopgate.toml",
        "[[criterion]]\nname = \"notes\"\nfiles = { exist = [\"NOTES.md\"] }\n",
    );
    stage.start("Finish --session s1");
    assert_snapshot!(stage.run_as("s1", "done"), @"Noted: at your next stop the check runs, and it decides.");
    assert!(stage.stop("s1", "one").is_sent_back());
}

#[test]
fn a_pause_until_the_next_prompt_is_shown_as_one() {
    let stage = Stage::with_loop("Finish");
    assert_snapshot!(stage.run("pause --until-prompt"), @"Loop 1stage0000 is paused until your next prompt to the agent.");
    assert_eq!(stage.json("status")["loop"]["paused_until"], "prompt");
    let shown = stage.run("status").out;
    assert!(shown.contains("your next prompt to the agent ends the pause"), "{shown}");
    stage.prompt("s1", "p2", "Go on").send();
    assert_eq!(stage.json("status")["loop"]["paused_until"], serde_json::Value::Null);
    stage.run("pause");
    assert_eq!(stage.json("status")["loop"]["paused_until"], "resume");
    // The old name still works.
    assert_eq!(stage.run("hold").code, 0);
    assert_eq!(stage.json("status")["loop"]["paused_until"], "prompt");
}

#[test]
fn an_exit_in_words_does_what_the_command_does() {
    let stage = Stage::with_loop("Finish --check tests=false");
    stage.stop("s1", "one");
    let told = stage.stop("s1", "I can't.\n\n<promise>BLOCKED: no network here</promise>");
    assert_snapshot!(told, @"allowed, and told: stopgate: loop 1stage0000 ended as blocked after 1 continuation: no network here. More: stopgate explain 1stage0000");
    assert_eq!(stage.standing("1stage0000"), "blocked 1/20 s1");
    assert_eq!(stage.json("status")["loop"]["why"], "no network here");
    let stage = Stage::with_loop("Finish --check tests=false");
    stage.stop("s1", "<promise>IMPOSSIBLE: it contradicts itself</promise>");
    assert_eq!(stage.standing("1stage0000"), "impossible 0/20 s1");
    let stage = Stage::with_loop("Finish --check tests=false");
    assert_snapshot!(stage.stop("s1", "<promise>ASK: Which database?</promise>"), @"allowed");
    assert_eq!(stage.json("status")["loop"]["why"], "Which database?");
    assert_snapshot!(stage.stop("s1", "two"), @"allowed");
    stage.prompt("s1", "p2", "PostgreSQL").send();
    assert!(stage.stop("s1", "three").is_sent_back());
}

#[test]
fn an_exit_without_a_reason_or_in_code_is_not_one() {
    let stage = Stage::with_loop("Finish --check tests=false");
    for said in ["```\n<promise>BLOCKED: why</promise>\n```", "See <promise>ASK: x</promise>"] {
        assert!(stage.stop("s1", said).is_sent_back(), "{said}");
    }
}

/// A loop of each format that keeps its state in files of the project, and whether it holds.
fn file_loops() -> [(&'static str, Stage); 4] {
    let features = Stage::new();
    features.run("features init --feature 'A login page'");
    let criteria = Stage::new();
    criteria.run("start --dialect criteria Goal --criterion 'tests pass'");
    let ralph = Stage::new();
    ralph.write(
        "project/.claude/ralph-loop.local.md",
        "---\nactive: true\niteration: 1\nmax_iterations: 9\nsession_id: s1\n---\nDo it.\n",
    );
    let task = Stage::new();
    task.write("user/.claude/tasks/s1/1.json", TASK);
    [("features", features), ("criteria", criteria), ("ralph-loop", ralph), ("task", task)]
}

const TASK: &str = r#"{"id": "1", "subject": "Do it", "status": "in_progress",
"metadata": {"iteration": 0, "maxIterations": 9, "completedSteps": [], "remainingSteps": ["a"]}}"#;

fn is_held(stage: &Stage, dialect: &str) -> bool {
    let call = stage.stop_call("s1", "Working.").arg("--dialect").arg(dialect);
    let ran = call.send_bytes(&call.bytes());
    assert_eq!(ran.code, 0, "{dialect}: {ran}");
    ran.out.contains("\"block\"")
}

#[test]
fn cancel_and_pause_work_for_every_format() {
    for (dialect, stage) in file_loops() {
        assert!(is_held(&stage, dialect), "{dialect}");
        let run = |command: &str| {
            let ran = stage.run_as("s1", &format!("{command} --dialect {dialect}"));
            assert_eq!(ran.code, 0, "{command} --dialect {dialect}: {ran}");
            ran.out
        };
        run("pause");
        assert!(run("status").contains("PAUSED"), "{dialect}");
        assert!(!is_held(&stage, dialect), "{dialect} is paused");
        run("resume");
        assert!(is_held(&stage, dialect), "{dialect} is resumed");
        run("cancel");
        assert!(!is_held(&stage, dialect), "{dialect} is cancelled");
    }
}

#[test]
fn cancel_all_means_the_loops_in_files_too() {
    for (dialect, stage) in file_loops() {
        assert!(is_held(&stage, dialect), "{dialect}");
        let ran = stage.run_as("s1", "cancel --all");
        assert_eq!(ran.out, "1 loop cancelled.\n", "{dialect}: {ran}");
        assert!(!is_held(&stage, dialect), "{dialect} is cancelled");
    }
}

#[test]
fn loops_in_files_are_found_from_every_directory_below() {
    for (dialect, stage) in file_loops() {
        stage.make_directory("project/deep/er");
        let cwd = serde_json::json!(stage.path("project/deep/er"));
        let call = stage.stop_call("s1", "Working.").with("cwd", cwd).arg("--dialect").arg(dialect);
        let ran = call.send_bytes(&call.bytes());
        assert!(ran.out.contains("\"block\""), "{dialect}: {ran}");
    }
}
