//! Which files were touched between two looks at the same roots.
//!
//! Every write, rename or change of mode moves a file's change time, and nobody can move it
//! back; so a file that was replaced and restored shows up here although its content is the same.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::PathBuf;

use stopgate_system::ffi::OsStrExt;

use super::index::{FileMark, Index, join};
use super::stat::Stat;
use super::{Tree, TreeFile};

/// What was touched between two looks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TouchedFiles {
    /// Files that were written, replaced, added or deleted.
    pub(crate) files: Vec<PathBuf>,
    /// Directories in which names came or went, although the same names are there now.
    pub(crate) directories: Vec<PathBuf>,
}

impl Tree {
    /// What was touched since an earlier look at the same roots.
    pub(crate) fn touched_since(&self, before: &Self) -> TouchedFiles {
        let mut touched = TouchedFiles::default();
        for (now, then) in self.roots.iter().zip(&before.roots) {
            compare(now, then, &mut touched);
        }
        touched.files.sort();
        touched.directories.sort();
        touched
    }

    /// Directories of the first root that were renamed, replaced or written to since an earlier
    /// look, although they are there: the files in them need not show it.
    pub(crate) fn moved_directories(&self, before: &Self) -> BTreeSet<PathBuf> {
        let (Some(now), Some(then)) = (self.roots.first(), before.roots.first()) else {
            return BTreeSet::new();
        };
        let then = directories_of(then);
        let is_moved =
            |(path, stat): &(&Vec<u8>, &Stat)| then.get(*path).is_some_and(|own| own != *stat);
        let now = directories_of(now);
        now.iter().filter(is_moved).map(|(path, _)| path_of(path)).collect()
    }

    /// The file at this path of the first root.
    pub(crate) fn file(&self, path: &std::path::Path) -> Option<TreeFile> {
        self.files().find(|file| file.root == 0 && file.path == path)
    }
}

fn compare(now: &Index, then: &Index, touched: &mut TouchedFiles) {
    let (files, old_files) = (files_of(now), files_of(then));
    let before = touched.files.len();
    for (path, stat) in &files {
        if old_files.get(path) != Some(stat) {
            touched.files.push(path_of(path));
        }
    }
    let gone = old_files.keys().filter(|path| !files.contains_key(*path));
    touched.files.extend(gone.map(|path| path_of(path)));
    let explained = |directory: &[u8]| {
        let mut changed = touched.files[before..].iter();
        changed.any(|path| {
            let parent = path.parent().map_or(&[][..], |parent| parent.as_os_str().as_bytes());
            // A file that came or went explains that its directory changed; so does a new one.
            parent.starts_with(directory)
                && is_come_or_gone(path.as_os_str().as_bytes(), &files, &old_files)
        })
    };
    let old = directories_of(then);
    let moved = directories_of(now)
        .into_iter()
        .filter(|(path, stat)| old.get(path).is_some_and(|then| then != stat))
        .filter(|(path, _)| !explained(path));
    touched.directories.extend(moved.map(|(path, _)| path_of(&path)));
}

type Stats = HashMap<Vec<u8>, Stat>;

fn is_come_or_gone(path: &[u8], now: &Stats, then: &Stats) -> bool {
    now.contains_key(path) != then.contains_key(path)
}

fn files_of(index: &Index) -> Stats {
    let mut stats = Stats::with_capacity(index.entries.len());
    let mut directory = Vec::new();
    for at in 0..index.directories.len() {
        index.directory_path(at, &mut directory);
        for entry in &index.entries[index.entries_of(at)] {
            if entry.mark != FileMark::Rule {
                let mut path = directory.clone();
                join(&mut path, index.name(entry.name));
                stats.insert(path, entry.stat);
            }
        }
    }
    stats
}

fn directories_of(index: &Index) -> Stats {
    let path = |at: usize| {
        let mut path = Vec::new();
        index.directory_path(at, &mut path);
        (path, index.directories[at].stat)
    };
    (0..index.directories.len()).map(path).collect()
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests;
