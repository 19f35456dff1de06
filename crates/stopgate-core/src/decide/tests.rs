use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

use crate::scene::{NOON, check, command, criterion, frame, receipt, started};
use crate::{Enforcement, Mode, Policy, Seen, Status, Verdict, apply, decide};

#[test]
fn a_loop_goes_on_until_its_checks_pass() {
    check(
        "loop 0/20, check tests
        stop tests fail anew => continue 1/20
        rule                 => continue
        stop tests fail anew => continue 2/20
        state                => active 2/20
        stop tests pass      => complete done
        rule                 => proof
        state                => idle 2/20
        stop tests fail      => allow ended
        rule                 => ended",
    );
}

#[test]
fn absence_of_proof_is_not_proof() {
    check(
        "loop 0/20, check tests, check lint
        stop tests pass                   => continue 1/20
        stop tests pass, lint timeout     => continue 2/20
        stop tests pass, lint tampered    => continue 3/20
        stop tests pass, lint error       => continue 4/20
        stop tests pass, lint pass        => complete done
        why                               => both checks pass",
    );
    check(
        "loop 0/20, check tests
        stop tests pass => complete done
        why             => its check passes",
    );
}

#[test]
fn two_checks_of_one_name_must_both_pass() {
    check(
        "loop 0/20, check tests, check tests
        stop tests pass, tests fail anew => continue 1/20
        stop tests fail anew, tests pass => continue 2/20
        stop tests pass, tests pass      => complete done",
    );
}

#[test]
fn a_claim_is_refused_while_a_check_fails_and_the_agent_is_told() {
    for claim in ["done\nstop tests fail", "stop tests fail, COMPLETE"] {
        let scene = format!("loop 0/20, check tests\n{claim}");
        let decision = crate::scene::last_decision(&scene);
        let Verdict::Continue { text } = decision.verdict else { panic!("{scene}: let go") };
        assert!(text.contains("You said that it is done, but the checks do not pass."));
    }
    check(
        "loop 0/20, check tests
        done
        state           => completing 0/20
        stop tests fail => continue 1/20
        state           => active 1/20",
    );
}

#[test]
fn the_agents_word_suffices_only_where_nothing_can_be_checked() {
    check(
        "loop 0/20
        stop          => continue 1/20
        stop COMPLETE => complete attested
        rule          => signals
        why           => the agent said so; no check proved it",
    );
    check(
        "loop 0/20, attest docs
        stop  => continue 1/20
        done
        stop  => complete attested
        state => idle 1/20",
    );
    check(
        "loop 0/20, check tests, attest docs
        stop tests fail anew, COMPLETE => continue 1/20
        stop tests pass                => continue 2/20
        stop tests pass, COMPLETE      => complete attested
        rule                           => proof
        why                            => its check passes; the rest is the agent's word",
    );
    check(
        "loop 0/20, check tests, attest docs
        done
        stop tests pass => complete attested",
    );
}

#[test]
fn honest_exits_are_heard_before_claims() {
    check("loop 0/20\n stop BLOCKED, COMPLETE => escalate blocked");
    check("loop 0/20\n stop COMPLETE, ESCALATE => escalate needs_input");
    check("loop 0/20\n stop ESCALATE, BLOCKED => escalate blocked");
    check("loop 0/20\n stop LOOP-DONE STUCK => escalate blocked");
    check("loop 0/20, check tests\n stop tests fail, BLOCKED => escalate blocked");
    check("loop 0/20\n done\n stop BLOCKED => escalate blocked");
    check("loop 0/20, check a, attest b\n done\n stop a pass, BLOCKED => escalate blocked");
    check("loop 0/20\n push issue 0/5\n stop ESCALATE => escalate needs_input");
}

