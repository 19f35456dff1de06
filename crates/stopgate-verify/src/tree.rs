//! The fingerprint of a work tree: the same as long as every file that counts is the same.
//!
//! What counts is a file's path, whether it can be executed, and its content; not its times,
//! not what git has staged or committed, not where the directory lies. Nothing in the tree is
//! written, no link is followed, and what can't be read counts by what its directory says.

mod access;
mod clock;
mod content;
mod ignore;
mod index;
mod repo;
mod stat;
mod still;
mod store;
mod sweep;
mod walk;

use std::ffi::OsStr;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_system::CanonicalPath;
use stopgate_system::ffi::OsStrExt;

use self::access::{OpenDirectory, open_root};
use self::content::Pending;
use self::index::{FileMark, Hash, Index, join};
use self::repo::around;
use self::sweep::{Swept, sweep};
use self::walk::{Extent, RULES, Walk, WalkEnd};
use crate::glob::Globs;

pub(crate) use self::clock::Clock;
pub(crate) use self::index::hash_of;
pub(crate) use self::stat::Stat;
pub(crate) use self::still::TouchedFiles;
pub use self::store::KEY_NAME as TREE_KEY_NAME;

/// More files than this, and checks had better run without a fingerprint.
pub(crate) const FILES_MAX: usize = 300_000;

/// Reads `text` as rules about ignored paths and asks them about `path`; for the fuzzer.
pub(crate) fn ask_rules(text: &[u8], path: &[u8]) {
    let rules = ignore::IgnoreRules::read(text);
    let _ = rules.about(path, ignore::Thing::File);
    let _ = rules.about(path, ignore::Thing::Directory);
}

/// Reads a kept index that begins with these bytes, and looks at all of it; for the fuzzer.
pub(crate) fn read_kept(rest: &[u8]) {
    const KEY: [u8; 32] = [0; 32];
    let identity = Hash::default();
    let Some(index) = store::decode(store::framed(&KEY, identity, rest), &KEY, identity) else {
        return;
    };
    let directories = index.directories_by_path();
    for directory in 0..index.directories.len() {
        let mut path = Vec::new();
        index.directory_path(directory, &mut path);
        let _ = index.counts(&directories, &path);
        assert!(index.entries_of(directory).end <= index.entries.len());
        assert!(index.children(directory).all(|child| child < index.directories.len()));
    }
    let _ = index.hash();
}

/// Which files count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeScope<'a> {
    /// All but what git ignores and does not track.
    Whole,
    /// Those that these patterns name from the root, also where git ignores them.
    Globs(&'a [String]),
}

/// Why there is no fingerprint.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// A root could not be opened.
    #[error("look at the files in {}", path.display())]
    Root {
        /// The root.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A pattern can't be one.
    #[error("read the pattern «{0}»: write one from the project's root, without «..»")]
    Pattern(String),
    /// Git did not say which ignored files are tracked.
    #[error("ask git about {}: {why}", path.display())]
    Git {
        /// The root.
        path: PathBuf,
        /// What git said.
        why: String,
    },
    /// There are too many files, or looking at them takes too long.
    #[error("look at the files in {}: there are too many, or the disk is too slow", path.display())]
    TooLarge {
        /// The root.
        path: PathBuf,
    },
}

/// The files of one or more roots, and their fingerprint.
#[derive(Clone, Debug)]
pub struct Tree {
    roots: Vec<Index>,
    hash: String,
    changed: Option<usize>,
}

/// One file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeFile {
    /// Which root it is in, counted from 0.
    pub root: usize,
    /// Its path from there.
    pub path: PathBuf,
    /// What it is.
    pub kind: FileKind,
    pub(crate) content: Hash,
    pub(crate) size: u64,
    /// When anything about it last changed, in nanoseconds since 1970.
    pub(crate) ctime: i64,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A file.
    Plain,
    /// A file that can be executed.
    Executable,
    /// A symbolic link, which is never followed.
    Link,
    /// Something that could not be read.
    Unreadable,
}

/// Says which files count, where that is not git's business.
pub(crate) trait Chosen: Sync {
    /// Whether the file counts.
    fn takes(&self, path: &[u8]) -> bool;
    /// Whether the directory may hold files that count.
    fn enters(&self, path: &[u8]) -> bool;
}

