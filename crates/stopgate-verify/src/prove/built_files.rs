//! Checks that need something built and don't build it: `sh tests/run.sh` over `build/app`.
//!
//! An original run goes without what was built since the start, because it may have been built
//! from weakened tests. A check that fails for lack of it is asked again with it, unless a test
//! that changed is of a language that is built.

use std::path::PathBuf;

use stopgate_core::{Criterion, Receipt};

use super::apart::{Apart, ApartRun, Judges};
use super::asked_again::{Again, Doubted, ask_again};
use super::original::{OriginalSubject, Originals};
use crate::basis::JudgeChanges;
use crate::builds::{BuildOutputs, IgnoredFiles, built_since, is_program, made_since};
use crate::judges::may_judge;

/// Languages whose tests run as they are written.
const READ: [&str; 16] = [
    "sh", "bash", "bats", "py", "rb", "pl", "t", "lua", "txt", "csv", "json", "yaml", "yml",
    "toml", "out", "in",
];

/// What a run does not have of the files that git ignores and that were built since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BuiltFiles {
    /// An original run builds them again, where the check builds by times; every other one has
    /// them.
    #[default]
    MadeByOriginals,
    /// No run has them.
    Absent,
    /// Every run has the programs and bundles among them; what may be a stamp, it does not.
    Programs,
}

impl Apart<'_> {
    /// What was built since the start, and the run does not have.
    pub(super) fn unbuilt(&self, criterion: &Criterion, judges: Judges) -> Vec<PathBuf> {
        let root = self.request.root;
        let built = || built_since(root, self.request.since);
        match self.built {
            BuiltFiles::Absent => built(),
            _ if !BuildOutputs::makes(criterion) => self.made_by_the_check(criterion, judges),
            BuiltFiles::MadeByOriginals if judges == Judges::Today => Vec::new(),
            BuiltFiles::MadeByOriginals => built(),
            BuiltFiles::Programs => {
                built().into_iter().filter(|path| !is_program(root, path)).collect()
            }
        }
    }

    /// What the run that is judged has made by itself, such as a database: it was made with today's
    /// judges, and an original run makes its own.
    fn made_by_the_check(&self, criterion: &Criterion, judges: Judges) -> Vec<PathBuf> {
        if judges == Judges::Today {
            return Vec::new();
        }
        let made = made_since(self.request.root, self.ran_at);
        made.into_iter().filter(|path| self.basis.makes(&criterion.name, path)).collect()
    }
}

impl Originals<'_> {
    /// Those that the judges of the start reject also with what was built.
    pub(super) fn ask_with_built_files<'s>(
        &self,
        doubted: Doubted<'s>,
        digest: &str,
        receipts: &mut [Receipt],
    ) -> Option<Doubted<'s>> {
        ask_again(doubted, (digest, receipts), None, |subject, run| {
            if !run.ran() || !self.may_need(subject) || self.builds_itself(subject)? {
                return Some(Again::NotDue);
            }
            let whole = Apart { built: BuiltFiles::Programs, ..self.apart() };
            let again = whole.run(&[subject], Judges::Original, ".built")?;
            Some(Again::Instead(again.into_iter().next()))
        })
    }

    /// Those that the judges of the start reject also where no earlier result is stored: a check
    /// that passes with fewer tests may only have left out what had passed before, in its first
    /// run or since.
    pub(super) fn ask_without_stored_results<'s>(
        &self,
        doubted: Doubted<'s>,
        digest: &str,
        receipts: &mut [Receipt],
    ) -> Option<Doubted<'s>> {
        ask_again(doubted, (digest, receipts), None, |subject, run| {
            if !run.passes() {
                return Some(Again::NotDue);
            }
            let stored = self.stored_by(subject);
            let is_due = !stored.is_empty()
                || (!BuildOutputs::makes(subject.criterion)
                    && !built_since(self.request.root, self.request.since).is_empty());
            if !is_due {
                return Some(Again::NotDue);
            }
            let bare = Apart { built: BuiltFiles::Absent, restless: stored, ..self.apart() };
            let again = bare.run(&[subject], Judges::Original, ".unstored")?;
            Some(Again::Ran(again.into_iter().next()))
        })
    }

    /// Ignored files where the check itself wrote in its first run: by them it may know what it
    /// need not do again.
    fn stored_by(&self, subject: &OriginalSubject<'_>) -> Vec<PathBuf> {
        let Some(since) = self.request.since else { return Vec::new() };
        let ignored = IgnoredFiles::after_run(self.request.root, since, self.looked.begun);
        let all = ignored.map(|ignored| ignored.all).unwrap_or_default();
        let is_own = |path: &PathBuf| self.basis.makes(&subject.criterion.name, path);
        all.into_iter().filter(is_own).collect()
    }

    /// Whether there is something that the check may lack, and that no changed test is part of.
    fn may_need(&self, subject: &OriginalSubject<'_>) -> bool {
        BuildOutputs::makes(subject.criterion) && is_read(&subject.changes) && {
            let built = built_since(self.request.root, self.request.since);
            !built.is_empty()
                && !built.iter().any(|path| may_judge(path.as_os_str().as_encoded_bytes()))
        }
    }

    /// Whether today's judges pass without what was built: then the check builds it.
    fn builds_itself(&self, subject: &OriginalSubject<'_>) -> Option<bool> {
        let bare = Apart { built: BuiltFiles::Absent, ..self.apart() };
        let control = bare.run(&[subject], Judges::Today, ".unbuilt")?;
        Some(control.iter().any(ApartRun::passes))
    }
}

/// Whether everything that changed is read, not built.
fn is_read(changes: &JudgeChanges) -> bool {
    let restored = changes.restore.iter().map(|file| &file.path);
    restored.chain(&changes.absent).all(|path| {
        let extension = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        READ.contains(&extension)
    })
}

#[cfg(test)]
mod tests {
    use super::super::scene::Scene;
    use super::*;
    use crate::place::{FileContent, RestoredFile};

    /// Whether a check of a script that changed may need what was built.
    fn may_need(built: &[(&str, &str)], changed: &str) -> bool {
        let files = [(".gitignore", "build/\n"), (changed, "exit 0\n")];
        let scene = Scene::new("sh tests/run.sh", &files);
        scene.write(built);
        let content = FileContent::File { bytes: b"exit 0\n".to_vec(), executable: false };
        let restore = vec![RestoredFile { path: changed.into(), content }];
        let subject = scene.subject(JudgeChanges { restore, ..JudgeChanges::default() });
        scene.ask(&scene.request(), |originals| originals.may_need(&subject))
    }

    #[test]
    fn a_check_may_need_a_program_that_is_no_test_itself() {
        assert!(may_need(&[("build/app", "1")], "tests/run.sh"));
        assert!(!may_need(&[], "tests/run.sh"));
        assert!(!may_need(&[("build/app", "1"), ("build/test_app.py", "1")], "tests/run.sh"));
        // What was built from a test that changed says what the changed test says.
        assert!(!may_need(&[("build/app", "1")], "tests/unit.c"));
    }
}
