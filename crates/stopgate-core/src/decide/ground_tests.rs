use crate::scene::{check, last_decision};

#[test]
fn a_forged_basis_is_told_once_and_then_ends_the_loop() {
    check(
        "loop 0/20, check tests
        stop tests tampered => continue 1/20
        stop tests tampered => escalate tampered
        rule                => tampered",
    );
    check(
        "loop 0/20, check tests
        stop tests tampered => continue 1/20
        stop tests pass     => complete done",
    );
    check(
        "loop 0/20, check tests
        stop tests tampered => continue 1/20
        stop tests fail     => continue 2/20
        stop tests tampered => continue 3/20
        stop tests tampered => escalate tampered
        reseal x
        resume
        stop tests pass     => complete done",
    );
    check(
        "loop 20/20, check tests
        stop tests tampered => escalate max_iterations",
    );
}

#[test]
fn a_nested_stop_says_nothing_about_tampering() {
    check(
        "loop 0/20, check tests
        stop tests tampered => continue 1/20
        push issue 0/5 a part
        stop                => continue 2/20 > issue 1/5
        pop
        stop tests tampered => escalate tampered",
    );
}

#[test]
fn a_claim_does_not_beat_tampering() {
    check(
        "loop 0/20, check tests
        done
        stop tests tampered, COMPLETE => continue 1/20
        stop tests tampered, COMPLETE => escalate tampered",
    );
}

#[test]
fn what_is_only_advisory_holds_nobody() {
    check(
        "loop 0/20, check tests, advisory style
        stop tests fail, style pass => continue 1/20
        stop tests pass, style fail => complete done",
    );
    check(
        "loop 0/20, advisory style
        stop style fail           => continue 1/20
        stop style fail, COMPLETE => complete attested",
    );
}

#[test]
fn a_person_s_word_is_waited_for_and_not_counted() {
    check(
        "loop 0/20, check tests, approve design
        stop tests fail => continue 1/20
        stop tests pass => allow approval
        state           => waiting 1/20
        later 2h
        minutes         => 0
        approve design
        state           => active 1/20
        minutes         => 0
        stop tests pass => complete attested",
    );
    check(
        "loop 0/20, check tests, approve design
        stop tests pass => allow approval
        stop tests fail => continue 1/20
        stop tests pass => allow approval",
    );
    check(
        "loop 0/20, check tests, approve design, attest docs
        stop tests pass           => continue 1/20
        stop tests pass, COMPLETE => allow approval
        approve design
        stop tests pass, COMPLETE => complete attested",
    );
    check(
        "loop 0/20, approve design
        stop           => continue 1/20
        stop COMPLETE  => allow approval
        approve design
        stop COMPLETE  => complete attested",
    );
    check(
        "loop 0/20, check tests, approve design
        stop tests pass => allow approval
        later 13h
        stop tests pass => escalate needs_approval",
    );
}

#[test]
fn a_project_s_file_that_nobody_trusted_holds_nobody() {
    check(
        "loop 0/20, check tests
        due untrusted             => none
        stop untrusted            => allow untrusted
        stop untrusted, COMPLETE  => allow untrusted
        state                     => active 0/20
        stop tests fail           => continue 1/20",
    );
}

#[test]
fn work_that_the_original_tests_reject_is_told_once_and_then_waits_for_a_person() {
    check(
        "loop 0/20, check tests
        stop tests rejected => continue 1/20
        stop tests rejected => allow approval
        state               => waiting 1/20
        stop tests rejected => allow approval
        state               => waiting 1/20
        accept d1
        stop tests approved => complete done
        why                 => its check passes; the changed judges were approved by ann",
    );
    check(
        "loop 0/20, check tests
        stop tests rejected => continue 1/20
        stop tests pass     => complete done
        why                 => its check passes",
    );
    check(
        "loop 0/20, check tests
        stop tests rejected => continue 1/20
        stop tests fail     => continue 2/20
        stop tests rejected => continue 3/20
        stop tests rejected => allow approval",
    );
}

#[test]
fn the_agent_reads_which_original_tests_fail() {
    let decision = last_decision("loop 0/20, check tests\nstop tests rejected");
    let crate::Verdict::Continue { text } = decision.verdict else { panic!("it goes on") };
    assert!(text.contains("original tests that fail: tests/test_x.py::test_b"), "{text}");
    assert!(text.contains("changed since the start: tests/test_x.py was changed"), "{text}");
    for accusation in ["tamper", "cheat", "weaken"] {
        assert!(!text.contains(accusation), "{text}");
    }
}

#[test]
fn judges_that_could_not_be_asked_are_a_matter_for_a_person_at_once() {
    check(
        "loop 0/20, check tests
        stop tests undecided => allow approval
        stop tests pass      => complete done",
    );
    check(
        "loop 0/20, check tests, check lint
        stop tests undecided, lint fail => continue 1/20
        stop tests rejected, lint pass  => allow approval",
    );
}

#[test]
fn a_check_that_the_judges_of_the_start_accept_keeps_nobody_from_being_asked() {
    check(
        "loop 0/20, check tests, check lint
        stop tests rejected, lint accepted => continue 1/20
        stop tests rejected, lint accepted => allow approval",
    );
}

#[test]
fn a_loop_that_may_not_go_on_waits_for_a_person_instead_of_failing() {
    check(
        "loop 20/20, check tests
        stop tests rejected => allow approval",
    );
}

#[test]
fn a_pass_that_rests_on_a_word_is_attested() {
    check(
        "loop 0/20, check tests, check features
        stop tests pass, features word => complete attested
        why                            => both checks pass; \"features\" rests on the agent's word",
    );
    check(
        "loop 0/20, check tests, advisory features
        stop tests pass, features word => complete done",
    );
}
