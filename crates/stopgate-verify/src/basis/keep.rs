//! Contents that are kept as they were at the start, by their fingerprints.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use stopgate_system::ffi::OsStrExt;

use crate::files::{Durable, read_regular, replace_private};
use crate::tree::{hash_of, hex};

/// More than this in all is not kept.
pub(super) const KEPT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A directory of contents.
pub(crate) struct ContentStore<'a> {
    directory: &'a Path,
    room: u64,
}

impl<'a> ContentStore<'a> {
    /// The directory, with room for this many bytes more.
    pub(crate) const fn new(directory: &'a Path, room: u64) -> Self {
        Self { directory, room }
    }

    /// Keeps a content, where there is room; says whether it did.
    pub(crate) fn put(&mut self, hash: &str, content: &[u8]) -> io::Result<bool> {
        let Some(room) = self.room.checked_sub(content.len() as u64) else { return Ok(false) };
        self.room = room;
        let path = self.path(hash);
        if self.get(hash).is_ok() {
            return Ok(true);
        }
        replace_private(&path, content, Durable::Buffered)?;
        Ok(true)
    }

    /// A content, which is what it was when it was kept.
    pub(crate) fn get(&self, hash: &str) -> io::Result<Vec<u8>> {
        let content = read_regular(&self.path(hash), KEPT_BYTES_MAX)?;
        if hex(&hash_of(&content)) == hash {
            return Ok(content);
        }
        Err(io::Error::new(io::ErrorKind::InvalidData, "the kept content is not what it was"))
    }

    fn path(&self, hash: &str) -> PathBuf {
        self.directory.join(hash.get(..2).unwrap_or("xx")).join(hash)
    }
}

/// What a file or link holds: its bytes, or the path it points to.
pub(crate) fn content_of(path: &Path) -> io::Result<Vec<u8>> {
    if fs::symlink_metadata(path)?.is_symlink() {
        return Ok(fs::read_link(path)?.as_os_str().as_bytes().into());
    }
    read_regular(path, KEPT_BYTES_MAX)
}

/// Identifies a file, or all files of a directory.
pub(super) fn content_below(path: &Path) -> String {
    let mut open = vec![path.to_path_buf()];
    let mut lines = Vec::new();
    while let Some(path) = open.pop() {
        if path.is_dir() && !path.is_symlink() {
            open.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|own| own.path()));
        } else {
            let content = content_of(&path).unwrap_or_default();
            lines.push(format!("{} {}", path.display(), hex(&hash_of(&content))));
        }
    }
    lines.sort();
    hex(&hash_of(lines.join("\n").as_bytes()))
}
