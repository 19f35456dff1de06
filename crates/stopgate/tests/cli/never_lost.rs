//! A loop is never lost: its session may go, its journal may break, and people are told.

use std::fs;

use insta::assert_snapshot;

use crate::doors;
use crate::stage::Stage;

/// A stage whose loop was left by its session.
fn left() -> Stage {
    let stage = Stage::with_loop("'Make it green'");
    stage.session_start("s1", "startup").send();
    stage.stop("s1", "one");
    stage.session_end("s1", "prompt_input_exit").send();
    stage
}

#[test]
fn status_says_that_the_session_ended() {
    let stage = left();
    assert_snapshot!(stage.run("status"), @"
    1stage0000  ACTIVE  Make it green
      iteration  1 of 20
      time       0 s of 240 min
      progress   0 s ago
      session    s1 (ended)
      project    $STAGE/project
      next       a person: its session ended. claude --resume s1, or give the loop to another session: stopgate attach 1stage0000
    ");
    assert_eq!(stage.json("status")["loop"]["session_gone"], true);
    assert_snapshot!(stage.run("resume"), @"Loop 1stage0000 is resumed (1 of 20 continuations used), but its session ended: claude --resume s1, or stopgate attach 1stage0000.");
    stage.session_start("s1", "resume").send();
    assert_eq!(stage.json("status")["loop"]["session_gone"], false);
}

#[test]
fn the_next_session_in_the_project_is_told_once() {
    let stage = left();
    assert_snapshot!(stage.session_start("s9", "startup").from("other").send(), @"allowed");
    assert_snapshot!(stage.session_start("s2", "startup").send(), @"allowed, and told: stopgate: loop 1stage0000 (Make it green) is still open, but its session ended. Let this session go on with it: ! stopgate attach 1stage0000. End it: stopgate cancel 1stage0000");
    assert_snapshot!(stage.session_start("s3", "startup").send(), @"allowed");
    assert_snapshot!(stage.stop("s2", "one"), @"allowed");
}

#[test]
fn a_client_that_died_is_noticed() {
    let stage = Stage::with_loop("Finish");
    let mut gone = doors::program("true").spawn().expect("start a program");
    gone.wait().expect("wait for it");
    stage.session_start("s1", "startup").var("CLAUDE_PID", &gone.id().to_string()).send();
    assert_eq!(stage.json("status")["loop"]["session_gone"], true);
    let told = stage.session_start("s2", "startup").send();
    assert!(told.text.contains("its session ended"), "{told}");
    assert_eq!(stage.json("status")["loop"]["session_gone"], true);
    assert!(stage.history("1stage0000").contains("session_ended: its client died"));
}

#[test]
fn attach_gives_the_loop_to_this_session_or_to_the_next_one() {
    let stage = left();
    assert_snapshot!(stage.run_as("s2", "attach"), @"Loop 1stage0000 holds session s2 from now on.");
    assert!(stage.stop("s2", "two").is_sent_back());
    assert_snapshot!(stage.stop("s1", "two"), @"allowed");
    let stage = left();
    assert_snapshot!(stage.run("attach"), @"Loop 1stage0000 is not attached yet: the next session in this project until 07:00 is held.");
    assert_snapshot!(stage.stop("s1", "two").brief(), @"Loop 2/20: not finished yet");
    let stage = left();
    stage.run("attach 1stage0000 --session s7");
    assert!(stage.stop("s7", "two").is_sent_back());
}

#[test]
fn a_session_that_lives_keeps_its_loop() {
    let stage = Stage::with_loop("Finish");
    stage.session_start("s1", "startup").send();
    assert_snapshot!(stage.run_as("s2", "attach"), @"
    [stderr]
    error: loop 1stage0000 holds session s1, which has not ended
     hint: close that session first
    [exit 2]
    ");
    let stage = left();
    stage.start("Other --session s2");
    assert_snapshot!(stage.run("attach 1stage0000 --session s2"), @"
    [stderr]
    error: loop 2stage0000 holds session s2 already
     hint: end it first: stopgate cancel
    [exit 2]
    ");
}

#[test]
fn a_damaged_journal_is_told_to_the_person_once() {
    let stage = Stage::with_loop("Finish");
    stage.stop("s1", "one");
    fs::remove_file(stage.path("home/journal.db-wal")).ok();
    stage.write("home/journal.db", "this is not a database, but it is long enough to be read");
    let call = stage.stop_call("s1", "two");
    let first = call.send_bytes(&call.bytes());
    assert_eq!(first.code, 0, "{first}");
    assert!(
        first.out.contains("systemMessage") && first.out.contains("the gate is open"),
        "{first}"
    );
    assert_eq!(call.send_bytes(&call.bytes()).out, "", "once is enough");
    // A session without a loop has nothing to do with it.
    let other = stage.stop_call("s2", "one");
    assert_eq!(other.send_bytes(&other.bytes()).out, "");
}

#[test]
fn kill_switches_show_in_status() {
    let stage = Stage::with_loop("Finish");
    stage.write("home/STOP", "");
    let ran = stage.run_with("status", &[("STOPGATE_DISABLE", "1")]);
    assert_snapshot!(ran.err, @"
    warning: STOPGATE_DISABLE=1 is set: every agent may stop, and no check runs
    warning: $STAGE/home/STOP exists: every agent may stop, and no check runs
    ");
}

#[test]
fn a_cancelled_loop_is_not_claimed_any_more() {
    let stage = Stage::new();
    stage.start("Finish");
    stage.run("cancel");
    let shown = stage.run("status").out;
    assert!(shown.contains("session    none\n"), "{shown}");
    assert_eq!(stage.json("status")["loop"]["claim_until"], serde_json::Value::Null);
}

#[test]
fn a_home_that_can_t_be_used_is_one_sentence_and_a_remedy() {
    let stage = Stage::new();
    for line in ["status", "list", "log", "verify", "start Goal", "stats gates", "doctor"] {
        let mut command = stage.command(line);
        command.env_remove("HOME").env_remove("STOPGATE_HOME");
        let ran = stage.finish(command, b"");
        assert_ne!(ran.code, 70, "{line}: {ran}");
        assert!((ran.out.clone() + &ran.err).contains("HOME is not set"), "{line}: {ran}");
        let ran = stage.run_with(line, &[("STOPGATE_HOME", "relative")]);
        assert_ne!(ran.code, 70, "{line}: {ran}");
        assert!((ran.out.clone() + &ran.err).contains("STOPGATE_HOME is a relative path"), "{ran}");
        let blocked = stage.path("project/.git/HEAD/x").display().to_string();
        stage.write("project/.git/HEAD", "a file, so no directory can be made in it");
        let ran = stage.run_with(line, &[("STOPGATE_HOME", &blocked)]);
        assert_ne!(ran.code, 70, "{line}: {ran}");
        assert!((ran.out.clone() + &ran.err).contains("STOPGATE_HOME"), "{line}: {ran}");
    }
    assert!(!stage.path("project/relative").exists());
}

#[test]
fn an_answer_reaches_the_session_at_its_next_prompt_start_or_stop() {
    let asked = || {
        let stage = Stage::with_loop("Finish");
        stage.run_as("s1", "ask 'Which database?'");
        stage.stop("s1", "I asked.");
        stage
    };
    let stage = asked();
    assert_snapshot!(stage.run_as("s1", "answer PostgreSQL"), @"
    [stderr]
    error: only a person can answer, and this is an agent's shell
     hint: a person can run it in another terminal; to ask them: stopgate ask QUESTION
    [exit 2]
    ");
    assert_snapshot!(stage.run("answer PostgreSQL"), @"Answered: loop 1stage0000 goes on. An agent that has stopped hears it at its next prompt.");
    assert_snapshot!(stage.prompt("s1", "p2", "Go on").send(), @"context: The person answered your question (by `stopgate answer`): PostgreSQL");
    assert_snapshot!(stage.prompt("s1", "p3", "Go on").send(), @"allowed");
    let stage = asked();
    stage.run("answer 1stage0000 PostgreSQL");
    let told = stage.session_start("s1", "resume").send();
    assert!(told.text.contains("The person answered your question"), "{told}");
    let stage = asked();
    stage.run("answer PostgreSQL");
    let told = stage.stop("s1", "I wait.");
    assert!(told.text.contains("PostgreSQL"), "{told}");
    assert!(!stage.stop("s1", "I go on.").text.contains("PostgreSQL"));
}
