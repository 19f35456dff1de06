//! Unix: by the root's descriptor.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, open, openat, readlinkat, statat};

use super::{DirectoryListing, ListedKind, Purpose};
use crate::tree::stat::Stat;

/// A directory that names are looked up in.
pub(crate) type OpenDirectory = OwnedFd;

/// Opens the root itself, which may be a link.
pub(crate) fn open_root(path: &Path) -> io::Result<OpenDirectory> {
    Ok(open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a directory below the root.
pub(crate) fn open_directory(
    root: &OpenDirectory,
    path: &[u8],
    purpose: Purpose,
) -> io::Result<OpenDirectory> {
    let path = if path.is_empty() { b"." } else { path };
    let mut flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    if cfg!(target_os = "linux") && purpose == Purpose::Stat {
        flags |= path_only();
    }
    Ok(openat(root, path, flags, Mode::empty())?)
}

#[cfg(target_os = "linux")]
const fn path_only() -> OFlags {
    OFlags::PATH
}

#[cfg(not(target_os = "linux"))]
const fn path_only() -> OFlags {
    OFlags::empty()
}

/// What is known about an open directory.
pub(crate) fn stat_of(directory: &OpenDirectory) -> Option<Stat> {
    fstat(directory).ok().map(|raw| Stat::of(&raw))
}

/// What is known about a path below a directory.
pub(crate) fn stat_at(directory: &OpenDirectory, path: &[u8]) -> Option<Stat> {
    statat(directory, path, AtFlags::SYMLINK_NOFOLLOW).ok().map(|raw| Stat::of(&raw))
}

/// Opens a file; what became a pipe meanwhile does not hold us.
pub(crate) fn open_file(root: &OpenDirectory, path: &[u8]) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(openat(root, path, flags, Mode::empty())?))
}

/// Where a link leads to.
pub(crate) fn link_target(root: &OpenDirectory, path: &[u8]) -> io::Result<Vec<u8>> {
    Ok(readlinkat(root, path, Vec::new())?.into_bytes())
}

/// The names in an open directory; nothing where it can't be read.
pub(crate) fn list(directory: &OpenDirectory) -> Option<DirectoryListing> {
    let stat = stat_of(directory)?;
    let mut names = Vec::new();
    for entry in Dir::read_from(directory).ok()? {
        let entry = entry.ok()?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push((name.to_vec(), kind(entry.file_type())));
        }
    }
    names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Some(DirectoryListing { stat, names })
}

fn kind(kind: FileType) -> ListedKind {
    match kind {
        FileType::Directory => ListedKind::Directory,
        FileType::Unknown => ListedKind::Unknown,
        _ => ListedKind::NotDirectory,
    }
}
