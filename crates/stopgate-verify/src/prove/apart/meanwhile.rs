//! What other processes do to the work tree while a check runs apart from it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Apart, Judges};
use crate::basis::{JudgeChanges, content_of};
use crate::git::GitFilters;
use crate::place::PlaceKind;
use crate::prove::round::tree_of;
use crate::tree::{Tree, TreeFile, hash_of};

/// Files that running programs write beside the work, and that no check judges.
const NOISE: [&str; 10] =
    ["log", "pid", "tmp", "swp", "sock", "db", "sqlite", "sqlite3", "out", "lock"];

/// What people write notes in.
const PROSE: [&str; 4] = ["md", "rst", "adoc", "org"];

/// What programs are written in, and what they are set up by: a run without it is of other work.
const CODE: [&str; 33] = [
    "py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "tsx", "rs", "go", "c", "h", "cc", "cpp", "hpp",
    "java", "kt", "rb", "pl", "pm", "php", "cs", "swift", "sh", "bash", "lua", "toml", "cfg",
    "ini", "mk", "yml", "yaml", "so",
];

/// Directories that builds write to.
const BUILT: [&str; 10] =
    ["dist", "build", "out", "target", ".next", "coverage", "tmp", "log", "logs", ".cache"];
/// How long git may take to tell whether it tracks a file.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);

/// What is left out of a run because another process keeps writing to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restless {
    Files,
    Directories,
}

impl Apart<'_> {
    /// Files that were written to since the tree was looked at, and that a check can do without;
    /// or the directories in which they come and go, where git tracks nothing.
    pub(super) fn restless_now(&self, parts: Restless) -> Vec<PathBuf> {
        let root = self.request.root;
        let (Some(before), Some(after)) = (self.tree, tree_of(self.request, &[])) else {
            return Vec::new();
        };
        let has_repository = root.ancestors().any(|place| place.join(".git").exists());
        let is_named = |path: &Path| has_repository || path.extension().is_some();
        let is_data = |path: &Path| is_named(path) && !has_extension(path, &CODE);
        let is_free = |path: &Path| {
            let is_loose = || !has_repository || !is_tracked(root, path);
            is_data(path) && (has_extension(path, &PROSE) || is_loose())
        };
        let touched = after.touched_since(before).files.into_iter();
        let files = touched.filter(|path| self.basis.is_work(path) && is_free(path));
        if parts == Restless::Files {
            return files.collect();
        }
        let named = |path: PathBuf| path.parent().map(Path::to_path_buf);
        let named = files.filter_map(named).filter(|place| !place.as_os_str().is_empty());
        let is_needed = |place: &Path| {
            let inside = |file: &TreeFile| file.path.starts_with(place);
            let counts = |path: &Path| !self.basis.is_work(path) || has_extension(path, &CODE);
            after.files().filter(inside).any(|file| counts(&file.path))
        };
        let places: BTreeSet<PathBuf> = named.collect();
        let is_free = |place: &PathBuf| !is_tracked(root, place) && !is_needed(place);
        places.into_iter().filter(is_free).collect()
    }

    /// A file whose content in a copy is not the one that is to be proven: it was swapped while
    /// the copy was made.
    pub(super) fn differs(
        &self,
        copy: &Path,
        changes: &JudgeChanges,
        judges: Judges,
    ) -> Option<PathBuf> {
        let (before, after) = (self.tree?, tree_of(self.request, &[])?);
        let restored = |path: &PathBuf| {
            judges == Judges::Original
                && (changes.restore.iter().any(|file| file.path == *path)
                    || changes.absent.contains(path))
        };
        let swapped = |path: &PathBuf| {
            let then = before.file(path).map(|file| file.content);
            let now = content_of(&copy.join(path)).ok().map(|content| hash_of(&content));
            then != now && !restored(path)
        };
        let moved = after.moved_directories(before);
        let is_inside = |path: &Path| places_above(path).any(|place| moved.contains(place));
        let inside = before.files().filter(|file| file.root == 0 && is_inside(&file.path));
        let touched = after.touched_since(before).files.into_iter();
        let mut all = touched.chain(inside.map(|file| file.path));
        all.find(|path| !self.is_beside(path) && swapped(path))
    }

    /// Whether a file is written beside the work, and no check judges it: logs, and what a
    /// watcher builds into a directory that git does not track.
    fn is_beside(&self, path: &Path) -> bool {
        let outputs = || self.request.criteria.iter().flat_map(|c| self.basis.outputs(&c.name));
        is_noise(path)
            || self.restless.iter().any(|own| path.starts_with(own))
            || outputs().any(|output| output == path)
            || (is_built(path) && !is_tracked(self.request.root, path))
    }

    /// A file of the tree that another process changed meanwhile. An overlay shows such changes
    /// to the check, so it decides nothing then; a copy does not, and only what is left counts.
    pub(super) fn moved(&self, kind: PlaceKind) -> Option<PathBuf> {
        let (before, after) = (self.tree?, tree_of(self.request, &[])?);
        let touched = after.touched_since(before);
        let counts = |path: &PathBuf| {
            let content = |tree: &Tree| tree.file(path).map(|file| file.content);
            let differs = kind == PlaceKind::Overlay || content(before) != content(&after);
            differs && !self.is_beside(path)
        };
        let file = touched.files.into_iter().find(counts);
        file.or_else(|| self.exchanged(kind, before, &after))
    }

    /// A directory with judges or code that was renamed or written to meanwhile: its files show
    /// nothing of that, and an overlay shows others to the check.
    fn exchanged(&self, kind: PlaceKind, before: &Tree, after: &Tree) -> Option<PathBuf> {
        if kind != PlaceKind::Overlay {
            return None;
        }
        let moved = after.moved_directories(before);
        let counts = |path: &Path| !self.basis.is_work(path) || has_extension(path, &CODE);
        let mut files = after.files().filter(|file| file.root == 0 && counts(&file.path));
        files.find_map(|file| {
            let mut places = places_above(&file.path);
            let found = places.find(|place| moved.contains(*place) && !self.is_beside(place));
            found.map(Path::to_path_buf)
        })
    }
}

