use stopgate_core::{GateAction, GateTrace, Timestamp};

use super::{AgentSignal, judge, wants_gates};
use crate::evaluate::Evaluation;
use crate::iteration::{HistoryEntry, Iteration, IterationStatus};
use crate::promise::detect;
use crate::words::{GateAnswer, PromiseType, ValidationResult};

const NOON: Timestamp = Timestamp::from_unix_millis(0);

/// Words: `F`/`P` a failed or passed iteration, `2/3` one with so many rules passed.
fn iteration(history: &str) -> Iteration {
    let entry = |(n, word): (usize, &str)| {
        let (passed, met, rules) = match word.split_once('/') {
            Some((met, rules)) => {
                let (met, rules) =
                    (met.parse().expect("a number"), rules.parse().expect("a number"));
                (Some(met == rules), met, rules)
            }
            None => (Some(word == "P").filter(|_| word != "?"), 0, 0),
        };
        let files = vec!["src/a.ts".to_string()];
        let iteration = u32::try_from(n).expect("small") + 1;
        HistoryEntry { iteration, passed, met, rules, files, at: NOON }
    };
    Iteration {
        id: "IT-1".into(),
        number: 1,
        max: 10,
        promises: vec![PromiseType::Complete, PromiseType::Blocked],
        rules: Vec::new(),
        breaker: 3,
        status: IterationStatus::Running,
        history: history.split_whitespace().enumerate().map(entry).collect(),
        forgiven: 0,
        results: None,
        files: Vec::new(),
        heard: None,
        believed: None,
        validations: 0,
        started_at: NOON,
    }
}

fn gates(action: GateAction, objection: Option<&str>) -> Evaluation {
    let trace = GateTrace {
        gate: "g".into(),
        action: Some(action),
        reason: "r".into(),
        failed: false,
        micros: 0,
        inputs: String::new(),
    };
    Evaluation {
        gate: "g".into(),
        answer: GateAnswer::new(action, "r"),
        objection: objection.map(String::from),
        traces: vec![trace],
    }
}

#[track_caller]
fn check(history: &str, output: &str, evaluation: Option<&Evaluation>, expected: &str) {
    let iteration = iteration(history);
    let judged = judge(&iteration, &detect(output, "now"), &[], evaluation);
    let word = match judged.signal {
        AgentSignal::Continue => "continue",
        AgentSignal::Complete => "complete",
        AgentSignal::Blocked => "blocked",
        AgentSignal::Escalate => "escalate",
    };
    let by = judged.feedback.last().and_then(|line| line.strip_prefix("Blocked by: "));
    let got = by.map_or_else(|| word.to_string(), |guard| format!("{word} by {guard}"));
    assert_eq!(got, expected, "{history} | {output}");
}

#[test]
fn guards_end_what_leads_nowhere() {
    check("", "", None, "continue");
    check("F F", "", None, "continue");
    check("F F F", "", None, "escalate by circuit_breaker");
    check("F F P F", "", None, "continue");
    check("F ? F ? F", "", None, "escalate by circuit_breaker");
    check("3/3 2/3 1/3", "", None, "escalate by quality_regression");
    check("3/3 2/3 2/3", "", None, "continue");
    check("1/3 3/3 2/3", "", None, "continue");
    check("F P F P F P F P F", "", None, "escalate by thrashing");
    check("F P F P F P F P", "", None, "continue");
}

#[test]
fn a_guard_looks_past_what_was_forgiven() {
    let forgiven = Iteration { forgiven: 3, ..iteration("F F F F") };
    assert_eq!(forgiven.guard(), None);
    let beyond = Iteration { forgiven: 99, ..iteration("F F F") };
    assert_eq!(beyond.guard(), None);
}

#[test]
fn a_promise_is_heard_before_guards_and_honest_exits_before_claims() {
    let complete = "<promise>COMPLETE</promise>";
    let blocked = "<promise>BLOCKED</promise>";
    check("", complete, None, "complete");
    check("", blocked, None, "blocked");
    check("", &format!("{complete} {blocked}"), None, "blocked");
    check("F F F", complete, None, "complete");
    check("F F F", blocked, None, "blocked");
    // Not configured, so only a gate could hear it.
    check("", "<promise>ESCALATE</promise>", None, "continue");
}

#[test]
fn a_promise_beats_the_breaker_with_a_warning() {
    let heard = detect("<promise>COMPLETE</promise>", "now");
    let judged = judge(&iteration("F F F"), &heard, &[], None);
    assert!(judged.warnings[0].starts_with("Circuit breaker OPEN: 3"), "{:?}", judged.warnings);
    assert_eq!(judged.promise.as_deref(), Some("<promise>COMPLETE</promise>"));
    assert_eq!(judged.promises, ["<promise>COMPLETE</promise>"]);
}

#[test]
fn gates_decide_where_nothing_was_promised() {
    check("", "", Some(&gates(GateAction::Complete, None)), "complete");
    check("", "", Some(&gates(GateAction::Escalate, None)), "escalate");
    check("", "", Some(&gates(GateAction::Continue, None)), "continue");
}

#[test]
fn a_gate_that_objects_holds_a_claim_back() {
    let complete = "<promise>COMPLETE</promise>";
    check("", complete, Some(&gates(GateAction::Continue, Some("tests fail"))), "continue");
    check("", complete, Some(&gates(GateAction::Continue, None)), "complete");
    check("", complete, Some(&gates(GateAction::Escalate, None)), "escalate");
    check(
        "F F F",
        complete,
        Some(&gates(GateAction::Continue, Some("x"))),
        "escalate by circuit_breaker",
    );
    check("", "<promise>BLOCKED</promise>", Some(&gates(GateAction::Complete, None)), "blocked");
}

#[test]
fn gates_are_not_asked_where_a_guard_ended_it() {
    assert!(wants_gates(&iteration("F F"), &[]));
    assert!(!wants_gates(&iteration("F F F"), &[]));
    assert!(wants_gates(&iteration("F F F"), &detect("<promise>COMPLETE</promise>", "now")));
}

#[test]
fn failed_rules_are_told() {
    let failed = ValidationResult {
        rule_name: "tests".into(),
        message: "exit 1".into(),
        ..ValidationResult::default()
    };
    let judged = judge(&iteration(""), &[], std::slice::from_ref(&failed), None);
    assert_eq!(judged.feedback, ["tests: exit 1"]);
    let heard = detect("<promise>COMPLETE</promise>", "now");
    let judged = judge(&iteration(""), &heard, &[failed], None);
    assert_eq!(judged.signal, AgentSignal::Complete);
    assert_eq!(judged.warnings, ["1 validation rule(s) failed although completion was promised"]);
}
