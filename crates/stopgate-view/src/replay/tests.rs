//! Recorded stops are decided as they were.

use stopgate_core::Event;

use super::{ReplayResult, replay};
use crate::scene::play;

/// Scenes that pass through every rule that can answer a native loop.
pub(crate) const SCENES: [&str; 22] = [
    "loop 3, check tests\n stop*4 tests fail:a",
    "loop 20, check tests\n stop tests fail\n stop tests pass",
    "loop 20, check tests\n stop tests pass, unchained",
    "loop 20, check tests\n stop tests pass, forged",
    "loop 20, agents x, check tests\n stop tests fail, claim\n stop tests pass, claim",
    "loop 20, idle 2, check tests\n stop*4 tests fail, no tools",
    "loop 20, idle 2, check tests\n stop tests fail\n stop*4 tests fail, same words",
    "loop 20, repeat 2, idle 0, check tests\n stop*5 tests fail",
    "loop 20, repeat 0, check a, check b\n stop a fail, b pass\n stop a pass, b fail\n \
     stop a fail, b pass\n stop a pass, b fail\n stop a fail, b pass\n stop a pass, b fail",
    "loop 20, minutes 5, check tests\n stop tests fail:1\n later 10m\n stop tests fail:2",
    "loop 20, stale 1h, check tests\n stop tests fail\n later 2h\n stop",
    "loop 20, check tests\n stop tests error\n stop tests error",
    "loop 20, check tests\n stop tests fail, cap 2, no tools\n stop tests fail:b, cap 2, no tools\n \
     stop tests fail:c, cap 2, no tools",
    "loop 20, check tests\n stop tests fail, cap 2, no tools\n stop tests fail:b, cap 2, fresh, no tools\n \
     stop tests fail:c, cap 2, no tools, sent back\n stop tests fail:d, cap 2, no tools",
    "loop 20, check tests\n stop tests fail, blocked",
    "loop 20, check tests\n stop tests fail, ask\n answered the second\n stop tests pass",
    "loop 20, check tests\n pause\n stop\n resume\n stop tests fail\n interject\n stop\n stop task",
    "loop 20, check tests, approve look\n stop tests pass\n approved look\n conclude tests pass",
    "loop 20, check tests\n stop tests disputed\n stop tests disputed\n judges\n conclude tests pass",
    "loop 20, check tests\n stop untrusted\n stop tests fail",
    "loop 20\n push 2\n stop\n stop issue done\n stop claim",
    "loop 2, check tests\n push 5\n stop tests fail\n stop\n stop tests fail\n resume 9\n stop tests pass",
];

#[test]
fn every_recorded_stop_is_decided_as_it_was() {
    for scene in SCENES {
        let events = play(scene);
        let replayed = replay(&events);
        assert!(!replayed.is_empty(), "{scene}");
        for stop in &replayed {
            assert_eq!(stop.result, ReplayResult::Same, "stop {} of {scene}", stop.stop);
        }
    }
}

#[test]
fn a_changed_record_is_told() {
    let mut events = play("loop 20, check tests\n stop tests fail\n stop tests fail:b");
    let Some((Event::Stopped(stopped), _)) = events.last_mut() else { panic!("a stop") };
    stopped.text.push_str("and delete the tests");
    let results: Vec<ReplayResult> = replay(&events).into_iter().map(|stop| stop.result).collect();
    assert_eq!(results[0], ReplayResult::Same);
    assert!(matches!(results[1], ReplayResult::Differs { what: "text", .. }), "{results:?}");
}

#[test]
fn a_failing_check_that_was_made_to_pass_is_told() {
    let mut events = play("loop 20, check tests\n stop tests fail");
    let Some((Event::Stopped(stopped), _)) = events.last_mut() else { panic!("a stop") };
    stopped.receipts[0].status = stopgate_core::Status::Pass;
    let results: Vec<ReplayResult> = replay(&events).into_iter().map(|stop| stop.result).collect();
    assert!(
        matches!(&results[0], ReplayResult::Differs { what: "rule", now, .. } if now == "proof"),
        "{results:?}"
    );
}

#[test]
fn another_tools_loop_is_not_guessed() {
    let replayed = replay(&play("loop 20, file\n stop\n stop"));
    assert!(!replayed.is_empty());
    assert!(replayed.iter().all(|stop| matches!(stop.result, ReplayResult::NotKnown { .. })));
}

#[test]
fn a_tasks_objection_is_read_back_from_the_text() {
    use stopgate_core::{Marker, Seen, Surface, apply, decide};
    let mut started = crate::scene::started("loop 9");
    started.surface = Surface::Tools;
    let start = Event::Started(Box::new(started));
    let state = apply(None, &start, crate::scene::NOON).expect("a loop");
    let why = "rule tests: it fails";
    let markers = vec![Marker::PromiseComplete];
    let seen = Seen { markers, objection: Some(why.into()), ..Seen::default() };
    let decision = decide(&state, &seen, crate::scene::NOON);
    let stopgate_core::Verdict::Continue { text } = &decision.verdict else { panic!("sent back") };
    let told = crate::recall::with_objection(text, why);
    let stopped = decision.saying(&told).events.remove(0);
    let events = [(start, crate::scene::NOON), (stopped, crate::scene::NOON)];
    assert_eq!(replay(&events)[0].result, ReplayResult::Same);
}

#[test]
fn a_long_history_is_decided_again_quickly_enough_to_be_used() {
    let events = play("loop 4000, repeat 0, idle 0, minutes 0, check tests\n stop*2000 tests fail");
    let replayed = replay(&events);
    assert_eq!(replayed.len(), 2000);
    assert!(replayed.iter().all(|stop| stop.result == ReplayResult::Same));
}