/// The directories of a file, but for the root.
fn places_above(path: &Path) -> impl Iterator<Item = &Path> {
    path.ancestors().skip(1).filter(|place| !place.as_os_str().is_empty())
}

/// Whether a running program writes such a file: `app.log`, `app.log.1`, `app.db-wal`.
fn is_noise(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let numbered = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let kinds = numbered.rsplit_once('.').map(|(_, end)| end.split('-').next().unwrap_or(end));
    kinds.is_some_and(|kind| NOISE.contains(&kind))
}

fn has_extension(path: &Path, known: &[&str]) -> bool {
    path.extension().and_then(|end| end.to_str()).is_some_and(|end| known.contains(&end))
}

/// Whether a path is in a directory that builds write to.
fn is_built(path: &Path) -> bool {
    let mut parts = path.parent().into_iter().flat_map(Path::components);
    parts.any(|part| part.as_os_str().to_str().is_some_and(|name| BUILT.contains(&name)))
}

/// Whether git tracks the file; what can't be told counts as tracked.
fn is_tracked(root: &Path, path: &Path) -> bool {
    let words = [OsStr::new("ls-files"), OsStr::new("-z"), OsStr::new("--"), path.as_os_str()];
    let said = crate::git::git(&words, root, GitFilters::Run, GIT_TIMEOUT);
    !said.is_ok_and(|said| said.is_fine() && said.stdout.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_running_programs_write_is_known_by_its_name() {
        for name in ["a.log", "a.log.1", "var/dev.db", "dev.db-wal", "dev.sqlite3-shm", "x.pid"] {
            assert!(is_noise(Path::new(name)), "{name}");
        }
        for name in ["log", "logs.py", "db/schema.sql", "a.login", "2024", "notes.txt", "run.sh"] {
            assert!(!is_noise(Path::new(name)), "{name}");
        }
    }
}
