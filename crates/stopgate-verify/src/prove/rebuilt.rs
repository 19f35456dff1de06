//! Whether a check also passes with what it makes itself.
//!
//! A pass in the work tree may rest on files that git ignores and the agent wrote: a program that
//! is newer than its source, a bundle that was edited, a store of results. Where the check left
//! such files as they were, it is asked without them. That it makes them is seen in that run: what
//! does not come back was not its own, and then its pass stands.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use stopgate_core::Receipt;

use super::apart::{Apart, ApartRun, Judges, is_empty};
use super::original::{OriginalSubject, Originals, accepts, note, passed, receipt_of};
use super::surely::{Doubt, Otherwise, finished};
use crate::basis::content_of;
use crate::builds::{BuildOutputs, IgnoredFiles};
use crate::judges::is_product;
use crate::tree::{hash_of, hex};

/// Ends of names that running programs write beside the work.
const BESIDE: [&str; 6] = ["log", "pid", "tmp", "swp", "sock", "lock"];
/// What is noted where nobody can tell what the check did not make itself.
const NOT_LISTED: &str = "git did not list the ignored files in time, so it was not run once more without what the agent built";
/// How many files are named to a person.
const NAMED_MAX: usize = 3;

/// Asks checks without what they did not make themselves.
pub(super) struct RebuiltChecks<'a>(pub(super) &'a Originals<'a>);

impl RebuiltChecks<'_> {
    /// Doubts what passes only with files that the check would make otherwise.
    pub(super) fn doubt(
        &self,
        subjects: &[OriginalSubject<'_>],
        digest: &str,
        receipts: &mut [Receipt],
    ) -> Option<()> {
        let is_due = |own: &&OriginalSubject<'_>| {
            own.runs()
                && passed(receipts, &own.criterion.name).is_some()
                && (!was_rebuilt(own) || !own.changes.made.is_empty())
        };
        let due: Vec<&OriginalSubject<'_>> = subjects.iter().filter(is_due).collect();
        let ignored = if due.is_empty() { Some(IgnoredFiles::default()) } else { self.ignored() };
        let Some(ignored) = ignored else {
            for subject in due {
                note(receipts, &subject.criterion.name, NOT_LISTED);
            }
            return Some(());
        };
        let is_nothing =
            ignored.left.is_empty() && due.iter().all(|own| own.changes.made.is_empty());
        if is_nothing || self.0.is_approved(digest, subjects) {
            return Some(());
        }
        for subject in due {
            let mut own = Vec::new();
            if !was_rebuilt(subject) {
                own = self.products_of(subject, &ignored);
            }
            own.extend(subject.changes.made.iter().cloned());
            if own.is_empty() {
                continue;
            }
            let (found, made) = self.rebuilt(subject, own)?;
            let change = |path: &PathBuf| format!("{} is not what the check makes", path.display());
            let doubt = Doubt {
                why: wording(&made),
                digest: self.with_products(digest, &written(&ignored, subjects)),
                changes: made.iter().map(change).collect(),
            };
            found.tell(receipt_of(receipts, &subject.criterion.name), doubt);
        }
        Some(())
    }

    /// What the check says without `products`, and those that it makes; nothing where the program
    /// was asked to end.
    fn rebuilt(
        &self,
        subject: &OriginalSubject<'_>,
        products: Vec<PathBuf>,
    ) -> Option<(Otherwise, Vec<PathBuf>)> {
        let first = match finished(self.run_without(subject, products.clone(), Judges::Original)?) {
            Ok(first) => first,
            Err(unknown) => return Some((unknown, Vec::new())),
        };
        let made = self.with_stamps_beside(first.made(), products);
        if accepts(subject, &first) || made.is_empty() {
            return Some((Otherwise::Stands, made));
        }
        // What did not come back may be settings that it needs.
        let second = match finished(self.run_without(subject, made.clone(), Judges::Original)?) {
            Ok(second) => second,
            Err(unknown) => return Some((unknown, made)),
        };
        if accepts(subject, &second) || !second.is_verdict() {
            return Some((Otherwise::Stands, made));
        }
        // The place itself may be at fault. An original run never has what makers built.
        let makes = BuildOutputs::makes(subject.criterion);
        let judges = if makes { Judges::Today } else { Judges::Original };
        let control = self.run_without(subject, Vec::new(), judges)?;
        let is_sure = accepts(subject, &control);
        Some((if is_sure { Otherwise::Fails(second) } else { Otherwise::Stands }, made))
    }

    /// What came back, and stamps that lie beside one that did: those of steps that failed.
    fn with_stamps_beside(&self, mut made: Vec<PathBuf>, products: Vec<PathBuf>) -> Vec<PathBuf> {
        let is_stamp = |path: &PathBuf| is_empty(&self.0.request.root.join(path));
        let places: BTreeSet<(Option<PathBuf>, Option<OsString>)> =
            made.iter().filter(|path| is_stamp(path)).map(|path| kind_of(path)).collect();
        let is_beside = |path: &PathBuf| is_stamp(path) && places.contains(&kind_of(path));
        let others = products.into_iter().filter(|path| !made.contains(path) && is_beside(path));
        let others: Vec<PathBuf> = others.collect();
        made.extend(others);
        made
    }

    fn run_without(
        &self,
        subject: &OriginalSubject<'_>,
        absent: Vec<PathBuf>,
        judges: Judges,
    ) -> Option<ApartRun> {
        let apart = Apart { restless: absent, ..self.0.apart() };
        apart.run(&[subject], judges, ".rebuilt")?.into_iter().next()
    }

    /// Files that git ignores, and those among them that were written since the start, but not by
    /// the checks; nothing where git does not tell.
    fn ignored(&self) -> Option<IgnoredFiles> {
        let Some(since) = self.0.request.since else { return Some(IgnoredFiles::default()) };
        IgnoredFiles::after_run(self.0.request.root, since, self.0.looked.begun)
    }

    /// Those that the check may make itself, with what lies beside them: the stamp in there may be
    /// of the start.
    fn products_of(&self, subject: &OriginalSubject<'_>, ignored: &IgnoredFiles) -> Vec<PathBuf> {
        let name = &subject.criterion.name;
        let may_make = |path: &&PathBuf| {
            !is_beside(path) && (is_product(path) || self.0.basis.makes(name, path))
        };
        let own = ignored.left.iter().filter(may_make);
        let places: BTreeSet<&Path> = own.clone().filter_map(|path| path.parent()).collect();
        let is_near = |path: &&PathBuf| {
            let place = path.parent().filter(|place| !place.as_os_str().is_empty());
            place.is_some_and(|place| places.contains(place))
        };
        let near = ignored.all.iter().filter(is_near).filter(may_make);
        let all: BTreeSet<&PathBuf> = own.chain(near).collect();
        let mut found: Vec<PathBuf> = all.into_iter().cloned().collect();
        if !found.is_empty() {
            found.extend(self.0.basis.stamps(name));
        }
        found
    }

    /// Identifies the changes together with the files that the checks did not make themselves.
    pub(super) fn digest(&self, digest: &str, subjects: &[OriginalSubject<'_>]) -> String {
        self.with_products(digest, &written(&self.ignored().unwrap_or_default(), subjects))
    }

    fn with_products(&self, digest: &str, left: &[PathBuf]) -> String {
        let line = |path: &PathBuf| {
            let content = content_of(&self.0.request.root.join(path)).unwrap_or_default();
            format!("{} {}\n", path.display(), hex(&hash_of(&content)))
        };
        let listed: String = left.iter().filter(|path| !is_beside(path)).map(line).collect();
        hex(&hash_of(format!("{digest}\n{listed}").as_bytes()))
    }
}

