//! What the journal holds: what is usual is not written, what is not comes back, and the words
//! that people, JSON and SQL read are theirs for good.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec;
use core::fmt::Debug;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::scene::{NOON, command, criterion, frame, spend, started};
use crate::{
    ApprovedJudges, Author, CountedCall, Event, Evidence, GateAction, GateTrace, GoalShape, Ground,
    LoopGate, LoopId, Marker, MeterDoubt, Mode, ModelSpend, Order, Origin, Party, Policy, Proof,
    Replaced, Rule, Seen, Soundness, Spend, SpendMark, Started, State, Stopped, Strength, Surface,
    TaskHold, TaskNote, Tests, Timestamp, TokenUse, Vouch, WaitCondition, apply, decide,
};

/// What is written of a value; it reads back as it was.
#[track_caller]
fn written<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) -> Value {
    let written = serde_json::to_value(value).expect("it can be written");
    let again: T = serde_json::from_value(written.clone()).expect("it reads back");
    assert_eq!(&again, value, "{written}");
    written
}

#[track_caller]
fn check(written: &Value, names: &[(&str, bool)]) {
    for (name, is_there) in names {
        assert_eq!(written.get(name).is_some(), *is_there, "{name} in {written}");
    }
}

fn begun() -> State {
    let start = started(Policy::default(), frame(Mode::Loop, 0, 20, "work"), vec![]);
    apply(None, &start, NOON).expect("a loop")
}

#[test]
fn limits_are_written_where_there_are_some_and_make_use_count() {
    let usual = Policy::default();
    check(&written(&usual), &[("max_tokens", false), ("max_cost_micros", false)]);
    check(&written(&usual), &[("max_quota", false)]);
    assert!(!usual.counts_spend());
    let limited = [
        ("max_tokens", Policy { max_tokens: 1, ..usual }),
        ("max_cost_micros", Policy { max_cost_micros: 1, ..usual }),
        ("max_quota", Policy { max_quota: 1, ..usual }),
        ("metered", Policy { metered: true, ..usual }),
    ];
    for (name, policy) in limited {
        check(&written(&policy), &[(name, true)]);
        assert!(policy.counts_spend(), "{name}");
    }
}

#[test]
fn evidence_is_written_where_it_says_something() {
    let names = ["retries", "reused", "word"];
    check(&written(&Evidence::default()), &names.map(|name| (name, false)));
    let told = Evidence { retries: 2, reused: true, word: true, ..Evidence::default() };
    check(&written(&told), &names.map(|name| (name, true)));
}

#[test]
fn use_is_written_where_there_was_some() {
    let usual = ModelSpend { model: "m".into(), ..ModelSpend::default() };
    check(&written(&usual), &[("nanos", false), ("unpriced", false)]);
    let told = ModelSpend { nanos: 1, unpriced: 2, ..usual };
    check(&written(&told), &[("nanos", true), ("unpriced", true)]);
    check(&written(&CountedCall::default()), &[("model", false), ("day", false)]);
    let told = CountedCall { model: 1, day: 2, ..CountedCall::default() };
    check(&written(&told), &[("model", true), ("day", true)]);
    check(&written(&Spend::default()), &[("since", false)]);
    for since in [SpendMark { tokens: 1, nanos: 0 }, SpendMark { tokens: 0, nanos: 1 }] {
        check(&written(&Spend { since, ..Spend::default() }), &[("since", true)]);
    }
}

#[test]
fn what_a_loop_rests_on_is_written_where_there_is_something() {
    check(&written(&begun()), &[("ground", false), ("surface", false)]);
    let grounds = [
        Ground { seal: Some("s".into()), ..Ground::default() },
        Ground { roots: vec!["r".into()], ..Ground::default() },
        Ground { jobs: 3, ..Ground::default() },
        Ground {
            approved: Some(ApprovedJudges { digest: "d".into(), by: "ann".into() }),
            ..Ground::default()
        },
    ];
    for ground in grounds {
        assert!(!ground.is_bare(), "{ground:?}");
        check(&written(&ground), &[("jobs", ground.jobs > 0)]);
        check(&written(&State { ground, ..begun() }), &[("ground", true)]);
    }
    check(&written(&State { surface: Surface::Tools, ..begun() }), &[("surface", true)]);
}

#[test]
fn gates_and_tasks_are_written_as_short_as_they_are() {
    let trace = GateTrace {
        gate: "g".into(),
        action: None,
        reason: String::new(),
        failed: false,
        micros: 1,
        inputs: String::new(),
    };
    check(&written(&trace), &[("failed", false)]);
    check(&written(&GateTrace { failed: true, ..trace }), &[("failed", true)]);
    let (name, definition) = ("g".to_string(), "{}".to_string());
    let gate = LoopGate { name, definition, author: Author::Command };
    check(&written(&gate), &[("author", false)]);
    check(&written(&LoopGate { author: Author::Project, ..gate }), &[("author", true)]);
    let note = |hold| TaskNote { steps: vec!["{}".to_string()], hold };
    check(&written(&note(TaskHold::Keep)), &[("hold", false)]);
    check(&written(&note(TaskHold::Open)), &[("hold", true)]);
}

