//! Many processes at one journal: nothing is lost, nothing is done twice.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use crate::stage::Stage;

#[test]
fn no_increment_is_lost_among_sixteen_processes() {
    let stage = Stage::with_loop("Finish --max-idle 0 --max-iterations 100000");
    let stop_ten_times = || {
        for _ in 0..10 {
            assert!(stage.stop("s1", "Still at it.").is_sent_back());
        }
    };
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(stop_ten_times);
        }
    });
    assert_eq!(stage.standing("1stage0000"), "active 160/100000 s1");
    let found = stage.json("status");
    assert_eq!(found["loop"]["revision"], serde_json::json!(161), "revision = events");
    assert_eq!(stage.history("1stage0000").lines().count(), 161);
}

#[test]
fn no_stop_after_a_cancel_is_held() {
    let stage = Stage::with_loop("Finish --max-idle 0 --max-iterations 100000");
    let cancelled = AtomicBool::new(false);
    let over = AtomicUsize::new(0);
    let stop_until_two_are_late = || {
        let mut late = 0;
        while late < 2 {
            let begun_late = cancelled.load(Ordering::SeqCst);
            let answer = stage.stop("s1", "Still at it.");
            assert!(!(begun_late && answer.is_sent_back()), "held after the cancel");
            late += usize::from(begun_late);
        }
        over.fetch_add(1, Ordering::SeqCst);
    };
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(stop_until_two_are_late);
        }
        let counted = || stage.json("status")["loop"]["iteration"].as_u64();
        assert!((0..2000).any(|_| counted() >= Some(8)), "the hooks are at work");
        let ran = stage.run("cancel");
        cancelled.store(true, Ordering::SeqCst);
        assert_eq!(ran.code, 0, "{ran}");
    });
    assert_eq!(over.load(Ordering::SeqCst), 8);
    never_revived(&stage);
}

fn never_revived(stage: &Stage) {
    let before = stage.history("1stage0000");
    assert!(before.ends_with("ended: cancelled: cancelled by a person\n"), "{before}");
    assert_eq!(stage.run("resume --max-iterations 999999").code, 2);
    stage.session_start("s1", "resume").send();
    stage.session_start("s1", "compact").send();
    stage.prompt("s1", "prompt-1", "Go on").send();
    stage.prompt("s1", "prompt-2", "Go on").send();
    stage.tools("s1");
    stage.session_end("s1", "clear").send();
    stage.session_start("s2", "clear").send();
    assert!(!stage.stop("s1", "one").is_sent_back());
    assert!(!stage.stop("s2", "one").is_sent_back());
    assert_eq!(stage.history("1stage0000"), before);
}

#[test]
fn a_pending_loop_is_claimed_by_exactly_one_of_eight() {
    let stage = Stage::new();
    stage.start("Finish");
    let ready = Barrier::new(8);
    let claimed = AtomicUsize::new(0);
    thread::scope(|scope| {
        for n in 0..8 {
            let (stage, ready, claimed) = (&stage, &ready, &claimed);
            scope.spawn(move || {
                let session = format!("s{n}");
                ready.wait();
                let told = match n % 3 {
                    0 => stage.stop(&session, "one"),
                    1 => stage.session_start(&session, "startup").send(),
                    _ => stage.prompt(&session, "prompt-1", "Begin").send(),
                };
                claimed.fetch_add(usize::from(told.is_sent_back()), Ordering::SeqCst);
            });
        }
    });
    assert_eq!(claimed.load(Ordering::SeqCst), 1);
    let bound = stage.history("1stage0000").matches("bound: ").count();
    assert_eq!(bound, 1);
}

#[test]
fn a_command_and_a_running_check_do_not_wait_for_each_other() {
    let stage = Stage::with_loop(
        "Finish --no-preflight --check slow='touch begun; sleep 3; touch over; false'",
    );
    thread::scope(|scope| {
        let held = scope.spawn(|| stage.stop("s1", "one"));
        while !stage.path("project/begun").exists() && !held.is_finished() {
            thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(stage.run("cancel").code, 0);
        let answer = held.join().expect("the hook came back");
        assert!(!answer.is_sent_back(), "cancelled while its check ran: {answer}");
    });
    assert!(!stage.path("project/over").exists(), "the check did not come to its end");
    assert_eq!(stage.standing("1stage0000"), "cancelled 0/20 s1");
}

#[test]
fn eight_loops_may_begin_at_once_in_an_empty_home() {
    let stage = Stage::new();
    let ready = Barrier::new(8);
    thread::scope(|scope| {
        for n in 0..8 {
            let (stage, ready) = (&stage, &ready);
            scope.spawn(move || {
                ready.wait();
                stage.start(&format!("'Goal {n}' --session s{n}"));
            });
        }
    });
    assert_eq!(stage.json("list --running")["loops"].as_array().map(Vec::len), Some(8));
    for n in 0..8 {
        let told = stage.stop(&format!("s{n}"), "one");
        assert!(told.text.contains(&format!("Goal {n}")), "{told}");
    }
}

#[test]
fn of_two_loops_for_one_session_one_is_refused() {
    let stage = Stage::new();
    let ready = Barrier::new(2);
    let begin = || {
        ready.wait();
        stage.run("start Finish --session s1").code
    };
    let mut codes = thread::scope(|scope| {
        let hands = [scope.spawn(begin), scope.spawn(begin)];
        hands.map(|hand| hand.join().expect("it came back"))
    });
    codes.sort_unstable();
    assert_eq!(codes, [0, 2]);
    assert_eq!(stage.json("list")["loops"].as_array().map(Vec::len), Some(1));
}
