use stopgate_core::{ApprovedJudges, Baseline, Ground, Proof};

use super::super::scene::{Scene, check};
use super::*;

/// Whether an original run that counts as a pass, in which one test failed, accepts the work.
fn is_accepted(baseline: Option<Baseline>, exit_code: i32) -> bool {
    let proof = Proof::Check { command: "pytest".into(), timeout_ms: 1_000 };
    let mut criterion = Criterion::new("tests", proof);
    criterion.terms.baseline = baseline;
    let changes = JudgeChanges::default();
    let subject =
        OriginalSubject { criterion: &criterion, changes, floor: None, failed: 0, fewer: None };
    let mut receipt = Receipt::new("tests", Status::Pass, Timestamp::from_unix_millis(0));
    receipt.exit_code = Some(exit_code);
    receipt.evidence.tests = Some(Tests { collected: 3, failed: 1, skipped: 0 });
    let run = ApartRun::Ran {
        receipt: Box::new(receipt),
        strength: Strength::Original,
        written: Vec::new(),
        made: Vec::new(),
        left: Vec::new(),
        failing: Vec::new(),
        is_reported: true,
    };
    accepts(&subject, &run)
}

#[test]
fn a_failure_that_was_known_before_rejects_nothing() {
    assert!(is_accepted(Some(Baseline::default()), 1));
    // Where nothing was held against a baseline, it is a failure that nobody has seen before.
    assert!(!is_accepted(Some(Baseline::default()), 0));
    assert!(!is_accepted(None, 1));
}

fn with_strength(strength: Option<Strength>, site: Site) -> Criterion {
    let mut criterion = Criterion::new("tests", check("sh tests/run.sh"));
    (criterion.terms.strength, criterion.terms.site) = (strength, site);
    criterion
}

fn subject(criterion: &Criterion) -> OriginalSubject<'_> {
    let changes = JudgeChanges::default();
    OriginalSubject { criterion, changes, floor: None, failed: 0, fewer: None }
}

#[test]
fn only_what_the_tree_itself_can_not_give_takes_a_private_run() {
    let wanted = |strength, site| subject(&with_strength(strength, site)).wants_private();
    for strength in [Strength::Clean, Strength::Hermetic] {
        assert_eq!(wanted(Some(strength), Site::Tree), Some(strength));
    }
    for strength in [None, Some(Strength::Plain), Some(Strength::Original)] {
        assert_eq!(wanted(strength, Site::Tree), None);
    }
    assert_eq!(wanted(None, Site::Pristine), Some(Strength::Clean));
}

#[test]
fn a_pass_counts_only_with_the_strength_that_is_asked_for() {
    let settled = |wanted, strength| {
        let criterion = with_strength(Some(wanted), Site::Tree);
        let mut receipt = Receipt::new("tests", Status::Pass, Timestamp::from_unix_millis(0));
        let run = ApartRun::Ran {
            receipt: Box::new(receipt.clone()),
            strength,
            written: Vec::new(),
            made: Vec::new(),
            left: Vec::new(),
            failing: Vec::new(),
            is_reported: true,
        };
        settle_private(&subject(&criterion), &run, &mut receipt);
        receipt.status
    };
    assert_eq!(settled(Strength::Hermetic, Strength::Clean), Status::Error);
    assert_eq!(settled(Strength::Hermetic, Strength::Hermetic), Status::Pass);
    assert_eq!(settled(Strength::Clean, Strength::Hermetic), Status::Pass);
}

#[test]
fn tests_may_be_dropped_where_a_person_made_them_work() {
    let tests = [("tests/run.sh", "exit 0\n")];
    let may_drop = |files: &[(&str, &str)], judges, may_change: &[&str]| {
        let mut criterion = Criterion::new("tests", check("sh tests/run.sh"));
        criterion.terms.judges = judges;
        criterion.terms.may_change = may_change.iter().map(ToString::to_string).collect();
        let scene = Scene::of(criterion, files);
        scene.ask(&scene.request(), |originals| originals.may_drop_tests(scene.criterion()))
    };
    assert!(may_drop(&tests, JudgesAre::Work, &[]));
    assert!(!may_drop(&tests, JudgesAre::Fixed, &[]));
    assert!(!may_drop(&[], JudgesAre::Fixed, &[]));
    // What may not change still counts its tests.
    assert!(!may_drop(&tests, JudgesAre::Fixed, &["docs/*"]));
    assert!(may_drop(&[], JudgesAre::Fixed, &["tests/*"]));
}

#[test]
fn what_a_person_accepted_is_told_with_the_pass() {
    let scene = Scene::new("sh tests/run.sh", &[("tests/run.sh", "exit 0\n")]);
    let approved = ApprovedJudges { digest: "shown".into(), by: "Pat".into() };
    let ground = Ground { approved: Some(approved), ..Ground::default() };
    let request = ProofRequest { ground: &ground, ..scene.request() };
    let texts = vec!["tests/run.sh was changed".into()];
    let absent = vec!["tests/run.sh".into()];
    let changed = [scene.subject(JudgeChanges { texts, absent, ..JudgeChanges::default() })];
    let mut receipts = [Receipt::new("tests", Status::Pass, Timestamp::from_unix_millis(0))];
    scene.ask(&request, |own| own.ask_originals(&changed, &[], "shown", &mut receipts));
    let told = receipts[0].evidence.original.as_ref().map(|original| original.verdict);
    assert_eq!(told, Some(OriginalVerdict::Approved));
}
