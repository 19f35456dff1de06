use crate::scene::check;

#[test]
fn the_frame_on_top_counts_alone_and_its_limit_comes_before_its_signal() {
    check(
        "loop 3/10, order idle, stale 2h
         stop                               => continue 4/10
         push grind 1/3 all of them
         stop
         state                              => active 4/10 > 2/3
         stop
         state                              => active 4/10 > 3/3
         stop NO_MORE_ISSUES                => allow popped
         rule                               => top_limit
         state                              => active 4/10
         stop                               => continue 5/10",
    );
}

#[test]
fn a_signal_closes_its_own_frame_and_lets_the_stop_pass() {
    check(
        "grind 0/9, order idle, stale 2h
         push issue 0/9 one of them
         stop NO_MORE_ISSUES
         state                              => active 0/9 > 1/9
         stop ISSUE-COMPLETE                => allow popped
         rule                               => said
         stop ISSUE-COMPLETE                => continue 1/9
         stop LOOP-DONE COMPLETE            => continue 2/9
         stop MAX_ISSUES                    => complete attested
         stop                               => allow ended",
    );
}

#[test]
fn a_loop_hears_three_words_and_the_least_flattering_counts() {
    check("loop 0/9, order idle\nstop LOOP-DONE COMPLETE => complete attested");
    check("loop 0/9, order idle\nstop LOOP-DONE MAX_ITERATIONS => escalate max_iterations");
    check("loop 0/9, order idle\nstop LOOP-DONE STUCK => escalate blocked");
    check("loop 0/9, order idle\nstop LOOP-DONE COMPLETE, LOOP-DONE STUCK => escalate blocked");
    check("loop 0/9, order idle\nstop COMPLETE => continue 1/9");
    check("loop 0/9, order idle\nstop LOOP-COMPLETE => continue 1/9");
    check("loop 0/9, order idle\nstop ISSUE-COMPLETE => continue 1/9");
}

#[test]
fn limits_and_age_let_go_whatever_is_said() {
    check("loop 9/9, order idle\nstop LOOP-DONE COMPLETE => escalate max_iterations");
    check("loop 0/0, order idle\nstop => escalate max_iterations");
    check(
        "loop 0/9, order idle, stale 2h
         later 120m
         stop                               => continue 1/9
         later 121m
         stop LOOP-DONE COMPLETE            => escalate stale
         state                              => stuck 1/9",
    );
}

#[test]
fn background_work_parks_each_task_once() {
    check(
        "loop 0/9, order idle
         stop runs b1                       => allow background
         stop runs b1                       => continue 1/9
         stop runs b1, runs b2              => allow background
         state                              => waiting 1/9",
    );
}

#[test]
fn the_plugins_limit_comes_before_its_promise_which_is_only_a_word() {
    check("loop 0/9, order ralph-loop\nstop COMPLETE => complete attested");
    check("loop 9/9, order ralph-loop\nstop COMPLETE => escalate max_iterations");
    check(
        "loop 0/2, order ralph-loop
         stop                               => continue 1/2
         stop runs b1                       => allow background
         stop                               => continue 2/2
         later 99h
         stop                               => escalate max_iterations
         rule                               => iterations",
    );
}
