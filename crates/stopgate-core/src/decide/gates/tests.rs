use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use crate::scene::{NOON, command, criterion, frame, receipt, started};
use crate::{
    Criterion, Event, GateAction, GateWord, LoopGate, Marker, Mode, Policy, Rule, Seen, State,
    Status, Verdict, apply, asks_gates, decide,
};

fn held(criteria: Vec<Criterion>) -> State {
    let start = started(Policy::default(), frame(Mode::Loop, 0, 20, "work"), criteria);
    let Event::Started(mut begun) = start else { panic!("a start") };
    begun.gates = vec![LoopGate {
        name: "g".to_string(),
        definition: "{}".to_string(),
        author: crate::Author::Command,
    }];
    apply(None, &Event::Started(begun), NOON).expect("a loop")
}

fn said(action: GateAction) -> Seen {
    let word = GateWord {
        gate: "g".to_string(),
        action,
        reason: "so".to_string(),
        next_prompt: Some("do this \u{1b}[31mnow".to_string()),
        asked: vec![],
    };
    Seen { gates: Some(word), ..Seen::default() }
}

#[track_caller]
fn check(state: &State, seen: &Seen, expected: &str) {
    let decision = decide(state, seen, NOON);
    let got = match &decision.verdict {
        Verdict::Allow(leave) => alloc::format!("allow {leave:?}"),
        Verdict::Continue { .. } => "continue".to_string(),
        Verdict::Complete { outcome, why } | Verdict::Escalate { outcome, why } => {
            alloc::format!("{outcome}: {why}")
        }
    };
    assert_eq!(got, expected);
}

#[test]
fn a_gate_calls_for_a_person() {
    check(&held(vec![]), &said(GateAction::Escalate), "needs_input: gate g: so");
    assert_eq!(decide(&held(vec![]), &said(GateAction::Escalate), NOON).rule, Rule::Gates);
}

#[test]
fn a_gate_ends_a_loop_as_attested_and_only_where_nothing_is_checked() {
    check(&held(vec![]), &said(GateAction::Complete), "attested: gate g: so; no check proved it");
    let checked = held(vec![criterion("tests", command("false"))]);
    let mut seen = said(GateAction::Complete);
    seen.receipts = vec![receipt("tests", Status::Fail, "")];
    check(&checked, &seen, "continue");
    let mut nested = held(vec![]);
    nested.frames.push(frame(Mode::Issue, 0, 5, "inner"));
    check(&nested, &said(GateAction::Complete), "continue");
}

#[test]
fn a_gate_that_lets_work_go_on_may_say_how() {
    let decision = decide(&held(vec![]), &said(GateAction::Continue), NOON);
    let Verdict::Continue { text } = decision.verdict else { panic!("it goes on") };
    assert!(text.contains("A gate of this loop says: do this now"), "{text}");
    assert_eq!(decision.rule, Rule::Continue);
}

#[test]
fn gates_are_asked_only_where_they_would_be_heard() {
    let state = held(vec![]);
    assert!(asks_gates(&state, &Seen::default(), NOON));
    assert!(!asks_gates(&State { gates: vec![], ..state.clone() }, &Seen::default(), NOON));
    let promised = Seen { markers: vec![Marker::PromiseComplete], ..Seen::default() };
    assert!(!asks_gates(&state, &promised, NOON), "the agent's word ends it before");
    let mut spent = state;
    spent.frames[0].iteration = spent.frames[0].max;
    assert!(!asks_gates(&spent, &Seen::default(), NOON));
}
