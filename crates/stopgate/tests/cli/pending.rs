//! A loop that waits for a session: the first one of its project claims it, once.

use insta::assert_snapshot;

use crate::stage::Stage;

fn pending() -> Stage {
    let stage = Stage::new();
    stage.start("Finish");
    assert_eq!(stage.standing("1stage0000"), "active 0/20 nobody");
    stage
}

#[test]
fn the_first_session_that_starts_claims_it() {
    let stage = pending();
    assert_snapshot!(stage.session_start("s1", "startup").send(), @"
    context: A stopgate loop holds this session (0 of 20 continuations used).
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Finish
    When the goal is met, run `stopgate done`, or write <promise>COMPLETE</promise> alone on a line.
    Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    ");
    assert_snapshot!(stage.session_start("s2", "startup").send(), @"allowed");
    assert_snapshot!(stage.stop("s2", "one"), @"allowed");
    assert_snapshot!(stage.stop("s1", "one").brief(), @"Loop 1/20: not finished yet");
}

#[test]
fn the_first_session_that_is_prompted_claims_it() {
    let stage = pending();
    let told = stage.prompt("s1", "prompt-1", "Begin").send();
    assert_snapshot!(told.brief(), @"A stopgate loop holds this session (0 of 20 continuations used).");
    assert_snapshot!(stage.prompt("s1", "prompt-2", "Go on").send(), @"allowed");
    assert_snapshot!(stage.prompt("s2", "prompt-1", "Begin").send(), @"allowed");
    assert_eq!(stage.standing("1stage0000"), "active 0/20 s1");
}

#[test]
fn the_first_session_that_stops_claims_it() {
    let stage = pending();
    assert_snapshot!(stage.stop("s1", "one").brief(), @"Loop 1/20: not finished yet");
    assert_snapshot!(stage.stop("s2", "one"), @"allowed");
    assert_eq!(stage.standing("1stage0000"), "active 1/20 s1");
    assert_snapshot!(stage.history("1stage0000"), @"
    started: Finish
    bound: claimed by session s1
    stopped: sent back: Loop 1/20: not finished yet
    ");
}

#[test]
fn a_session_of_another_project_does_not() {
    let stage = pending();
    assert_snapshot!(stage.session_start("s1", "startup").from("other").send(), @"allowed");
    assert_snapshot!(stage.prompt("s1", "prompt-1", "Begin").from("other").send(), @"allowed");
    assert_snapshot!(stage.stop_call("s1", "one").from("other").send(), @"allowed");
    assert_eq!(stage.standing("1stage0000"), "active 0/20 nobody");
}

#[test]
fn nobody_does_after_its_time() {
    let stage = Stage::new();
    stage.start("Finish --claim-within 10m");
    stage.advance_minutes(11);
    assert_snapshot!(stage.session_start("s1", "startup").send(), @"allowed");
    assert_snapshot!(stage.prompt("s1", "prompt-1", "Begin").send(), @"allowed");
    assert_snapshot!(stage.stop("s1", "one"), @"allowed");
    assert_eq!(stage.standing("1stage0000"), "idle 0/20 nobody");
    assert_snapshot!(stage.run("status"), @"
    1stage0000  IDLE  Finish
      iteration  0 of 20
      time       11 min of 240 min
      progress   11 min ago
      session    none
      project    $STAGE/project
      next       nobody attached to it in time: stopgate attach 1stage0000, or stopgate cancel 1stage0000
    ");
}

#[test]
fn an_hour_is_the_default_and_its_last_minute_counts() {
    let stage = pending();
    stage.advance_minutes(60);
    assert!(stage.stop("s1", "one").is_sent_back());
    let stage = pending();
    stage.advance_minutes(61);
    assert!(!stage.stop("s1", "one").is_sent_back());
}

#[test]
fn a_subagent_or_a_tool_claims_nothing() {
    let stage = pending();
    stage.subagent_stop("s1", "general-purpose", "done").send();
    stage.tools("s1");
    stage.session_end("s1", "other").send();
    assert_eq!(stage.standing("1stage0000"), "active 0/20 nobody");
}

#[test]
fn a_session_that_is_held_claims_no_second_loop() {
    let stage = Stage::new();
    stage.start("'The first' --session s1");
    stage.start("'The second'");
    assert!(stage.stop("s1", "one").text.contains("The first"));
    assert_eq!(stage.standing("2stage0000"), "active 0/20 nobody");
}

#[test]
fn two_pending_loops_are_claimed_in_their_order() {
    let stage = Stage::new();
    stage.start("'The first'");
    stage.start("'The second'");
    assert!(stage.session_start("s1", "startup").send().text.contains("The first"));
    assert!(stage.session_start("s2", "startup").send().text.contains("The second"));
    assert!(stage.stop("s2", "one").text.contains("The second"));
    assert_snapshot!(stage.session_start("s3", "startup").send(), @"allowed");
}

#[test]
fn a_loop_begun_in_a_subdirectory_belongs_to_the_whole_project() {
    let stage = Stage::new();
    stage.make_directory("project/deep/down");
    stage.run_in("project/deep/down", "start Finish");
    stage.make_directory("project/elsewhere");
    assert!(stage.stop_call("s1", "one").from("project/elsewhere").send().is_sent_back());
    assert_snapshot!(stage.json("status")["loop"]["project"], @r#""$STAGE/project""#);
}

#[test]
fn a_worktree_is_a_project_of_its_own() {
    let stage = Stage::new();
    stage.write("project/trees/fix/.git", "gitdir: ../../.git/worktrees/fix\n");
    stage.run_in("project/trees/fix", "start 'In the worktree'");
    assert_snapshot!(stage.stop("s1", "one"), @"allowed");
    let told = stage.stop_call("s2", "one").from("project/trees/fix").send();
    assert!(told.text.contains("In the worktree"));
}

#[test]
fn the_clients_directory_counts_not_where_the_agent_went() {
    let stage = pending();
    let elsewhere = stage.path("other").display().to_string();
    let call = stage.stop_call("s1", "one").with("cwd", elsewhere.into());
    assert!(call.send().is_sent_back());
}

#[test]
fn a_link_to_the_project_is_the_project() {
    let stage = pending();
    std::os::unix::fs::symlink(stage.path("project"), stage.path("link")).expect("link");
    assert!(stage.stop_call("s1", "one").from("link").send().is_sent_back());
}

#[test]
fn a_cancelled_one_is_claimed_by_nobody() {
    let stage = pending();
    stage.run("cancel");
    assert_snapshot!(stage.stop("s1", "one"), @"allowed");
    assert_eq!(stage.standing("1stage0000"), "cancelled 0/20 nobody");
}

#[test]
fn without_the_clients_directory_the_agents_own_counts() {
    let stage = pending();
    stage.make_directory("project/deep");
    let call = stage.stop_call("s1", "one").from("project/deep");
    assert!(call.no_var("CLAUDE_PROJECT_DIR").send().is_sent_back());
}