#[test]
fn proof_beats_every_brake() {
    check("loop 20/20, check tests\n stop tests pass => complete done");
    check("loop 0/20, check tests\n later 300m\n stop tests pass => complete done");
    check("loop 0/20, check tests\n stop tests pass, BLOCKED => complete done");
    check(
        "loop 0/20, check tests, idle 1
        stop tests fail           => continue 1/20
        stop tests pass, no tools => complete done",
    );
    check(
        "loop 0/20, check tests, repeat 1
        stop tests fail => continue 1/20
        stop tests pass => complete done",
    );
    check(
        "loop 0/20, check tests, cap 1
        stop tests fail, no tools => continue 1/20
        stop tests pass, no tools => complete done",
    );
    check(
        "loop 0/20, check a, check b
        stop*5 a fail, b fail => continue 5/20
        stop a pass, b pass   => complete done",
    );
}

#[test]
fn nothing_beats_cancel_and_pause() {
    check(
        "loop 0/20, check tests
        ends cancelled
        due             => none
        stop tests pass => allow ended
        state           => aborted 0/20",
    );
    for pause in ["pause", "hold"] {
        check(&format!(
            "loop 20/20, check tests
            interjects
            {pause}
            later 90h
            due                                => none
            stop tests pass, BLOCKED, runs job => allow paused
            state                              => paused 20/20"
        ));
    }
}

#[test]
fn stale_beats_everything_but_a_pause() {
    check("loop 0/20, check tests\n later 12h\n due => tests\n minutes => 720");
    check("loop 0/20, check tests, minutes 0\n later 12h\n stop tests fail => continue 1/20");
    check(
        "loop 0/20, check tests
        later 12h
        later 1s
        due                       => none
        stop tests pass, runs job => escalate stale
        why                       => it was not touched for 720 minutes
        state                     => stuck 0/20",
    );
    check("loop 0/20\n interjects\n later 13h\n stop => escalate stale");
    check(
        "loop 0/20
        ask which one?
        stop => allow waiting
        later 13h
        stop => escalate needs_input",
    );
    check(
        "loop 0/20
        ask why?
        later 13h
        stop => escalate needs_input
        why  => nobody answered: why?",
    );
}

#[test]
fn brakes_beat_signals() {
    check("loop 20/20\n stop COMPLETE => escalate max_iterations");
    check("loop 20/20\n done\n stop BLOCKED => escalate max_iterations");
    check("loop 0/20\n later 240m\n stop COMPLETE => escalate budget");
    check(
        "loop 0/20, idle 1\n stop => continue 1/20\n stop COMPLETE, no tools => escalate stalled",
    );
    check(
        "loop 0/20, cap 1
        stop no tools           => continue 1/20
        stop COMPLETE, no tools => escalate capped",
    );
}

#[test]
fn each_background_task_parks_once() {
    check(
        "loop 0/20
        stop no tools, runs server            => allow background
        state                                 => waiting 0/20
        stop no tools, runs server            => continue 1/20
        state                                 => active 1/20
        stop no tools, runs server, runs test => allow background
        stop runs server, runs test           => continue 2/20
        stop                                  => continue 3/20",
    );
    check("loop 20/20, check a\n due runs server => none\n stop runs server => allow background");
    check("loop 0/20\n later 13h\n stop runs server => escalate stale");
}

#[test]
fn more_tasks_than_are_remembered_do_not_disarm_a_loop() {
    let tasks: Vec<String> = (0..80).map(|n| format!("runs job{n}")).collect();
    let tasks = tasks.join(", ");
    check(&format!(
        "loop 0/20
        stop {tasks} => allow background
        stop*9 {tasks} => continue 9/20"
    ));
}

#[test]
fn a_person_who_interjects_is_yielded_to_once() {
    check(
        "loop 20/20, check tests
        interjects
        due             => none
        stop tests pass => allow person
        state           => active 20/20
        stop tests pass => complete done",
    );
    check("loop 0/20\n person p2\n stop => continue 1/20");
    check("loop 0/20\n notified p2\n stop => continue 1/20");
    check("loop 0/20\n interjects\n person p2\n stop => continue 1/20");
    check("loop 0/20\n interjects\n notified p2\n stop => allow person\n stop => continue 1/20");
}

#[test]
fn a_question_waits_for_a_person() {
    check(
        "loop 0/20, check tests
        ask which database?
        due             => none
        stop tests pass => allow waiting
        notified p2
        stop            => allow waiting
        state           => waiting 0/20
        person p3
        state           => active 0/20
        stop tests fail => continue 1/20",
    );
}

