//! Takes in a check's output: counts and fingerprints all of it, keeps the end, and
//! the beginning in a file.
//!
//! Never waits, and never holds more than it was told to, whatever is printed.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{PipeReader, Read, Write};
use std::path::{Path, PathBuf};

use stopgate_system::fs::OpenOptionsExt;
use stopgate_system::set_file_mode;

use crate::files::{Durable, make_private_directory, read_regular, replace_private};
use crate::output_pipe::{OutputPipe, output_of};
use crate::redact::redact;

const LOG_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// How much is read at once.
pub(crate) const BLOCK_BYTES: usize = 64 * 1024;

/// Where the beginning of the output goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LogTarget<'a> {
    Nowhere,
    /// A file of its own.
    Fresh(&'a Path),
    /// The file of an earlier try, after this line.
    After(&'a Path, &'a str),
}

/// What was printed so far.
#[derive(Debug)]
pub(crate) struct Capture {
    reader: Option<OutputPipe>,
    end: VecDeque<u8>,
    end_bytes_max: usize,
    bytes: u64,
    hasher: blake3::Hasher,
    log: Option<File>,
    path: Option<PathBuf>,
    log_room: u64,
    logged: bool,
}

/// What was printed in all.
#[derive(Debug)]
pub(crate) struct Captured {
    /// The end of it.
    pub(crate) end: Vec<u8>,
    /// How much there was.
    pub(crate) bytes: u64,
    /// The fingerprint of all of it.
    pub(crate) hash: String,
    /// Whether a log file holds it.
    pub(crate) logged: bool,
}

impl Capture {
    /// Keeps up to `end_bytes_max`; without a log file the end is kept all the same.
    pub(crate) fn new(reader: PipeReader, log: LogTarget<'_>, end_bytes_max: usize) -> Self {
        let path = match log {
            LogTarget::Nowhere => None,
            LogTarget::Fresh(path) | LogTarget::After(path, _) => Some(path.to_path_buf()),
        };
        let (log, log_room) = open(log).map_or((None, 0), |(file, room)| (Some(file), room));
        Self {
            reader: Some(output_of(reader)),
            end: VecDeque::new(),
            end_bytes_max,
            bytes: 0,
            hasher: blake3::Hasher::new(),
            logged: log.is_some(),
            log,
            path,
            log_room,
        }
    }

    /// What can be waited for; nothing once the last writer is gone.
    pub(crate) fn reader(&self) -> Option<&OutputPipe> {
        self.reader.as_ref()
    }

    /// Reads once; only when something is there to be read.
    pub(crate) fn read(&mut self, block: &mut [u8]) {
        let Some(reader) = &mut self.reader else { return };
        match reader.read(block) {
            Ok(0) => self.reader = None,
            Ok(read) => self.take(&block[..read]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => self.reader = None,
        }
    }

    /// What was captured. Writers still running are cut off.
    pub(crate) fn finish(mut self) -> Captured {
        drop(self.log.take());
        if let Some(path) = &self.path {
            mask(path);
        }
        Captured {
            end: self.end.into(),
            bytes: self.bytes,
            hash: self.hasher.finalize().to_hex().to_string(),
            logged: self.logged,
        }
    }

    fn take(&mut self, block: &[u8]) {
        self.bytes += block.len() as u64;
        self.hasher.update(block);
        self.write_log(block);
        let kept = &block[block.len().saturating_sub(self.end_bytes_max)..];
        let surplus = (self.end.len() + kept.len()).saturating_sub(self.end_bytes_max);
        self.end.drain(..surplus.min(self.end.len()));
        self.end.extend(kept);
    }

    fn write_log(&mut self, block: &[u8]) {
        let Some(log) = &mut self.log else { return };
        let room = usize::try_from(self.log_room).unwrap_or(usize::MAX);
        let cut = block.len().min(room);
        self.log_room -= cut as u64;
        if log.write_all(&block[..cut]).is_err() {
            self.log = None;
        } else if cut < block.len() {
            let _ = log.write_all(b"\n[the rest is not kept]\n");
            self.log = None;
        }
    }
}

/// Masks what looks like a secret in a log that is complete.
fn mask(path: &Path) {
    let Ok(content) = read_regular(path, LOG_BYTES_MAX * 2) else { return };
    let text = String::from_utf8_lossy(&content);
    if let Cow::Owned(masked) = redact(&text) {
        // A log that can't be masked is better gone.
        if replace_private(path, masked.as_bytes(), Durable::Buffered).is_err() {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// The file, and how much may go into it.
fn open(log: LogTarget<'_>) -> Option<(File, u64)> {
    let mut options = OpenOptions::new();
    options.create(true).mode(0o600);
    match log {
        LogTarget::Nowhere => None,
        LogTarget::Fresh(path) => {
            make_private_directory(path.parent()?).ok()?;
            let file = options.write(true).truncate(true).open(path).ok()?;
            set_file_mode(&file, 0o600).ok()?;
            Some((file, LOG_BYTES_MAX))
        }
        LogTarget::After(path, line) => {
            let mut file = options.append(true).open(path).ok()?;
            writeln!(file, "{line}").ok()?;
            let held = file.metadata().ok()?.len();
            Some((file, LOG_BYTES_MAX.saturating_sub(held)))
        }
    }
}
