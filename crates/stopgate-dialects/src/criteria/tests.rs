use super::*;

const STATE: &str = r#"{
  "spec": "original request",
  "criteria": ["tests pass", "lint clean"],
  "criteriaStatus": {
    "tests pass": false, // since Monday
    "lint clean": true
  },
  "exit_signal": false,
  "steps": ["s1", "s2", "s3"],
  "completedSteps": ["s1"],
  "remainingSteps": ["s2", "s3"],
  "iteration": 2,
  "owner": {"team": "mine"},
  "status": "in_progress",
  "circuitBreaker": { "stuckCount": 1, "lastUnmet": "tests pass" }
}
"#;

fn record(text: &str) -> CriteriaRecord {
    CriteriaRecord::read(text).expect("a record")
}

fn iterate(
    text: &str,
    met: &[&str],
    unmet: &[&str],
    steps: &[&str],
) -> Result<String, LifecycleRefusal> {
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect();
    let change = IterationChange { met: own(met), unmet: own(unmet), steps_done: own(steps) };
    iterated(text, &change)
}

/// A record with these criteria and marks, as JSON, whose agent has not finished.
fn with_marks(marks: &str) -> CriteriaRecord {
    record(&format!("{{\"criteriaStatus\": {marks}, \"exit_signal\": false}}"))
}

#[test]
fn a_record_is_read_whole() {
    let read = record(STATE);
    assert_eq!(
        read.criteria,
        [
            ("tests pass".to_string(), CriterionState::Unmet),
            ("lint clean".to_string(), CriterionState::Met)
        ]
    );
    assert_eq!((read.steps.len(), read.completed.len(), read.remaining.len()), (3, 1, 2));
    assert_eq!((read.iteration, read.breaker.stuck), (2, 1));
    assert_eq!(read.status, CriteriaStatus::InProgress);
}

#[test]
fn what_is_missing_or_odd_has_a_default() {
    let read = record("{}");
    assert_eq!(
        (read.status, read.iteration, read.exit_signal),
        (CriteriaStatus::InProgress, 0, false)
    );
    let odd = r#"{"status": 7, "iteration": -1, "criteria": "x", "criteriaStatus": [],
        "circuitBreaker": null, "exit_signal": "true", "steps": {}}"#;
    let read = record(odd);
    assert_eq!(
        (read.status, read.iteration, read.exit_signal),
        (CriteriaStatus::InProgress, 0, false)
    );
    assert_eq!(read.criteria, []);
    assert_eq!(
        record(r#"{"circuitBreaker": {"stuckCount": 99999999999}}"#).breaker.stuck,
        u32::MAX
    );
    for text in ["", "{oops", "[]", "7", "null"] {
        assert!(CriteriaRecord::read(text).is_err(), "{text:?}");
    }
}

