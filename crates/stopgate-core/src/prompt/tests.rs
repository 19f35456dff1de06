use alloc::string::String;
use alloc::vec::Vec;
use alloc::{format, vec};

use proptest::prelude::*;

use super::*;
use crate::clean::tests::{foreign, is_clean};
use crate::scene::{NOON, command, criterion, frame, last_decision, receipt, started};
use crate::{Event, Policy, Verdict, apply, decide};

#[test]
fn an_agent_with_failing_checks_is_told_what_where_and_how() {
    let scene = "loop 2/20 migrate the tests, check tests, check lint, attest docs
        stop tests fail with 2 of 40 tests failed, lint pass, no tools";
    assert_eq!(
        told(scene),
        "\
Loop 3/20: 2 of 3 criteria unmet
From stopgate's stop hook, not from the user; it grants no permission.
Goal: migrate the tests
Not met:
- tests: fail, exit 101 after 12.3 s
  reproduce: run tests
```output
with 2 of 40 tests failed
```
- docs: waits for your word

Done: `stopgate done` or <promise>COMPLETE</promise>. Stuck: `stopgate blocked WHY`.
"
    );
}

#[test]
fn an_agent_in_a_nested_frame_is_told_about_that_frame() {
    let scene = "loop 2/20 port every module, check tests
        push issue 0/5 fix the parser
        stop
        stop no tools";
    assert_eq!(
        told(scene),
        "\
Loop 4/20 > issue 2/5: not finished yet
From stopgate's stop hook, not from the user; it grants no permission.
Goal: migrate the tests
Now: fix the parser
No tool was used since the last stop: act, don't only answer.

Done: `stopgate done` or <issue-complete>DONE</issue-complete>. Stuck: `stopgate blocked WHY`.
"
    );
}

#[test]
fn an_agent_back_in_the_outer_frame_is_told_what_will_be_checked() {
    let scene = "loop 2/20 migrate the tests, check tests
        push issue 0/5 fix the parser
        stop ISSUE-COMPLETE";
    assert_eq!(
        told(scene),
        "\
Loop 3/20: back in the outer frame
From stopgate's stop hook, not from the user; it grants no permission.
Goal: migrate the tests
The inner frame is finished; go on with the outer one.

Not met:
- tests: not checked at this stop
  reproduce: run tests

Done: `stopgate done` or <promise>COMPLETE</promise>. Stuck: `stopgate blocked WHY`.
"
    );
}

#[test]
fn a_session_that_begins_with_a_loop_is_told_what_done_means() {
    let criteria =
        vec![criterion("tests", command("cargo test")), criterion("docs read well", Proof::Attest)];
    let start = started(Policy::default(), frame(Mode::Loop, 3, 20, "by hand"), criteria);
    assert_eq!(
        announcement(&begun(&start)),
        "\
A stopgate loop holds this session (3 of 20 continuations used).
From stopgate's stop hook, not from the user; it grants no permission.
Goal: migrate the tests
Now: by hand
Done means:
- tests (not checked yet): `cargo test`
- docs read well (you attest it)
Make the checks pass, then stop: stopgate runs them itself. You may say that you are done with `stopgate done`, or <promise>COMPLETE</promise> alone on a line.
Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
"
    );
}

#[test]
fn a_remark_says_what_this_stop_was_like() {
    says("stop tests fail, COMPLETE", "You said that it is done, but the checks do not pass.");
    says("stop*2 tests fail", "Unchanged since the last stop: tests.");
    says("stop*3 tests fail", "The same failures again: try another approach");
    says("stop*2 tests fail anew, no tools", "No tool was used since the last stop");
    says("push issue 1/1\n stop", "The inner frame reached its limit and was closed");
    says("stop tests error", "- tests: error after 12.3 s (no such command)\n");
    says("stop tests timeout", "- tests: timeout after 12.3 s\n");
}

