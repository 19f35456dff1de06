//! `--dialect features`: a list of features and a progress file, from start to end.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::call::Call;
use crate::stage::{Ran, Stage, begin};

const DIRECTORY: &str = "project/.claude/data/ralph-loops/current";

const PROGRESS: &str = "# Ralph Loop Progress: x\r\n\r\n## Configuration\r\n\
                        - Max Iterations: 4\r\n\r\n## Current State\r\n- Iteration: 1 \r\n\
                        - Status: not started\t\r\n\r\nold note Iteration: 9, Status: odd";

/// A stage with a loop: which features pass, and what the progress file says.
fn stage(passes: &[bool], progress: &str) -> Stage {
    let stage = Stage::new();
    list(&stage, passes);
    stage.write(&format!("{DIRECTORY}/progress.txt"), progress);
    stage
}

fn list(stage: &Stage, passes: &[bool]) {
    let feature = |(at, passes): (usize, &bool)| {
        let id = at + 1;
        json!({"id": id, "description": format!("Thing {id}"), "passes": passes})
    };
    let features: Vec<Value> = passes.iter().enumerate().map(feature).collect();
    stage.write(
        &format!("{DIRECTORY}/feature_list.json"),
        json!({"features": features}).to_string(),
    );
}

fn call<'s>(stage: &'s Stage, session: &str) -> Call<'s> {
    stage.stop_call(session, "I stop here.").arg("--dialect").arg("features")
}

fn send(call: &Call<'_>) -> Ran {
    let ran = call.send_bytes(&call.bytes());
    assert_eq!((ran.code, &*ran.err), (0, ""), "{ran}");
    ran
}

fn stop(stage: &Stage) -> Ran {
    send(&call(stage, "s1"))
}

fn file(stage: &Stage, name: &str) -> String {
    fs::read_to_string(stage.path(&format!("{DIRECTORY}/{name}"))).expect("a file")
}

fn message(ran: &Ran) -> String {
    let answer: Value = serde_json::from_str(&ran.out).expect("an answer");
    assert_eq!(answer["continue"], json!(true), "{ran}");
    answer["systemMessage"].as_str().expect("a message").into()
}

