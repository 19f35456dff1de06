//! One lock a project, around the whole of reading, judging and writing.
//!
//! It is in stopgate's own home, never in the work tree, and goes with its holder.

use std::path::Path;
use std::time::Duration;

use stopgate_verify::files::FileLock;

use crate::failure::Failure;

/// Waits for the lock at `path`, but not longer than `patience`.
pub(super) fn take(path: &Path, patience: Duration) -> Result<FileLock, Failure> {
    FileLock::take(path, patience).map_err(|error| {
        Failure::fault(format!("could not take the lock {}", path.display())).because(error)
    })
}
