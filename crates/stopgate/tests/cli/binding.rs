//! Whom a loop holds: the named session, the shell's, or the only one alive.

use insta::assert_snapshot;

use crate::doors;
use crate::stage::Stage;

#[test]
fn a_named_session_is_held_at_once() {
    let stage = Stage::with_loop("Finish");
    assert_eq!(stage.standing("1stage0000"), "active 0/20 s1");
}

#[test]
fn in_an_agents_shell_its_own_session_is_held() {
    let stage = Stage::new();
    let ran = stage.run_as("s7", "start Finish");
    assert_snapshot!(ran.out, @"
    Loop 1stage0000 has begun: Finish
      at most 20 continuations; no check, so the agent's word ends it (as attested)
      holds session s7
      see it: stopgate status    end it: stopgate cancel
    ");
    assert!(stage.stop("s7", "one").is_sent_back());
    assert_eq!(stage.run_as("s7", "status").code, 0);
}

#[test]
fn the_only_live_session_of_the_project_is_held() {
    let stage = Stage::new();
    stage.session_start("s1", "startup").send();
    stage.session_start("elsewhere", "startup").from("other").send();
    stage.start("Finish");
    assert_eq!(stage.standing("1stage0000"), "active 0/20 s1");
}

#[test]
fn with_two_live_sessions_the_loop_is_pending() {
    let stage = Stage::new();
    stage.session_start("s1", "startup").send();
    stage.session_start("s2", "startup").send();
    let ran = stage.run("start Finish");
    assert_snapshot!(ran.out, @"
    Loop 1stage0000 has begun: Finish
      at most 20 continuations; no check, so the agent's word ends it (as attested)
      not attached yet: the next agent session in this project until 07:00 is held
      see it: stopgate status    end it: stopgate cancel
    ");
    assert_eq!(stage.standing("1stage0000"), "active 0/20 nobody");
}

#[test]
fn a_session_that_ended_or_died_is_not_alive() {
    let stage = Stage::new();
    stage.session_start("s1", "startup").send();
    stage.session_start("s2", "startup").send();
    stage.session_end("s1", "other").send();
    let mut gone = doors::program("true").spawn().expect("start a program");
    gone.wait().expect("wait for it");
    let pid = gone.id().to_string();
    stage.session_start("s3", "startup").var("CLAUDE_PID", &pid).send();
    stage.start("Finish");
    assert_eq!(stage.standing("1stage0000"), "active 0/20 s2");
}

#[test]
fn two_sessions_in_one_directory_never_touch_each_others_loop() {
    let stage = Stage::new();
    stage.start("'The goal of one' --session s1 --max-iterations 5");
    stage.start("'The goal of two' --session s2 --max-iterations 7");
    for said in ["a", "b"] {
        assert!(stage.stop("s1", said).text.contains("The goal of one"));
        assert!(stage.stop("s2", said).text.contains("The goal of two"));
    }
    stage.stop("s1", "<promise>COMPLETE</promise>");
    stage.run("cancel --session s3");
    assert_eq!(stage.standing("1stage0000"), "attested 2/5 s1");
    assert_eq!(stage.standing("2stage0000"), "active 2/7 s2");
    assert!(stage.stop("s2", "c").is_sent_back());
    assert_snapshot!(stage.stop("s3", "d"), @"allowed");
}

#[test]
fn a_second_start_is_refused_with_a_hint() {
    let stage = Stage::with_loop("Finish");
    let ran = stage.run("start 'Something else' --session s1");
    assert_snapshot!(ran, @r#"
    [stderr]
    error: a loop already holds session s1
     hint: nest another frame in it: stopgate push "PROMPT", or end it: start --replace, stopgate cancel
    [exit 2]
    "#);
    assert_eq!(stage.standing("1stage0000"), "active 0/20 s1");
}

#[test]
fn replace_cancels_the_loop_that_was_there() {
    let stage = Stage::with_loop("Finish");
    stage.start("'Something else' --session s1 --replace");
    assert_eq!(stage.standing("1stage0000"), "cancelled 0/20 s1");
    assert!(stage.stop("s1", "one").text.contains("Something else"));
}

#[test]
fn a_resumed_session_keeps_its_loop() {
    let stage = Stage::with_loop("Finish");
    stage.stop("s1", "one");
    stage.session_end("s1", "other").send();
    stage.advance_minutes(30);
    assert_snapshot!(stage.session_start("s1", "resume").send().brief(), @"A stopgate loop holds this session (1 of 20 continuations used).");
    assert_snapshot!(stage.stop("s1", "two").brief(), @"Loop 2/20: not finished yet");
}

#[test]
fn a_cleared_session_hands_its_loop_to_the_one_that_follows() {
    let stage = Stage::with_loop("Finish");
    stage.stop("s1", "one");
    stage.session_end("s1", "clear").send();
    assert_snapshot!(stage.session_start("s2", "clear").send(), @"
    context: A stopgate loop holds this session (1 of 20 continuations used).
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Finish
    When the goal is met, run `stopgate done`, or write <promise>COMPLETE</promise> alone on a line.
    Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    ");
    assert_eq!(stage.standing("1stage0000"), "active 1/20 s2");
    assert_snapshot!(stage.stop("s1", "two"), @"allowed");
    assert_snapshot!(stage.stop("s2", "two").brief(), @"Loop 2/20: not finished yet");
    assert_snapshot!(stage.history("1stage0000"), @"
    started: Finish
    stopped: sent back: Loop 1/20: not finished yet
    cleared: the session's context was cleared
    bound: carried over to session s2
    stopped: sent back: Loop 2/20: not finished yet
    ");
}

#[test]
fn a_cleared_session_of_another_client_hands_nothing_over() {
    let stage = Stage::with_loop("Finish");
    stage.session_end("s1", "clear").var("CLAUDE_PID", "4000001").send();
    let other = stage.session_start("s2", "clear").var("CLAUDE_PID", "4000002").send();
    assert_snapshot!(other, @"allowed");
    assert_snapshot!(stage.stop("s2", "one"), @"allowed");
    assert_eq!(stage.standing("1stage0000"), "active 0/20 s1");
}

#[test]
fn a_clear_that_nobody_follows_for_long_hands_nothing_over() {
    let stage = Stage::with_loop("Finish");
    stage.session_end("s1", "clear").send();
    stage.advance_minutes(5);
    assert_snapshot!(stage.session_start("s2", "clear").send(), @"allowed");
    assert_eq!(stage.standing("1stage0000"), "active 0/20 s1");
}

#[test]
fn a_fork_leaves_the_loop_with_the_original() {
    let stage = Stage::with_loop("Finish");
    assert_snapshot!(stage.session_start("s2", "fork").send(), @"allowed");
    assert_snapshot!(stage.stop("s2", "one"), @"allowed");
    assert!(stage.stop("s1", "one").is_sent_back());
    assert_eq!(stage.standing("1stage0000"), "active 1/20 s1");
}

#[test]
fn an_ended_loop_holds_nobody_and_a_new_one_may_begin() {
    let stage = Stage::with_loop("Finish");
    stage.stop("s1", "<promise>COMPLETE</promise>");
    assert_snapshot!(stage.session_start("s1", "compact").send(), @"allowed");
    stage.start("'Something else' --session s1");
    assert!(stage.stop("s1", "one").text.contains("Something else"));
}

#[test]
fn status_means_this_sessions_loop_or_the_only_one_that_runs() {
    let stage = Stage::new();
    let goal = |ran: crate::stage::Ran| -> String {
        let value: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        value["loop"]["goal"].as_str().expect("a goal").into()
    };
    stage.start("One --session s1");
    stage.start("Two --session s2");
    stage.run_in("other", "start Three --session s3");
    assert_eq!(goal(stage.run_as("s1", "status --json")), "One");
    assert_eq!(goal(stage.run("status --session s3 --json")), "Three");
    assert_eq!(goal(stage.run("status 1 --json")), "One");
    stage.run("cancel --session s2");
    assert_eq!(goal(stage.run("status --json")), "One");
    assert_eq!(goal(stage.run("status --session s2 --json")), "Two");
}

#[test]
fn a_session_with_an_odd_name_is_held_like_any_other() {
    let long = "x".repeat(300);
    for session in ["../../etc/passwd", "a b", "über", "s1;rm", long.as_str()] {
        let stage = Stage::new();
        stage.start(&format!("Finish --session '{session}'"));
        assert!(stage.stop(session, "one").is_sent_back(), "{session}");
        let near = session.replace([' ', '/', ';', 'ü'], "-") + "-";
        assert!(!stage.stop(&near, "one").is_sent_back(), "{near}");
        assert_eq!(stage.standing("1stage0000").split(' ').nth(1), Some("1/20"));
    }
}
