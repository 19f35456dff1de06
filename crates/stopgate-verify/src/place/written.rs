//! What a run left behind in a place, compared with what was there before.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, DirEntry, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use stopgate_system::fs::MetadataExt;
use stopgate_system::set_mode;

use super::canvas::is_whiteout;
use super::{FileContent, PlaceError, PlaceRecipe, failed};
use crate::files::{open_regular, read_regular};
use crate::tree::Stat;

const BLOCK_BYTES: usize = 64 * 1024;

/// What happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PathChange {
    /// It was not there.
    Created,
    /// Its content, mode or kind is another.
    Changed,
    /// It is as it was, but was opened for writing, replaced or linked meanwhile.
    Touched,
    /// It is gone.
    Deleted,
}

/// A path that a run wrote to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct WrittenPath {
    /// Below the root.
    pub(crate) path: PathBuf,
    /// What happened to it.
    pub(crate) change: PathChange,
    /// Whether something is in it now.
    pub(crate) is_filled: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathSort {
    Directory,
    File,
    Link,
    /// A name that an overlay hides.
    Whiteout,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    sort: PathSort,
    stat: Stat,
}

/// What a place writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BaseSort {
    /// All of it is here.
    Copy,
    /// The tree shows through.
    Layer,
}

/// What was in a place before the first run.
#[derive(Debug)]
pub(super) struct PlaceRecord {
    /// The copy, or the upper layer.
    base: PathBuf,
    base_sort: BaseSort,
    before: BTreeMap<PathBuf, Seen>,
    /// Fingerprints of what was restored.
    restored: BTreeMap<PathBuf, blake3::Hash>,
}

impl PlaceRecord {
    /// Looks at a copy.
    pub(super) fn of_copy(copy: &Path, recipe: &PlaceRecipe<'_>) -> Result<Self, PlaceError> {
        Self::take(copy, BaseSort::Copy, recipe)
    }

    /// Looks at the upper layer of an overlay.
    pub(super) fn of_layer(layer: &Path, recipe: &PlaceRecipe<'_>) -> Result<Self, PlaceError> {
        Self::take(layer, BaseSort::Layer, recipe)
    }

    fn take(
        base: &Path,
        base_sort: BaseSort,
        recipe: &PlaceRecipe<'_>,
    ) -> Result<Self, PlaceError> {
        let before = look(base).map_err(failed(base))?;
        let print = |content: &FileContent| match content {
            FileContent::File { bytes, .. } => blake3::hash(bytes),
            FileContent::Link(target) => blake3::hash(target.as_os_str().as_encoded_bytes()),
        };
        let files = recipe.restore.iter();
        let restored = files.map(|file| (file.path.clone(), print(&file.content))).collect();
        Ok(Self { base: base.into(), base_sort, before, restored })
    }

    /// What runs have made of a file, where it is not too long.
    pub(super) fn content(&self, path: &Path, bytes_max: u64) -> Option<FileContent> {
        let path = self.base.join(path);
        let about = fs::symlink_metadata(&path).ok().filter(Metadata::is_file)?;
        let bytes = read_regular(&path, bytes_max).ok()?;
        let executable = about.mode() & 0o111 != 0;
        Some(FileContent::File { bytes, executable })
    }

    /// What is different now.
    pub(super) fn compare(&self, tree: &Path) -> io::Result<Vec<WrittenPath>> {
        let after = look(&self.base)?;
        let paths: BTreeSet<&PathBuf> = self.before.keys().chain(after.keys()).collect();
        let mut found = Changes { tree, after: &after, list: Vec::new() };
        for path in paths {
            let (before, now) = (self.before.get(path), after.get(path));
            match self.base_sort {
                BaseSort::Layer => self.compare_layer(path, before, now, &mut found)?,
                BaseSort::Copy => self.compare_copy(path, before, now, &mut found)?,
            }
        }
        found.list.sort();
        found.list.dedup();
        Ok(found.list)
    }

    fn compare_copy(
        &self,
        path: &Path,
        before: Option<&Seen>,
        now: Option<&Seen>,
        found: &mut Changes<'_>,
    ) -> io::Result<()> {
        match (before, now) {
            (None, _) => found.add(path, PathChange::Created),
            (_, None) => found.add(path, PathChange::Deleted),
            (Some(before), Some(now)) => self.compare_both(path, before, now, found)?,
        }
        Ok(())
    }