/// Which files of a root count.
#[derive(Clone, Copy)]
pub(crate) enum FileChoice<'a> {
    Whole,
    Picked(&'a dyn Chosen),
}

/// Fingerprints the files of `roots`; what is learnt is kept in the directory `cache`.
///
/// The cache must lie outside of the roots. It may be lost or shared at any time.
pub fn fingerprint(roots: &[&Path], scope: TreeScope<'_>, cache: &Path) -> Result<Tree, TreeError> {
    match scope {
        TreeScope::Whole => look(roots, FileChoice::Whole, b"whole", cache),
        TreeScope::Globs(patterns) => {
            let globs = Globs::new(patterns).map_err(TreeError::Pattern)?;
            let key = format!("globs {patterns:?}");
            look(roots, FileChoice::Picked(&globs), key.as_bytes(), cache)
        }
    }
}

/// Looks at the chosen files; `key` tells one choice from another.
pub(crate) fn look(
    roots: &[&Path],
    choice: FileChoice<'_>,
    key: &[u8],
    cache: &Path,
) -> Result<Tree, TreeError> {
    look_then(roots, choice, key, cache, &Clock::start())
}

fn look_then(
    roots: &[&Path],
    choice: FileChoice<'_>,
    key: &[u8],
    cache: &Path,
    clock: &Clock,
) -> Result<Tree, TreeError> {
    let (mut indices, mut changed) = (Vec::new(), Some(0));
    for root in roots {
        let (index, since) = look_at(root, choice, key, cache, clock)?;
        indices.push(index);
        changed = changed.zip(since).map(|(all, own)| all + own);
    }
    let hash = match indices.as_slice() {
        [one] => one.hash(),
        several => hash_of(&several.iter().flat_map(Index::hash).collect::<Vec<u8>>()),
    };
    Ok(Tree { roots: indices, hash: hex(&hash), changed })
}

impl Tree {
    /// The fingerprint, as 32 hexadecimal digits.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// How many files were added, changed or removed since the last look; `None` where this was
    /// the first one.
    pub const fn changed(&self) -> Option<usize> {
        self.changed
    }

    /// How many files count.
    pub fn count(&self) -> usize {
        let counts =
            |index: &Index| index.entries.iter().filter(|e| e.mark != FileMark::Rule).count();
        self.roots.iter().map(counts).sum()
    }

    /// The files that count, root by root and directory by directory.
    pub fn files(&self) -> impl Iterator<Item = TreeFile> + '_ {
        self.roots.iter().enumerate().flat_map(|(root, index)| {
            (0..index.directories.len()).flat_map(move |directory| files_of(root, index, directory))
        })
    }
}

impl Chosen for Globs {
    fn takes(&self, path: &[u8]) -> bool {
        Self::takes(self, path)
    }

    fn enters(&self, path: &[u8]) -> bool {
        Self::enters(self, path)
    }
}

fn files_of(root: usize, index: &Index, directory: usize) -> impl Iterator<Item = TreeFile> + '_ {
    let mut path = Vec::new();
    index.directory_path(directory, &mut path);
    index.entries[index.entries_of(directory)].iter().filter_map(move |entry| {
        let kind = match entry.mark {
            FileMark::Plain => FileKind::Plain,
            FileMark::Executable => FileKind::Executable,
            FileMark::Link => FileKind::Link,
            FileMark::Unreadable => FileKind::Unreadable,
            FileMark::Rule => return None,
        };
        let mut path = path.clone();
        join(&mut path, index.name(entry.name));
        let path = PathBuf::from(OsStr::from_bytes(&path));
        let (size, ctime) = (entry.stat.size, entry.stat.ctime);
        Some(TreeFile { root, path, kind, content: entry.hash, size, ctime })
    })
}

