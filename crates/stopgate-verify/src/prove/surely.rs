//! Whether a check fails in other circumstances for certain, and not by chance or by its place.

use super::apart::ApartRun;
use super::original::{OriginalSubject, accepts};

/// Why nothing is decided where the time was over.
pub(super) const NO_TIME: &str =
    "there was no time to find out whether it passes without what the agent left";

/// What a check comes to in other circumstances.
pub(super) enum Otherwise {
    /// It passes, or it can't be told.
    Stands,
    /// It fails in this run.
    Fails(ApartRun),
    /// There was no time to find out.
    Cut(ApartRun),
}

/// Fails where it does so twice and passes in the control run; nothing where the program was asked
/// to end.
pub(super) fn fails_surely(
    subject: &OriginalSubject<'_>,
    run: impl Fn() -> Option<ApartRun>,
    control: impl FnOnce() -> Option<ApartRun>,
) -> Option<Otherwise> {
    let first = run()?;
    if first.is_cut() {
        return Some(Otherwise::Cut(first));
    }
    if !denies(subject, &first) {
        return Some(Otherwise::Stands);
    }
    let second = run()?;
    if second.is_cut() {
        return Some(Otherwise::Cut(second));
    }
    let is_sure = denies(subject, &second) && accepts(subject, &control()?);
    Some(if is_sure { Otherwise::Fails(second) } else { Otherwise::Stands })
}

fn denies(subject: &OriginalSubject<'_>, run: &ApartRun) -> bool {
    run.is_verdict() && !accepts(subject, run)
}

#[cfg(test)]
mod tests {
    use stopgate_core::{Receipt, Status, Strength, Timestamp};

    use super::super::scene::Scene;
    use super::*;
    use crate::basis::JudgeChanges;

    fn ran(status: Status) -> ApartRun {
        ApartRun::Ran {
            receipt: Box::new(Receipt::new("tests", status, Timestamp::from_unix_millis(0))),
            strength: Strength::Clean,
            written: Vec::new(),
            made: Vec::new(),
            left: Vec::new(),
            failing: Vec::new(),
            is_reported: false,
        }
    }

    #[test]
    fn a_run_that_was_cut_decides_nothing() {
        let scene = Scene::new("true", &[]);
        let subject = scene.subject(JudgeChanges::default());
        let found = |status, control| {
            let found = fails_surely(&subject, || Some(ran(status)), || Some(ran(control)));
            found.expect("nobody ends it")
        };
        assert!(matches!(found(Status::Timeout, Status::Pass), Otherwise::Cut(_)));
        assert!(matches!(found(Status::Fail, Status::Pass), Otherwise::Fails(_)));
        assert!(matches!(found(Status::Fail, Status::Fail), Otherwise::Stands));
        assert!(matches!(found(Status::Pass, Status::Pass), Otherwise::Stands));
    }
}