/// What was written since the start that checks may make themselves.
fn written(ignored: &IgnoredFiles, subjects: &[OriginalSubject<'_>]) -> Vec<PathBuf> {
    let made = subjects.iter().flat_map(|subject| &subject.changes.made);
    ignored.left.iter().chain(made).cloned().collect()
}

/// Whether an original run made everything anew already.
fn was_rebuilt(subject: &OriginalSubject<'_>) -> bool {
    subject.is_open() && BuildOutputs::makes(subject.criterion)
}

/// Where a file is, and what its name ends with.
fn kind_of(path: &Path) -> (Option<PathBuf>, Option<OsString>) {
    (path.parent().map(Path::to_path_buf), path.extension().map(OsStr::to_os_string))
}

fn is_beside(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    BESIDE.contains(&end)
}

fn wording(made: &[PathBuf]) -> String {
    let named: Vec<String> =
        made.iter().take(NAMED_MAX).map(|path| path.display().to_string()).collect();
    let more = if made.len() > NAMED_MAX { " and others" } else { "" };
    format!(
        "it passes with {}{more} as they are now, but fails when it makes them itself",
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_files_are_named_and_more_are_not() {
        let said = |names: &[&str]| {
            let made: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
            wording(&made)
        };
        assert!(said(&["app"]).contains("with app as they are now"));
        assert!(said(&["a", "b", "c"]).contains("with a, b, c as they are now"));
        assert!(said(&["a", "b", "c", "d"]).contains("with a, b, c and others as they are now"));
    }
}
