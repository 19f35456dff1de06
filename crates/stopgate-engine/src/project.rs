//! Which project a directory belongs to.

use std::path::{Path, PathBuf};

use stopgate_system::CanonicalPath;

/// The nearest directory with `.git` at or above `directory`, else `directory` itself; canonical.
///
/// A worktree has a `.git` of its own (a file), and so is a project of its own.
pub fn project_of(directory: &Path) -> PathBuf {
    let directory = directory.canonical().unwrap_or_else(|_| directory.into());
    let root = directory.ancestors().find(|ancestor| ancestor.join(".git").exists());
    root.map_or_else(|| directory.clone(), Path::to_path_buf)
}
