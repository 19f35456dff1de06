//! Files that a check makes anew and has git compare with what was committed.
//!
//! What makes them is work and may change, as long as it still makes them: a generator that does
//! nothing leaves everything as it was committed. What it made at the start is found out by running
//! that; today's check then has to make today's content out of it.

use stopgate_core::{OriginalRun, OriginalVerdict, Receipt};

use super::apart::{Apart, ApartRun, Judges};
use super::original::{
    CHANGES_MAX, FAILING_MAX, OriginalSubject, Originals, accepts, dispute, passed, receipt_of,
};
use super::surely::{Otherwise, fails_surely};
use crate::basis::content_of;
use crate::place::RestoredFile;
use crate::tree::{hash_of, hex};

/// Asks checks to make anew what git compares.
pub(super) struct RemadeFiles<'a>(pub(super) &'a Originals<'a>);

impl RemadeFiles<'_> {
    /// Doubts what passes only because nothing is made any more.
    pub(super) fn doubt(
        &self,
        subjects: &[OriginalSubject<'_>],
        digest: &str,
        receipts: &mut [Receipt],
    ) -> Option<()> {
        let approved = self.0.request.ground.approved.as_ref();
        for subject in subjects {
            let makers = &subject.changes.makers;
            let name = &subject.criterion.name;
            if makers.is_empty() || !subject.runs() || passed(receipts, name).is_none() {
                continue;
            }
            let digest = self.digest_with(digest, makers);
            if approved.is_some_and(|own| own.digest == digest) {
                continue;
            }
            let (Otherwise::Fails(run), left) = self.over_then(subject)? else { continue };
            let maker = |file: &RestoredFile| format!("{} was changed", file.path.display());
            let told = OriginalRun {
                verdict: OriginalVerdict::Rejected,
                digest,
                changes: makers.iter().take(CHANGES_MAX).map(maker).collect(),
                failing: run.failing().into_iter().take(FAILING_MAX).collect(),
            };
            dispute(receipt_of(receipts, name), told, &wording(makers, &left), Some(&run));
        }
        Some(())
    }

    /// Whether today's check fails over what was made at the start, and that; nothing where the
    /// program was asked to end.
    fn over_then(&self, subject: &OriginalSubject<'_>) -> Option<(Otherwise, Vec<RestoredFile>)> {
        let mut changes = subject.changes.clone();
        changes.restore.extend(subject.changes.makers.iter().cloned());
        let then = subject.with_changes(changes);
        let first = self.run(&then, &[])?;
        // The same is made as at the start, or nothing that is there today.
        if accepts(&then, &first) || first.left().is_empty() {
            return Some((Otherwise::Stands, Vec::new()));
        }
        let left = first.left().to_vec();
        let found = fails_surely(subject, || self.run(subject, &left), || self.run(subject, &[]))?;
        Some((found, left))
    }

    fn run(&self, subject: &OriginalSubject<'_>, over: &[RestoredFile]) -> Option<ApartRun> {
        let apart = Apart { over, tells_left: true, ..self.0.apart() };
        apart.run(&[subject], Judges::Original, ".remade")?.into_iter().next()
    }

    /// Identifies the changes together with what the makers say today.
    fn digest_with(&self, digest: &str, makers: &[RestoredFile]) -> String {
        let line = |file: &RestoredFile| {
            let content = content_of(&self.0.request.root.join(&file.path)).unwrap_or_default();
            format!("{} {}\n", file.path.display(), hex(&hash_of(&content)))
        };
        let listed: String = makers.iter().map(line).collect();
        hex(&hash_of(format!("{digest}\n{listed}").as_bytes()))
    }
}

/// What is said of it, to the agent and to people.
fn wording(makers: &[RestoredFile], left: &[RestoredFile]) -> String {
    let names = |files: &[RestoredFile]| {
        let names: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
        names.join(", ")
    };
    let left = &left[..left.len().min(3)];
    format!("it passes, but {} no longer makes {} anew", names(makers), names(left))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::place::FileContent;

    #[test]
    fn the_first_files_that_are_not_made_are_named() {
        let file = |path: &str| RestoredFile {
            path: PathBuf::from(path),
            content: FileContent::Link("x".into()),
        };
        let left = ["a.md", "b.md", "c.md", "d.md"].map(file);
        let said = wording(&[file("gen.sh")], &left);
        assert_eq!(said, "it passes, but gen.sh no longer makes a.md, b.md, c.md anew");
    }
}
