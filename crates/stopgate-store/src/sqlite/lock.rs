//! A fair queue in front of the file.
//!
//! SQLite's own waiting sleeps and is unfair; the kernel's queue is neither. Taken
//! before the file is opened, because opening may mean recovery.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use super::platform::{create_private, lock_options};
use crate::StoreError;

/// Held until dropped, or until the process ends.
#[derive(Debug)]
pub(super) struct DatabaseLock {
    _file: File,
}

impl DatabaseLock {
    /// Waits for the lock at `path`, but not longer than `patience`.
    pub(super) fn take(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        let trouble = |source| StoreError::Lock { path: path.into(), source };
        let file = open(path).map_err(trouble)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => wait(file, path, patience),
            Err(TryLockError::Error(source)) => Err(trouble(source)),
        }
    }
}

/// Opens the lock's file; made where there is none, for its owner alone, whatever the umask.
fn open(path: &Path) -> io::Result<File> {
    let mut options = lock_options();
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_private(options.create(true).truncate(false), path)
        }
        opened => opened,
    }
}

/// Waits in the kernel's queue, on a thread that is left behind when patience ends.
fn wait(file: File, path: &Path, patience: Duration) -> Result<DatabaseLock, StoreError> {
    let (done, waiting) = mpsc::channel();
    let queue = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        let locked = file.lock();
        // Nobody listens any more: the lock goes with the file.
        let _ = done.send(locked.map(|()| file));
    });
    let trouble = |source| StoreError::Lock { path: path.into(), source };
    queue.map_err(trouble)?;
    match waiting.recv_timeout(patience) {
        Ok(locked) => locked.map(|file| DatabaseLock { _file: file }).map_err(trouble),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            Err(StoreError::Busy { path: path.into() })
        }
    }
}
