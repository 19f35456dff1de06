//! A clean directory for the temporary files of one run of checks.
//!
//! Only its owner may look into it, and nobody can guess its name. It is gone afterwards,
//! unless that would take longer than the answer may; what a killed process left goes when
//! the next run begins.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use stopgate_system::fs::{DirBuilderExt, MetadataExt};
use stopgate_system::set_mode;

use crate::leash;
use crate::proc::RunName;

const PREFIX: &str = "stopgate-";
/// How long what others left behind may keep a run waiting.
const SWEEP_TIME: Duration = Duration::from_millis(500);

/// A temporary directory.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Where the one called `name` is, or would be.
    pub(crate) fn path_of(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("{PREFIX}{name}"))
    }

    /// Makes one; without a place for it, checks use the system's.
    pub(crate) fn new(name: &str) -> Option<Self> {
        let path = Self::path_of(name);
        // Made anew or not at all: what is there already is somebody's trap.
        DirBuilder::new().mode(0o700).create(&path).ok()?;
        Some(Self { path })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes it away, or as much of it as can be until then.
    pub(crate) fn remove(self, until: Instant) {
        remove_all(&self.path, until);
    }
}

/// Ends what runs whose processes died left running, and removes their temporary files.
pub(crate) fn sweep_dead_runs() {
    let until = now() + SWEEP_TIME;
    let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(run) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { continue };
        let is_ours = entry
            .path()
            .symlink_metadata()
            .is_ok_and(|found| found.is_dir() && found.uid() == stopgate_system::own_user());
        if is_ours && RunName::read(run).is_some_and(|name| name.is_dead()) {
            leash::strike(run, &std::collections::BTreeSet::new());
            remove_all(&entry.path(), until);
        }
    }
}

/// Removes a directory and all in it, or as much of it as can be until then.
pub(crate) fn remove_all(directory: &Path, until: Instant) {
    // What can't be removed is litter, not a fault.
    let _ = remove(directory, until);
}

fn remove(directory: &Path, until: Instant) -> io::Result<()> {
    // Tools protect their caches against writing, and so against us.
    let _ = set_mode(directory, 0o700);
    for entry in fs::read_dir(directory)? {
        if now() >= until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove(&entry.path(), until)?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_dir(directory)
}

#[expect(clippy::disallowed_methods, reason = "a door that waits")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
