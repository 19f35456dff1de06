//! Windows: by paths. A link at a path's end is opened itself, and refused.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use stopgate_system::ffi::OsStrExt;
use stopgate_system::fs::OpenOptionsExt;

use super::{DirectoryListing, ListedKind, Purpose};
use crate::tree::stat::Stat;

/// A directory that names are looked up in.
#[derive(Debug)]
pub(crate) struct OpenDirectory {
    path: PathBuf,
}

impl OpenDirectory {
    /// A path below it, whose parts `/` divides.
    fn below(&self, path: &[u8]) -> PathBuf {
        let parts = path.split(|byte| *byte == b'/').filter(|part| !part.is_empty());
        let mut whole = self.path.clone();
        whole.extend(parts.map(std::ffi::OsStr::from_bytes));
        whole
    }
}

/// Opens the root itself, which may be a link.
pub(crate) fn open_root(path: &Path) -> io::Result<OpenDirectory> {
    if !fs::metadata(path)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(OpenDirectory { path: path.into() })
}

/// Opens a directory below the root.
pub(crate) fn open_directory(
    root: &OpenDirectory,
    path: &[u8],
    _: Purpose,
) -> io::Result<OpenDirectory> {
    let path = root.below(path);
    if !fs::symlink_metadata(&path)?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(OpenDirectory { path })
}

/// What is known about an open directory.
pub(crate) fn stat_of(directory: &OpenDirectory) -> Option<Stat> {
    fs::metadata(&directory.path).ok().map(|found| Stat::of_metadata(&found))
}

/// What is known about a path below a directory.
pub(crate) fn stat_at(directory: &OpenDirectory, path: &[u8]) -> Option<Stat> {
    fs::symlink_metadata(directory.below(path)).ok().map(|found| Stat::of_metadata(&found))
}

/// Opens a file.
pub(crate) fn open_file(root: &OpenDirectory, path: &[u8]) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(stopgate_system::open::NO_FOLLOW);
    let file = options.open(root.below(path))?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Where a link leads to.
pub(crate) fn link_target(root: &OpenDirectory, path: &[u8]) -> io::Result<Vec<u8>> {
    let target = fs::read_link(root.below(path))?;
    Ok(target.as_os_str().as_bytes().to_vec())
}

/// The names in an open directory; nothing where it can't be read.
pub(crate) fn list(directory: &OpenDirectory) -> Option<DirectoryListing> {
    let stat = stat_of(directory)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(&directory.path).ok()? {
        let entry = entry.ok()?;
        let kind = entry.file_type().ok()?;
        let kind = if kind.is_dir() { ListedKind::Directory } else { ListedKind::NotDirectory };
        names.push((entry.file_name().as_bytes().to_vec(), kind));
    }
    names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Some(DirectoryListing { stat, names })
}
