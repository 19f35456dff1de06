//! What holds nobody: parked loops, steps that a person looks at, a person's late word.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use crate::scene::{NOON, check, command, criterion, frame, receipt, started};
use crate::{
    ApprovedJudges, Criterion, Event, GoalShape, Leave, Marker, Mode, OriginalRun, OriginalVerdict,
    Outcome, Parking, Phase, Policy, Proof, Rule, Seen, State, Status, Timestamp, Verdict,
    Verified, WaitCondition, apply, conclude, decide, overdue, verified,
};

const DEADLINE: Timestamp = Timestamp::from_unix_millis(NOON.unix_millis() + 60_000);

fn begun(policy: Policy, criteria: Vec<Criterion>) -> State {
    let start = started(policy, frame(Mode::Loop, 0, 20, "work"), criteria);
    apply(None, &start, NOON).expect("a loop")
}

fn after(state: State, event: &Event) -> State {
    apply(Some(state), event, NOON).expect("a loop stays one")
}

fn parked() -> State {
    let parking = Parking {
        condition: WaitCondition::Time { at: DEADLINE },
        deadline: DEADLINE,
        agent: None,
        host: None,
        driver: None,
        held_at: None,
        checks: None,
    };
    after(begun(Policy::default(), vec![]), &Event::Parked(Box::new(parking)))
}

fn passed(name: &str) -> Seen {
    Seen { receipts: vec![receipt(name, Status::Pass, "")], ..Seen::default() }
}

fn why(verdict: &Verdict) -> &str {
    match verdict {
        Verdict::Complete { why, .. } | Verdict::Escalate { why, .. } => why,
        Verdict::Allow(_) | Verdict::Continue { .. } => "",
    }
}

#[test]
fn a_parked_loop_holds_nobody_until_its_deadline() {
    let state = parked();
    let before = DEADLINE.plus(-1);
    let allowed = decide(&state, &Seen::default(), before);
    assert_eq!(allowed.verdict, Verdict::Allow(Leave::Waiting));
    assert_eq!(overdue(&state, before), None);
    let late = decide(&state, &Seen::default(), DEADLINE);
    let Verdict::Escalate { outcome, why } = &late.verdict else { panic!("{late:?}") };
    assert_eq!(*outcome, Outcome::NeedsInput);
    let ended = Event::Ended { outcome: *outcome, why: why.clone() };
    assert_eq!(overdue(&state, DEADLINE), Some(ended), "also without a stop");
}

#[test]
fn a_wait_that_was_not_in_vain_has_no_deadline() {
    let held = after(parked(), &Event::ConditionHeld);
    let later = DEADLINE.plus(60_000);
    assert_eq!(decide(&held, &Seen::default(), later).verdict, Verdict::Allow(Leave::Waiting));
    assert_eq!(overdue(&held, later), None);
}

#[test]
fn a_loop_that_does_not_wait_is_never_overdue() {
    assert_eq!(overdue(&begun(Policy::default(), vec![]), DEADLINE), None);
}

#[test]
fn a_persons_word_completes_what_the_checks_prove_and_nothing_less() {
    let criteria = vec![criterion("tests", command("t")), criterion("look", Proof::Approve)];
    let state = begun(Policy::default(), criteria);
    assert!(conclude(&state, &passed("tests")).is_none(), "the person has not spoken");
    let approved = after(state, &Event::Approved { criterion: "look".to_string() });
    assert!(conclude(&approved, &Seen::default()).is_none(), "nothing was checked");
    let decision = conclude(&approved, &passed("tests")).expect("all that was asked for is there");
    assert_eq!(decision.rule, Rule::Proof);
    assert!(matches!(decision.verdict, Verdict::Complete { outcome: Outcome::Attested, .. }));
    assert_eq!(why(&decision.verdict), "its check passes; the rest is a person's word");
}

#[test]
fn whose_word_the_rest_is_is_said() {
    check(
        "loop 0/20, check tests, attest docs
        done
        stop tests pass => complete attested
        why => its check passes; the rest is the agent's word",
    );
    check(
        "loop 0/20, check tests, approve look
        approve look
        stop tests pass => complete attested
        why => its check passes; the rest is a person's word",
    );
}

#[test]
fn who_approved_changed_judges_is_said_only_where_that_mattered() {
    let mut state = begun(Policy::default(), vec![criterion("tests", command("t"))]);
    state.ground.approved = Some(ApprovedJudges { digest: "d".to_string(), by: "ann".to_string() });
    let told = |seen: &Seen| String::from(why(&decide(&state, seen, NOON).verdict));
    assert!(!told(&passed("tests")).contains("ann"), "no judge had changed");
    let mut seen = passed("tests");
    for (verdict, named) in [(OriginalVerdict::Approved, true), (OriginalVerdict::Undecided, false)]
    {
        let run = OriginalRun { verdict, digest: String::new(), changes: vec![], failing: vec![] };
        seen.receipts[0].evidence.original = Some(run);
        assert_eq!(told(&seen).contains("approved by ann"), named, "{verdict:?}");
    }
}

