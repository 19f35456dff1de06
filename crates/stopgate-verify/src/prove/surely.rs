//! Whether a check fails in other circumstances for certain, and not by chance or by its place.

use super::apart::ApartRun;
use super::original::{OriginalSubject, accepts};

/// What a check comes to in other circumstances.
pub(super) enum Otherwise {
    /// It passes, or it can't be told.
    Stands,
    /// It fails in this run.
    Fails(ApartRun),
}

/// Fails where it does so twice and passes in the control run; nothing where the program was asked
/// to end.
pub(super) fn fails_surely(
    subject: &OriginalSubject<'_>,
    run: impl Fn() -> Option<ApartRun>,
    control: impl FnOnce() -> Option<ApartRun>,
) -> Option<Otherwise> {
    if !denies(subject, &run()?) {
        return Some(Otherwise::Stands);
    }
    let second = run()?;
    let is_sure = denies(subject, &second) && accepts(subject, &control()?);
    Some(if is_sure { Otherwise::Fails(second) } else { Otherwise::Stands })
}

fn denies(subject: &OriginalSubject<'_>, run: &ApartRun) -> bool {
    run.is_verdict() && !run.is_cut() && !accepts(subject, run)
}
