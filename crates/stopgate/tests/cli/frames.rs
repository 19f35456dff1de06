//! Nested frames: the inner one first, then the outer one goes on.

use insta::assert_snapshot;

use crate::stage::Stage;

#[test]
fn a_finished_inner_frame_gives_way_to_the_outer_one_at_once() {
    let stage = Stage::with_loop("'Clear the backlog' --mode grind");
    assert_snapshot!(stage.run_as("s1", "push 'Fix the parser' --max-iterations 5"), @"
    Frame 1 of loop 1stage0000: Fix the parser
    When it is finished, run `stopgate done` or write <issue-complete>DONE</issue-complete> alone on a line.
    ");
    assert_snapshot!(stage.stop("s1", "On it."), @"
    context: Loop 1/20 > issue 1/5: not finished yet
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Clear the backlog
    Now: Fix the parser
    When the goal is met, run `stopgate done`, or write <issue-complete>DONE</issue-complete> alone on a line.
    Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    ");
    let done = "Fixed.\n\n<issue-complete>DONE</issue-complete>";
    assert_snapshot!(stage.stop("s1", done), @"
    context: Loop 2/20: back in the outer frame
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Clear the backlog
    The inner frame is finished; go on with the outer one.

    Done: `stopgate done` or <grind-done>NO_MORE_ISSUES</grind-done>. Stuck: `stopgate blocked WHY`.
    ");
    assert_snapshot!(stage.stop("s1", "On to the next.").brief(), @"Loop 3/20: not finished yet");
    assert_snapshot!(stage.stop("s1", "<grind-done>NO_MORE_ISSUES</grind-done>"), @"allowed, and told: stopgate: loop 1stage0000 ended as attested after 3 continuations: the agent said so; no check proved it. More: stopgate explain 1stage0000");
    assert_snapshot!(stage.history("1stage0000"), @"
    started: Clear the backlog
    pushed: issue frame, at most 5: Fix the parser
    stopped: sent back: Loop 1/20 > issue 1/5: not finished yet
    stopped: sent back: Loop 2/20: back in the outer frame
    stopped: sent back: Loop 3/20: not finished yet
    stopped: ended as attested: the agent said so; no check proved it
    ");
}

#[test]
fn done_by_command_finishes_the_inner_frame_only() {
    let stage = Stage::with_loop("'The whole' --check tests=true");
    stage.run("push 'A part'");
    assert_snapshot!(stage.run_as("s1", "done"), @"Noted: at your next stop this frame is closed and the outer one goes on.");
    assert_snapshot!(stage.stop("s1", "The part is done.").brief(), @"Loop 1/20: back in the outer frame");
    assert_eq!(stage.standing("1stage0000"), "active 1/20 s1");
    stage.stop("s1", "And the whole, too.");
    assert_eq!(stage.standing("1stage0000"), "done 1/20 s1");
}

#[test]
fn an_inner_limit_closes_the_inner_frame_and_never_the_loop() {
    let stage = Stage::with_loop("'The whole' --max-idle 0");
    stage.run("push 'A part' --max-iterations 2");
    let answers: Vec<String> =
        (0..4).map(|_| stage.stop("s1", "Working.").brief().into()).collect();
    assert_snapshot!(answers.join("\n"), @"
    Loop 1/20 > issue 1/2: not finished yet
    Loop 2/20 > issue 2/2: not finished yet
    Loop 3/20: back in the outer frame
    Loop 4/20: not finished yet
    ");
    assert_eq!(stage.standing("1stage0000"), "active 4/20 s1");
}

#[test]
fn a_childs_iterations_count_against_its_parent() {
    let stage = Stage::with_loop("'The whole' --max-idle 0 --max-iterations 3");
    stage.run("push 'A part' --max-iterations 9");
    let answers: Vec<String> =
        (0..4).map(|_| stage.stop("s1", "Working.").brief().into()).collect();
    assert_snapshot!(answers.join("\n"), @"
    Loop 1/3 > issue 1/9: not finished yet
    Loop 2/3 > issue 2/9: not finished yet
    Loop 3/3 > issue 3/9: not finished yet
    stopgate: loop 1stage0000 ended as max_iterations after 3 continuations: 3 iterations were used. More: stopgate explain 1stage0000
    ");
}

#[test]
fn frames_are_shown_in_order() {
    let stage = Stage::with_loop("'The whole'");
    stage.run("push 'A part' --mode grind");
    stage.run("push 'A part of it' --max-iterations 2");
    stage.stop("s1", "one");
    assert_snapshot!(stage.run("status"), @"
    1stage0000  ACTIVE  The whole
      iteration  1 of 20
                 > grind 1 of 10: A part
                 > issue 1 of 2: A part of it
      time       0 s of 240 min
      progress   0 s ago
      session    s1
      project    $STAGE/project
      next       the agent
    ");
    assert_snapshot!(stage.run("pop"), @"Back to: A part");
    assert_snapshot!(stage.run("pop"), @"Back to: The whole");
    assert_snapshot!(stage.run("pop"), @"
    [stderr]
    error: only the loop itself is left
     hint: end it with: stopgate cancel, or ask for verification: stopgate done
    [exit 2]
    ");
}

#[test]
fn an_honest_exit_ends_the_loop_from_any_depth() {
    let stage = Stage::with_loop("'The whole'");
    stage.run("push 'A part'");
    assert_snapshot!(stage.stop("s1", "<promise>BLOCKED</promise>"), @"allowed, and told: stopgate: loop 1stage0000 ended as blocked after 0 continuations: the agent said that it is blocked. More: stopgate explain 1stage0000");
    assert_eq!(stage.standing("1stage0000"), "blocked 0/20 s1");
}

#[test]
fn a_frame_needs_a_prompt_a_limit_and_a_loop() {
    let stage = Stage::with_loop("'The whole'");
    assert_snapshot!(stage.run("push ' '"), @"
    [stderr]
    error: the frame's prompt is empty
    [exit 2]
    ");
    assert_snapshot!(stage.run("push x --max-iterations 0"), @"
    [stderr]
    error: --max-iterations must be at least 1
    [exit 2]
    ");
    stage.run("cancel");
    assert_snapshot!(stage.run("push x"), @"
    [stderr]
    error: loop 1stage0000 is over: cancelled
     hint: begin a new one with: stopgate start
    [exit 2]
    ");
}

#[test]
fn a_mode_hears_its_own_markers_only() {
    let markers = [
        "<promise>COMPLETE</promise>",
        "<loop-done>COMPLETE</loop-done>",
        "<loop-complete>",
        "<issue-complete>DONE</issue-complete>",
        "<grind-done>NO_MORE_ISSUES</grind-done>",
        "<grind-done>MAX_ISSUES</grind-done>",
        "<promise>BLOCKED</promise>",
        "<promise>ESCALATE</promise>",
        "<loop-done>STUCK</loop-done>",
        "<loop-done>MAX_ITERATIONS</loop-done>",
        "<promise>DONE</promise>",
    ];
    let mut table = String::new();
    for marker in markers {
        let heard = ["loop", "issue", "grind"].map(|mode| {
            let stage = Stage::with_loop(&format!("Finish --mode {mode}"));
            stage.stop("s1", marker);
            let standing = stage.standing("1stage0000");
            let word = standing.split(' ').next().unwrap_or_default();
            format!("{:<12}", word.replace("active", "-"))
        });
        table.push_str(format!("{marker:<42}{}", heard.concat()).trim_end());
        table.push('\n');
    }
    assert_snapshot!(table, @"
    <promise>COMPLETE</promise>               attested    attested    -
    <loop-done>COMPLETE</loop-done>           attested    attested    -
    <loop-complete>                           attested    attested    -
    <issue-complete>DONE</issue-complete>     -           attested    -
    <grind-done>NO_MORE_ISSUES</grind-done>   -           -           attested
    <grind-done>MAX_ISSUES</grind-done>       -           -           attested
    <promise>BLOCKED</promise>                blocked     blocked     blocked
    <promise>ESCALATE</promise>               needs_input needs_input needs_input
    <loop-done>STUCK</loop-done>              blocked     blocked     blocked
    <loop-done>MAX_ITERATIONS</loop-done>     -           -           -
    <promise>DONE</promise>                   -           -           -
    ");
}
