//! Fingerprints of contents.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::access::{OpenDirectory, link_target, open_file};
use super::clock::Clock;
use super::index::{FileMark, Hash, Index, hash_of, join, short};
use super::stat::Stat;

/// A longer file counts by its times and its size: nobody waits for a terabyte of nothing.
const CONTENT_BYTES_MAX: u64 = 1024 * 1024 * 1024;
const BLOCK_BYTES: usize = 128 * 1024;
/// Fewer files than this are not worth a second thread.
const SHARED_MIN: usize = 64;
/// How many files a thread takes at once.
const SHARE: usize = 16;

/// A file whose content is to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    pub(crate) directory: u32,
    pub(crate) entry: u32,
    /// What it held at the last look; `None` where it was not there.
    pub(crate) was: Option<Hash>,
}

/// The time was up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeUp;

/// Reads what is pending and notes the fingerprints.
pub(crate) fn read_all(
    root: &OpenDirectory,
    index: &mut Index,
    pending: &[Pending],
    clock: &Clock,
) -> Result<(), TimeUp> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(pending.len()));
    let work = || {
        let mut reader = Reader { block: vec![0; BLOCK_BYTES], clock };
        let mut path = Vec::new();
        loop {
            let from = next.fetch_add(SHARE, Ordering::Relaxed);
            let Some(share) = pending.get(from..pending.len().min(from + SHARE)) else { break };
            if share.is_empty() || clock.is_over() {
                break;
            }
            let read = share.iter().map(|one| reader.read(root, index, *one, &mut path));
            let read: Vec<_> = read.collect();
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).extend(read);
        }
    };
    std::thread::scope(|scope| {
        if pending.len() >= SHARED_MIN {
            scope.spawn(work);
        }
        work();
    });
    let done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if done.len() < pending.len() || clock.is_over() {
        return Err(TimeUp);
    }
    for (entry, mark, hash) in done {
        let entry = &mut index.entries[entry as usize];
        entry.mark = mark;
        entry.hash = hash;
    }
    Ok(())
}

struct Reader<'a> {
    block: Vec<u8>,
    clock: &'a Clock,
}

impl Reader<'_> {
    fn read(
        &mut self,
        root: &OpenDirectory,
        index: &Index,
        one: Pending,
        path: &mut Vec<u8>,
    ) -> (u32, FileMark, Hash) {
        let entry = &index.entries[one.entry as usize];
        index.directory_path(one.directory as usize, path);
        join(path, index.name(entry.name));
        let read = match entry.mark {
            FileMark::Link => link_target(root, path).map(|target| hash_of(&target)),
            FileMark::Plain | FileMark::Executable | FileMark::Unreadable | FileMark::Rule => {
                self.file(root, path)
            }
        };
        match read {
            Ok(hash) => (one.entry, readable(entry.mark, &entry.stat), hash),
            Err(_) if entry.mark == FileMark::Rule => {
                (one.entry, FileMark::Rule, outside(&entry.stat))
            }
            Err(_) => (one.entry, FileMark::Unreadable, outside(&entry.stat)),
        }
    }

    fn file(&mut self, root: &OpenDirectory, path: &[u8]) -> io::Result<Hash> {
        let mut file = open_file(root, path)?;
        if file.metadata()?.len() > CONTENT_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let read = file.read(&mut self.block)?;
        if read < self.block.len() && file.read(&mut self.block[read..])? == 0 {
            return Ok(hash_of(&self.block[..read]));
        }
        file.rewind()?;
        self.long_file(file)
    }

    fn long_file(&mut self, mut file: File) -> io::Result<Hash> {
        let mut hasher = blake3::Hasher::new();
        loop {
            match file.read(&mut self.block)? {
                0 => return Ok(short(&hasher.finalize())),
                read => hasher.update(&self.block[..read]),
            };
            if self.clock.is_over() {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }
}

/// The mark of a file that can be read.
const fn readable(mark: FileMark, stat: &Stat) -> FileMark {
    match mark {
        FileMark::Link => FileMark::Link,
        FileMark::Rule => FileMark::Rule,
        FileMark::Plain | FileMark::Executable | FileMark::Unreadable => {
            if stat.is_executable() {
                FileMark::Executable
            } else {
                FileMark::Plain
            }
        }
    }
}

/// What is known of a file that can't be read.
fn outside(stat: &Stat) -> Hash {
    let mut text = stat.mtime.to_le_bytes().to_vec();
    text.extend_from_slice(&stat.size.to_le_bytes());
    text.extend_from_slice(&stat.mode.to_le_bytes());
    hash_of(&text)
}
