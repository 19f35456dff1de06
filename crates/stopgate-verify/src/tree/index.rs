//! What is known about one root's files: a list of directories, outermost first, and their files.
//!
//! Flat on purpose: tens of thousands of entries are read, compared and written in a few
//! milliseconds, names lie one after the other, and nothing is allocated for a single entry.

use std::collections::HashMap;

use super::repo::Repo;
use super::stat::Stat;

/// A fingerprint of one content; 128 bits tell any two apart.
pub(crate) type Hash = [u8; 16];

/// The fingerprint of a directory that holds no file.
pub(crate) const EMPTY: Hash = [0; 16];

/// Where a name lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) at: u32,
    pub(crate) length: u16,
}

/// How a file counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileMark {
    Plain,
    Executable,
    /// By the path it points to.
    Link,
    /// It could not be read: by what its directory says about it.
    Unreadable,
    /// Not at all, but it says which files do.
    Rule,
}

/// One file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexedFile {
    pub(crate) name: Name,
    pub(crate) mark: FileMark,
    pub(crate) stat: Stat,
    pub(crate) hash: Hash,
}

/// Which of a directory's files count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileSelection {
    /// Those that the rules let through.
    Ruled,
    /// The directory is ignored: those that are tracked all the same.
    TrackedOnly,
    /// None: it could not be read.
    Unreadable,
}

/// One directory; the directories below it follow it in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Directory {
    pub(crate) name: Name,
    pub(crate) parent: u32,
    /// The first directory that is not below it.
    pub(crate) end: u32,
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) stat: Stat,
    pub(crate) reading: FileSelection,
    pub(crate) hash: Hash,
}

/// Everything about one root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// When the look began that it comes from.
    pub(crate) taken: i64,
    pub(crate) directories: Vec<Directory>,
    pub(crate) entries: Vec<IndexedFile>,
    pub(crate) names: Vec<u8>,
    pub(crate) repos: Vec<Repo>,
}

impl Index {
    pub(crate) fn name(&self, name: Name) -> &[u8] {
        name_in(&self.names, name)
    }

    pub(crate) fn add_name(&mut self, name: &[u8]) -> Name {
        let at = index(self.names.len());
        self.names.extend_from_slice(name);
        Name { at, length: u16::try_from(name.len()).unwrap_or(u16::MAX) }
    }

    /// Writes the path of a directory from the root; nothing for the root.
    pub(crate) fn directory_path(&self, directory: usize, path: &mut Vec<u8>) {
        path.clear();
        let (mut chain, mut at) = (Vec::new(), directory);
        while at != 0 {
            chain.push(self.directories[at].name);
            at = self.directories[at].parent as usize;
        }
        for name in chain.into_iter().rev() {
            join(path, self.name(name));
        }
    }

    /// The directories right below one, in order.
    pub(crate) fn children(&self, directory: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.directories[directory].end as usize;
        let step =
            move |at: &usize| Some(self.directories[*at].end as usize).filter(|at| *at < end);
        std::iter::successors(Some(directory + 1).filter(move |at| *at < end), step)
    }

    pub(crate) fn entries_of(&self, directory: usize) -> std::ops::Range<usize> {
        let directory = &self.directories[directory];
        directory.first as usize..directory.last as usize
    }

    /// Where each directory is.
    pub(crate) fn directories_by_path(&self) -> HashMap<Vec<u8>, usize> {
        let path = |directory| {
            let mut path = Vec::new();
            self.directory_path(directory, &mut path);
            (path, directory)
        };
        (0..self.directories.len()).map(path).collect()
    }

    /// Whether a file counts; with a slash at its end, whether a directory is known.
    pub(crate) fn counts(&self, directories: &HashMap<Vec<u8>, usize>, path: &[u8]) -> bool {
        if let Some(directory) = path.strip_suffix(b"/") {
            return directories.contains_key(directory);
        }
        let end = path.iter().rposition(|byte| *byte == b'/');
        let (directory, name) = end.map_or((&[][..], path), |at| (&path[..at], &path[at + 1..]));
        let Some(directory) = directories.get(directory) else { return false };
        let entries = &self.entries[self.entries_of(*directory)];
        let found = entries.binary_search_by(|entry| self.name(entry.name).cmp(name));
        found.is_ok_and(|at| entries[at].mark != FileMark::Rule)
    }

    /// The root's fingerprint.
    pub(crate) fn hash(&self) -> Hash {
        self.directories.first().map_or(EMPTY, |directory| directory.hash)
    }

    /// Fingerprints the directories that changed, and those above them, innermost first.
    pub(crate) fn seal_directories(&mut self, mut changed: Vec<bool>) {
        for at in (0..self.directories.len()).rev() {
            if changed[at] {
                changed[self.directories[at].parent as usize] = true;
                self.directories[at].hash = self.directory_hash(at);
            }
        }
    }

    fn directory_hash(&self, directory: usize) -> Hash {
        let mut text = Vec::new();
        for entry in &self.entries[self.entries_of(directory)] {
            let sort = match entry.mark {
                FileMark::Plain => b'f',
                FileMark::Executable => b'x',
                FileMark::Link => b'l',
                FileMark::Unreadable => b'u',
                FileMark::Rule => continue,
            };
            add_line(&mut text, sort, self.name(entry.name), &entry.hash);
        }
        for child in self.children(directory) {
            let child = &self.directories[child];
            if child.hash != EMPTY {
                add_line(&mut text, b'd', self.name(child.name), &child.hash);
            }
        }
        let own = &self.directories[directory];
        if own.reading == FileSelection::Unreadable {
            add_line(&mut text, b'u', &own.stat.mtime.to_le_bytes(), &EMPTY);
        }
        if text.is_empty() { EMPTY } else { hash_of(&text) }
    }
}

pub(crate) fn name_in(names: &[u8], name: Name) -> &[u8] {
    let at = name.at as usize;
    names.get(at..at + usize::from(name.length)).unwrap_or_default()
}

/// Adds a name to a path.
pub(crate) fn join(path: &mut Vec<u8>, name: &[u8]) {
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
}

/// A position in one of the lists; they are far shorter than its limit.
pub(crate) fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

pub(crate) fn hash_of(bytes: &[u8]) -> Hash {
    short(&blake3::hash(bytes))
}

pub(crate) fn short(long: &blake3::Hash) -> Hash {
    let mut hash = EMPTY;
    hash.copy_from_slice(&long.as_bytes()[..16]);
    hash
}

fn add_line(text: &mut Vec<u8>, sort: u8, name: &[u8], hash: &Hash) {
    text.push(sort);
    text.extend_from_slice(&index(name.len()).to_le_bytes());
    text.extend_from_slice(name);
    text.extend_from_slice(hash);
}
