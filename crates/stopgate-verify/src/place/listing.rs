//! What is in a tree, looked at before anything is copied, within bounds.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{PlaceError, failed};

/// More files than this are not copied.
const FILES_MAX: usize = 400_000;
const GIBIBYTE: u64 = 1024 * 1024 * 1024;
/// More than this is not copied.
const GIGABYTES_MAX: u64 = 16;

/// Until when a place must be ready.
#[derive(Debug)]
pub(super) struct Deadline {
    root: PathBuf,
    within: Duration,
    at: Option<Instant>,
}

impl Deadline {
    /// So much time from now on.
    #[expect(clippy::disallowed_methods, reason = "a door that waits")]
    pub(super) fn after(root: &Path, within: Duration) -> Self {
        // A time that no clock reaches sets no limit.
        Self { root: root.into(), within, at: Instant::now().checked_add(within) }
    }

    /// An error when the time is over.
    #[expect(clippy::disallowed_methods, reason = "a door that waits")]
    pub(super) fn check(&self) -> Result<(), PlaceError> {
        if self.at.is_some_and(|at| Instant::now() >= at) {
            return Err(PlaceError::TooSlow { root: self.root.clone(), within: self.within });
        }
        Ok(())
    }
}

/// One thing of a tree.
#[derive(Debug)]
pub(super) struct ListEntry {
    /// Below the root.
    pub(super) path: PathBuf,
    pub(super) metadata: Metadata,
}

/// The files, directories and links of a tree; directories come before what is in them.
#[derive(Debug)]
pub(super) struct FileList<'a> {
    root: PathBuf,
    deadline: &'a Deadline,
    pub(super) entries: Vec<ListEntry>,
    bytes: u64,
}

/// Whether a walk takes something in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Take {
    /// With everything below it.
    All,
    /// Not at all.
    Nothing,
}

impl<'a> FileList<'a> {
    /// An empty list.
    pub(super) fn new(root: &Path, deadline: &'a Deadline) -> Self {
        Self { root: root.into(), deadline, entries: Vec::new(), bytes: 0 }
    }

    /// Adds a path and all that is below it, but for what `take` refuses.
    ///
    /// Sockets, pipes and devices are left out, and so is what disappears meanwhile.
    pub(super) fn add(
        &mut self,
        path: &Path,
        take: &mut dyn FnMut(&Path, &Metadata) -> Take,
    ) -> Result<(), PlaceError> {
        let from = self.root.join(path);
        let Some(metadata) = look(&from).map_err(failed(&from))? else { return Ok(()) };
        if !is_copied(&metadata) || take(path, &metadata) == Take::Nothing {
            return Ok(());
        }
        let is_dir = metadata.is_dir();
        self.push(path, metadata)?;
        if is_dir {
            for name in names(&from).map_err(failed(&from))? {
                self.add(&path.join(name), take)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, path: &Path, metadata: Metadata) -> Result<(), PlaceError> {
        self.deadline.check()?;
        self.bytes = self.bytes.saturating_add(if metadata.is_file() { metadata.len() } else { 0 });
        if self.entries.len() >= FILES_MAX || self.bytes > GIGABYTES_MAX * GIBIBYTE {
            let (files_max, gigabytes_max) = (FILES_MAX, GIGABYTES_MAX);
            let root = self.root.clone();
            return Err(PlaceError::TooLarge { root, files_max, gigabytes_max });
        }
        self.entries.push(ListEntry { path: path.into(), metadata });
        Ok(())
    }
}

fn is_copied(metadata: &Metadata) -> bool {
    metadata.is_dir() || metadata.is_file() || metadata.is_symlink()
}

fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The names in a directory; none if the check could not look into it either.
fn names(directory: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if is_absence(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    entries.map(|entry| Ok(entry?.file_name())).collect()
}

/// Whether a file went meanwhile, or can't be read by the check either.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

/// Whether the last part of a path is this name.
pub(super) fn is_named(path: &Path, name: &str) -> bool {
    path.file_name() == Some(OsStr::new(name))
}
