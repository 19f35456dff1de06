//! Copies of the work that a check may run instead of it: `build/lib/a/b.py`, a package installed
//! in `.venv`.
//!
//! git ignores them, so what was repaired only in such a copy is not repaired. Where one was
//! written since the start and does not say what its source says, the check is asked with the
//! copies as their sources are. It passes: it does not depend on them, or builds them anew.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use stopgate_core::Receipt;

use super::apart::{ApartRun, Judges};
use super::original::{OriginalSubject, Originals, passed, receipt_of};
use super::surely::{Doubt, Otherwise, fails_surely};
use crate::builds::{IgnoredFiles, installed_since};
use crate::files::read_regular;
use crate::place::{FileContent, RestoredFile};
use crate::tree::{FileKind, hash_of, hex};

/// Languages that run as they are written, so that a copy says what its source says.
const AS_WRITTEN: [&str; 6] = ["py", "rb", "php", "pl", "pm", "lua"];
/// No source is longer.
const BYTES_MAX: u64 = 4 << 20;
/// How many copies are put right.
const COPIES_MAX: usize = 500;
/// How many parts of its path a copy has in common with its source, at least.
const PARTS_MIN: usize = 2;

/// A copy, its source, and what that says.
struct SourceCopy {
    path: PathBuf,
    source: PathBuf,
    text: Vec<u8>,
}

/// Asks checks with copies of the work as their sources are.
pub(super) struct SourceCopies<'a>(pub(super) &'a Originals<'a>);

impl SourceCopies<'_> {
    /// Doubts what passes only because a copy of the work is better than the work.
    pub(super) fn doubt(
        &self,
        subjects: &[OriginalSubject<'_>],
        digest: &str,
        receipts: &mut [Receipt],
    ) -> Option<()> {
        let is_due = |own: &&OriginalSubject<'_>| {
            own.runs() && passed(receipts, &own.criterion.name).is_some()
        };
        let due: Vec<&OriginalSubject<'_>> = subjects.iter().filter(is_due).collect();
        let copies = if due.is_empty() { Vec::new() } else { self.differing() };
        let digest = digest_with(digest, &copies);
        let approved = self.0.request.ground.approved.as_ref();
        if copies.is_empty() || approved.is_some_and(|own| own.digest == digest) {
            return Some(());
        }
        let first = copies.first().map(SourceCopy::told).unwrap_or_default();
        for subject in due {
            let doubt = Doubt {
                why: format!("it passes only as long as {first}"),
                digest: digest.clone(),
                changes: copies.iter().map(SourceCopy::told).collect(),
            };
            let found = self.put_right(subject, &copies)?;
            found.tell(receipt_of(receipts, &subject.criterion.name), doubt);
        }
        Some(())
    }

    /// Fails where it passes in that place only with the copies as they are; nothing where the
    /// program was asked to end.
    fn put_right(&self, subject: &OriginalSubject<'_>, copies: &[SourceCopy]) -> Option<Otherwise> {
        let mut changes = subject.changes.clone();
        changes.restore.extend(copies.iter().map(SourceCopy::put_right));
        let right = subject.with_changes(changes);
        fails_surely(&right, || self.run(&right), || self.run(subject))
    }

    fn run(&self, subject: &OriginalSubject<'_>) -> Option<ApartRun> {
        let runs = self.0.apart().run(&[subject], Judges::Original, ".copies")?;
        runs.into_iter().next()
    }

    /// Copies that were written since the start and do not say what their source says.
    fn differing(&self) -> Vec<SourceCopy> {
        let root = self.0.request.root;
        let Some(since) = self.0.request.since else { return Vec::new() };
        let sources = self.sources();
        if sources.is_empty() {
            return Vec::new();
        }
        let ignored = IgnoredFiles::after_run(root, since, self.0.looked.begun).unwrap_or_default();
        let candidates = ignored.left.into_iter().chain(installed_since(root, since));
        let candidates = candidates.filter(|path| is_as_written(path));
        let copies = candidates.filter_map(|path| {
            let source = source_of(&path, &sources)?.clone();
            let text = read_regular(&root.join(&source), BYTES_MAX).ok()?;
            let own = read_regular(&root.join(&path), BYTES_MAX).ok()?;
            (own != text).then_some(SourceCopy { path, source, text })
        });
        copies.take(COPIES_MAX).collect()
    }

    /// Sources of the work by their last names.
    fn sources(&self) -> BTreeMap<PathBuf, Vec<PathBuf>> {
        let mut found: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        let files = self.0.looked.tree.iter().flat_map(crate::tree::Tree::files);
        let is_source = |kind| matches!(kind, FileKind::Plain | FileKind::Executable);
        for file in files.filter(|file| file.root == 0 && is_source(file.kind)) {
            if let Some(end) = end_of(&file.path).filter(|_| is_as_written(&file.path)) {
                found.entry(end).or_default().push(file.path);
            }
        }
        found
    }
}

impl SourceCopy {
    fn told(&self) -> String {
        format!("{} differs from {}", self.path.display(), self.source.display())
    }

    fn put_right(&self) -> RestoredFile {
        let content = FileContent::File { bytes: self.text.clone(), executable: false };
        RestoredFile { path: self.path.clone(), content }
    }
}

/// The source with most of its path in common.
fn source_of<'s>(copy: &Path, sources: &'s BTreeMap<PathBuf, Vec<PathBuf>>) -> Option<&'s PathBuf> {
    let alike = sources.get(&end_of(copy)?)?;
    let common = |source: &&PathBuf| {
        let pairs = source.iter().rev().zip(copy.iter().rev());
        pairs.take_while(|(one, other)| one == other).count()
    };
    alike.iter().max_by_key(common)
}

/// The last parts of a path.
fn end_of(path: &Path) -> Option<PathBuf> {
    let parts: Vec<&OsStr> = path.iter().collect();
    let from = parts.len().checked_sub(PARTS_MIN)?;
    Some(parts[from..].iter().collect())
}

fn is_as_written(path: &Path) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|end| AS_WRITTEN.contains(&end))
}

/// Identifies the changes together with what the copies should say.
fn digest_with(digest: &str, copies: &[SourceCopy]) -> String {
    let line = |copy: &SourceCopy| format!("{} {}\n", copy.told(), hex(&hash_of(&copy.text)));
    let listed: String = copies.iter().map(line).collect();
    hex(&hash_of(format!("{digest}\n{listed}").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_belongs_to_the_source_with_most_of_its_path() {
        let sources = ["src/span/parse.py", "old/span/parse.py", "tool/parse.py"];
        let mut by_end: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for source in sources.map(PathBuf::from) {
            by_end.entry(end_of(&source).expect("two parts")).or_default().push(source);
        }
        let found = |copy: &str| source_of(Path::new(copy), &by_end).map(PathBuf::as_path);
        assert_eq!(found("build/src/span/parse.py"), Some(Path::new("src/span/parse.py")));
        assert_eq!(found("build/lib/tool/parse.py"), Some(Path::new("tool/parse.py")));
        assert_eq!(found("build/lib/other/parse.py"), None);
        assert_eq!(found("parse.py"), None);
    }
}
