//! Whether a check fails in other circumstances for certain, and not by chance or by its place.

use stopgate_core::{OriginalRun, OriginalVerdict, Receipt};

use super::apart::ApartRun;
use super::original::{CHANGES_MAX, FAILING_MAX, OriginalSubject, accepts, dispute};

/// What nobody knows where the check could not be run to its end.
const UNKNOWN: &str = "whether it passes without what the agent left";

/// What a check comes to in other circumstances.
pub(super) enum Otherwise {
    /// It passes, or it can't be told.
    Stands,
    /// It fails in this run.
    Fails(ApartRun),
    /// There was no time to find out.
    Cut(ApartRun),
    /// No private place could be had to find out, for this reason.
    NoPlace(String),
}

/// What is said in the receipt of a check that fails in other circumstances.
pub(super) struct Doubt {
    pub(super) why: String,
    /// Identifies what a person would accept.
    pub(super) digest: String,
    pub(super) changes: Vec<String>,
}

impl Otherwise {
    /// Puts it into the receipt.
    pub(super) fn tell(self, receipt: Option<&mut Receipt>, doubt: Doubt) {
        let Doubt { why, digest, mut changes } = doubt;
        let (run, verdict, why) = match self {
            Self::Stands => return,
            Self::NoPlace(why) => {
                let text = format!("it was not found out {UNKNOWN}: {why}");
                return receipt.into_iter().for_each(|own| own.evidence.notes.push(text.clone()));
            }
            Self::Fails(run) => (run, OriginalVerdict::Rejected, why),
            Self::Cut(run) => {
                let why = format!("there was no time to find out {UNKNOWN}");
                (run, OriginalVerdict::Undecided, why)
            }
        };
        changes.truncate(CHANGES_MAX);
        let failing = run.failing().into_iter().take(FAILING_MAX).collect();
        dispute(receipt, OriginalRun { verdict, digest, changes, failing }, &why, Some(&run));
    }
}

/// A run that came to its end, or why nothing is known.
pub(super) fn finished(run: ApartRun) -> Result<ApartRun, Otherwise> {
    if run.is_cut() {
        return Err(Otherwise::Cut(run));
    }
    match run {
        ApartRun::NoPlace(why) => Err(Otherwise::NoPlace(why)),
        ApartRun::Ran { .. } => Ok(run),
    }
}

/// Fails where it does so twice and passes in the control run; nothing where the program was asked
/// to end.
pub(super) fn fails_surely(
    subject: &OriginalSubject<'_>,
    run: impl Fn() -> Option<ApartRun>,
    control: impl FnOnce() -> Option<ApartRun>,
) -> Option<Otherwise> {
    let first = match finished(run()?) {
        Ok(first) => first,
        Err(unknown) => return Some(unknown),
    };
    if !denies(subject, &first) {
        return Some(Otherwise::Stands);
    }
    let second = match finished(run()?) {
        Ok(second) => second,
        Err(unknown) => return Some(unknown),
    };
    let is_sure = denies(subject, &second) && accepts(subject, &control()?);
    Some(if is_sure { Otherwise::Fails(second) } else { Otherwise::Stands })
}

fn denies(subject: &OriginalSubject<'_>, run: &ApartRun) -> bool {
    run.is_verdict() && !accepts(subject, run)
}

#[cfg(test)]
mod tests {
    use stopgate_core::{Status, Strength, Timestamp};

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

    #[test]
    fn a_receipt_says_where_there_was_no_place_to_find_out() {
        let scene = Scene::new("true", &[]);
        let subject = scene.subject(JudgeChanges::default());
        let nowhere = || Some(ApartRun::NoPlace("no namespaces".into()));
        let found = fails_surely(&subject, nowhere, nowhere).expect("nobody ends it");
        let mut receipt = Receipt::new("tests", Status::Pass, Timestamp::from_unix_millis(0));
        let doubt = Doubt { why: "x".into(), digest: "y".into(), changes: Vec::new() };
        found.tell(Some(&mut receipt), doubt);
        assert_eq!(receipt.status, Status::Pass);
        assert!(receipt.evidence.notes.concat().ends_with("the agent left: no namespaces"));
    }
}
