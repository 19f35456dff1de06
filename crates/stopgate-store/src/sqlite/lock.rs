//! A fair queue in front of the file.
//!
//! SQLite's own waiting sleeps and is unfair; the kernel's queue is neither. Taken
//! before the file is opened, because opening may mean recovery.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use rustix::fs::OFlags;

use crate::StoreError;

/// Held until dropped, or until the process ends.
#[derive(Debug)]
pub(super) struct FileLock {
    _file: File,
}

impl FileLock {
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
    let mut options = OpenOptions::new();
    // A pipe or a link that was put there is neither waited for nor followed.
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    options.write(true).custom_flags(flags.bits().cast_signed());
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let file = options.create(true).truncate(false).mode(0o600).open(path)?;
            file.set_permissions(Permissions::from_mode(0o600))?;
            Ok(file)
        }
        opened => opened,
    }
}

/// Waits in the kernel's queue, on a thread that is left behind when patience ends.
fn wait(file: File, path: &Path, patience: Duration) -> Result<FileLock, StoreError> {
    let (done, waiting) = mpsc::channel();
    let queue = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        let locked = file.lock();
        // Nobody listens any more: the lock goes with the file.
        let _ = done.send(locked.map(|()| file));
    });
    let trouble = |source| StoreError::Lock { path: path.into(), source };
    queue.map_err(trouble)?;
    match waiting.recv_timeout(patience) {
        Ok(locked) => locked.map(|file| FileLock { _file: file }).map_err(trouble),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            Err(StoreError::Busy { path: path.into() })
        }
    }
}
