//! What is counted.

use stopgate_core::Event;

use super::loop_stats;
use crate::replay::Happened;
use crate::scene::play;
use crate::story::LoopStory;

fn tell(events: &[Happened]) -> LoopStory {
    LoopStory::tell(events).expect("a loop")
}

#[test]
fn outcomes_rules_and_groups_are_counted() {
    let done = tell(&play("loop 9, check tests\n stop tests fail\n stop tests pass"));
    let spent = tell(&play("loop 1, check tests\n stop*2 tests fail"));
    let running = tell(&play("loop 9, agents x, check tests\n stop tests fail"));
    let stats = loop_stats([&done, &spent, &running]);
    assert_eq!((stats.loops, stats.running, stats.stops, stats.continuations), (3, 1, 5, 3));
    assert_eq!((stats.outcomes["done"], stats.outcomes["max_iterations"]), (1, 1));
    assert_eq!((stats.rules["continue"], stats.rules["proof"]), (3, 1));
    assert_eq!(stats.by_week["2026-W46"].loops, 3);
    assert_eq!(stats.by_project["/work/shop"].outcomes["done"], 1);
    assert_eq!(stats.by_agent["unknown"].loops, 3);
}

#[test]
fn a_check_that_alone_caught_a_failure_is_known() {
    let story = tell(&play(
        "loop 9, check tests, check lint\n stop tests fail, lint fail\n \
         stop tests pass, lint fail\n stop tests fail, lint pass\n stop tests pass, lint fail:b",
    ));
    let stats = loop_stats([&story]);
    let of = |name: &str| stats.checks.iter().find(|check| check.name == name).expect("a check");
    assert_eq!((of("lint").caught_alone, of("tests").caught_alone), (2, 1));
    assert_eq!((of("lint").runs, of("lint").failed, of("lint").passed), (4, 3, 1));
    assert_eq!((of("lint").total_ms, of("lint").max_ms), (8_000, 2_000));
    assert_eq!(stats.checks[0].name, "lint", "the one that failed most often comes first");
}

#[test]
fn a_result_that_changes_without_a_change_is_flaky() {
    let mut events = play("loop 9, check tests\n stop tests fail\n stop tests pass");
    for (event, _) in &mut events {
        if let Event::Stopped(stopped) = event {
            stopped.receipts[0].evidence.tree = Some("t1".into());
        }
    }
    assert_eq!(loop_stats([&tell(&events)]).checks[0].flaky, 1);
    let Some((Event::Stopped(stopped), _)) = events.last_mut() else { panic!("a stop") };
    stopped.receipts[0].evidence.tree = Some("t2".into());
    assert_eq!(loop_stats([&tell(&events)]).checks[0].flaky, 0);
    let Some((Event::Stopped(stopped), _)) = events.last_mut() else { panic!("a stop") };
    stopped.receipts[0].evidence.retries = 2;
    assert_eq!(loop_stats([&tell(&events)]).checks[0].flaky, 1);
}

#[test]
fn a_result_that_is_used_again_is_not_a_run() {
    let mut events = play("loop 9, check tests\n stop tests fail\n stop tests fail");
    let Some((Event::Stopped(stopped), _)) = events.last_mut() else { panic!("a stop") };
    stopped.receipts[0].evidence.reused = true;
    let stats = loop_stats([&tell(&events)]);
    assert_eq!((stats.checks[0].runs, stats.checks[0].caught_alone), (1, 2));
}

#[test]
fn shadow_loops_say_what_would_have_been() {
    let shadow =
        tell(&play("loop 2, shadow x, check tests\n stop tests fail, claim\n stop*2 tests fail:b"));
    let bound = tell(&play("loop 9, check tests\n stop tests fail, claim"));
    let stats = loop_stats([&shadow, &bound]).shadow;
    assert_eq!((stats.loops, stats.would_hold, stats.would_catch, stats.would_end), (1, 2, 1, 1));
}
