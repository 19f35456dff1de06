use alloc::{format, vec};

use crate::scene::{NOON, check, command, criterion, frame, receipt, started};
use crate::{
    FRAMES_MAX, Mode, Outcome, Policy, Rule, Seen, State, Status, ToolUse, Verdict, apply, decide,
};

#[test]
fn twelve_iterations_are_twelve_continuations() {
    check(
        "loop 0/12, check tests, idle 0
        stop*12 tests fail anew => continue 12/12
        stop tests fail anew    => escalate max_iterations
        why                     => 12 iterations were used
        stop tests fail anew    => allow ended",
    );
}

#[test]
fn three_idle_continuations_are_enough() {
    check(
        "loop 0/20
        stop*3 no tools => continue 3/20
        stop no tools   => escalate stalled
        rule            => idle
        why             => 3 continuations in a row led to no tool use and no change",
    );
    check(
        "loop 0/20
        stop*3 no tools => continue 3/20
        stop            => continue 4/20
        stop*2 no tools => continue 6/20
        stop no tools   => escalate stalled",
    );
    check(
        "loop 0/20, idle 0
        stop*20 no tools => continue 20/20
        stop no tools    => escalate max_iterations",
    );
}

#[test]
fn another_set_of_unmet_criteria_is_progress_even_without_tools() {
    check(
        "loop 0/20, check a, check b
        stop*3 a fail, b fail, no tools => continue 3/20
        stop a pass, b fail, no tools   => continue 4/20
        stop*2 a pass, b fail, no tools => continue 6/20
        stop a pass, b fail, no tools   => escalate stalled",
    );
}

#[test]
fn a_repeated_message_is_idle_where_tools_are_unknown() {
    check(
        "loop 0/20
        stop unknown, says turn 1 over => continue 1/20
        stop unknown, says turn 2 over => continue 2/20
        stop unknown, says turn 3 over => continue 3/20
        stop unknown, says turn 4 over => continue 4/20",
    );
    check(
        "loop 0/20
        stop unknown, says all is well   => continue 1/20
        stop unknown, says all  is well  => continue 2/20
        stop unknown, says all is   well => continue 3/20
        stop unknown, says all is well   => escalate stalled",
    );
    check("loop 0/20\n stop*20 unknown => continue 20/20");
    check(
        "loop 0/20
        stop*3 unknown, says the same  => continue 3/20
        stop unknown, says another     => continue 4/20
        stop*2 unknown, says another   => continue 6/20
        stop unknown, says another     => escalate stalled",
    );
}

#[test]
fn the_same_failures_five_times_over_are_enough() {
    check(
        "loop 0/20, check tests
        stop*5 tests fail with a panic => continue 5/20
        stop tests fail with a panic   => escalate stalled
        rule                           => repeat
        why                            => the same checks failed in the same way 6 times",
    );
    check(
        "loop 0/20, check tests
        stop*5 tests fail in 12 s => continue 5/20
        stop tests fail in 7 s    => escalate stalled",
    );
    check(
        "loop 0/20, check tests
        stop*5 tests fail with a panic  => continue 5/20
        stop tests fail with an error   => continue 6/20
        stop*4 tests fail with an error => continue 10/20
        stop tests fail with an error   => escalate stalled",
    );
    check(
        "loop 0/20, check tests, idle 1, repeat 1
        stop tests fail           => continue 1/20
        stop tests fail, no tools => escalate stalled
        rule                      => idle",
    );
    check("loop 0/20, check tests, repeat 0\n stop*20 tests fail => continue 20/20");
}

#[test]
fn two_sets_of_failures_may_take_turns_for_three_rounds() {
    let round = "stop a fail anew, b pass\n stop a pass, b fail anew\n";
    check(&format!("loop 0/20, check a, check b\n {round}{round}state => active 4/20"));
    check(&format!(
        "loop 0/20, check a, check b
        {round}{round}stop a fail anew, b pass
        stop a pass, b fail anew => escalate oscillating
        why                      => two sets of failures took turns for 3 rounds"
    ));
    check("loop 0/20, check a, check b\n stop*12 a fail anew, b fail anew => continue 12/20");
}

#[test]
fn nested_stops_look_at_no_check_and_so_never_oscillate() {
    let round = "push issue 0/5\n stop ISSUE-COMPLETE\n stop a pass, b fail anew\n";
    check(&format!(
        "loop 0/20, check a, check b
        {round}{round}{round}{round}{round}
        state => active 10/20"
    ));
}

#[test]
fn a_check_that_cannot_be_run_twice_in_a_row_ends_the_loop() {
    check(
        "loop 0/20, check tests
        stop tests error => continue 1/20
        stop tests error => escalate infra_error
        why              => check \"tests\": no such command, twice in a row",
    );
    check(
        "loop 0/20, check tests, check lint
        stop tests error, lint fail => continue 1/20
        stop tests pass, lint fail  => continue 2/20
        stop tests error, lint fail => continue 3/20
        stop tests error, lint fail => escalate infra_error",
    );
}

