//! Which project a folder belongs to.

use std::path::{Path, PathBuf};

/// The nearest folder with `.git` at or above `folder`, else `folder` itself; canonical.
///
/// A worktree has a `.git` of its own (a file), and so is a project of its own.
pub fn project_of(folder: &Path) -> PathBuf {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.into());
    let root = folder.ancestors().find(|ancestor| ancestor.join(".git").exists());
    root.map_or_else(|| folder.clone(), Path::to_path_buf)
}
