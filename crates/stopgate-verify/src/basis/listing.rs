//! The files that are looked at for judges: what git counts, and whatever a runner would read
//! although git ignores it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stopgate_core::Criterion;

use super::BasisError;
use crate::glob::Globs;
use crate::judges::{is_installed, may_judge};
use crate::tree::{Choice, Chosen, Scope, Tree, TreeError, TreeFile, fingerprint, look};

/// Files by their paths from the root.
pub(super) struct Listing {
    files: BTreeMap<PathBuf, TreeFile>,
}

impl Listing {
    pub(super) fn files(&self) -> impl Iterator<Item = &TreeFile> {
        self.files.values()
    }

    pub(super) fn get(&self, path: &Path) -> Option<&TreeFile> {
        self.files.get(path)
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.files.keys().cloned().collect()
    }
}

/// All files that may matter, looked at now.
pub(super) fn listing(
    root: &Path,
    criteria: &[Criterion],
    cache: &Path,
) -> Result<Listing, BasisError> {
    let tree = fingerprint(&[root], Scope::Whole, cache)?;
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
    let steering = look(&[root], Choice::Picked(&Steering { globs }), key.as_bytes(), cache)?;
    let counted = tree.files().filter(|file| file.root == 0);
    let all = counted.chain(steering.files());
    Ok(Listing { files: all.map(|file| (file.path.clone(), file)).collect() })
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