#[test]
fn a_finished_inner_frame_gives_way_to_the_outer_one_at_once() {
    check(
        "loop 2/20, check tests
        push issue 0/5 fix the parser
        due                            => none
        stop tests pass                => continue 3/20 > issue 1/5
        stop ISSUE-COMPLETE            => continue 4/20
        state                          => active 4/20
        due                            => tests
        stop tests pass                => complete done",
    );
    check(
        "loop 0/20
        push issue 0/5
        done
        stop  => continue 1/20
        state => active 1/20",
    );
}

#[test]
fn the_outer_prompt_comes_back_with_the_outer_frame() {
    let scene = "loop 0/20 port every module\n push issue 0/5 fix the parser\n stop ISSUE-COMPLETE";
    let Verdict::Continue { text } = crate::scene::last_decision(scene).verdict else {
        panic!("the outer frame goes on");
    };
    assert!(text.starts_with("Loop 1/20: back in the outer frame\n"), "{text}");
    assert!(text.contains("\nNow: port every module\n"), "{text}");
    assert!(!text.contains("parser"), "{text}");
}

#[test]
fn an_inner_limit_never_ends_the_loop() {
    check(
        "loop 0/20
        push issue 0/2
        stop*2 => continue 2/20 > issue 2/2
        stop   => continue 3/20
        rule   => frame_limit
        state  => active 3/20",
    );
    check(
        "loop 0/20
        push issue 2/2
        push grind 0/9
        push loop 0/9
        stop  => continue 1/20
        state => active 1/20",
    );
    check(
        "loop 0/20
        push issue 2/2
        stop BLOCKED => escalate blocked",
    );
    check(
        "loop 0/20
        push issue 0/9
        push grind 9/9
        push loop 0/9
        stop  => continue 1/20 > issue 1/9",
    );
}

#[test]
fn a_childs_iterations_count_against_its_parents() {
    check(
        "loop 17/20
        push issue 0/9
        push grind 0/9
        stop*3 => continue 20/20 > issue 3/9 > grind 3/9
        stop   => escalate max_iterations
        state  => stuck 20/20 > 3/9 > 3/9",
    );
}

#[test]
fn a_frame_listens_only_to_its_own_markers() {
    check("loop 0/20\n stop ISSUE-COMPLETE, NO_MORE_ISSUES, MAX_ISSUES => continue 1/20");
    check("issue 0/20\n stop NO_MORE_ISSUES => continue 1/20");
    check("issue 0/20\n stop ISSUE-COMPLETE => complete attested");
    check(
        "grind 0/20
        stop COMPLETE, LOOP-COMPLETE, LOOP-DONE COMPLETE, ISSUE-COMPLETE => continue 1/20",
    );
    check("grind 0/20\n stop MAX_ISSUES => complete attested");
    check("loop 0/20\n stop LOOP-DONE MAX_ITERATIONS => continue 1/20");
    check(
        "loop 0/20
        push grind 0/9
        stop COMPLETE       => continue 1/20 > grind 1/9
        stop NO_MORE_ISSUES => continue 2/20",
    );
}

#[test]
fn a_claim_belongs_to_the_frame_it_was_made_in() {
    check(
        "loop 0/20
        push issue 0/5
        done
        pop
        stop => continue 1/20",
    );
    check(
        "loop 0/20
        done
        push issue 0/5
        stop => continue 1/20 > issue 1/5",
    );
    check("loop 0/20\n done\n pop\n stop => complete attested");
}

#[test]
fn shadow_is_data_for_others_and_changes_no_verdict() {
    let policy = Policy { enforcement: Enforcement::Shadow, ..Policy::default() };
    let check = criterion("tests", command("cargo test"));
    let begin = |policy| {
        let start = started(policy, frame(Mode::Loop, 0, 3, ""), vec![check.clone()]);
        apply(None, &start, NOON).expect("a start begins a state")
    };
    let seen = Seen { receipts: vec![receipt("tests", Status::Fail, "")], ..Seen::default() };
    let shadow = decide(&begin(policy), &seen, NOON);
    assert_eq!(shadow, decide(&begin(Policy::default()), &seen, NOON));
}
