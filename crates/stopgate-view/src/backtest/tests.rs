//! Back-tests with known answers.

use stopgate_core::{Author, Criterion, Event, Outcome, Proof, Strength, Weight};
use stopgate_gates::loop_gate;

use super::{Counterfactual, PolicyChange, back_test};
use crate::replay::tests::SCENES;
use crate::scene::play;

#[track_caller]
fn check(scene: &str, change: &str, expected: &str) {
    let found = back_test(&play(scene), &read_change(change));
    assert_eq!(told(&found), expected, "{change} on {scene}");
}

fn read_change(text: &str) -> PolicyChange {
    let mut change = PolicyChange::default();
    for part in text.split(',').map(str::trim) {
        let (word, rest) = part.split_once(' ').unwrap_or((part, ""));
        if let Some(criterion) = read_criterion(word, rest) {
            change.criteria.get_or_insert_default().push(criterion);
            continue;
        }
        let number = || rest.parse::<u32>().expect("a number");
        match word {
            "iterations" => change.max_iterations = Some(number()),
            "minutes" => change.max_minutes = Some(number()),
            "tokens" => change.max_tokens = Some(u64::from(number())),
            "micros" => change.max_cost_micros = Some(u64::from(number())),
            "idle" => change.max_idle = Some(number()),
            "repeat" => change.max_repeat = Some(number()),
            "stale-minutes" => change.stale_after_ms = Some(i64::from(number()) * 60_000),
            "ungated" => change.gates = Some(Vec::new()),
            "gate" => {
                let gate = loop_gate(rest, Author::Project).expect("a gate");
                change.gates.get_or_insert_default().push(gate);
            }
            other => panic!("{other} is not a part of a policy"),
        }
    }
    change
}

/// A criterion of a policy: `check tests`, `advisory tests`, `person look` and the like.
fn read_criterion(word: &str, rest: &str) -> Option<Criterion> {
    let (name, number) = rest.split_once(' ').unwrap_or((rest, "600"));
    let timeout_ms = number.parse::<u64>().unwrap_or(600) * 1000;
    let check = |command: String| Criterion::new(name, Proof::Check { command, timeout_ms });
    let mut criterion = match word {
        "check" | "advisory" | "clean" => check(format!("run {name}")),
        "other" => check(format!("run another {name}")),
        "person" => Criterion::new(name, Proof::Approve),
        _limit => return None,
    };
    criterion.terms.author = Author::Project;
    match word {
        "advisory" => criterion.weight = Weight::Advisory,
        "clean" => criterion.terms.strength = Some(Strength::Clean),
        _plain => {}
    }
    Some(criterion)
}

fn told(found: &Counterfactual) -> String {
    match found {
        Counterfactual::Same { outcome, otherwise } => {
            let word = outcome.map_or("running", Outcome::word);
            otherwise.map_or_else(
                || format!("same: {word}"),
                |other| format!("same stop: {other} instead of {word}"),
            )
        }
        Counterfactual::EndsEarlier {
            stop,
            outcome,
            iterations_saved,
            ms_saved,
            micros_saved,
            loses_proof,
        } => {
            let lost = if *loses_proof { ", loses a proven end" } else { "" };
            let money =
                micros_saved.map_or(String::new(), |micros| format!(" and {micros} micros"));
            format!(
                "ends at {stop} as {outcome}: saves {iterations_saved} and {} min{money}{lost}",
                ms_saved / 60_000
            )
        }
        Counterfactual::GoesOn { stop, instead_of } => {
            format!("goes on at {stop} instead of {instead_of}")
        }
        Counterfactual::NotKnown { stop, why } => match stop {
            Some(stop) => format!("not known from {stop}: {why}"),
            None => format!("not known: {why}"),
        },
    }
}

#[test]
fn fewer_iterations_end_a_loop_earlier() {
    let long = "loop 20, repeat 0, check tests\n stop*8 tests fail";
    check(long, "iterations 3", "ends at 4 as max_iterations: saves 5 and 4 min");
    check(long, "iterations 8", "same: running");
    check(long, "iterations 1", "ends at 2 as max_iterations: saves 7 and 6 min");
}