#[test]
fn a_start_is_written_as_short_as_it_is() {
    let Event::Started(start) =
        started(Policy::default(), frame(Mode::Loop, 0, 20, "work"), vec![])
    else {
        panic!("a start");
    };
    let names = ["ground", "surface", "origin"];
    check(&written(&*start), &names.map(|name| (name, false)));
    let told = Started { surface: Surface::Tools, ..*start };
    check(&written(&told), &[("surface", true)]);
}

#[test]
fn words_are_what_they_were() {
    let proofs = [(command("t"), "run"), (Proof::Attest, "attest"), (Proof::Approve, "approve")];
    for (proof, word) in proofs {
        assert_eq!(proof.word(), word);
    }
    let actions = [GateAction::Complete, GateAction::Continue, GateAction::Escalate];
    assert_eq!(actions.map(GateAction::word), ["complete", "continue", "escalate"]);
    let strengths = [Strength::Plain, Strength::Original, Strength::Clean, Strength::Hermetic];
    assert_eq!(strengths.map(Strength::word), ["plain", "original", "clean", "hermetic"]);
    assert_eq!([GoalShape::Tool, GoalShape::Colleague].map(GoalShape::word), ["tool", "colleague"]);
    assert_eq!(Marker::PromiseComplete.text(), "<promise>COMPLETE</promise>");
    assert_eq!(Marker::LoopComplete.text(), "<loop-complete>");
    let time = WaitCondition::Time { at: NOON };
    let address = WaitCondition::Url { url: String::new() };
    assert_eq!((time.word(), address.word()), ("time", "url"));
    assert_eq!((time.is_cheap(), address.is_cheap()), (true, false));
    for rule in Order::Native.rules() {
        assert!(rule.question().len() > 10, "{rule} asks something");
    }
    assert_eq!(Rule::Proof.question(), "do all criteria pass?");
}

#[test]
fn who_asks_whom_is_told_apart() {
    let review = serde_json::from_value::<Proof>(
        json!({"review": {"agent": "codex", "ask": "", "timeout_ms": 1}}),
    );
    let review = criterion("second", review.expect("a review"));
    assert!(review.is_review() && !criterion("tests", command("t")).is_review());
    assert_eq!(review.proof.word(), "review");
    assert!(Author::Command.is_command() && !Author::Project.is_command());
}

#[test]
fn numbers_are_reckoned_with() {
    let tests = Tests { collected: 9, failed: 2, skipped: 3 };
    assert_eq!(tests.ran(), 6);
    assert_eq!(Tests { skipped: 10, ..tests }.ran(), 0);
    let whole = TokenUse { input: 9, output: 5, cache_read: 3, ..TokenUse::default() };
    let part = TokenUse { input: 4, output: 6, ..TokenUse::default() };
    let left = TokenUse { input: 5, output: 0, cache_read: 3, ..TokenUse::default() };
    assert_eq!(whole.minus(&part), left);
    assert_eq!((NOON.plus(5).since(NOON), NOON.since(NOON.plus(5)), NOON.since(NOON)), (5, 0, 0));
    let far = Timestamp::from_unix_millis(i64::MIN);
    assert_eq!(NOON.plus(i64::MAX).since(far), i64::MAX);
    assert!(spend(1).is_measured());
    let doubted = Box::new(Spend { doubt: Some(MeterDoubt::Behind), ..spend(1) });
    assert!(!doubted.is_measured());
}

#[test]
fn who_began_a_loop_is_written_where_it_is_known() {
    let replaced = Replaced { id: LoopId::new("1a"), by: Party::Agent };
    let known = [
        Origin { by: Party::Person, ..Origin::default() },
        Origin { shown_by: Some("a variable".to_string()), ..Origin::default() },
        Origin { replaced: vec![replaced], ..Origin::default() },
        Origin { vouched: Some(Vouch::Approved), ..Origin::default() },
    ];
    assert!(Origin::default().is_blank());
    check(&written(&begun()), &[("origin", false)]);
    for origin in known {
        assert!(!origin.is_blank(), "{origin:?}");
        check(&written(&origin), &[("by", origin.by == Party::Person)]);
        check(&written(&State { origin, ..begun() }), &[("origin", true)]);
    }
}

#[test]
fn a_stop_writes_what_it_took_off() {
    let decision = decide(&begun(), &Seen::default(), NOON);
    let Some(Event::Stopped(stopped)) = decision.events.first() else { panic!("{decision:?}") };
    check(&written(&**stopped), &[("popped", false)]);
    check(&written(&Stopped { popped: 2, ..(**stopped).clone() }), &[("popped", true)]);
    let parties = [Party::Unknown, Party::Person, Party::Agent];
    assert_eq!(parties.map(Party::word), ["unknown", "person", "agent"]);
    let all = [Soundness::Sound, Soundness::Unchained, Soundness::UnknownWriter, Soundness::Forged];
    assert_eq!(all.map(Soundness::word), ["sound", "unchained", "unknown writer", "forged"]);
}
