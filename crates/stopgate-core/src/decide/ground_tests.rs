use crate::scene::check;

#[test]
fn whoever_changed_what_judges_the_work_is_told_once_and_then_let_go() {
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
        stop tests pass => escalate needs_input",
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