#[test]
fn a_proven_end_may_be_lost() {
    let proven = "loop 20, repeat 0, check tests\n stop*5 tests fail\n stop tests pass";
    check(
        proven,
        "iterations 2",
        "ends at 3 as max_iterations: saves 3 and 3 min, loses a proven end",
    );
    check(proven, "iterations 5", "same: done");
}

#[test]
fn more_iterations_let_a_loop_go_on() {
    let spent = "loop 3, repeat 0, check tests\n stop*4 tests fail";
    check(spent, "iterations 30", "goes on at 4 instead of max_iterations");
    check(spent, "iterations 3", "same: max_iterations");
    check(spent, "iterations 4", "goes on at 4 instead of max_iterations");
}

#[test]
fn time_is_work_and_not_rest() {
    let slow = "loop 20, check tests\n stop tests fail:a\n later 30m\n stop tests fail:b\n pause\n \
                later 60m\n resume\n later 30m\n stop tests fail:c\n stop tests pass";
    check(slow, "minutes 20", "ends at 2 as budget: saves 2 and 32 min, loses a proven end");
    check(slow, "minutes 60", "ends at 3 as budget: saves 1 and 1 min, loses a proven end");
    check(slow, "minutes 90", "same: done");
    check(slow, "minutes 0", "same: done");
}

#[test]
fn a_budget_that_was_too_small_is_not_known_to_be_enough() {
    let spent =
        "loop 20, minutes 10, check tests\n stop tests fail:a\n later 20m\n stop tests fail:b";
    check(spent, "minutes 15", "same: budget");
    check(spent, "minutes 60", "goes on at 2 instead of budget");
}

#[test]
fn breakers_can_be_tightened_and_loosened() {
    let idle = "loop 20, idle 3, check tests\n stop*6 tests fail, no tools";
    check(idle, "idle 1", "ends at 2 as stalled: saves 2 and 2 min");
    check(idle, "idle 0, repeat 0", "goes on at 4 instead of stalled");
    check(idle, "idle 4", "goes on at 4 instead of stalled");
    let repeat = "loop 20, idle 0, repeat 4, check tests\n stop*6 tests fail";
    check(repeat, "repeat 2", "ends at 3 as stalled: saves 2 and 2 min");
    check(repeat, "repeat 9", "goes on at 5 instead of stalled");
}

#[test]
fn another_brake_at_the_same_stop_is_the_same_end() {
    let both = "loop 2, repeat 0, check tests\n stop tests fail\n later 30m\n stop tests fail\n \
                stop tests fail";
    check(both, "iterations 9, minutes 32", "same stop: budget instead of max_iterations");
}

#[test]
fn what_was_not_checked_is_not_known() {
    let stale = "loop 20, stale 1h, check tests\n stop tests fail\n later 2h\n stop";
    check(stale, "stale-minutes 600", "not known from 2: its checks did not run at that stop");
    check(stale, "stale-minutes 30", "same: stale");
}

#[test]
fn a_tighter_stale_limit_may_cost_a_proof() {
    let rested = "loop 20, check tests\n stop tests fail\n later 2h\n stop tests pass";
    check(rested, "stale-minutes 60", "ends at 2 as stale: saves 0 and 0 min, loses a proven end");
}

#[test]
fn a_persons_word_stands() {
    let raised = "loop 20, repeat 0, check tests\n stop*2 tests fail\n limit 6\n stop*5 tests fail";
    check(raised, "iterations 4", "same: max_iterations");
    check(raised, "iterations 1", "ends at 2 as max_iterations: saves 5 and 5 min");
    let cancelled = "loop 20, check tests\n stop tests fail\n cancel";
    check(cancelled, "iterations 1", "same: cancelled");
    let approved = "loop 20, check tests, approve look\n stop tests pass\n approved look\n conclude tests pass";
    check(approved, "iterations 1, idle 1", "same: attested");
}

#[test]
fn an_end_that_was_resumed_counts_once() {
    let resumed = "loop 2, repeat 0, check tests\n stop*3 tests fail\n resume 9\n stop tests fail\n \
                   stop tests pass";
    check(
        resumed,
        "iterations 1",
        "ends at 2 as max_iterations: saves 2 and 2 min, loses a proven end",
    );
    check(resumed, "iterations 5", "goes on at 3 instead of max_iterations");
    check(resumed, "iterations 2", "same: done");
}

