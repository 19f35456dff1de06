//! Judging sections of the start that don't fit the rest of today's file.
//!
//! A makefile whose directories have new names builds nothing with the rules of the start put into
//! it. Where nothing could even be tried, the judges of the start are asked once more with such
//! files whole, as they were.

use stopgate_core::{Receipt, Tests};

use super::apart::{ApartRun, Judges};
use super::asked_again::{Again, Doubted, ask_again};
use super::original::Originals;
use crate::basis::JudgeChanges;

/// What is noted where they accept the work then.
const WHOLE: &str = "the tests of the start pass with their build files whole, as they were";
/// What tools say that lack a file before anything is tried.
const LACKS: [&str; 7] = [
    "No rule to make target",
    "No such file or directory",
    "failed to load manifest",
    "failed to parse manifest",
    "cannot find",
    "can't find",
    "missing script",
];

/// Asks the judges of the start once more with files whole.
pub(super) struct WholeFiles<'a>(pub(super) &'a Originals<'a>);

impl WholeFiles<'_> {
    /// Those that the judges of the start reject also then.
    pub(super) fn ask<'s>(
        &self,
        doubted: Doubted<'s>,
        digest: &str,
        receipts: &mut [Receipt],
    ) -> Option<Doubted<'s>> {
        ask_again(doubted, (digest, receipts), Some(WHOLE), |subject, run| {
            if subject.changes.whole.is_empty() || !tried_nothing(run) {
                return Some(Again::NotDue);
            }
            let whole = subject.with_changes(with_whole_files(&subject.changes));
            let again = self.0.apart().run(&[&whole], Judges::Original, ".whole")?;
            Some(Again::Ran(again.into_iter().next()))
        })
    }
}

/// Whether a run broke off for want of a file, before any test ran.
fn tried_nothing(run: &ApartRun) -> bool {
    let ApartRun::Ran { receipt, written, .. } = run else { return false };
    let ran = receipt.evidence.tests.map_or(0, Tests::ran);
    written.is_empty() && ran == 0 && LACKS.iter().any(|words| receipt.tail.contains(words))
}

fn with_whole_files(changes: &JudgeChanges) -> JudgeChanges {
    let mut changes = changes.clone();
    let whole = std::mem::take(&mut changes.whole);
    changes.restore.retain(|file| !whole.iter().any(|own| own.path == file.path));
    changes.restore.extend(whole);
    changes
}

#[cfg(test)]
mod tests {
    use super::super::scene::Scene;
    use super::*;
    use crate::place::{FileContent, RestoredFile};

    #[test]
    fn a_file_whole_takes_the_place_of_its_sections() {
        let file = |path: &str, text: &str| RestoredFile {
            path: path.into(),
            content: FileContent::File { bytes: text.into(), executable: false },
        };
        let (makefile, test) = (file("Makefile", "merged"), file("tests/a.sh", "test"));
        let whole = vec![file("Makefile", "whole"), file("Cargo.toml", "gone")];
        let changes = JudgeChanges {
            restore: vec![makefile, test.clone()],
            whole,
            ..JudgeChanges::default()
        };
        let found = with_whole_files(&changes).restore;
        assert_eq!(found, [test, file("Makefile", "whole"), file("Cargo.toml", "gone")]);
    }

    #[test]
    fn only_a_run_that_tried_nothing_is_asked_again() {
        let scene = Scene::new("make test", &[]);
        let subject = scene.subject(JudgeChanges::default());
        assert!(subject.changes.whole.is_empty());
        assert!(!tried_nothing(&ApartRun::NoPlace("nowhere".into())));
    }
}
