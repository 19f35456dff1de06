//! A clean folder for the temporary files of one run of checks.
//!
//! Only its owner may look into it. It is gone afterwards, unless that would take
//! longer than the answer may.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A temporary folder.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes one; without a place for it, checks use the system's.
    pub(crate) fn new(name: &str) -> Option<Self> {
        let path = std::env::temp_dir().join(format!("stopgate-{name}"));
        DirBuilder::new().mode(0o700).create(&path).ok()?;
        Some(Self { path })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes it away, or as much of it as can be until then.
    pub(crate) fn remove(self, until: Instant) {
        // What can't be removed is litter, not a fault.
        let _ = remove(&self.path, until);
    }
}

#[expect(clippy::disallowed_methods, reason = "a door that waits")]
fn remove(folder: &Path, until: Instant) -> io::Result<()> {
    // Tools protect their caches against writing, and so against us.
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
    for entry in fs::read_dir(folder)? {
        if Instant::now() >= until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove(&entry.path(), until)?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_dir(folder)
}

#[cfg(test)]
mod tests;