#[test]
fn what_the_journal_lacks_is_said() {
    check(
        "loop 20, file\n stop",
        "iterations 1",
        "not known: the loop is kept in another tool's file",
    );
    let asked = "loop 20, check tests\n stop tests fail, unknown tools\n \
                 stop tests fail, ask, unknown tools";
    check(asked, "idle 1", "same: running");
    let mut of_earlier_version = play(asked);
    for (event, _) in &mut of_earlier_version {
        if let Event::Stopped(stopped) = event {
            stopped.facts.message = None;
        }
    }
    assert_eq!(
        told(&back_test(&of_earlier_version, &read_change("idle 1"))),
        "not known from 2: whether the agent was idle at that stop is not in the journal"
    );
    assert_eq!(
        back_test(&[], &PolicyChange::default()),
        Counterfactual::NotKnown { stop: None, why: super::NO_START }
    );
}

#[test]
fn an_unchanged_policy_changes_nothing() {
    for scene in SCENES {
        let events = play(scene);
        let found = back_test(&events, &PolicyChange::default());
        assert!(
            matches!(found, Counterfactual::Same { otherwise: None, .. }),
            "{found:?} for {scene}"
        );
    }
}

#[test]
fn a_budget_is_tried_where_it_was_counted() {
    let counted = "loop 20, repeat 0, tokens 1000, check tests\n used 10\n stop tests fail\n \
                   used 20\n stop tests fail\n used 30\n stop tests pass";
    let early = "ends at 2 as budget: saves 1 and 1 min and 10 micros, loses a proven end";
    check(counted, "tokens 20", early);
    check(counted, "micros 20", early);
    check(counted, "tokens 30", "same: done");
    let spent = "loop 20, tokens 15, check tests\n used 20\n stop tests fail";
    check(spent, "tokens 0", "goes on at 1 instead of budget");
    let blind = "loop 20, check tests\n stop tests pass";
    check(blind, "tokens 5", "not known: what the agent used was not counted at each stop");
}

#[test]
fn a_gate_is_tried_on_what_the_journal_has() {
    let long = "loop 20, repeat 0, check tests\n stop*6 tests fail";
    let late = "ends at 4 as needs_input: saves 3 and 2 min";
    check(long, "gate escalate if iteration > 3", late);
    check(long, "gate iteration == 4 and not passed('tests')", late);
    check(long, "gate escalate if iteration > 6", "same: running");
    check(long, "gate continue if iteration > 1", "same: running");
    check(long, "gate tdd", "same: running");
    let proven = "loop 20, repeat 0, check tests\n stop*5 tests fail\n stop tests pass";
    check(
        proven,
        "gate escalate if iteration > 3",
        "ends at 4 as needs_input: saves 2 and 2 min, loses a proven end",
    );
    check(proven, "gate escalate if iteration > 5", "same: done");
    let blind = "loop 9\n stop\n stop\n stop claim";
    check(blind, "gate complete if iteration > 1", "ends at 2 as attested: saves 1 and 1 min");
}

#[test]
fn gates_can_be_taken_away_and_replaced() {
    let gated = "loop 20, repeat 0, check tests, file-gate escalate if iteration > 2\n \
                 stop*3 tests fail";
    check(gated, "ungated", "goes on at 3 instead of needs_input");
    check(gated, "gate escalate if iteration > 8", "goes on at 3 instead of needs_input");
    check(gated, "gate escalate if iteration > 1", "ends at 2 as needs_input: saves 1 and 1 min");
    check(gated, "iterations 1", "ends at 2 as max_iterations: saves 1 and 1 min");
    let own = "loop 20, repeat 0, check tests, gate escalate if iteration > 2\n stop*3 tests fail";
    check(own, "ungated", "same: needs_input");
}

