//! A private directory for one place, removed with it.
//!
//! A lock is held as long as the place exists, so that what a killed process left behind can be
//! told from what is in use, also by a process with other process numbers (a container).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stopgate_system::CanonicalPath;
use stopgate_system::fs::DirBuilderExt;
use stopgate_system::set_mode;

use crate::files::{make_private_directory, open_regular};

const PREFIX: &str = "place-";
const LOCK: &str = "lock";
/// A directory without a lock is one in the making, unless it has been so for this long.
const MAKING_MAX: Duration = Duration::from_hours(1);
const ATTEMPTS: usize = 16;

/// A directory that only its owner can look into.
#[derive(Debug)]
pub(super) struct PrivateDir {
    path: PathBuf,
    /// Held, never read.
    _lock: File,
}

impl PrivateDir {
    /// Makes one, and removes those of processes that are gone.
    pub(super) fn make(into: &Path) -> io::Result<Self> {
        make_private_directory(into)?;
        let into = into.canonical()?;
        roots().insert(into.clone());
        remove_orphans(&into);
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let name = format!("{PREFIX}{:016x}", RandomState::new().build_hasher().finish());
            match Self::at(into.join(name)) {
                Ok(made) => return Ok(made),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn at(path: PathBuf) -> io::Result<Self> {
        DirBuilder::new().mode(0o700).create(&path)?;
        let lock = File::create_new(path.join(LOCK))?;
        // Somebody who cleans up may have been faster; then another name is tried.
        lock.try_lock()?;
        Ok(Self { path, _lock: lock })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Where this process made some.
#[cfg(unix)]
pub(crate) fn private_roots() -> Vec<PathBuf> {
    roots().iter().cloned().collect()
}

fn roots() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    static ROOTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    ROOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes those of processes that are gone.
pub(crate) fn remove_orphans(into: &Path) {
    let entries = fs::read_dir(into).into_iter().flatten().flatten();
    let is_ours = |name: OsString| name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
    let ours = entries.filter(|entry| is_ours(entry.file_name()));
    for entry in ours.filter(|entry| entry.file_type().is_ok_and(|sort| sort.is_dir())) {
        let path = entry.path();
        let is_orphan = match open_regular(&path.join(LOCK)) {
            Ok(lock) => lock.try_lock().is_ok(),
            Err(_) => is_old(&path),
        };
        if is_orphan {
            remove(&path);
        }
    }
}

fn is_old(path: &Path) -> bool {
    let age = fs::symlink_metadata(path).and_then(|found| found.modified());
    age.is_ok_and(|since| since.elapsed().is_ok_and(|age| age > MAKING_MAX))
}

/// Removes a directory, also where a check took away the right to.
pub(super) fn remove(path: &Path) {
    if fs::remove_dir_all(path).is_err() && path.exists() {
        open_up(path);
        // What can't be removed is litter, not a fault.
        let _ = fs::remove_dir_all(path);
    }
}

fn open_up(directory: &Path) {
    let _ = set_mode(directory, 0o700);
    let inner = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in inner.filter(|entry| entry.file_type().is_ok_and(|sort| sort.is_dir())) {
        open_up(&entry.path());
    }
}
