//! The form in which an index is kept between processes.
//!
//! One file a root, read at once, checked as a whole, replaced as a whole. What is torn, of
//! another version or of another root is as good as nothing: then everything is looked at. So
//! is what somebody wrote who does not have the key that lies beside it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use stopgate_system::ffi::OsStrExt;

use super::index::{Directory, FileMark, FileSelection, Hash, Index, IndexedFile, Name, index};
use super::repo::{KnownFile, Repo};
use super::stat::Stat;
use crate::files::{Durable, read_regular, replace_private};
use crate::secret::{existing, secret};

const MAGIC: &[u8; 7] = b"SGTREE\0";
const VERSION: u8 = 2;
/// An index of as many files as are looked at is far shorter.
const BYTES_MAX: u64 = 512 * 1024 * 1024;
/// The name of the file with the key of all caches in a directory.
pub const KEY_NAME: &str = "key";
const CHECKSUM_BYTES: usize = 32;
const STAT_BYTES: usize = 36;
const NAME_BYTES: usize = 6;
const ENTRY_BYTES: usize = NAME_BYTES + 1 + STAT_BYTES + 16;
const DIRECTORY_BYTES: usize = NAME_BYTES + 1 + 16 + STAT_BYTES + 16;

/// The kept index, where it is whole and belongs to `identity`.
pub(crate) fn read(path: &Path, identity: Hash) -> Option<Index> {
    let bytes = read_regular(path, BYTES_MAX).ok()?;
    let key = existing(&key_beside(path)?).ok()?;
    decode(bytes, &key, identity)
}

/// The index that these bytes are, where they are whole, by this key and of `identity`.
pub(crate) fn decode(bytes: Vec<u8>, key: &[u8; 32], identity: Hash) -> Option<Index> {
    let (checksum, body) = bytes.split_at_checked(CHECKSUM_BYTES)?;
    if blake3::keyed_hash(key, body).as_bytes() != checksum {
        return None;
    }
    let mut input = Input { bytes: &bytes, at: CHECKSUM_BYTES };
    let index = input.index(identity)?;
    is_sound(&index).then_some(())?;
    Some(Index { names: bytes, ..index })
}

/// What follows the head of a kept index, with the head that makes it whole.
pub(crate) fn framed(key: &[u8; 32], identity: Hash, rest: &[u8]) -> Vec<u8> {
    let body = [MAGIC.as_slice(), &[VERSION], &identity, rest].concat();
    [blake3::keyed_hash(key, &body).as_bytes().as_slice(), &body].concat()
}

/// Keeps the index. A cache that can't be written costs time, nothing else.
pub(crate) fn write(path: &Path, identity: Hash, index: &Index) {
    let Some(key) = key_beside(path).and_then(|key| secret(&key).ok()) else { return };
    let _ = replace_private(path, &encode(&key, identity, index), Durable::Buffered);
}

/// Where the key of all caches in a directory is kept.
fn key_beside(path: &Path) -> Option<PathBuf> {
    path.parent().map(|directory| directory.join(KEY_NAME))
}

fn encode(key: &[u8; 32], identity: Hash, index: &Index) -> Vec<u8> {
    let room =
        index.entries.len() * (ENTRY_BYTES + 24) + index.directories.len() * (DIRECTORY_BYTES + 24);
    let mut output = Output { bytes: Vec::with_capacity(room + 4096), names: Vec::new() };
    output.bytes.resize(CHECKSUM_BYTES, 0);
    output.bytes.extend_from_slice(MAGIC);
    output.bytes.push(VERSION);
    output.bytes.extend_from_slice(&identity);
    output.u64(index.taken.cast_unsigned());
    output.repos(&index.repos);
    output.count(index.directories.len());
    output.count(index.entries.len());
    // Names lie behind the records, so their places are known once the records' length is.
    let records = index.directories.len() * DIRECTORY_BYTES + index.entries.len() * ENTRY_BYTES;
    let names_from = output.bytes.len() + records;
    for directory in &index.directories {
        output.directory(directory, index.name(directory.name), names_from);
    }
    for entry in &index.entries {
        output.entry(entry, index.name(entry.name), names_from);
    }
    let Output { mut bytes, names } = output;
    bytes.extend_from_slice(&names);
    let checksum = blake3::keyed_hash(key, &bytes[CHECKSUM_BYTES..]);
    bytes[..CHECKSUM_BYTES].copy_from_slice(checksum.as_bytes());
    bytes
}

/// Whether every place that it names exists.
fn is_sound(index: &Index) -> bool {
    let (directories, entries) = (index.directories.len(), index.entries.len());
    let mut last = 0;
    let directories_fit = index.directories.iter().enumerate().all(|(at, directory)| {
        let parent = directory.parent as usize;
        let fits = (parent < at || (at == 0 && parent == 0))
            && (directory.end as usize) > at
            && directory.end as usize <= directories
            && directory.first == last
            && directory.first <= directory.last
            && directory.last as usize <= entries;
        last = directory.last;
        fits
    });
    directories > 0 && directories_fit && last as usize == entries
}

struct Output {
    bytes: Vec<u8>,
    names: Vec<u8>,
}

impl Output {
    fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn count(&mut self, count: usize) {
        self.u32(index(count));
    }

    fn text(&mut self, text: &[u8]) {
        self.count(text.len());
        self.bytes.extend_from_slice(text);
    }

    fn stat(&mut self, stat: &Stat) {
        self.u64(stat.mtime.cast_unsigned());
        self.u64(stat.ctime.cast_unsigned());
        self.u64(stat.size);
        self.u64(stat.inode);
        self.u32(stat.mode);
    }

