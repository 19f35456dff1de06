//! A person's controls and an agent's honest exits.

use insta::assert_snapshot;

use crate::stage::Stage;

#[test]
fn a_pause_lasts_until_somebody_resumes() {
    let stage = Stage::with_loop("Finish");
    assert_snapshot!(stage.run("pause"), @"Loop 1stage0000 is paused; let it go on with: stopgate resume.");
    assert_snapshot!(stage.stop("s1", "one"), @"allowed");
    stage.prompt("s1", "prompt-2", "How far are you?").send();
    assert_snapshot!(stage.stop("s1", "two"), @"allowed");
    assert_snapshot!(stage.run("status"), @"
    1stage0000  PAUSED  Finish
      iteration  0 of 20
      time       0 s of 240 min
      progress   0 s ago
      session    s1
      project    $STAGE/project
      next       a person: stopgate resume
    ");
    assert_snapshot!(stage.run("resume"), @"Loop 1stage0000 is resumed: 0 of 20 continuations used. An agent that has stopped needs a prompt to go on.");
    assert_snapshot!(stage.stop("s1", "three").brief(), @"Loop 1/20: not finished yet");
}

#[test]
fn a_hold_lasts_until_the_person_speaks() {
    let stage = Stage::with_loop("Finish");
    assert_snapshot!(stage.run("hold"), @"Loop 1stage0000 is paused until your next prompt to the agent.");
    assert_snapshot!(stage.stop("s1", "one"), @"allowed");
    let news = "<task-notification>\n<task-id>x</task-id>\n</task-notification>";
    stage.prompt("s1", "prompt-2", news).send();
    assert_snapshot!(stage.stop("s1", "two"), @"allowed");
    stage.prompt("s1", "prompt-3", "Go on.").send();
    assert_snapshot!(stage.stop("s1", "three").brief(), @"Loop 1/20: not finished yet");
}

#[test]
fn a_question_waits_for_its_answer() {
    let stage = Stage::with_loop("Finish");
    assert_snapshot!(stage.run_as("s1", "ask 'Which database?'"), @"Noted: put the question to the person and stop; the loop goes on when they answer.");
    assert_snapshot!(stage.stop("s1", "I asked."), @"allowed");
    assert_snapshot!(stage.run("status"), @"
    1stage0000  WAITING  Finish
      iteration  0 of 20
      why        Which database?
      time       0 s of 240 min
      progress   0 s ago
      session    s1
      project    $STAGE/project
      next       a person: answer in the session, or stopgate answer 1stage0000 TEXT
    ");
    stage.prompt("s1", "prompt-2", "PostgreSQL.").send();
    assert_snapshot!(stage.stop("s1", "two").brief(), @"Loop 1/20: not finished yet");
}

#[test]
fn a_question_that_nobody_answers_needs_input() {
    let stage = Stage::with_loop("Finish");
    stage.run_as("s1", "ask 'Which database?'");
    stage.advance_minutes(13 * 60);
    assert_snapshot!(stage.stop("s1", "Still waiting."), @"allowed, and told: stopgate: loop 1stage0000 ended as needs_input after 0 continuations: nobody answered: Which database? More: stopgate explain 1stage0000");
    assert_eq!(stage.standing("1stage0000"), "needs_input 0/20 s1");
}

#[test]
fn an_agent_may_leave_honestly() {
    let stage = Stage::with_loop("Finish --check tests=false");
    assert_snapshot!(stage.run_as("s1", "blocked 'the network is down'"), @"Loop 1stage0000 ended as blocked: you may stop.");
    assert_snapshot!(stage.stop("s1", "I can't."), @"allowed");
    assert_snapshot!(stage.run("status"), @"
    1stage0000  BLOCKED  Finish
      iteration  0 of 20
      why        the network is down
      criteria   · tests  not run at a stop yet
      time       0 s of 240 min
      progress   0 s ago
      session    s1
      project    $STAGE/project
      next       a person: look at it, then stopgate resume or start a new loop
    ");
    assert_snapshot!(stage.run("resume"), @"Loop 1stage0000 is resumed: 0 of 20 continuations used. An agent that has stopped needs a prompt to go on.");
    assert!(stage.stop("s1", "two").is_sent_back());
    assert_snapshot!(stage.run_as("s1", "impossible 'P is not NP'"), @"Loop 1stage0000 ended as impossible: you may stop.");
    assert_snapshot!(stage.stop("s1", "Bye."), @"allowed");
}

#[test]
fn a_finished_or_cancelled_loop_is_never_resumed() {
    let stage = Stage::with_loop("Finish");
    stage.stop("s1", "<promise>COMPLETE</promise>");
    assert_snapshot!(stage.run("resume"), @"
    [stderr]
    error: loop 1stage0000 ended as attested, which is final
     hint: begin a new one with: stopgate start
    [exit 2]
    ");
    let stage = Stage::with_loop("Finish --check ok=true");
    stage.stop("s1", "one");
    assert_snapshot!(stage.run("resume --max-iterations 99"), @"
    [stderr]
    error: loop 1stage0000 ended as done, which is final
     hint: begin a new one with: stopgate start
    [exit 2]
    ");
    let stage = Stage::with_loop("Finish");
    stage.run("cancel");
    assert_snapshot!(stage.run("resume"), @"
    [stderr]
    error: loop 1stage0000 ended as cancelled, which is final
     hint: begin a new one with: stopgate start
    [exit 2]
    ");
}

#[test]
fn a_loop_at_its_limit_is_resumed_with_a_higher_one() {
    let stage = Stage::with_loop("Finish --max-iterations 2 --max-idle 0");
    for said in ["one", "two", "three"] {
        stage.stop("s1", said);
    }
    assert_eq!(stage.standing("1stage0000"), "max_iterations 2/2 s1");
    assert_snapshot!(stage.run("resume"), @"
    [stderr]
    error: all of its 2 continuations are used
     hint: allow more: stopgate resume 1stage0000 --max-iterations 12
    [exit 2]
    ");
    assert_snapshot!(stage.run("resume --max-iterations 2"), @"
    [stderr]
    error: all of its 2 continuations are used
     hint: allow more: stopgate resume 1stage0000 --max-iterations 12
    [exit 2]
    ");
    assert_snapshot!(stage.run("resume --max-iterations 4"), @"Loop 1stage0000 is resumed: 2 of 4 continuations used. An agent that has stopped needs a prompt to go on.");
    assert_snapshot!(stage.stop("s1", "four").brief(), @"Loop 3/4: not finished yet");
}

#[test]
fn a_resumed_loop_does_not_take_a_session_that_another_loop_holds() {
    let stage = Stage::with_loop("Finish --max-iterations 1 --max-idle 0");
    stage.stop("s1", "one");
    stage.stop("s1", "two");
    stage.start("'Something else' --session s1");
    assert_snapshot!(stage.run("resume 1stage0000 --max-iterations 9"), @"
    [stderr]
    error: loop 2stage0000 holds the session now
    [exit 2]
    ");
    assert!(stage.stop("s1", "three").text.contains("Something else"));
}

#[test]
fn cancel_wins_from_any_shell_and_is_final() {
    let stage = Stage::with_loop("Finish --check tests=false");
    stage.stop("s1", "one");
    assert_snapshot!(stage.run("cancel"), @"Loop 1stage0000 is cancelled; its agent may stop.");
    assert_snapshot!(stage.stop("s1", "two"), @"allowed");
    assert_snapshot!(stage.run("cancel 1stage0000"), @"Loop 1stage0000 is cancelled; its agent may stop.");
    for line in ["push x", "pop", "done", "pause", "hold", "ask x", "blocked x", "resume"] {
        let ran = stage.run(&format!("{line} --session s1"));
        assert_eq!(ran.code, 2, "{line}: {ran}");
    }
    stage.session_start("s1", "resume").send();
    stage.prompt("s1", "prompt-1", "Go on").send();
    assert_snapshot!(stage.stop("s1", "three"), @"allowed");
    assert_eq!(stage.standing("1stage0000"), "cancelled 1/20 s1");
    assert_snapshot!(stage.history("1stage0000"), @"
    started: Finish
    stopped: sent back: Loop 1/20: 1 of 1 criteria unmet
    ended: cancelled: cancelled by a person
    ");
}

#[test]
fn cancel_all_ends_every_loop_everywhere() {
    let stage = Stage::new();
    stage.start("One --session s1");
    stage.start("Two");
    stage.run_in("other", "start Three --session s3");
    assert_snapshot!(stage.run("cancel --all"), @"3 loops cancelled.");
    assert_eq!(stage.json("list --running")["loops"], serde_json::json!([]));
    assert_snapshot!(stage.stop("s1", "one"), @"allowed");
    assert_snapshot!(stage.run("cancel --all 1stage0000").code, @"2");
}

#[test]
fn who_cancelled_is_written_down() {
    let stage = Stage::with_loop("Finish");
    stage.run_as("s1", "cancel");
    assert_snapshot!(stage.json("status")["loop"]["why"], @r#""cancelled from an agent's shell""#);
}

#[test]
fn a_loop_that_nobody_claimed_in_time_is_not_resumed() {
    let stage = Stage::new();
    stage.start("Finish --claim-within 10m");
    stage.advance_minutes(11);
    assert_snapshot!(stage.run("resume"), @"
    [stderr]
    error: nobody claimed loop 1stage0000 in time
     hint: give it to a session: stopgate attach 1stage0000
    [exit 2]
    ");
    assert!(!stage.stop("s1", "one").is_sent_back());
}