    fn compare_both(
        &self,
        path: &Path,
        before: &Seen,
        now: &Seen,
        found: &mut Changes<'_>,
    ) -> io::Result<()> {
        let differs = before.sort != now.sort || before.stat.mode != now.stat.mode;
        if before.sort == PathSort::Directory && !differs {
            return Ok(());
        }
        if let Some(print) = self.restored.get(path) {
            // Looked at in any case: times can be too coarse to tell.
            if differs || content_hash(&self.base.join(path), now.sort)? != *print {
                found.add(path, PathChange::Changed);
            } else if before.stat != now.stat {
                found.add(path, PathChange::Touched);
            }
            return Ok(());
        }
        if differs || before.stat.size != now.stat.size {
            found.add(path, PathChange::Changed);
        } else if before.stat != now.stat {
            let same = is_same(&self.base.join(path), &found.tree.join(path))?;
            found.add(path, if same { PathChange::Touched } else { PathChange::Changed });
        }
        Ok(())
    }

    fn compare_layer(
        &self,
        path: &Path,
        before: Option<&Seen>,
        now: Option<&Seen>,
        found: &mut Changes<'_>,
    ) -> io::Result<()> {
        let hidden = |seen: &Seen| seen.sort == PathSort::Whiteout;
        if now.is_some_and(|now| now.sort == PathSort::Directory) {
            found.add_hidden(path, &self.base.join(path), &self.before)?;
        }
        match (before.is_some_and(hidden), now.is_some_and(hidden)) {
            (true, true) => return Ok(()),
            (true, false) => {
                found.add(path, PathChange::Created);
                return Ok(());
            }
            (false, true) => {
                found.add_deleted(path);
                return Ok(());
            }
            (false, false) => {}
        }
        match (before, now) {
            (Some(before), Some(now)) => self.compare_both(path, before, now, found),
            (Some(_), None) => {
                found.add(path, PathChange::Deleted);
                Ok(())
            }
            (None, Some(now)) => self.compare_copied_up(path, now, found),
            (None, None) => Ok(()),
        }
    }

    /// Something that came into the upper layer: a new file, or one of the tree that was
    /// opened for writing.
    fn compare_copied_up(
        &self,
        path: &Path,
        now: &Seen,
        found: &mut Changes<'_>,
    ) -> io::Result<()> {
        let Some(below) = found.below(path) else {
            found.add(path, PathChange::Created);
            return Ok(());
        };
        let below = Seen::of(&below);
        if below.sort != now.sort || below.stat.mode != now.stat.mode {
            found.add(path, PathChange::Changed);
        } else if now.sort != PathSort::Directory {
            let same = is_same(&self.base.join(path), &found.tree.join(path))?;
            found.add(path, if same { PathChange::Touched } else { PathChange::Changed });
        }
        Ok(())
    }
}

/// A list in the making.
struct Changes<'a> {
    tree: &'a Path,
    after: &'a BTreeMap<PathBuf, Seen>,
    list: Vec<WrittenPath>,
}

impl Changes<'_> {
    fn add(&mut self, path: &Path, change: PathChange) {
        let is_filled = self.after.get(path).is_some_and(|now| now.stat.size > 0);
        self.list.push(WrittenPath { path: path.into(), change, is_filled });
    }

    /// What the tree has at a path; a link in the way is not followed.
    fn below(&self, path: &Path) -> Option<Metadata> {
        let mut at = self.tree.to_path_buf();
        for part in path {
            if !fs::symlink_metadata(&at).ok()?.is_dir() {
                return None;
            }
            at.push(part);
        }
        fs::symlink_metadata(at).ok()
    }

    /// A name is gone, and with it all that the tree has below it.
    fn add_deleted(&mut self, path: &Path) {
        self.add(path, PathChange::Deleted);
        if self.below(path).is_some_and(|below| below.is_dir()) {
            for entry in fs::read_dir(self.tree.join(path)).into_iter().flatten().flatten() {
                self.add_deleted(&path.join(entry.file_name()));
            }
        }
    }

    /// What a directory hides that was deleted and made again.
    fn add_hidden(
        &mut self,
        path: &Path,
        at: &Path,
        before: &BTreeMap<PathBuf, Seen>,
    ) -> io::Result<()> {
        if !hides_below(at) || !self.below(path).is_some_and(|below| below.is_dir()) {
            return Ok(());
        }
        for entry in fs::read_dir(self.tree.join(path))? {
            let inner = path.join(entry?.file_name());
            if !self.after.contains_key(&inner) && !before.contains_key(&inner) {
                self.add_deleted(&inner);
            }
        }
        Ok(())
    }
}

