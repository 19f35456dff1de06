//! The main story: begun, held, looked at, proven.

use insta::assert_snapshot;
use serde_json::json;

use crate::call::Form;
use crate::stage::Stage;

const GREEN: &str = "start 'Make the tests green' --check tests='cat report && test -f green' \
                     --check lint=true --max-iterations 12 --session s1";

#[test]
fn a_loop_is_held_until_its_checks_pass() {
    let stage = Stage::new();
    stage.write("project/report", "2 failed: parser, printer\n");
    assert_snapshot!(stage.run(GREEN).out, @"
    Loop 1stage0000 has begun: Make the tests green
      at most 12 continuations; 2 checks prove it
      tests: fails now (exit 1) in 0.0 s
      lint: passes already in 0.0 s
      tests: no file judges it yet, so the work judges itself (see red_first)
      lint: no file judges it yet, so the work judges itself (see red_first)
      holds session s1
      see it: stopgate status    end it: stopgate cancel
    ");
    assert_snapshot!(stage.stop("s1", "I think that is all."), @"
    context: Loop 1/12: 1 of 2 criteria unmet
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Make the tests green
    Not met:
    - tests: fail, exit 1
      reproduce: cat report && test -f green
    ```output
    2 failed: parser, printer
    ```
      full log: $STAGE/home/checks/1stage0000/1/tests.log

    Make the checks pass, then stop: stopgate runs them itself. You may say that you are done with `stopgate done`, or <promise>COMPLETE</promise> alone on a line.
    Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    ");
    stage.advance_minutes(3);
    assert_snapshot!(stage.run("status"), @"
    1stage0000  ACTIVE  Make the tests green
      iteration  1 of 12
      criteria   ✗ tests  fail, exit 1, 0.0 s
                 ✓ lint  pass, exit 0, 0.0 s
      time       3 min of 240 min
      progress   3 min ago
      session    s1
      project    $STAGE/project
      next       the agent
    ");
    stage.write("project/green", "");
    assert_snapshot!(stage.stop("s1", "Both are fixed now."), @"allowed, and told: stopgate: loop 1stage0000 ended as done after 1 continuation: both checks pass. More: stopgate explain 1stage0000");
    assert_snapshot!(stage.run("status"), @"
    1stage0000  DONE  Make the tests green
      iteration  1 of 12
      why        both checks pass
      criteria   ✓ tests  pass, exit 0, 0.0 s
                 ✓ lint  pass, exit 0, 0.0 s
      time       3 min of 240 min
      progress   0 s ago
      session    s1
      project    $STAGE/project
      next       nobody: it is over
    ");
    assert_snapshot!(stage.stop("s1", "Good bye."), @"allowed");
}

/// A loop whose first stop was a lie and whose second was proven.
fn proven_after_a_lie() -> Stage {
    let stage = Stage::new();
    stage.write("project/report", "2 failed: parser, printer\n");
    stage.run(GREEN);
    stage.stop("s1", "I think that is all.\n\n<promise>COMPLETE</promise>");
    stage.write("project/green", "");
    stage.stop("s1", "Both are fixed now.");
    stage
}

#[test]
fn a_refused_stop_can_be_explained() {
    let stage = proven_after_a_lie();
    assert_snapshot!(stage.run("explain 1"), @"
    Stop 1 of 2 of loop 1stage0000: continue
      2026-11-15T06:00:00Z

    Asked in this order:
        ended        has the loop ended already?
        paused       did a person pause it?
        corrupt      is the record sound?
        stale        has nobody touched it for too long?
        waiting      does it wait for a person's answer, or for a condition?
        trust        did a person trust the project's file?
        background   did background work start that will wake the agent?
        person       did a person speak during this turn?
        tampered     was what judges the work changed, and not put right when asked?
        proof        do all criteria pass?
        infra        could a check not be run, twice in a row?
        iterations   was the agent sent back as often as allowed?
        time         is the time used up?
        budget       are the tokens, the money or the quota used up?
        idle         did the agent do nothing for several turns?
        repeat       do the same criteria fail in the same way again and again?
        oscillation  do two sets of failures take turns?
        cap          would the agent's own cap throw the answer away?
        signals      what did the agent say?
        frame_limit  is a nested frame at its limit?
        gates        what do the loop's gates say?
      ▶ continue     no rule lets the agent stop, so it continues

    Seen and counted:
      said           <promise>COMPLETE</promise>
      tools          unknown
      files changed  0
      idle           0
      repeat         0
      cap            lifted
      check tests    fail, exit 1, 0 ms, $STAGE/home/checks/1stage0000/1/tests.log
      check lint     pass, exit 0, 0 ms, $STAGE/home/checks/1stage0000/1/lint.log

    The agent was told:
      | Loop 1/12: 1 of 2 criteria unmet
      | From stopgate's stop hook, not from the user; it grants no permission.
      | Goal: Make the tests green
      | You said that it is done, but the checks do not pass.
      | 
      | Not met:
      | - tests: fail, exit 1
      |   reproduce: cat report && test -f green
      | ```output
      | 2 failed: parser, printer
      | ```
      |   full log: $STAGE/home/checks/1stage0000/1/tests.log
      | 
      | Make the checks pass, then stop: stopgate runs them itself. You may say that you are done with `stopgate done`, or <promise>COMPLETE</promise> alone on a line.
      | Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    ");
}

#[test]
fn a_granted_stop_can_be_explained() {
    let stage = proven_after_a_lie();
    assert_snapshot!(stage.run("explain"), @"
    Stop 2 of 2 of loop 1stage0000: complete as done
      2026-11-15T06:00:00Z
      because both checks pass

    Asked in this order:
        ended        has the loop ended already?
        paused       did a person pause it?
        corrupt      is the record sound?
        stale        has nobody touched it for too long?
        waiting      does it wait for a person's answer, or for a condition?
        trust        did a person trust the project's file?
        background   did background work start that will wake the agent?
        person       did a person speak during this turn?
        tampered     was what judges the work changed, and not put right when asked?
      ▶ proof        do all criteria pass?

    Seen and counted:
      said           no marker
      tools          unknown
      files changed  1
      idle           0
      repeat         0
      cap            lifted
      check tests    pass, exit 0, 0 ms, $STAGE/home/checks/1stage0000/2/tests.log
      check lint     pass, exit 0, 0 ms, $STAGE/home/checks/1stage0000/2/lint.log
    ");
    assert_snapshot!(stage.run("explain 1stage0000:3"), @"
    [stderr]
    error: loop 1stage0000 has no stop 3
     hint: its stops are 1 to 2
    [exit 66]
    ");
}

#[test]
fn the_journal_is_shown_as_lines() {
    let stage = Stage::new();
    stage.write("project/report", "2 failed: parser, printer\n");
    stage.run(GREEN);
    stage.stop("s1", "I think that is all.");
    stage.write("project/green", "");
    stage.advance_minutes(5);
    stage.stop("s1", "Both are fixed now.");
    assert_snapshot!(stage.run("log"), @"
    2026-11-15 06:00:00  1stage0000  started        Make the tests green
    2026-11-15 06:00:00  1stage0000  stopped        sent back: Loop 1/12: 1 of 2 criteria unmet
    2026-11-15 06:05:00  1stage0000  stopped        ended as done: both checks pass
    2026-11-15 06:05:00  1stage0000  certified      what was proven is signed
    ");
}

#[test]
fn all_loops_are_listed_the_newest_first() {
    let stage = Stage::new();
    assert_snapshot!(stage.run("list"), @r#"No loops. Begin one with: stopgate start "GOAL""#);
    stage.start("'The first goal' --session s1");
    stage.stop("s1", "<promise>COMPLETE</promise>");
    stage.start("'The second goal' --session s2");
    stage.stop("s2", "I have begun.");
    stage.run_in("other", "start 'Somewhere else' --session s3");
    stage.advance_minutes(90);
    assert_snapshot!(stage.run("list"), @"
    LOOP        STATE     USED  PROGRESS    PROJECT  GOAL
    3stage0000  active    0/20  1 h 30 min  other    Somewhere else
    2stage0000  active    1/20  1 h 30 min  project  The second goal
    1stage0000  attested  0/20  1 h 30 min  project  The first goal
    ");
    assert_snapshot!(stage.run("list --here --running"), @"
    LOOP        STATE   USED  PROGRESS    PROJECT  GOAL
    2stage0000  active  1/20  1 h 30 min  project  The second goal
    ");
}

#[test]
fn a_claim_is_checked_and_refused() {
    let stage = Stage::with_loop("Finish --check tests=false");
    let told = stage.stop("s1", "Done!\n\n<promise>COMPLETE</promise>");
    assert_snapshot!(told, @"
    context: Loop 1/20: 1 of 1 criteria unmet
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Finish
    You said that it is done, but the checks do not pass.

    Not met:
    - tests: fail, exit 1
      reproduce: false

    Make the checks pass, then stop: stopgate runs them itself. You may say that you are done with `stopgate done`, or <promise>COMPLETE</promise> alone on a line.
    Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    ");
    assert_eq!(stage.standing("1stage0000"), "active 1/20 s1");
    assert_snapshot!(stage.run_as("s1", "done"), @"Noted: at your next stop the check runs, and it decides.");
    assert_eq!(stage.json("status")["loop"]["state"], "completing");
    assert_snapshot!(stage.stop("s1", "As I said.").brief(), @"Loop 2/20: 1 of 1 criteria unmet");
    assert_eq!(stage.json("status")["loop"]["state"], "active");
}

#[test]
fn without_checks_the_agents_word_ends_it_as_attested() {
    let stage = Stage::with_loop("'Tidy up'");
    assert_snapshot!(stage.stop("s1", "Working."), @"
    context: Loop 1/20: not finished yet
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Tidy up
    When the goal is met, run `stopgate done`, or write <promise>COMPLETE</promise> alone on a line.
    Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    ");
    assert_snapshot!(stage.stop("s1", "All tidy.\n\n<promise>COMPLETE</promise>"), @"allowed, and told: stopgate: loop 1stage0000 ended as attested after 1 continuation: the agent said so; no check proved it. More: stopgate explain 1stage0000");
    assert_eq!(stage.standing("1stage0000"), "attested 1/20 s1");
}

#[test]
fn done_by_command_is_attested_at_the_next_stop() {
    let stage = Stage::with_loop("'Tidy up'");
    assert_snapshot!(stage.run_as("s1", "done"), @"Noted: your next stop ends the loop as attested.");
    assert_snapshot!(stage.stop("s1", "I am through."), @"allowed, and told: stopgate: loop 1stage0000 ended as attested after 0 continuations: the agent said so; no check proved it. More: stopgate explain 1stage0000");
}

#[test]
fn attested_criteria_need_the_word_beside_the_proof() {
    let stage = Stage::with_loop("Ship --check tests=true --criterion 'reads well'");
    assert_snapshot!(stage.stop("s1", "Tests pass."), @"
    context: Loop 1/20: 1 of 2 criteria unmet
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Ship
    Not met:
    - reads well: waits for your word

    Make the checks pass, then stop: stopgate runs them itself. You may say that you are done with `stopgate done`, or <promise>COMPLETE</promise> alone on a line.
    Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    ");
    assert_snapshot!(stage.stop("s1", "It reads well.\n<promise>COMPLETE</promise>"), @"allowed, and told: stopgate: loop 1stage0000 ended as attested after 1 continuation: its check passes; the rest is the agent's word. More: stopgate explain 1stage0000");
}

#[test]
fn a_proof_on_the_last_iteration_is_done_and_no_limit() {
    let stage = Stage::with_loop("Finish --check tests='test -f green' --max-iterations 1");
    assert_snapshot!(stage.stop("s1", "Not yet.").brief(), @"Loop 1/1: 1 of 1 criteria unmet");
    stage.write("project/green", "");
    stage.stop("s1", "Now.");
    assert_eq!(stage.standing("1stage0000"), "done 1/1 s1");
}

#[test]
fn a_check_that_can_not_run_never_proves_anything() {
    let stage = Stage::with_loop("Finish --check tests='exit 127'");
    assert_snapshot!(stage.stop("s1", "Done."), @"
    context: Loop 1/20: 1 of 1 criteria unmet
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Finish
    Not met:
    - tests: error (the command was not found)
      reproduce: exit 127

    Make the checks pass, then stop: stopgate runs them itself. You may say that you are done with `stopgate done`, or <promise>COMPLETE</promise> alone on a line.
    Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    ");
    assert_snapshot!(stage.stop("s1", "Done, really."), @r#"allowed, and told: stopgate: loop 1stage0000 ended as infra_error after 1 continuation: check "tests": the command was not found, twice in a row. More: stopgate explain 1stage0000"#);
    assert_eq!(stage.standing("1stage0000"), "infra_error 1/20 s1");
}

#[test]
fn a_check_that_hangs_is_ended() {
    let stage = Stage::with_loop("Finish --check tests='sleep 60 & sleep 60' --check-timeout 1s");
    assert_snapshot!(stage.stop("s1", "Done."), @"
    context: Loop 1/20: 1 of 1 criteria unmet
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Finish
    Not met:
    - tests: timeout after 0.0 s (killed after 1 s)
      reproduce: sleep 60 & sleep 60

    Make the checks pass, then stop: stopgate runs them itself. You may say that you are done with `stopgate done`, or <promise>COMPLETE</promise> alone on a line.
    Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    ");
}

#[test]
fn a_check_can_not_reach_the_agent_through_the_hook() {
    let noisy = "echo \"{}\"; echo oops >&2; env | grep -c -e CLAUDE -e AI_AGENT; false";
    let stage = Stage::with_loop(&format!("Finish --check tests='{noisy}'"));
    let told = stage.stop("s1", "Done.");
    assert_snapshot!(told, @r#"
    context: Loop 1/20: 1 of 1 criteria unmet
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Finish
    Not met:
    - tests: fail, exit 1
      reproduce: echo "{}"; echo oops >&2; env | grep -c -e CLAUDE -e AI_AGENT; false
    ```output
    {}
    oops
    0
    ```
      full log: $STAGE/home/checks/1stage0000/1/tests.log

    Make the checks pass, then stop: stopgate runs them itself. You may say that you are done with `stopgate done`, or <promise>COMPLETE</promise> alone on a line.
    Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    "#);
}

#[test]
fn what_a_check_prints_is_data_and_cleaned() {
    let stage = Stage::new();
    stage.write("project/out", "\u{1b}[31mred\u{1b}[0m ``` \u{202e}evil\u{7}\n");
    stage.start("Finish --check tests='cat out; false' --session s1");
    assert_snapshot!(stage.stop("s1", "Done."), @"
    context: Loop 1/20: 1 of 1 criteria unmet
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Finish
    Not met:
    - tests: fail, exit 1
      reproduce: cat out; false
    ````output
    red ``` evil
    ````
      full log: $STAGE/home/checks/1stage0000/1/tests.log

    Make the checks pass, then stop: stopgate runs them itself. You may say that you are done with `stopgate done`, or <promise>COMPLETE</promise> alone on a line.
    Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    ");
}

#[test]
fn a_text_stays_short_however_much_there_is_to_say() {
    let long = "x".repeat(3000);
    let name = "y".repeat(80);
    let checks: Vec<String> =
        (0..12).map(|n| format!("--check 'criterion {n} {name}'='seq 1 2000; false'")).collect();
    let stage = Stage::with_loop(&format!("'{long}' {}", checks.join(" ")));
    let told = stage.stop("s1", "Done.");
    assert!(told.is_sent_back());
    assert!(told.text.len() > 1000, "a long text is used, not dropped: {told}");
    assert!(told.text.contains("stopgate blocked WHY"), "the way out is always told: {told}");
}

#[test]
fn the_form_of_the_answer_follows_the_clients_version() {
    let form = |agent: Option<&str>| {
        let stage = Stage::with_loop("Finish");
        let call = stage.stop_call("s1", "Working.");
        let call = match agent {
            Some(agent) => call.var("AI_AGENT", agent),
            None => call.no_var("AI_AGENT"),
        };
        call.send().form
    };
    assert_eq!(form(Some("claude-code_2-1-325_harness")), Form::Context);
    assert_eq!(form(Some("claude-code_2-1-163_harness")), Form::Context);
    assert_eq!(form(Some("claude-code_2-1-162_harness")), Form::Block);
    assert_eq!(form(Some("claude-code_2-1-100_harness")), Form::Block);
    assert_eq!(form(Some("claude-code_3-0-0_harness")), Form::Context);
    assert_eq!(form(Some("something else")), Form::Block);
    assert_eq!(form(None), Form::Block);
}

#[test]
fn a_session_without_a_loop_pays_nothing_and_is_told_nothing() {
    let stage = Stage::new();
    assert_snapshot!(stage.stop("s1", "Done."), @"allowed");
    stage.start("'A goal of another' --session s2");
    assert_snapshot!(stage.stop("s1", "Done."), @"allowed");
    assert_snapshot!(stage.prompt("s1", "prompt-1", "Hello").send(), @"allowed");
    let odd = stage.call("Notification", "s2").with("message", json!("waiting")).send();
    assert_snapshot!(odd, @"allowed");
    assert_eq!(stage.standing("1stage0000"), "active 0/20 s2");
}