    fn name(&mut self, name: &[u8], names_from: usize) {
        self.count(names_from + self.names.len());
        let length = u16::try_from(name.len()).unwrap_or(u16::MAX);
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.names.extend_from_slice(name);
    }

    fn directory(&mut self, directory: &Directory, name: &[u8], names_from: usize) {
        self.name(name, names_from);
        self.bytes.push(match directory.reading {
            FileSelection::Ruled => 0,
            FileSelection::TrackedOnly => 1,
            FileSelection::Unreadable => 2,
        });
        for value in [directory.parent, directory.end, directory.first, directory.last] {
            self.u32(value);
        }
        self.stat(&directory.stat);
        self.bytes.extend_from_slice(&directory.hash);
    }

    fn entry(&mut self, entry: &IndexedFile, name: &[u8], names_from: usize) {
        self.name(name, names_from);
        self.bytes.push(match entry.mark {
            FileMark::Plain => 0,
            FileMark::Executable => 1,
            FileMark::Link => 2,
            FileMark::Unreadable => 3,
            FileMark::Rule => 4,
        });
        self.stat(&entry.stat);
        self.bytes.extend_from_slice(&entry.hash);
    }

    fn repos(&mut self, repos: &[Repo]) {
        self.count(repos.len());
        for repo in repos {
            self.text(&repo.at);
            self.text(repo.top.as_os_str().as_bytes());
            self.count(repo.lists.len());
            repo.lists.iter().for_each(|list| self.text(list.as_os_str().as_bytes()));
            let index: Vec<&KnownFile> = repo.index.iter().collect();
            self.watched(&index);
            self.text(&repo.checksum);
            self.watched(&repo.watched.iter().collect::<Vec<_>>());
            self.count(repo.tracked.len());
            repo.tracked.iter().for_each(|path| self.text(path));
        }
    }

    fn watched(&mut self, watched: &[&KnownFile]) {
        self.count(watched.len());
        for one in watched {
            self.text(one.path.as_os_str().as_bytes());
            self.bytes.push(u8::from(one.stat.is_some()));
            self.stat(&one.stat.unwrap_or_default());
        }
    }
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// A number of things that each take at least one byte.
    fn count(&mut self) -> Option<usize> {
        let count = self.u32()? as usize;
        (count <= self.bytes.len()).then_some(count)
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.count()?;
        (0..count).map(|_| one(self)).collect()
    }

    fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.count()?;
        self.take(length)
    }

    fn path(&mut self) -> Option<PathBuf> {
        self.text().map(|text| PathBuf::from(OsStr::from_bytes(text)))
    }

    fn stat(&mut self) -> Option<Stat> {
        Some(Stat {
            mtime: self.u64()?.cast_signed(),
            ctime: self.u64()?.cast_signed(),
            size: self.u64()?,
            inode: self.u64()?,
            mode: self.u32()?,
        })
    }

    fn name(&mut self) -> Option<Name> {
        Some(Name { at: self.u32()?, length: u16::from_le_bytes(self.array()?) })
    }

    fn index(&mut self, identity: Hash) -> Option<Index> {
        let is_ours = self.array()? == *MAGIC && self.byte()? == VERSION;
        let is_ours = is_ours && self.array()? == identity;
        is_ours.then_some(())?;
        let taken = self.u64()?.cast_signed();
        let repos = self.list(Self::repo)?;
        let (directory_count, entry_count) = (self.count()?, self.count()?);
        let mut directories = Vec::with_capacity(directory_count);
        for _ in 0..directory_count {
            directories.push(self.directory()?);
        }
        let mut entries = Vec::with_capacity(entry_count);
        for _ in 0..entry_count {
            entries.push(self.entry()?);
        }
        Some(Index { taken, directories, entries, names: Vec::new(), repos })
    }

    fn directory(&mut self) -> Option<Directory> {
        // One check for the whole record; the compiler drops those of its fields.
        let mut record = Input { bytes: self.take(DIRECTORY_BYTES)?, at: 0 };
        Some(Directory {
            name: record.name()?,
            reading: match record.byte()? {
                0 => FileSelection::Ruled,
                1 => FileSelection::TrackedOnly,
                2 => FileSelection::Unreadable,
                _ => return None,
            },
            parent: record.u32()?,
            end: record.u32()?,
            first: record.u32()?,
            last: record.u32()?,
            stat: record.stat()?,
            hash: record.array()?,
        })
    }

    fn entry(&mut self) -> Option<IndexedFile> {
        let mut record = Input { bytes: self.take(ENTRY_BYTES)?, at: 0 };
        Some(IndexedFile {
            name: record.name()?,
            mark: match record.byte()? {
                0 => FileMark::Plain,
                1 => FileMark::Executable,
                2 => FileMark::Link,
                3 => FileMark::Unreadable,
                4 => FileMark::Rule,
                _ => return None,
            },
            stat: record.stat()?,
            hash: record.array()?,
        })
    }

    fn repo(&mut self) -> Option<Repo> {
        Some(Repo {
            at: self.text()?.into(),
            top: self.path()?,
            lists: self.list(Self::path)?,
            index: self.list(Self::one_watched)?.pop(),
            checksum: self.text()?.into(),
            watched: self.list(Self::one_watched)?,
            tracked: self.list(|input| input.text().map(Vec::from))?,
        })
    }

    fn one_watched(&mut self) -> Option<KnownFile> {
        let path = self.path()?;
        let was_there = self.byte()? != 0;
        let stat = self.stat()?;
        Some(KnownFile { path, stat: was_there.then_some(stat) })
    }
}
