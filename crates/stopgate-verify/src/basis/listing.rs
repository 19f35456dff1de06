//! The files that are looked at for judges: what git counts, and whatever a runner would read
//! although git ignores it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use stopgate_core::Criterion;

use super::BasisError;
use crate::glob::Globs;
use crate::judges::{is_code, is_installed, may_judge};
use crate::tree::{Chosen, FileChoice, Tree, TreeError, TreeFile, TreeScope, fingerprint, look};

/// The file by which tools mark their caches, so that others leave them out.
const CACHE_MARK: &str = "CACHEDIR.TAG";

/// Files by their paths from the root.
pub(super) struct Listing {
    files: BTreeMap<PathBuf, TreeFile>,
    /// Those that git counts.
    counted: BTreeSet<PathBuf>,
}

impl Listing {
    pub(super) fn files(&self) -> impl Iterator<Item = &TreeFile> {
        self.files.values()
    }

    pub(super) fn get(&self, path: &Path) -> Option<&TreeFile> {
        self.files.get(path)
    }

    /// Whether git counts this file, or one in this directory.
    pub(super) fn has_below(&self, path: &Path) -> bool {
        let mut below = self.counted.range(path.to_path_buf()..);
        below.next().is_some_and(|own| own.starts_with(path))
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.files.keys().cloned().collect()
    }

    /// The directories that the check itself fills, of what it wrote: nothing in them counts for
    /// git. A copy of the project with its tests in such a directory judges nothing.
    pub(super) fn products<'p>(&self, outputs: impl Iterator<Item = &'p Path>) -> Vec<PathBuf> {
        let is_product = |directory: &&Path| {
            let mut below = self.counted.range(directory.to_path_buf()..);
            !directory.as_os_str().is_empty()
                && !below.next().is_some_and(|path| path.starts_with(directory))
        };
        let ignored = outputs.filter(|path| !self.counted.contains(*path));
        let outermost =
            ignored.filter_map(|path| path.ancestors().skip(1).filter(is_product).last());
        let found: BTreeSet<PathBuf> = outermost.map(Path::to_path_buf).collect();
        found.into_iter().collect()
    }
}

/// All files that may matter, looked at now.
pub(super) fn listing(
    root: &Path,
    criteria: &[Criterion],
    cache: &Path,
) -> Result<Listing, BasisError> {
    let tree = fingerprint(&[root], TreeScope::Whole, cache)?;
    listing_of(&tree, root, criteria, cache)
}

/// The same, where the tree has just been looked at.
pub(super) fn listing_of(
    tree: &Tree,
    root: &Path,
    criteria: &[Criterion],
    cache: &Path,
) -> Result<Listing, BasisError> {
    let protected: Vec<String> =
        criteria.iter().flat_map(|criterion| criterion.terms.protect.clone()).collect();
    let globs = Globs::new(&protected).map_err(TreeError::Pattern)?;
    let key = format!("judges {protected:?}");
    let steering = look(&[root], FileChoice::Picked(&Steering { globs }), key.as_bytes(), cache)?;
    let counted: Vec<TreeFile> = tree.files().filter(|file| file.root == 0).collect();
    let mut caches = Caches { root, known: BTreeMap::new() };
    let steering = steering.files().filter(|file| !caches.have(&file.path));
    let names = counted.iter().map(|file| file.path.clone()).collect();
    let all = counted.into_iter().chain(steering);
    Ok(Listing { files: all.map(|file| (file.path.clone(), file)).collect(), counted: names })
}

/// Directories that a tool has marked as its cache.
struct Caches<'a> {
    root: &'a Path,
    known: BTreeMap<PathBuf, bool>,
}

impl Caches<'_> {
    /// Whether a file is something that a tool keeps for itself; code is read wherever it is.
    fn have(&mut self, path: &Path) -> bool {
        let is_code = path.extension().and_then(|end| end.to_str()).is_some_and(is_code);
        !is_code && path.ancestors().skip(1).any(|directory| self.is_marked(directory))
    }

    fn is_marked(&mut self, directory: &Path) -> bool {
        if let Some(known) = self.known.get(directory) {
            return *known;
        }
        let is_inner = !directory.as_os_str().is_empty();
        let marked = is_inner && self.root.join(directory).join(CACHE_MARK).is_file();
        self.known.insert(directory.into(), marked);
        marked
    }
}

/// Files that runners read whether or not git ignores them.
struct Steering {
    globs: Globs,
}

impl Chosen for Steering {
    fn takes(&self, path: &[u8]) -> bool {
        self.globs.takes(path) || may_judge(path)
    }

    fn enters(&self, path: &[u8]) -> bool {
        let mut parts = path.split(|byte| *byte == b'/');
        // Patterns for all directories do not mean what was installed, unless they say so.
        parts.all(|name| !is_installed(name) || (self.globs.names(name) && self.globs.enters(path)))
    }
}