#[test]
fn a_loop_goes_from_feature_to_feature_to_its_end() {
    let stage = stage(&[false, false], PROGRESS);
    assert_snapshot!(stop(&stage), @r#"{"decision":"block","reason":"Ralph Loop iteration 2: Continue with Feature 1 - Thing 1. Review feature_list.json for steps, implement the feature, verify it works, update passes: true, commit, and update progress.txt."}"#);
    let expected =
        PROGRESS.replace("Iteration: 1 ", "Iteration: 2 ").replace("not started", "IN_PROGRESS");
    assert_eq!(file(&stage, "progress.txt"), expected, "everything else stays byte for byte");
    list(&stage, &[true, false]);
    assert!(stop(&stage).out.contains("iteration 3: Continue with Feature 2"));
    list(&stage, &[true, true]);
    assert_eq!(message(&stop(&stage)), "Ralph Loop COMPLETE! All 2 features verified.");
    assert!(file(&stage, "progress.txt").contains("Iteration: 3 \r\n- Status: COMPLETE\t\r\n"));
    assert_eq!(message(&stop(&stage)), "Ralph Loop COMPLETE! All 2 features verified.");
    assert_snapshot!(file(&stage, "hook.log"), @"
    [2026-11-15 06:00:00Z] Session: s1, stop_hook_active: false, Iteration: 1 / 4, Features: 0/2 complete, 2 remaining, CONTINUE: Starting iteration 2 for Feature 1: Thing 1
    [2026-11-15 06:00:00Z] Session: s1, stop_hook_active: false, Iteration: 2 / 4, Features: 1/2 complete, 1 remaining, CONTINUE: Starting iteration 3 for Feature 2: Thing 2
    [2026-11-15 06:00:00Z] Session: s1, stop_hook_active: false, Iteration: 3 / 4, Features: 2/2 complete, 0 remaining, COMPLETE: Ralph Loop COMPLETE! All 2 features verified.
    [2026-11-15 06:00:00Z] Session: s1, stop_hook_active: false, Iteration: 3 / 4, Features: 2/2 complete, 0 remaining, COMPLETE: Ralph Loop COMPLETE! All 2 features verified.
    ");
    let loops = stage.json("list")["loops"].clone();
    let outcomes: Vec<&Value> =
        loops.as_array().expect("loops").iter().map(|found| &found["outcome"]).collect();
    assert_eq!(outcomes, [&json!("attested")], "one trail, ended once, and never as done");
}

#[test]
fn the_limit_ends_the_loop_and_more_room_revives_it() {
    let stage = stage(&[false], &PROGRESS.replace("Iteration: 1", "Iteration: 4"));
    let told = "Ralph Loop reached max iterations (4). 1 features remain incomplete.";
    assert_eq!(message(&stop(&stage)), told);
    assert!(file(&stage, "progress.txt").contains("Status: REACHED_LIMIT"));
    let raised = file(&stage, "progress.txt").replace("Max Iterations: 4", "Max Iterations: 5");
    stage.write(&format!("{DIRECTORY}/progress.txt"), raised);
    assert!(stop(&stage).out.contains("iteration 5"));
    assert!(file(&stage, "progress.txt").contains("Status: IN_PROGRESS"));
    assert_eq!(message(&stop(&stage)), told.replace("(4)", "(5)"));
}

#[test]
fn an_empty_list_proves_nothing() {
    let stage = stage(&[], PROGRESS);
    assert!(message(&stop(&stage)).contains("lists no features"));
    assert_eq!(file(&stage, "progress.txt"), PROGRESS, "the status stays as it was");
}

#[test]
fn what_cannot_be_read_lets_the_agent_stop_and_says_so() {
    let check = |name: &str, text: &[u8], expected: &str| {
        let stage = stage(&[false], PROGRESS);
        stage.write(&format!("{DIRECTORY}/{name}"), text);
        let told = message(&stop(&stage));
        assert!(told.contains(expected), "{told}");
        assert_eq!(stage.complaints().len(), 1, "{told}");
    };
    check("feature_list.json", b"{oops", "could not use");
    check("feature_list.json", b"{\"features\": 7}", "the list \"features\"");
    check("feature_list.json", b"\xff\xfe", "could not read");
    check("progress.txt", b"Iteration: \xff", "could not read");
    let stage = stage(&[false], PROGRESS);
    fs::remove_file(stage.path(&format!("{DIRECTORY}/progress.txt"))).expect("remove");
    assert!(message(&stop(&stage)).contains("progress.txt is missing"));
    let empty = Stage::new();
    assert_eq!(stop(&empty).out, "");
    assert!(!empty.path("home/dialects").exists(), "a stop without a loop makes nothing");
}

#[test]
fn another_directory_is_named_by_the_variable() {
    let stage = Stage::new();
    stage.write("project/loops/mine/feature_list.json", r#"[{"id": "a", "passes": false}]"#);
    stage.write("project/loops/mine/progress.txt", "");
    let ran = send(&call(&stage, "s1").var("RALPH_LOOP_DIR", "loops/mine"));
    assert!(ran.out.contains("Continue with Feature a - (no description)"), "{ran}");
    let written = fs::read_to_string(stage.path("project/loops/mine/progress.txt")).expect("text");
    assert_eq!(written, "Iteration: 2\n");
    let absolute = stage.path("project/loops/mine").display().to_string();
    assert!(send(&call(&stage, "s1").var("RALPH_LOOP_DIR", &absolute)).out.contains("iteration 3"));
}

#[test]
fn subagents_background_work_and_the_kill_switch_are_not_counted() {
    let stage = stage(&[false], PROGRESS);
    let sub = stage.subagent_stop("s1", "worker", "done").arg("--dialect").arg("features");
    assert_eq!(send(&sub).out, "");
    let task = json!([{"id": "t1", "type": "shell", "status": "running"}]);
    let busy = call(&stage, "s1").with("background_tasks", task);
    assert_eq!(send(&busy).out, "", "new work will wake the agent");
    assert_eq!(send(&call(&stage, "s1").var("STOPGATE_DISABLE", "1")).out, "");
    assert_eq!(file(&stage, "progress.txt"), PROGRESS);
    assert!(send(&busy).out.contains("iteration 2"), "each task parks once");
}

#[test]
fn a_batch_ends_the_session_and_the_next_one_goes_on() {
    let progress = PROGRESS.replace("- Max", "- Features Per Session: 2\r\n- Max");
    let progress = progress.replace("Iterations: 4", "Iterations: 40");
    let stage = stage(&[false, false, false], &progress);
    assert!(stop(&stage).out.contains("Feature 1"));
    list(&stage, &[true, false, false]);
    assert!(stop(&stage).out.contains("Feature 2"));
    list(&stage, &[true, true, false]);
    let before = file(&stage, "progress.txt");
    let told = message(&stop(&stage));
    assert!(told.contains("its batch of 2") && told.contains("1 features remain"), "{told}");
    assert_eq!(file(&stage, "progress.txt"), before, "a hand-over is not counted");
    assert!(send(&call(&stage, "s2")).out.contains("Feature 3"));
}

#[test]
fn a_full_context_is_handed_over() {
    let stage = stage(&[false], &PROGRESS.replace("Iterations: 4", "Iterations: 40"));
    let transcript = |tokens: u64| {
        let usage = json!({"input_tokens": 4, "cache_read_input_tokens": tokens});
        let said = json!({"type": "assistant", "message": {"role": "assistant", "usage": usage}});
        let aside = json!({"type": "assistant", "isSidechain": true,
            "message": {"usage": {"input_tokens": 199_000}}});
        let user = json!({"type": "user", "message": {"role": "user", "content": "go on"}});
        stage.write("t.jsonl", format!("{user}\n{said}\n{aside}\n{user}\n"));
    };
    let path = json!(stage.path("t.jsonl"));
    let stop = || send(&call(&stage, "s1").with("transcript_path", path.clone()));
    transcript(150_000);
    assert!(stop().out.contains("iteration 2"));
    transcript(195_000);
    let told = message(&stop());
    assert!(told.contains("nearly full (195004 of 200000 tokens)"), "{told}");
    assert!(file(&stage, "progress.txt").contains("Iteration: 2 "), "not counted");
    let wider = file(&stage, "progress.txt").replace("- Max", "- Context Limit: 1000000\n- Max");
    stage.write(&format!("{DIRECTORY}/progress.txt"), wider);
    assert!(stop().out.contains("iteration 3"));
}

#[test]
fn the_person_is_notified_once_when_the_loop_ends() {
    let stage = stage(&[true], PROGRESS);
    let note = stage.path("note").display().to_string();
    let command = format!("echo noise; printf '%s\\n' >>{note}");
    let notified = || send(&call(&stage, "s1").var("STOPGATE_NOTIFY", &command));
    let first = notified();
    assert_eq!(message(&first), message(&notified()), "nothing of the command is printed");
    let told = crate::people::told(&stage, "note", 1);
    assert_eq!(told, "Ralph Loop COMPLETE! All 1 features verified.\n");
}

#[test]
fn a_notification_that_fails_or_hangs_changes_no_answer() {
    for command in ["false", "sleep 60;", "no-such-command-here"] {
        let stage = stage(&[true], PROGRESS);
        let ran = send(&call(&stage, "s1").var("STOPGATE_NOTIFY", command));
        assert!(message(&ran).contains("COMPLETE"), "{ran}");
    }
}

#[test]
fn every_one_of_many_stops_is_counted() {
    let stage = stage(&[false], &PROGRESS.replace("Iterations: 4", "Iterations: 400"));
    let calls: Vec<Call<'_>> = (0..32).map(|at| call(&stage, &format!("s{at}"))).collect();
    let children: Vec<_> = calls.iter().map(|call| begin(&mut call.command())).collect();
    for (child, call) in children.into_iter().zip(&calls) {
        let ran = stage.end(child, &call.bytes());
        assert!(ran.out.contains("\"decision\":\"block\""), "{ran}");
    }
    assert!(file(&stage, "progress.txt").contains("- Iteration: 33 \r\n"));
    assert_eq!(file(&stage, "hook.log").lines().count(), 32);
}

#[test]
fn a_file_is_kept_before_the_first_change_and_stays_a_link_of_its_mode() {
    let stage = stage(&[false], PROGRESS);
    let path = stage.path(&format!("{DIRECTORY}/progress.txt"));
    let real = stage.path("project/real.txt");
    fs::rename(&path, &real).expect("move");
    fs::set_permissions(&real, PermissionsExt::from_mode(0o640)).expect("chmod");
    symlink(&real, &path).expect("link");
    stop(&stage);
    stop(&stage);
    assert!(path.is_symlink());
    assert!(fs::read_to_string(&real).expect("text").contains("Iteration: 3"));
    assert_eq!(fs::metadata(&real).expect("mode").permissions().mode() & 0o777, 0o640);
    let kept: Vec<_> = fs::read_dir(stage.path("home/backups"))
        .expect("backups")
        .flatten()
        .flat_map(|directory| fs::read_dir(directory.path()).expect("a directory").flatten())
        .collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read_to_string(kept[0].path()).expect("text"), PROGRESS);
}

#[test]
fn a_loop_is_set_up_and_checked_by_command() {
    let stage = Stage::new();
    assert_snapshot!(stage.run("features check"), @r#"
    ✗ $STAGE/project/.claude/data/ralph-loops/current is not a directory
      → make the loop: stopgate features init --feature "what is to be built"
    ✗ $STAGE/project/.claude/data/ralph-loops/current/feature_list.json is missing
      → make it: stopgate features init --feature "what is to be built"
    ✗ $STAGE/project/.claude/data/ralph-loops/current/progress.txt is missing
      → make it: stopgate features init
    ! no Stop hook with --dialect features is set up for this project
      → add it to .claude/settings.local.json: stopgate hook claude --dialect features
    [exit 1]
    "#);
    assert_snapshot!(stage.run("features init --feature 'A login page' --feature 'Say \"hi\"' --max-iterations 9"), @"
    Made $STAGE/project/.claude/data/ralph-loops/current/feature_list.json
    Made $STAGE/project/.claude/data/ralph-loops/current/progress.txt
    Made $STAGE/project/.claude/data/ralph-loops/current/RALPH_PROMPT.md
    ! no Stop hook with --dialect features is set up for this project
      → add it to .claude/settings.local.json: stopgate hook claude --dialect features
    ✓ The loop can run: 0 of 2 features complete, iteration 0 of 9.
    ");
    assert_snapshot!(file(&stage, "feature_list.json"), @r#"
    {
      "features": [
        { "id": 1, "description": "A login page", "passes": false },
        { "id": 2, "description": "Say \"hi\"", "passes": false }
      ]
    }
    "#);
    assert_snapshot!(file(&stage, "progress.txt"), @"
    # Ralph Loop Progress: project

    ## Configuration
    - Max Iterations: 9

    ## Current State
    - Iteration: 0
    - Status: not_started
    ");
    assert_snapshot!(stage.run("features init --feature again"), @"
    [stderr]
    error: $STAGE/project/.claude/data/ralph-loops/current/feature_list.json is there already
     hint: add the features to it, or omit --feature
    [exit 2]
    ");
    let checked = stage.json("features check");
    assert_eq!((&checked["ok"], &checked["checked"]["features"]), (&json!(true), &json!(2)));
    assert!(
        stop(&stage).out.contains("Ralph Loop iteration 1: Continue with Feature 1 - A login page")
    );
    assert_snapshot!(stage.run("status --dialect features"), @r#"
    9f1e2483d77f5cb1  ACTIVE  every feature of $STAGE/project/.claude/data/ralph-loops/current/feature_list.json
      iteration  1 of 9
      criteria   ✗ 1: A login page  the agent's word
                 ✗ 2: Say "hi"  the agent's word
      time       0 s used, no limit
      progress   0 s ago
      kept in    another tool's file (--dialect features)
      project    $STAGE/project
      next       the agent
    "#);
}

#[test]
fn several_loops_share_a_project_by_name() {
    let stage = Stage::new();
    for name in ["one", "two"] {
        let ran = stage.run(&format!("features init --name {name} --feature {name}"));
        assert_eq!(ran.code, 0, "{ran}");
    }
    assert!(stop(&stage).out.contains("Feature 1 - two"));
    let first = stage.path("project/.claude/data/ralph-loops/one/progress.txt");
    assert!(fs::read_to_string(first).expect("text").contains("Iteration: 0"));
    assert_eq!(stage.run("features init --name one").code, 0);
    assert!(stop(&stage).out.contains("Feature 1 - one"));
    for name in ["current", "../up", ".hidden"] {
        assert_eq!(stage.run(&format!("features init --name {name}")).code, 2, "{name}");
    }
    assert_snapshot!(file(&stage, "RALPH_PROMPT.md"), @r#"
    Work through the features in .claude/data/ralph-loops/current/feature_list.json, one at a time.

    1. Read .claude/data/ralph-loops/current/progress.txt: it says what earlier sessions left for you.
    2. Take the first feature that does not have "passes": true.
    3. Build it, verify that it works, and only then set its "passes" to true.
    4. Commit. Note in progress.txt what the next session needs to know; its first Iteration: and Status: lines are kept by the stop hook, so leave them alone.
    5. Stop. The stop hook says what is next, or that all is done.
    "#);
}

#[test]
fn what_is_wrong_is_found_before_the_loop_begins() {
    let stage = stage(&[], "nothing");
    let ran = stage.run("features check --json");
    assert_eq!(ran.code, 1, "{ran}");
    let checked: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(checked["ok"], json!(false));
    assert!(ran.out.contains("lists no features"), "{ran}");
    assert!(ran.out.contains("no line \\\"Max Iterations:\\\""), "{ran}");
    stage.write("project/.claude/settings.local.json", "{\"hooks\": \"--dialect features\"}");
    list(&stage, &[false]);
    stage.write(
        &format!("{DIRECTORY}/progress.txt"),
        PROGRESS.replace("Iteration: 1", "Iteration: 4"),
    );
    assert_snapshot!(stage.run("features check"), @r#"
    ✗ the limit is reached: iteration 4 of 4
      → raise "Max Iterations:", or set "Iteration:" back
    [exit 1]
    "#);
}
