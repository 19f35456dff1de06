//! Packages that were added beside the others, in a check that goes through all of them, and
//! directories that hold nothing but added tests.
//!
//! An original run has none of the tests that were added. A runner that is called for a new
//! package then finds nothing to run, and says so with a failure. The judges of the start know
//! nothing of such a package, so they are asked once more without all of it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_core::Receipt;

use super::apart::{Apart, EmptiedDirectories, Judges};
use super::asked_again::{Again, Doubted, ask_again};
use super::original::Originals;
use crate::basis::JudgeChanges;
use crate::git::{GitFilters, git};

/// Files that make a directory a package of its own.
const MANIFESTS: [&str; 5] =
    ["pyproject.toml", "package.json", "go.mod", "Cargo.toml", "setup.cfg"];
/// How long git may take to tell whether the commit of the start has a directory.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);

impl Originals<'_> {
    /// Those that the judges of the start reject also where directories stay that hold nothing but
    /// added tests: `node --test test/` fails without `test`, and finds nothing to fail in it.
    pub(super) fn ask_with_emptied_directories<'s>(
        &self,
        doubted: Doubted<'s>,
        digest: &str,
        receipts: &mut [Receipt],
    ) -> Option<Doubted<'s>> {
        ask_again(doubted, (digest, receipts), None, |subject, run| {
            if !run.ran() || subject.changes.absent.is_empty() {
                return Some(Again::NotDue);
            }
            let apart = Apart { emptied: EmptiedDirectories::Stay, ..self.apart() };
            let again = apart.run(&[subject], Judges::Original, ".emptied")?;
            Some(Again::Ran(again.into_iter().next()))
        })
    }

    /// Those that the judges of the start reject also without the packages that are new.
    pub(super) fn ask_without_new_packages<'s>(
        &self,
        doubted: Doubted<'s>,
        digest: &str,
        receipts: &mut [Receipt],
    ) -> Option<Doubted<'s>> {
        ask_again(doubted, (digest, receipts), None, |subject, run| {
            let places = if run.ran() { self.new_packages(&subject.changes) } else { Vec::new() };
            if places.is_empty() {
                return Some(Again::NotDue);
            }
            let mut changes = subject.changes.clone();
            changes.absent.extend(places);
            let bare = subject.with_changes(changes);
            let again = self.apart().run(&[&bare], Judges::Original, ".packages")?;
            Some(Again::Ran(again.into_iter().next()))
        })
    }

    /// Directories with added tests and a manifest, of which nothing was there at the start.
    fn new_packages(&self, changes: &JudgeChanges) -> Vec<PathBuf> {
        let package_of = |path: &PathBuf| {
            let mut places = path.ancestors().skip(1).filter(|own| !own.as_os_str().is_empty());
            let place = places.find(|own| self.has_manifest(own))?;
            let was_there = self.basis.has_files_below(place) || self.is_in_commit(place);
            (!was_there).then(|| place.to_path_buf())
        };
        let found: BTreeSet<PathBuf> = changes.absent.iter().filter_map(package_of).collect();
        found.into_iter().collect()
    }

    fn has_manifest(&self, place: &Path) -> bool {
        let place = self.request.root.join(place);
        MANIFESTS.iter().any(|name| place.join(name).is_file())
    }

    fn is_in_commit(&self, place: &Path) -> bool {
        let Some(commit) = self.basis.commit() else { return false };
        let words = ["ls-tree", commit, "--"].map(OsStr::new);
        let words: Vec<&OsStr> = words.into_iter().chain([place.as_os_str()]).collect();
        let said = git(&words, self.request.root, GitFilters::Run, GIT_TIMEOUT);
        !said.is_ok_and(|said| said.is_fine() && said.stdout.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::Scene;
    use super::*;

    #[test]
    fn a_package_is_new_where_nothing_of_it_was_there() {
        let old = [("package.json", "{}"), ("old/package.json", "{}"), ("old/a.test.js", "1")];
        let scene = Scene::new("node --test", &old);
        let added = [
            ("new/package.json", "{}"),
            ("new/test/a.test.js", "1"),
            ("old/b.test.js", "1"),
            ("bare/c.test.js", "1"),
        ];
        scene.write(&added);
        let tests = ["new/test/a.test.js", "old/b.test.js", "bare/c.test.js"];
        let absent = tests.map(PathBuf::from).to_vec();
        let changes = JudgeChanges { absent, ..JudgeChanges::default() };
        let found = scene.ask(&scene.request(), |originals| originals.new_packages(&changes));
        assert_eq!(found, [PathBuf::from("new")]);
    }
}
