//! One lock a project, around the whole of reading, judging and writing.
//!
//! It lies in stopgate's own home, never in the work tree, and goes with its holder.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use crate::failure::Failure;

/// Held until dropped, or until the process ends.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for the lock at `path`, but not longer than `patience`.
    pub(super) fn take(path: &Path, patience: Duration) -> Result<Self, Failure> {
        let trouble = |error| {
            Failure::fault(format!("could not take the lock {}", path.display())).because(error)
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(trouble)?;
        }
        let mut options = OpenOptions::new();
        let file = options.create(true).truncate(false).write(true).open(path).map_err(trouble)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::Error(error)) => Err(trouble(error)),
            Err(TryLockError::WouldBlock) => {
                let locked = queue(file, patience).map_err(trouble)?;
                Ok(Self { _file: locked })
            }
        }
    }
}

/// Waits in the kernel's queue, which is fair, on a thread that is left behind when patience ends.
fn queue(file: File, patience: Duration) -> std::io::Result<File> {
    let (done, waiting) = mpsc::channel();
    std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        let locked = file.lock();
        // Nobody listens any more: the lock goes with the file.
        let _ = done.send(locked.map(|()| file));
    })?;
    let busy = || std::io::Error::other("somebody else holds it all the time");
    waiting.recv_timeout(patience).map_err(|_| busy())?
}