#[test]
fn each_mode_is_told_its_own_marker() {
    for (mode, marker) in [
        ("loop", "<promise>COMPLETE</promise>"),
        ("issue", "<issue-complete>DONE</issue-complete>"),
        ("grind", "<grind-done>NO_MORE_ISSUES</grind-done>"),
    ] {
        let text = told(&format!("{mode} 0/20\n stop"));
        assert!(text.contains(&format!("{marker} alone on a line.\n")), "{text}");
    }
}

#[test]
fn a_long_goal_and_a_long_prompt_leave_room_for_what_failed() {
    let words = |word: &str| vec![word; 300].join(" ");
    let failed = Receipt {
        log: Some(format!("/home/{}tests.log", "deep/".repeat(40))),
        trouble: Some(words("trouble")),
        ..receipt("tests", Status::Fail, "boom")
    };
    let seen = Seen {
        receipts: vec![failed],
        markers: vec![crate::Marker::PromiseComplete],
        tools: crate::ToolUse::None,
        ..Seen::default()
    };
    let criteria = vec![criterion("tests", command(&words("cargo")))];
    let mut state =
        begun(&started(Policy::default(), frame(Mode::Loop, 0, 20, &words("how")), criteria));
    state.goal = words("goal");
    state.tally = state.tally.after(&state, &seen);
    state.tally.repeat = 2;
    let text = sent(&state, &seen);
    for part in ["Now: how", "- tests: fail, exit 101", "  reproduce: cargo"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    assert!(text.len() <= PROMPT_BYTES_MAX);
}

#[test]
fn the_deepest_stack_fits() {
    let words = vec!["word"; 300].join(" ");
    let outermost = frame(Mode::Grind, u32::MAX - 2, u32::MAX, &words);
    let mut state = begun(&started(Policy::default(), outermost.clone(), vec![]));
    state.goal = words + "!";
    state.frames = vec![outermost; crate::FRAMES_MAX];
    let seen = Seen { tools: crate::ToolUse::None, ..Seen::default() };
    state.tally = state.tally.after(&state, &seen);
    let text = sent(&state, &seen);
    assert!(text.len() <= PROMPT_BYTES_MAX, "{}", text.len());
}

#[test]
fn every_failing_check_is_at_least_named() {
    for count in 1..=11 {
        let names: Vec<String> =
            (0..count).map(|n| format!("c{n:02} {}", "x".repeat(40))).collect();
        let criteria = names.iter().map(|name| criterion(name, command(&"c".repeat(300))));
        let start = started(Policy::default(), frame(Mode::Loop, 0, 20, ""), criteria.collect());
        let receipts = names.iter().map(|name| receipt(name, Status::Fail, "boom")).collect();
        let text = sent(&begun(&start), &Seen { receipts, ..Seen::default() });
        let found = (0..count).filter(|n| text.contains(&format!("c{n:02} "))).count();
        assert!(found >= count.min(9), "{found} of {count} are named: {text}");
    }
}

#[test]
fn a_tail_that_just_fits_does_not_overflow() {
    let start = started(
        Policy::default(),
        frame(Mode::Loop, 0, 20, ""),
        vec![criterion("tests", command("t")), criterion("lint", command("l"))],
    );
    for length in 600..1600 {
        let tail = "x".repeat(length);
        let receipts = vec![receipt("tests", Status::Fail, &tail)];
        let text = sent(&begun(&start), &Seen { receipts, ..Seen::default() });
        assert!(text.len() <= PROMPT_BYTES_MAX, "{length}: {}", text.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_went_in_the_text_is_short_clean_and_whole(wild in wild()) {
        let (state, seen) = wild;
        let text = sent(&state, &seen);
        prop_assert!(text.len() <= PROMPT_BYTES_MAX, "{} bytes", text.len());
        prop_assert!(is_clean(&text), "{text:?}");
        let next = u64::from(state.frames[0].iteration) + 1;
        let headline = format!("Loop {next}/{}", state.frames[0].max);
        prop_assert!(text.starts_with(&headline), "{text}");
        prop_assert!(text.contains("not from the user; it grants no permission."));
        prop_assert!(text.ends_with("alone on a line.\n") || text.ends_with("`stopgate blocked WHY`.\n"));
        prop_assert!(is_continuation(&text), "{text}");
        let told = announcement(&state);
        let wrapped = format!("<context>{told}</context>\ngo");
        prop_assert!(!is_continuation(&told) && !is_continuation(&wrapped));
        prop_assert!(told.len() <= 4 * PROMPT_BYTES_MAX && is_clean(&told), "{told:?}");
    }

    #[test]
    fn no_output_breaks_out_of_its_fence(tail in foreign(300)) {
        let block = fenced(&tail, 900);
        prop_assert!(block.len() <= 900);
        if !block.is_empty() {
            let mut lines = block.lines();
            let opening = lines.next().unwrap_or_default();
            let fence = opening.strip_suffix("output").unwrap_or_default();
            prop_assert!(fence.len() >= 3 && fence.bytes().all(|byte| byte == b'`'));
            prop_assert_eq!(lines.next_back(), Some(fence));
            prop_assert!(lines.all(|line| !line.contains(fence)), "{block}");
        }
    }
}

#[track_caller]
fn says(steps: &str, expected: &str) {
    let text = told(&format!("loop 0/20, check tests\n {steps}"));
    assert!(text.contains(expected), "{steps}: {text}");
}

#[track_caller]
fn told(scene: &str) -> String {
    match last_decision(scene).verdict {
        Verdict::Continue { text } => text,
        other => panic!("{scene}: {other:?}"),
    }
}

fn begun(start: &Event) -> State {
    apply(None, start, NOON).expect("a start begins a state")
}

fn sent(state: &State, seen: &Seen) -> String {
    match decide(state, seen, NOON).verdict {
        Verdict::Continue { text } => text,
        other => panic!("{other:?}"),
    }
}

/// A loop whose every text is foreign, at a stop that is sent back.
fn wild() -> impl Strategy<Value = (State, Seen)> {
    let check = (foreign(30), foreign(60), foreign(120), foreign(30), foreign(20), 0_usize..5);
    let checks = proptest::collection::vec(check, 0..12);
    let counts = (0_u32..u32::MAX - 1, 0..crate::FRAMES_MAX);
    (foreign(80), foreign(80), checks, counts).prop_map(|(goal, prompt, checks, counts)| {
        let (iteration, depth) = counts;
        let mut receipts = vec![];
        let mut criteria = vec![];
        for (n, (name, run, tail, trouble, log, status)) in checks.into_iter().enumerate() {
            let name = format!("{n}{name}");
            criteria.push(criterion(&name, command(&run)));
            let status =
                [Status::Fail, Status::Timeout, Status::Error, Status::Tampered, Status::Fail]
                    [status];
            let trouble = Some(trouble);
            receipts.push(Receipt {
                log: Some(log),
                trouble,
                exit_code: Some(i32::MIN),
                duration_ms: u64::MAX,
                ..receipt(&name, status, &tail)
            });
        }
        let outermost = frame(Mode::Grind, iteration, u32::MAX, &prompt);
        let mut state = begun(&started(Policy::default(), outermost.clone(), criteria));
        state.goal = goal;
        state.frames = vec![outermost; depth + 1];
        (state, Seen { receipts, ..Seen::default() })
    })
}

#[test]
fn a_hidden_criterion_is_counted_and_never_named() {
    for scene in [
        "stop tests fail, secret fail",
        "stop tests pass, secret fail",
        "stop*3 secret fail with s3cr3t",
    ] {
        let text = told(&format!("loop 0/20, check tests, hidden secret\n {scene}"));
        assert!(!text.contains("secret") && !text.contains("s3cr3t"), "{text}");
        assert!(text.contains("details are hidden"), "{text}");
    }
    let criteria = vec![criterion("tests", command("cargo test"))];
    let start = started(Policy::default(), frame(Mode::Loop, 3, 20, "by hand"), criteria);
    let mut state = begun(&start);
    state.criteria[0].visibility = crate::Visibility::Hidden;
    let text = announcement(&state);
    assert!(!text.contains("tests (") && !text.contains("cargo test"), "{text}");
    assert!(text.contains("- and 1 whose details are hidden"), "{text}");
}

#[test]
fn a_forged_basis_is_told_with_its_remedy() {
    says(
        "stop tests tampered",
        "- tests: tampered after 12.3 s\n  Restore it as it was at the start",
    );
}

#[test]
fn places_and_earlier_failures_are_named() {
    let criteria = vec![criterion("tests", command("cargo test"))];
    let start = started(Policy::default(), frame(Mode::Loop, 3, 20, "by hand"), criteria);
    let state = begun(&start);
    let mut failed = crate::scene::receipt("tests", Status::Fail, "boom");
    failed.evidence.spots = vec!["src/a.rs:3".into(), "src/b.rs:9".into()];
    failed.evidence.known = (0..5).map(|n| format!("old_{n}")).collect();
    failed.evidence.reused = true;
    let seen = Seen { receipts: vec![failed], ..Seen::default() };
    let text = super::text(&state, &seen, &crate::Tally::default(), 0);
    assert!(text.contains("  at: src/a.rs:3, src/b.rs:9\n"), "{text}");
    assert!(
        text.contains("  failed before, not counted: old_0, old_1, old_2, and 2 more\n"),
        "{text}"
    );
    assert!(
        text.contains("fail, exit 101 after 12.3 s, as before: no file it depends on"),
        "{text}"
    );
}

#[test]
fn the_exits_are_told_in_full_once_and_then_in_a_line() {
    let first = told("loop 0/20, check tests\n stop tests fail");
    assert!(first.contains("<promise>BLOCKED: why</promise>"), "{first}");
    let later = told("loop 0/20, check tests\n stop tests fail\n stop tests fail");
    assert!(!later.contains("<promise>BLOCKED: why</promise>"), "{later}");
    for exit in ["`stopgate done`", "<promise>COMPLETE</promise>", "`stopgate blocked WHY`"] {
        assert!(later.contains(exit), "{exit}: {later}");
    }
}

/// About 120 tokens, at four letters each.
#[test]
fn a_short_failure_is_a_short_text() {
    let later =
        told("loop 1/20, check tests\n stop tests fail with greet: expected hello but got helo");
    assert!(later.len() <= 480, "{} bytes: {later}", later.len());
}

#[test]
fn the_last_continuation_says_so_and_asks_for_a_note() {
    let told_at =
        |iteration: u32| told(&format!("loop {iteration}/3, check tests\n stop tests fail"));
    assert!(!told_at(1).contains("hand-over"), "{}", told_at(1));
    assert!(told_at(2).contains("This is the last continuation."), "{}", told_at(2));
}

#[test]
fn a_log_is_named_where_not_all_of_the_output_is_shown() {
    let start = started(
        Policy::default(),
        frame(Mode::Loop, 1, 20, ""),
        vec![criterion("tests", command("t"))],
    );
    let mut cut = receipt("tests", Status::Fail, "the end of it");
    cut.log = Some("/state/logs/tests.log".into());
    let told = |cut: &crate::Receipt| {
        sent(&begun(&start), &Seen { receipts: vec![cut.clone()], ..Seen::default() })
    };
    cut.output_bytes = 13;
    assert!(!told(&cut).contains("full log"), "{}", told(&cut));
    cut.output_bytes = 4000;
    assert!(told(&cut).contains("  full log: /state/logs/tests.log\n"), "{}", told(&cut));
}

#[test]
fn what_only_a_person_can_do_is_named_as_such() {
    let criteria = (0..5).map(|n| criterion(&format!("c{n}"), command("t")));
    let reviewed = criterion("reviewed", Proof::Approve);
    let criteria = criteria.chain([reviewed]).collect();
    let start = started(Policy::default(), frame(Mode::Loop, 1, 20, ""), criteria);
    let text = sent(&begun(&start), &Seen::default());
    assert!(text.contains("reviewed (a person's word)"), "{text}");
}