#[test]
fn a_fact_that_a_gate_never_looks_at_is_not_missed() {
    let idle = "gate escalate if iteration > 3 and filesModified|length == 0";
    let no_files = "which files were changed at that stop is not in the journal";
    let scene = |stops: u32| format!("loop 20, repeat 0, check tests\n stop*{stops} tests fail");
    check(&scene(3), idle, "same: running");
    check(&scene(6), idle, &format!("not known from 4: {no_files}"));
    let noted = "loop 20, repeat 0, check tests, file-gate escalate if filesModified|length > 9\n \
                 stop tests fail, files a.rs\n stop tests fail, files a.rs b.rs c.rs";
    check(
        noted,
        "gate escalate if filesModified|length > 2",
        "ends at 2 as needs_input: saves 1 and 0 min",
    );
    check(noted, "gate escalate if 'd.rs' in filesModified", "same: running");
}

#[test]
fn what_an_agent_said_is_known_only_in_part() {
    let claims = "loop 20, repeat 0, check tests\n stop tests fail, claim";
    check(
        claims,
        "gate escalate if promised('COMPLETE')",
        "ends at 1 as needs_input: saves 1 and 0 min",
    );
    let unsaid = "not known from 1: what the agent promised at that stop is not in the journal";
    check(claims, "gate escalate if promised('BLOCKED')", unsaid);
    check(
        claims,
        "gate escalate if 'TODO' in agentOutput",
        "not known from 1: what the agent wrote at that stop is not in the journal",
    );
    let silent = "loop 20, repeat 0, check tests\n stop tests fail, silent";
    check(silent, "gate escalate if promised('BLOCKED') or 'TODO' in agentOutput", "same: running");
    let heard = "loop 20, repeat 0, check tests, file-gate tdd\n stop tests fail";
    check(
        heard,
        "gate escalate if 'done' in agentOutput",
        "ends at 1 as needs_input: saves 1 and 0 min",
    );
}

#[test]
fn a_command_of_a_gate_is_not_run_again() {
    let plain = "loop 20, repeat 0, check tests\n stop*4 tests fail";
    let asks = r#"gate {"command": "ask"}"#;
    let unasked = "not known from 1: a gate asks a command, which is not run again";
    check(plain, asks, unasked);
    let asked = format!("loop 20, repeat 0, check tests, file-{asks}\n stop*4 tests fail");
    check(&asked, asks, "same: running");
    let both = format!("{asks}, gate escalate if iteration > 2");
    check(&asked, &both, "ends at 3 as needs_input: saves 2 and 1 min");
}

#[test]
fn a_criterion_can_be_made_advisory_or_required() {
    let held = "loop 20, check tests, check lint\n stop tests fail, lint fail\n \
                stop tests pass, lint fail:b\n stop tests pass, lint pass";
    check(held, "check tests, advisory lint", "ends at 2 as done: saves 1 and 1 min");
    check(held, "check tests, check lint", "same: done");
    let told = "loop 20, check tests, advisory lint\n stop tests fail, lint fail\n \
                stop tests pass, lint fail:b";
    check(told, "check tests, check lint", "goes on at 2 instead of done");
    let dropped = "loop 20, file-check tests, file-check lint\n stop tests fail, lint fail\n \
                   stop tests pass, lint fail:b\n stop tests pass, lint pass";
    check(dropped, "check tests", "ends at 2 as done: saves 1 and 1 min");
    check(told, "person look", "goes on at 2 instead of done");
}

#[test]
fn a_check_that_never_ran_is_not_known() {
    let proven = "loop 20, check tests\n stop tests fail\n stop tests pass";
    let no_result = "a check of this policy has no recorded result";
    check(proven, "check types", &format!("not known from 1: {no_result}"));
    check(proven, "advisory types", &format!("not known from 1: {no_result}"));
    check(proven, "other tests", &format!("not known from 1: {no_result}"));
    check(proven, "check tests 1", &format!("not known from 1: {no_result}"));
    check(proven, "check tests 60", "same: done");
    check(proven, "clean tests", &format!("not known from 2: {no_result}"));
    let cancelled = "loop 20, check tests\n cancel";
    check(cancelled, "check types", "same: cancelled");
}

#[test]
fn an_earlier_proof_of_an_agents_loop_hangs_on_trust() {
    let held = "loop 20, agents, file-check tests, file-check lint\n \
                stop tests pass, lint fail\n stop tests pass, lint pass";
    check(
        held,
        "check tests, advisory lint",
        "not known from 1: whether a person trusted the project's file then is not in the journal",
    );
}