#[test]
fn time_ends_a_loop_but_rest_is_no_time() {
    check(
        "loop 0/20
        later 239m
        stop => continue 1/20
        later 1m
        stop => escalate budget
        why  => 240 minutes were used",
    );
    check("loop 0/20, minutes 0\n later 11h\n stop => continue 1/20");
    check(
        "loop 0/20, minutes 30
        later 20m
        pause
        later 600m
        minutes => 20
        resume
        minutes => 20
        stop    => continue 1/20
        ask may I?
        later 60m
        person p2
        later 9m
        stop    => continue 2/20
        later 1m
        stop    => escalate budget",
    );
}

#[test]
fn the_clients_cap_is_met_by_letting_go_first() {
    check(
        "loop 0/20, idle 0, cap 8
        stop*8 no tools, continued => continue 8/20
        stop no tools, continued   => escalate capped",
    );
    check("loop 0/20, idle 0\n stop*20 no tools, continued => continue 20/20");
    for reset in ["continued", "no tools, first", "no tools, prompt p2"] {
        check(&format!(
            "loop 0/40, idle 0, cap 8
            stop*8 no tools, continued, prompt p1 => continue 8/40
            stop {reset}
            stop*7 no tools, continued => continue 16/40
            stop no tools, continued   => escalate capped"
        ));
    }
    check(
        "loop 0/40, idle 0, cap 8
        stop*8 no tools, prompt p1 => continue 8/40
        person p2
        stop*8 no tools, prompt p2 => continue 16/40
        stop no tools, prompt p2   => escalate capped",
    );
    check(
        "loop 0/40, idle 0, cap 2
        stop*2 unknown, prompt p1 => continue 2/40
        interjects p1
        stop unknown, prompt p1   => allow person
        stop unknown, prompt p1   => escalate capped",
    );
}

#[test]
fn where_tools_do_not_reset_the_clients_count_only_a_prompt_does() {
    check(
        "loop 0/40, idle 0, cap 8 turn
        stop*8 continued => continue 8/40
        stop continued   => escalate capped",
    );
    check(
        "loop 0/40, idle 0, cap 8 turn
        stop*8 continued, prompt p1 => continue 8/40
        stop continued, prompt p2",
    );
}

#[test]
fn an_unsound_record_is_let_go() {
    let spoil: [fn(&mut State); 3] = [
        |state| state.frames.clear(),
        |state| state.frames[0].max = 0,
        |state| state.frames = vec![state.frames[0].clone(); FRAMES_MAX + 1],
    ];
    for spoil in spoil {
        let start = started(Policy::default(), frame(Mode::Loop, 0, 3, ""), vec![]);
        let mut state = apply(None, &start, NOON).expect("a start begins a state");
        spoil(&mut state);
        let decision = decide(&state, &Seen::default(), NOON.plus(i64::MAX));
        assert_eq!(decision.rule, Rule::Corrupt);
        assert!(matches!(decision.verdict, Verdict::Escalate { outcome: Outcome::Aborted, .. }));
    }
}

#[test]
fn no_counter_overflows() {
    let policy =
        Policy { max_idle: 0, max_repeat: u32::MAX, max_rounds: u32::MAX, ..Policy::default() };
    let check = criterion("tests", command("cargo test"));
    let start = started(policy, frame(Mode::Loop, 0, u32::MAX, ""), vec![check]);
    let mut state = apply(None, &start, NOON).expect("a start begins a state");
    let receipts = vec![receipt("tests", Status::Error, "")];
    let seen = Seen { tools: ToolUse::None, receipts, ..Seen::default() };
    state.tally = state.tally.after(&state, &seen);
    state.tally.stops = u64::MAX;
    state.tally.idle = u32::MAX;
    state.tally.repeat = u32::MAX;
    state.tally.refusals = u32::MAX;
    state.tally.errors = 0;
    assert_eq!(decide(&state, &seen, NOON).rule, Rule::Repeat);
    state.tally.errors = u32::MAX;
    assert_eq!(decide(&state, &seen, NOON).rule, Rule::Infra);
    state.tally.person_spoke = true;
    assert_eq!(decide(&state, &seen, NOON).rule, Rule::Person);
}

#[test]
fn a_cap_of_one_is_said_in_the_singular() {
    check(
        "loop 0/20, idle 0, cap 1 turn
        stop no tools, continued => continue 1/20
        stop no tools, continued => escalate capped
        why => the client ends a turn after 1 refusal",
    );
    check(
        "loop 0/20, idle 0, cap 2
        stop*2 no tools, continued => continue 2/20
        stop no tools, continued => escalate capped
        why => the client ends a turn after 2 refusals without a tool call",
    );
}
