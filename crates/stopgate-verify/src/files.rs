//! The one door to files that others wrote, and to files that are nobody else's business.
//!
//! What is read may have been made to keep us waiting or to eat memory: a named pipe, a
//! device, a file without an end. Only regular files are opened, without waiting, and only up
//! to a size. What is written is there whole or not at all, for its owner alone.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use stopgate_system::fs::{DirBuilderExt, FileTypeExt, OpenOptionsExt, PermissionsExt};
use stopgate_system::{open, set_file_mode, set_mode};

/// Whether a file is on the disk before a write returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durable {
    /// It is.
    Synced,
    /// It survives the end of this process, and perhaps not a power loss.
    Buffered,
}

/// Opens a regular file for reading; what a link leads to counts.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Asked first: merely to open a device may do something.
    refuse_others(&fs::metadata(path)?)?;
    let flags = open::NO_WAIT | open::NO_TERMINAL;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    // And asked again: it may have become something else meanwhile.
    refuse_others(&file.metadata()?)?;
    Ok(file)
}

/// The content of a regular file of at most `bytes_max`.
pub fn read_regular(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read_up_to(open_regular(path)?, bytes_max)
}

/// The text of a regular file of at most `bytes_max`.
pub fn read_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    let content = read_regular(path, bytes_max)?;
    String::from_utf8(content).map_err(|_| wrong(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// What is left of an open file, at most `bytes_max`.
pub(crate) fn read_up_to(file: File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata().map_or(0, |found| found.len());
    if length > bytes_max {
        return Err(too_large(bytes_max));
    }
    let mut content = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    // The length may be a lie, or have grown: files of /proc say that they are empty.
    let read = file.take(bytes_max.saturating_add(1)).read_to_end(&mut content)?;
    if read as u64 > bytes_max { Err(too_large(bytes_max)) } else { Ok(content) }
}

/// Whether the error says that there is no such file.
pub fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Makes a directory, and those above it, for their owner alone; one that exists stays as it is.
pub fn make_private_directory(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    path.parent().map_or(Ok(()), make_private_directory)?;
    match DirBuilder::new().mode(0o700).create(path) {
        // Another process was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
        // A strange umask may have taken rights from the owner, too.
        Ok(()) => set_mode(path, 0o700),
    }
}

/// Puts a file in the place of what is there, whole or not at all, for its owner alone.
pub fn replace_private(path: &Path, content: &[u8], durable: Durable) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        make_private_directory(directory)?;
    }
    let draft = draft_of(path)?;
    let written = write_new(&draft, content, durable).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Opens a file of our own to add to its end; makes it, and its directory, where there is none.
///
/// A link or a pipe that was put there is refused: it would send our words elsewhere.
pub fn append_private(path: &Path) -> io::Result<File> {
    let flags = open::NO_FOLLOW | open::NO_WAIT;
    let mut options = OpenOptions::new();
    // A file that is only added to can't be locked on Windows.
    options.read(cfg!(windows)).append(true).create(true).mode(0o600).custom_flags(flags);
    let file = match options.open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            path.parent().map_or(Ok(()), make_private_directory)?;
            options.open(path)?
        }
        opened => opened?,
    };
    let found = file.metadata()?;
    refuse_others(&found)?;
    // A strange umask may have taken rights from the owner, too.
    if found.permissions().mode() & 0o600 != 0o600 {
        set_file_mode(&file, 0o600)?;
    }
    Ok(file)
}

/// Makes a file of our own with this content, which must not be there yet.
pub fn create_private(path: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        make_private_directory(directory)?;
    }
    write_new(path, content, Durable::Buffered)
}

/// A lock that is held until it is dropped, or until the process ends.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Waits for the lock at `path`, but not longer than `patience`.
    ///
    /// An error of the kind `TimedOut` says that another process held it all the time.
    pub fn take(path: &Path, patience: Duration) -> io::Result<Self> {
        let file = append_private(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::Error(error)) => Err(error),
            Err(TryLockError::WouldBlock) => {
                queue(file, patience).map(|locked| Self { _file: locked })
            }
        }
    }
}

/// Waits in the kernel's queue, which is fair, on a thread that is left behind when patience ends.
fn queue(file: File, patience: Duration) -> io::Result<File> {
    let (done, waiting) = mpsc::channel();
    std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        let locked = file.lock();
        // Without a listener the lock goes with the file.
        let _ = done.send(locked.map(|()| file));
    })?;
    let busy = || wrong(ErrorKind::TimedOut, "another process holds it");
    waiting.recv_timeout(patience).map_err(|_| busy())?
}

fn write_new(path: &Path, content: &[u8], durable: Durable) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    set_file_mode(&file, 0o600)?;
    file.write_all(content)?;
    match durable {
        Durable::Synced => file.sync_all(),
        Durable::Buffered => Ok(()),
    }
}

/// A name beside `path` that cannot be guessed.
fn draft_of(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().display();
    Ok(path.with_file_name(format!("{name}.{}.new", random_name()?)))
}

/// Sixteen letters that nobody can guess.
pub(crate) fn random_name() -> io::Result<String> {
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{:016x}", u64::from_le_bytes(seed)))
}

fn refuse_others(found: &fs::Metadata) -> io::Result<()> {
    let kind = found.file_type();
    let what = match kind {
        _ if kind.is_file() => return Ok(()),
        _ if kind.is_dir() => "it is a directory",
        _ if kind.is_fifo() => "it is a named pipe, not a regular file",
        _ if kind.is_socket() => "it is a socket, not a regular file",
        _ => "it is a device, not a regular file",
    };
    Err(wrong(ErrorKind::InvalidInput, what))
}

fn too_large(bytes_max: u64) -> io::Error {
    let size = match bytes_max {
        0..1024 => format!("{bytes_max} bytes"),
        1024..1_048_576 => format!("{} KiB", bytes_max / 1024),
        _ => format!("{} MiB", bytes_max / 1_048_576),
    };
    wrong(ErrorKind::FileTooLarge, &format!("it is larger than {size}"))
}

fn wrong(kind: ErrorKind, what: &str) -> io::Error {
    io::Error::new(kind, what.to_owned())
}

#[cfg(test)]
mod tests;