/// Looks at one root, with what is remembered of it.
fn look_at(
    root: &Path,
    choice: FileChoice<'_>,
    key: &[u8],
    cache: &Path,
    clock: &Clock,
) -> Result<(Index, Option<usize>), TreeError> {
    let failed = |source| TreeError::Root { path: root.into(), source };
    let path = root.canonical().map_err(failed)?;
    let fd = open_root(&path).map_err(failed)?;
    let identity = hash_of(&[path.as_os_str().as_bytes(), b"\0", key].concat());
    let file = cache.join(format!("{}.tree", hex(&identity)));
    let look = Look { path: &path, fd: &fd, choice, clock };
    let (index, news, changed) =
        look.with(store::read(&file, identity)).map_err(|stopped| match stopped {
            WalkEnd::Git(why) => TreeError::Git { path: root.into(), why: why.0 },
            WalkEnd::TooLarge | WalkEnd::RulesChanged => TreeError::TooLarge { path: root.into() },
        })?;
    if news == News::Some {
        store::write(&file, identity, &index);
    }
    Ok((index, changed))
}

/// Whether there is anything to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    None,
    Some,
}

/// One look at one root.
struct Look<'a> {
    path: &'a Path,
    fd: &'a OpenDirectory,
    choice: FileChoice<'a>,
    clock: &'a Clock,
}

impl Look<'_> {
    fn with(&self, known: Option<Index>) -> Result<(Index, News, Option<usize>), WalkEnd> {
        let Some(mut old) = known else {
            let (index, _) = self.walk(Index::default(), &Swept::default(), Extent::Full)?;
            return Ok((index, News::Some, None));
        };
        let swept = sweep(self.fd, &old);
        let (extent, news) = self.ask_about_rules(&mut old, &swept)?;
        if extent == Extent::Short && swept.is_clean() {
            // Whatever was racy would have been swept up: all of it was looked at now.
            old.taken = self.clock.taken;
            return Ok((old, news, Some(0)));
        }
        let (index, changed) = self.walk(old, &swept, extent)?;
        Ok((index, News::Some, Some(changed)))
    }

    /// Whether the rules of before still hold.
    fn ask_about_rules(&self, old: &mut Index, swept: &Swept) -> Result<(Extent, News), WalkEnd> {
        if let FileChoice::Picked(_) = self.choice {
            return Ok((Extent::Short, News::None));
        }
        let git = around(self.path).map(|(_, git)| git);
        let is_same_repo = old.repos.first().is_some_and(|repo| repo.is_of(git.as_ref()));
        let watched = old.repos.iter().flat_map(|repo| &repo.watched);
        let is_watched_same = watched.into_iter().all(|one| one.is_same(old.taken));
        let is_rule = |entry: &(u32, Stat)| old.name(old.entries[entry.0 as usize].name) == RULES;
        if !is_same_repo || !is_watched_same || swept.entries.iter().any(is_rule) {
            return Ok((Extent::Full, News::Some));
        }
        let (mut extent, mut news, taken) = (Extent::Short, News::None, old.taken);
        let mut repos = std::mem::take(&mut old.repos);
        for repo in repos.iter_mut().filter(|repo| repo.tracks_others(taken)) {
            let directories = old.directories_by_path();
            let before = repo.tracked.clone();
            let counts = |path: &[u8]| old.counts(&directories, path);
            repo.ask_again(self.path, &counts).map_err(WalkEnd::Git)?;
            news = News::Some;
            if before != repo.tracked {
                extent = Extent::Full;
            }
        }
        old.repos = repos;
        Ok((extent, news))
    }

    /// Walks; how many files were added, changed or removed.
    fn walk(&self, old: Index, swept: &Swept, extent: Extent) -> Result<(Index, usize), WalkEnd> {
        let before = old.entries.len();
        let mut walk = Walk::new(self.fd, self.path, self.choice, self.clock, swept, old);
        match walk.run(extent) {
            Err(WalkEnd::RulesChanged) => walk.run(Extent::Full)?,
            done => done?,
        }
        let Walk { mut new, pending, changed, .. } = walk;
        content::read_all(self.fd, &mut new, &pending, self.clock)
            .map_err(|_| WalkEnd::TooLarge)?;
        new.seal_directories(changed);
        let added = pending.iter().filter(|file| file.was.is_none()).count();
        let differs = |file: &&Pending| {
            file.was.is_some_and(|was| was != new.entries[file.entry as usize].hash)
        };
        let differing = pending.iter().filter(differs).count();
        let removed = (before + added).saturating_sub(new.entries.len());
        Ok((new, added + differing + removed))
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
pub(crate) mod scene;

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests;