impl Seen {
    fn of(metadata: &Metadata) -> Self {
        let sort = if metadata.is_dir() {
            PathSort::Directory
        } else if metadata.is_file() {
            PathSort::File
        } else if metadata.is_symlink() {
            PathSort::Link
        } else if is_whiteout(metadata) {
            PathSort::Whiteout
        } else {
            PathSort::Other
        };
        Self { sort, stat: Stat::of_metadata(metadata) }
    }
}

fn look(base: &Path) -> io::Result<BTreeMap<PathBuf, Seen>> {
    let mut seen = BTreeMap::new();
    let mut open = vec![PathBuf::new()];
    while let Some(directory) = open.pop() {
        for (name, metadata) in entries(&base.join(&directory))? {
            let path = directory.join(name);
            if metadata.is_dir() {
                open.push(path.clone());
            }
            seen.insert(path, Seen::of(&metadata));
        }
    }
    Ok(seen)
}

/// Reads a directory of ours, also where a check took away the right to.
fn entries(path: &Path) -> io::Result<Vec<(OsString, Metadata)>> {
    match read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let mode = fs::symlink_metadata(path)?.mode() & 0o7777;
            set_mode(path, 0o700)?;
            let entries = read_dir(path);
            set_mode(path, mode)?;
            entries
        }
        entries => entries,
    }
}

fn read_dir(path: &Path) -> io::Result<Vec<(OsString, Metadata)>> {
    let look = |entry: io::Result<DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name(), entry.metadata()?))
    };
    fs::read_dir(path)?.map(look).collect()
}

/// Whether a directory of the upper layer shows nothing of the one below it.
#[cfg(target_os = "linux")]
fn hides_below(path: &Path) -> bool {
    let mut value = [0_u8; 256];
    let names = ["opaque", "redirect"].into_iter();
    let names = names.flat_map(|name| ["trusted", "user"].map(|by| format!("{by}.overlay.{name}")));
    names.into_iter().any(|name| {
        rustix::fs::lgetxattr(path, name, &mut value[..]).is_ok_and(|length| length > 0)
    })
}

#[cfg(not(target_os = "linux"))]
fn hides_below(_: &Path) -> bool {
    false
}

fn content_hash(path: &Path, sort: PathSort) -> io::Result<blake3::Hash> {
    if sort == PathSort::Link {
        return Ok(blake3::hash(fs::read_link(path)?.as_os_str().as_encoded_bytes()));
    }
    let mut hasher = blake3::Hasher::new();
    let mut file = open(path)?;
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        match file.read(&mut block)? {
            0 => return Ok(hasher.finalize()),
            read => hasher.update(&block[..read]),
        };
    }
}

/// Whether two paths have the same content; one that is not there has another.
fn is_same(ours: &Path, theirs: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(ours)?;
    let Ok(other) = fs::symlink_metadata(theirs) else { return Ok(false) };
    let (found, other) = (Seen::of(&found), Seen::of(&other));
    if found.sort != other.sort || found.stat.size != other.stat.size {
        return Ok(false);
    }
    let sort = found.sort;
    match sort {
        PathSort::File | PathSort::Link => {
            Ok(content_hash(ours, sort)? == content_hash(theirs, sort)?)
        }
        PathSort::Directory | PathSort::Whiteout | PathSort::Other => Ok(true),
    }
}

/// Opens a file of ours, also where a check took away the right to.
fn open(path: &Path) -> io::Result<File> {
    match open_regular(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            set_mode(path, 0o600)?;
            open_regular(path)
        }
        file => file,
    }
}
