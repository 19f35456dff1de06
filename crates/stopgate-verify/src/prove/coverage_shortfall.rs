//! Checks that also ask how much of the work the tests reach.
//!
//! New work lowers the share that the tests of the start reach, and new tests raise it again.
//! Where the tests of the start all pass and only the coverage falls short, one question is left:
//! do today's tests reach enough, by the settings of the start?

use stopgate_core::{Criterion, Receipt, Status};

use super::apart::{ApartRun, Judges};
use super::asked_again::{Again, Doubted, ask_again};
use super::original::{OriginalSubject, Originals, failed_tests, fewer_tests};
use crate::basis::JudgeChanges;
use crate::judges::is_test_source;

/// What is noted where today's tests reach what those of the start do not.
const REACHED: &str = "the tests of the start pass; today's tests reach the coverage it asks for";

/// Asks the judges of the start once more where only coverage is missing.
pub(super) struct CoverageShortfall<'a>(pub(super) &'a Originals<'a>);

impl CoverageShortfall<'_> {
    /// Those that the judges of the start reject for more than a lack of coverage.
    pub(super) fn ask_with_todays_tests<'s>(
        &self,
        doubted: Doubted<'s>,
        digest: &str,
        receipts: &mut [Receipt],
    ) -> Option<Doubted<'s>> {
        ask_again(doubted, (digest, receipts), Some(REACHED), |subject, run| {
            if !lacks_only_coverage(subject, run) {
                return Some(Again::NotDue);
            }
            let by_settings = subject.with_changes(without_tests(&subject.changes));
            let again = self.0.apart().run(&[&by_settings], Judges::Original, ".coverage")?;
            Some(Again::Ran(again.into_iter().next()))
        })
    }
}

/// Whether every test of the start ran and passed, and the check failed for its coverage.
fn lacks_only_coverage(subject: &OriginalSubject<'_>, run: &ApartRun) -> bool {
    let ApartRun::Ran { receipt, written, is_reported, .. } = run else { return false };
    receipt.status == Status::Fail
        && *is_reported
        && written.is_empty()
        && subject.floor.is_some()
        && failed_tests(receipt) <= subject.failed
        && fewer_tests(subject.floor, receipt).is_none()
        && (receipt.tail.lines().any(tells_shortfall) || is_about_coverage(subject.criterion))
}

/// Whether the criterion or the script that it runs is called after coverage.
fn is_about_coverage(criterion: &Criterion) -> bool {
    let command = criterion.command().unwrap_or_default().to_lowercase();
    let is_end = |letter: char| !letter.is_alphanumeric();
    let mut words = command.split(is_end).chain(criterion.name.split(is_end));
    words.any(|word| word.to_lowercase().starts_with("cover"))
}

/// Changes without those of tests: a run with them has today's tests, and every setting, script
/// and helper of the start.
fn without_tests(changes: &JudgeChanges) -> JudgeChanges {
    let mut kept = changes.clone();
    kept.restore.retain(|file| !is_test_source(&file.path));
    kept.absent.retain(|path| !is_test_source(path) || changes.steering.contains(path));
    kept
}

/// Whether a line says that too little is covered, in the words of the usual tools.
fn tells_shortfall(line: &str) -> bool {
    const SHORT: [&str; 9] = [
        "threshold",
        "not met",
        "not reached",
        "below",
        "less than",
        "fail-under",
        "does not meet",
        "too low",
        "minimum",
    ];
    let line = line.to_lowercase();
    line.contains("coverage") && SHORT.iter().any(|word| line.contains(word))
}

#[cfg(test)]
mod tests {
    use stopgate_core::{Strength, Tests, Timestamp};

    use super::super::scene::check;
    use super::*;

    #[test]
    fn a_lack_of_coverage_is_known_by_what_tools_print() {
        for line in [
            "Jest: \"global\" coverage threshold for lines (90%) not met: 72.72%",
            "FAIL Required test coverage of 90% not reached. Total coverage: 75.00%",
            "Coverage failure: total of 75 is less than fail-under=90",
            "ERROR: Coverage for lines (75%) does not meet global threshold (90%)",
            "Error: 75.00% line coverage does not meet threshold of 90%.",
            "coverage: 75.0% is below 90%",
        ] {
            assert!(tells_shortfall(line), "{line}");
        }
        for line in
            ["Required test coverage of 90% reached.", "1 test failed", "coverage: 75.0%", "below"]
        {
            assert!(!tells_shortfall(line), "{line}");
        }
    }

    #[test]
    fn a_test_that_fails_is_more_than_a_lack_of_coverage() {
        let tests = |failed| Some(Tests { collected: 4, failed, skipped: 0 });
        let mut criterion = Criterion::new("tests", check("pytest --cov"));
        criterion.tests = tests(0);
        let changes = JudgeChanges::default();
        let floor = criterion.tests;
        let subject =
            OriginalSubject { criterion: &criterion, changes, floor, failed: 0, fewer: None };
        let lacks = |failed, tail: &str, is_reported| {
            let mut receipt = Receipt::new("tests", Status::Fail, Timestamp::from_unix_millis(0));
            receipt.evidence.tests = tests(failed);
            receipt.tail = tail.into();
            let run = ApartRun::Ran {
                receipt: Box::new(receipt),
                strength: Strength::Clean,
                written: Vec::new(),
                made: Vec::new(),
                left: Vec::new(),
                failing: Vec::new(),
                is_reported,
            };
            lacks_only_coverage(&subject, &run)
        };
        let short = "Coverage failure: total of 75 is less than fail-under=90";
        assert!(lacks(0, short, true));
        assert!(!lacks(1, short, true));
        assert!(!lacks(0, "it stopped", true));
        // Nobody who is known says that all tests ran.
        assert!(!lacks(0, short, false));
    }
}