#[test]
fn only_what_was_verified_is_met() {
    let mark = |value: &str| with_marks(&format!("{{\"a\": {value}}}")).criteria[0].1;
    assert_eq!(mark("true"), CriterionState::Met);
    for unmet in ["false", "\"true\"", "1", "null", "[true]", "{}", "{\"met\": \"yes\"}"] {
        assert_eq!(mark(unmet), CriterionState::Unmet, "{unmet}");
    }
    assert_eq!(mark(r#"{"met": true}"#), CriterionState::Met);
    assert_eq!(mark(r#"{"met": true, "verification": "cargo test"}"#), CriterionState::Met);
    assert_eq!(mark(r#"{"met": true, "verification": "Assumption"}"#), CriterionState::Assumed);
}

#[test]
fn listed_and_unlisted_criteria_count_in_the_order_of_the_file() {
    let read =
        record(r#"{"criteria": ["z", "a", "z"], "criteriaStatus": {"b": false, "a": true}}"#);
    assert_eq!(read.unmet(), ["z", "b"]);
}

#[test]
fn the_agent_is_told_what_is_unmet() {
    assert_eq!(blocked(&record(STATE)), "unmet criteria: tests pass");
    let assumed = r#"{"a": {"met": true, "verification": "assumption"}, "b": true}"#;
    assert_eq!(
        blocked(&with_marks(assumed)),
        "criterion verified by assumption only - requires actual verification"
    );
    let mixed = r#"{"a": {"met": true, "verification": "assumption"}, "b": false}"#;
    assert_eq!(blocked(&with_marks(mixed)), "unmet criteria: a, b");
    assert_eq!(
        blocked(&with_marks(r#"{"a": true}"#)),
        "criteria met but exit_signal not set - verify completion"
    );
}

#[test]
fn the_breaker_counts_the_first_unmet_criterion() {
    let next = |stuck: u32, last: &str| {
        let mut read = record(STATE);
        read.breaker = Breaker { stuck, last_unmet: last.into() };
        let next = read.next_breaker();
        assert_eq!(next.last_unmet, "tests pass");
        next.stuck
    };
    assert_eq!(next(1, "tests pass"), 2);
    assert_eq!(next(4, "lint clean"), 0);
    assert_eq!(next(0, ""), 0);
    assert_eq!(next(u32::MAX, "tests pass"), u32::MAX);
}

#[test]
fn an_agent_that_never_says_done_is_counted_too() {
    let mut read = with_marks(r#"{"a": true}"#);
    for expected in [0, 1, 2] {
        read.breaker = read.next_breaker();
        assert_eq!((read.breaker.stuck, &*read.breaker.last_unmet), (expected, "exit_signal"));
    }
}

#[test]
fn counting_changes_the_counts_alone() {
    let breaker = Breaker { stuck: 2, last_unmet: "tests pass".into() };
    let after = counted(STATE, 3, &breaker).expect("an edit");
    let expected =
        STATE.replace("\"iteration\": 2", "\"iteration\": 3").replace("Count\": 1", "Count\": 2");
    assert_eq!(after, expected);
    let bare = counted("{\"criteria\": [\"a\"]}", 1, &Breaker::default()).expect("an edit");
    assert_eq!(
        bare,
        r#"{"criteria": ["a"], "iteration": 1, "circuitBreaker": {"stuckCount": 0, "lastUnmet": ""}}"#
    );
}

#[test]
fn a_session_hears_of_a_loop_that_waits_for_it() {
    let said = announcement(&record(STATE)).expect("a loop runs");
    assert_eq!(
        said,
        "[LOOP RESUME] Active loop detected\nSpec: original request\n\
         Progress: 1/3 steps | Iteration: 2\nUnmet criteria: tests pass\nNext: s2"
    );
    let paused = STATE.replace("in_progress", "paused");
    assert!(announcement(&record(&paused)).is_some_and(|said| said.contains("stopgate resume")));
    for over in ["completed", "cancelled"] {
        assert_eq!(announcement(&record(&STATE.replace("in_progress", over))), None);
    }
}

#[test]
fn a_long_spec_is_cut_by_characters() {
    let spec = "ä".repeat(101);
    let said = announcement(&record(&format!("{{\"spec\": \"{spec}\"}}"))).expect("a loop runs");
    assert!(said.contains(&format!("Spec: {}\n", "ä".repeat(100))), "{said}");
}

#[test]
fn a_loop_begins_with_nothing_met() {
    let text = started(&NewCriteria {
        spec: "do \"it\"",
        criteria: &["a".into(), "b".into()],
        steps: &["s1".into()],
        ..NewCriteria::default()
    })
    .expect("a file");
    assert_eq!(
        text,
        r#"{
  "spec": "do \"it\"",
  "criteria": ["a", "b"],
  "criteriaStatus": {"a": false, "b": false},
  "exit_signal": false,
  "steps": ["s1"],
  "completedSteps": [],
  "remainingSteps": ["s1"],
  "iteration": 0,
  "status": "in_progress",
  "circuitBreaker": {"stuckCount": 0, "lastUnmet": ""}
}
"#
    );
}

#[test]
fn an_iteration_moves_what_it_names() {
    let after = iterate(STATE, &[], &[], &["s2"]).expect("an iteration");
    let expected = STATE
        .replace(r#"["s1"]"#, r#"["s1", "s2"]"#)
        .replace(r#"["s2", "s3"]"#, r#"["s3"]"#)
        .replace("\"iteration\": 2", "\"iteration\": 3")
        .replace("Count\": 1", "Count\": 2");
    assert_eq!(after, expected);
    let done = iterate(&after, &["tests pass"], &[], &[]).expect("an iteration");
    let read = record(&done);
    assert!(read.exit_signal && read.all_met());
    assert_eq!(read.breaker, Breaker::default());
    assert!(done.contains("// since Monday"));
    let undone = iterate(&done, &[], &["lint clean"], &[]).expect("an iteration");
    assert!(!record(&undone).exit_signal, "the signal needs every criterion");
}

#[test]
fn an_assumption_that_was_verified_is_none_any_more() {
    let text = r#"{"criteria": ["a"], "criteriaStatus": {"a": {"met": true, "by": "me", "verification": "assumption"}}}"#;
    let after = iterate(text, &["a"], &[], &[]).expect("an iteration");
    assert!(after.contains(r#"{"met": true, "by": "me"}"#), "{after}");
    assert!(record(&after).exit_signal);
}

#[test]
fn what_nobody_listed_is_refused() {
    let refused = |met: &[&str], steps: &[&str]| {
        iterate(STATE, met, &[], steps).expect_err("refused").to_string()
    };
    assert_eq!(refused(&["test pass"], &[]), "find a criterion called \"test pass\"");
    assert_eq!(refused(&[], &["s9"]), "find a step called \"s9\"");
    assert_eq!(
        iterate(STATE, &[], &[], &["s1"]).map(|text| record(&text).completed.len()).ok(),
        Some(1)
    );
}

#[test]
fn completing_needs_every_criterion() {
    assert!(
        matches!(completed(STATE), Err(LifecycleRefusal::Unmet(unmet)) if unmet == ["tests pass"])
    );
    assert!(matches!(completed("{\"criteria\": []}"), Err(LifecycleRefusal::NothingListed)));
    let met = STATE.replace("\"tests pass\": false", "\"tests pass\": true");
    let after = completed(&met).expect("complete");
    assert_eq!(record(&after).status, CriteriaStatus::Completed);
    assert!(matches!(
        completed(&after),
        Err(LifecycleRefusal::NotRunning(CriteriaStatus::Completed))
    ));
    assert!(matches!(
        cancelled(&after),
        Err(LifecycleRefusal::NotRunning(CriteriaStatus::Completed))
    ));
}

#[test]
fn cancelling_and_resting_change_the_status_alone() {
    let expected = STATE.replace("in_progress", "cancelled");
    assert_eq!(cancelled(STATE).expect("cancelled"), expected);
    let rests = paused(STATE).expect("paused");
    assert_eq!(rests, STATE.replace("in_progress", "paused"));
    assert!(matches!(
        iterate(&rests, &[], &[], &[]),
        Err(LifecycleRefusal::NotRunning(CriteriaStatus::Paused))
    ));
    let goes_on = resumed(&rests).expect("resumed");
    assert_eq!(goes_on, STATE.replace("Count\": 1", "Count\": 0"));
    assert!(matches!(
        resumed(&expected),
        Err(LifecycleRefusal::NotRunning(CriteriaStatus::Cancelled))
    ));
}

#[test]
fn the_status_block_has_a_line_for_everything() {
    assert_eq!(
        status_block(&record(STATE)),
        "---LOOP_STATUS---\nSTATUS: IN_PROGRESS\nITERATION: 2\nSTEPS: 1/3\nCRITERIA: 1/2 met\n\
         - [ ] tests pass\n- [x] lint clean\nSTUCK: 1/5\nEXIT_SIGNAL: false\nNEXT: s2\n\
         ---END_LOOP_STATUS---"
    );
}

#[test]
fn trouble_is_explained() {
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found = advice(text);
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (advice, expected) in found.iter().zip(expected) {
            assert!(advice.text.contains(expected), "{advice:?}");
        }
    }
    check(STATE, &[]);
    check("{oops", &["could read the state file"]);
    check(
        &STATE.replace("\"exit_signal\": false", "\"exit_signal\": true"),
        &["exit_signal is true although \"tests pass\" is unmet"],
    );
    check(
        &STATE.replace("\"tests pass\": false", "\"tests pass\": true"),
        &["exit_signal is not set"],
    );
    check(&STATE.replace("Count\": 1", "Count\": 5"), &["circuit breaker is open: \"tests pass\""]);
    check(&STATE.replace("in_progress", "paused"), &["is paused"]);
    check(&STATE.replace("in_progress", "running"), &["\"running\" is unknown"]);
    check(&STATE.replace("in_progress", "completed"), &[]);
    check("{\"criteria\": []}", &["lists no criteria"]);
    check(
        &STATE.replace("\"lint clean\": true", "\"lint claen\": \"true\""),
        &["not listed under criteria", "neither true nor false"],
    );
    let start =
        r#"{"criteria": ["a", "b"], "criteriaStatus": {}, "exit_signal": true, "iteration": 0}"#;
    check(start, &["true at the start although 2 criteria are unmet"]);
    let forever = r#"{"criteria": ["a"], "criteriaStatus": {"a": false}, "iteration": 4}"#;
    check(forever, &["nothing was marked as met or done in 4 iterations"]);
}