#[test]
fn a_colleague_shows_each_step_and_a_tool_goes_on() {
    let claim = Seen { markers: vec![Marker::IssueComplete], ..Seen::default() };
    let nested = |shape| {
        let state = begun(Policy { shape, ..Policy::default() }, vec![]);
        let step = frame(Mode::Issue, 0, 5, "fix the parser\nand more");
        after(state, &Event::Pushed { frame: step })
    };
    let asks = decide(&nested(Some(GoalShape::Colleague)), &claim, NOON);
    assert_eq!(asks.verdict, Verdict::Allow(Leave::Popped));
    let question = "The step \"fix the parser\" is finished. Go on with the next one?";
    assert_eq!(asks.events.last(), Some(&Event::Asked { question: question.to_string() }));
    for shape in [Some(GoalShape::Tool), None] {
        let goes_on = decide(&nested(shape), &claim, NOON).verdict;
        assert!(matches!(goes_on, Verdict::Continue { .. }), "{shape:?}");
    }
    let whole = begun(Policy { shape: Some(GoalShape::Colleague), ..Policy::default() }, vec![]);
    let claim = Seen { markers: vec![Marker::LoopDoneComplete], ..Seen::default() };
    let ended = decide(&whole, &claim, NOON).verdict;
    assert!(matches!(ended, Verdict::Complete { outcome: Outcome::Attested, .. }), "{ended:?}");
}

#[test]
fn an_objection_is_no_claim() {
    let state = State { phase: Phase::Completing, ..begun(Policy::default(), vec![]) };
    let objects = Seen { objection: Some("not yet".to_string()), ..Seen::default() };
    let verdict = decide(&state, &objects, NOON).verdict;
    assert!(matches!(verdict, Verdict::Continue { .. }), "{verdict:?}");
    let verdict = decide(&state, &Seen::default(), NOON).verdict;
    assert!(matches!(verdict, Verdict::Complete { .. }), "{verdict:?}");
}

#[test]
fn as_many_frames_go_as_stand_on_the_one_that_is_spent() {
    check(
        "loop 0/20
        push issue 3/3
        push issue 0/5
        push issue 0/5
        stop  => continue 1/20
        state => active 1/20",
    );
    check(
        "loop 0/20
        push issue 0/9
        push issue 3/3
        push issue 0/5
        push issue 0/5
        stop
        state => active 1/20 > 1/9",
    );
}

#[test]
fn what_checks_come_to_is_the_worst_of_what_is_required() {
    let checks = [criterion("a", command("a")), criterion("b", command("b"))];
    let mut advisory = criterion("c", command("c"));
    advisory.weight = crate::Weight::Advisory;
    let word = criterion("d", Proof::Attest);
    let all: Vec<Criterion> = checks.into_iter().chain([advisory.clone(), word.clone()]).collect();
    let of = |a: Status, b: Status| {
        let receipts = [receipt("a", a, ""), receipt("b", b, ""), receipt("c", Status::Fail, "")];
        verified(&all, &receipts)
    };
    assert_eq!(of(Status::Pass, Status::Pass), Verified::Pass);
    assert_eq!(of(Status::Fail, Status::Pass), Verified::Fail);
    assert_eq!(of(Status::Pass, Status::Timeout), Verified::Fail);
    assert_eq!(of(Status::Pass, Status::NeedsApproval), Verified::NeedsApproval);
    assert_eq!(of(Status::NeedsApproval, Status::Pass), Verified::NeedsApproval);
    assert_eq!(of(Status::Fail, Status::NeedsApproval), Verified::Fail);
    assert_eq!(of(Status::Tampered, Status::Fail), Verified::Tampered);
    assert_eq!(of(Status::Fail, Status::Tampered), Verified::Tampered);
    assert_eq!(verified(&[advisory, word], &[]), Verified::Nothing);
    assert_eq!(verified(&all, &[receipt("a", Status::Pass, "")]), Verified::Fail, "b was not run");
    let twice = [receipt("a", Status::Pass, ""), receipt("a", Status::Fail, "")];
    assert_eq!(verified(&all[..1], &twice), Verified::Fail, "one name, two checks");
    assert_eq!(verified(&all[..1], &twice[..1]), Verified::Pass);
}
