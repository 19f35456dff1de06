use stopgate_core::{Baseline, Proof};

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
