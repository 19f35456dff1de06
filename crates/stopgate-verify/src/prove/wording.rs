//! What a person or an agent reads about an original run that did not accept the work.

use stopgate_core::{Receipt, Status};

use super::apart::ApartRun;
use super::original::{OriginalSubject, failed_tests, fewer_tests};

pub(super) fn rejection(subject: &OriginalSubject<'_>, run: &ApartRun) -> String {
    let ApartRun::Ran { receipt, written, .. } = run else { return String::new() };
    if let Some(path) = written.first() {
        return format!(
            "with the tests of the start, {} was written while they ran",
            path.display()
        );
    }
    match (receipt.status, fewer_tests(subject.floor, receipt)) {
        (Status::Pass, Some((then, now))) => {
            let run = if now == 1 { "test of the start runs" } else { "tests of the start run" };
            format!("{now} {run} now; {then} ran then")
        }
        (_, _) => match failing(run, receipt) {
            0 => "it passes now, but fails with the tests as they were at the start".into(),
            1 => "it passes now, but 1 test fails as it was at the start".into(),
            more => format!("it passes now, but {more} tests fail as they were at the start"),
        },
    }
}

/// How many tests failed: only some of many are named.
fn failing(run: &ApartRun, receipt: &Receipt) -> usize {
    let named = run.failing().len();
    let counted = usize::try_from(failed_tests(receipt)).unwrap_or(usize::MAX);
    if named == 0 { 0 } else { named.max(counted) }
}

pub(super) fn undecided(run: &ApartRun) -> String {
    match run {
        ApartRun::NoPlace(why) => format!("the tests of the start can't be run: {why}"),
        ApartRun::Ran { receipt, .. } if receipt.status == Status::Timeout => {
            "the tests of the start took too long".into()
        }
        ApartRun::Ran { .. } => {
            "the tests of the start can't be run here: even today's fail apart from this tree"
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use stopgate_core::{Criterion, Proof, Strength, Tests, Timestamp};

    use super::*;
    use crate::basis::JudgeChanges;

    #[test]
    fn all_failing_tests_are_counted_and_not_only_the_named_ones() {
        let rejected = |named: usize, failed: u32| {
            let mut receipt = Receipt::new("tests", Status::Fail, Timestamp::from_unix_millis(0));
            receipt.evidence.tests = Some(Tests { collected: 500, failed, skipped: 0 });
            let run = ApartRun::Ran {
                receipt: Box::new(receipt),
                strength: Strength::Clean,
                written: Vec::new(),
                made: Vec::new(),
                left: Vec::new(),
                failing: vec!["test".into(); named],
                is_reported: true,
            };
            let criterion = Criterion::new("tests", Proof::Attest);
            let subject = OriginalSubject {
                criterion: &criterion,
                changes: JudgeChanges::default(),
                floor: None,
                failed: 0,
                fewer: None,
            };
            rejection(&subject, &run)
        };
        assert!(rejected(100, 469).contains("469 tests fail"));
        assert!(rejected(1, 1).contains("1 test fails"));
        assert!(rejected(0, 469).contains("but fails with the tests"));
    }
}
