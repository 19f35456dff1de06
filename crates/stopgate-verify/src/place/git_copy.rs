//! A repository of its own for a copied tree.
//!
//! Whether the tree's `.git` is a directory, or the file of a worktree or a submodule, the copy
//! can be committed to without the tree's repository noticing. Where there are very many
//! objects, they are borrowed by git's alternates instead of copied; then git may renew the
//! times of objects that are needed again, and nothing else.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use stopgate_system::CanonicalPath;
use stopgate_system::ffi::{OsStrExt, OsStringExt};

use super::arguments::translate;
use super::canvas::make_dir;
use super::copier::{CopySort, copy_file};
use super::listing::{Deadline, FileList, ListEntry, Take, is_named};
use super::{PlaceError, failed};
use crate::files::read_regular;

/// No file of settings is larger.
const NOTE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What is of no use in a copy, or would tie it to the original.
const LEFT_OUT: [&str; 7] =
    ["worktrees", "lfs", "commondir", "gitdir", "locked", "gc.pid", "fsmonitor--daemon"];

/// More objects than this are borrowed.
const OBJECT_FILES_MAX: usize = 20_000;
const OBJECT_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Without these every file of a copy would look changed to git's plumbing.
const STAT_KEYS: &[u8] = b"\n[core]\n\ttrustctime = false\n\tcheckStat = minimal\n";

/// Whether the `.git` file at a path leads out of the tree.
pub(super) fn is_external(root: &Path, path: &Path) -> bool {
    git_dir(&root.join(path)).is_some_and(|found| !found.starts_with(root))
}

/// The directories outside the tree that hold the repository of its root.
pub(super) fn external_dirs(root: &Path) -> Vec<PathBuf> {
    let Some(own) = git_dir(&root.join(".git")) else { return Vec::new() };
    let common = common_dir(&own);
    let mut found = vec![common.clone()];
    if !own.starts_with(&common) {
        found.push(own);
    }
    found.retain(|path| !path.starts_with(root));
    found
}

/// One `.git` of a tree on its way into a copy.
#[derive(Debug)]
pub(super) struct GitCopy<'a> {
    pub(super) root: &'a Path,
    pub(super) copy: &'a Path,
    /// Where the `.git` is, below the root.
    pub(super) path: &'a Path,
    pub(super) sort: CopySort,
    pub(super) deadline: &'a Deadline,
}

impl GitCopy<'_> {
    /// Makes the repository.
    pub(super) fn make(&self) -> Result<(), PlaceError> {
        let to = self.copy.join(self.path);
        let Some(own) = git_dir(&self.root.join(self.path)) else {
            // Not git's, or broken: the check sees the same.
            return self.copy_plainly(&to);
        };
        let inner = own.strip_prefix(self.root).ok();
        if let Some(inner) = inner.filter(|inner| *inner != self.path) {
            return refer_to(&self.copy.join(inner), &to).map_err(failed(&to));
        }
        let common = common_dir(&own);
        make_dir(&to).map_err(failed(&to))?;
        self.copy_dir(&common, &to)?;
        if own != common {
            self.copy_dir(&own, &to)?;
        }
        Ok(())
    }

    fn copy_plainly(&self, to: &Path) -> Result<(), PlaceError> {
        let from = self.root.join(self.path);
        let metadata = fs::symlink_metadata(&from).map_err(failed(&from))?;
        if metadata.is_file() {
            return copy_file(&from, to, &metadata).map_err(failed(&from));
        }
        if metadata.is_dir() {
            make_dir(to).map_err(failed(to))?;
            self.copy_dir(&from, to)?;
        }
        Ok(())
    }

    /// Copies a git directory over what is there.
    fn copy_dir(&self, from: &Path, to: &Path) -> Result<(), PlaceError> {
        let mut objects = Vec::new();
        let mut list = FileList::new(from, self.deadline);
        list.add(Path::new(""), &mut |path, found| {
            if is_objects(&from.join(path), found) {
                objects.push(path.to_path_buf());
                return Take::Nothing;
            }
            if is_left_out(path) { Take::Nothing } else { Take::All }
        })?;
        self.copy_entries(&list, from, to)?;
        for path in objects {
            self.copy_objects(&from.join(&path), &to.join(&path))?;
        }
        let configs = list.entries.iter().map(|entry| &entry.path).filter(|path| is_config(path));
        for path in configs {
            self.adapt_config(to, path).map_err(failed(&from.join(path)))?;
        }
        Ok(())
    }

    fn copy_entries(&self, list: &FileList<'_>, from: &Path, to: &Path) -> Result<(), PlaceError> {
        for entry in &list.entries {
            self.deadline.check()?;
            copy_part(from, to, entry).map_err(failed(&from.join(&entry.path)))?;
        }
        Ok(())
    }

    fn copy_objects(&self, from: &Path, to: &Path) -> Result<(), PlaceError> {
        let mut list = FileList::new(from, self.deadline);
        let (mut files, mut bytes) = (0, 0_u64);
        list.add(Path::new(""), &mut |_, found| {
            files += 1;
            bytes = bytes.saturating_add(if found.is_file() { found.len() } else { 0 });
            // What follows will not be copied, so it need not be listed.
            if files > OBJECT_FILES_MAX { Take::Nothing } else { Take::All }
        })?;
        if files > OBJECT_FILES_MAX || bytes > OBJECT_BYTES_MAX {
            return borrow_objects(from, to).map_err(failed(from));
        }
        self.copy_entries(&list, from, to)?;
        adapt_alternates(from, to).map_err(failed(from))
    }

    /// Settings that would lead to the tree, or that don't fit a copy.
    fn adapt_config(&self, git_dir: &Path, path: &Path) -> io::Result<()> {
        let at = git_dir.join(path);
        let seen_at = match self.sort {
            CopySort::Bound => self.root,
            CopySort::Elsewhere => self.copy,
        };
        let text = translate(&OsString::from_vec(note_in(&at)?), self.root, seen_at).into_vec();
        // A submodule's directory names its work tree by a relative path, which still fits.
        let is_own = path.components().count() == 1;
        let work_tree = is_own.then(|| seen_at.join(self.path.parent().unwrap_or(Path::new(""))));
        let added = additions(&text, work_tree.as_deref());
        fs::write(&at, [text, added].concat())
    }
}

/// A submodule: its directory is in the tree's own `.git`, and is copied with that.
fn refer_to(git_dir: &Path, to: &Path) -> io::Result<()> {
    let mut text = b"gitdir: ".to_vec();
    text.extend_from_slice(git_dir.as_os_str().as_bytes());
    text.push(b'\n');
    fs::write(to, text)
}

/// Adapts a repository that was copied as it is: the copy has other inodes and change times than
/// its index knows.
pub(super) fn adapt_plain_copy(config: &Path) -> io::Result<()> {
    let mut text = note_in(config)?;
    text.extend_from_slice(STAT_KEYS);
    fs::write(config, text)
}

/// Whether a path is the configuration of a git directory.
pub(super) fn is_config(path: &Path) -> bool {
    is_named(path, "config") || is_named(path, "config.worktree")
}

/// The last word on some keys.
fn additions(config: &[u8], work_tree: Option<&Path>) -> Vec<u8> {
    let lower = config.to_ascii_lowercase();
    let mentions = |word: &[u8]| lower.windows(word.len()).any(|part| part == word);
    let mut added = STAT_KEYS.to_vec();
    if mentions(b"fsmonitor") {
        added.extend_from_slice(b"\tfsmonitor = false\n");
    }
    let Some(work_tree) = work_tree else { return added };
    added.extend_from_slice(b"\tbare = false\n");
    if mentions(b"worktree") {
        added.extend_from_slice(b"\tworktree = \"");
        for byte in work_tree.as_os_str().as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                added.push(b'\\');
            }
            added.push(*byte);
        }
        added.extend_from_slice(b"\"\n");
    }
    added
}

/// One of git's small files; a pipe in its place would be waited for.
fn note_in(path: &Path) -> io::Result<Vec<u8>> {
    read_regular(path, NOTE_BYTES_MAX)
}

/// The directory that a `.git` stands for, without links in it.
fn git_dir(dot_git: &Path) -> Option<PathBuf> {
    let found = fs::metadata(dot_git).ok()?;
    let path = if found.is_dir() {
        dot_git.to_path_buf()
    } else {
        let text = note_in(dot_git).ok()?;
        let target = text.strip_prefix(b"gitdir:")?.trim_ascii();
        dot_git.parent()?.join(OsStr::from_bytes(target))
    };
    let path = path.canonical().ok()?;
    path.join("HEAD").symlink_metadata().is_ok().then_some(path)
}

/// Where a worktree's repository has what all its worktrees share.
fn common_dir(git_dir: &Path) -> PathBuf {
    let text = note_in(&git_dir.join("commondir")).ok();
    let common = text.map(|text| OsString::from_vec(text.trim_ascii().to_vec()));
    let common = common.and_then(|common| git_dir.join(common).canonical().ok());
    common.unwrap_or_else(|| git_dir.into())
}

fn is_objects(path: &Path, found: &Metadata) -> bool {
    let beside = path.parent().map(|parent| parent.join("HEAD"));
    found.is_dir() && is_named(path, "objects") && beside.is_some_and(|head| head.is_file())
}

fn is_left_out(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_top = path.components().count() == 1;
    (is_top && LEFT_OUT.contains(&&*name)) || name.ends_with(".lock")
}

fn copy_part(from: &Path, to: &Path, entry: &ListEntry) -> io::Result<()> {
    let (from, to) = (from.join(&entry.path), to.join(&entry.path));
    if entry.metadata.is_dir() {
        return if to.is_dir() { Ok(()) } else { make_dir(&to) };
    }
    if to.symlink_metadata().is_ok() {
        fs::remove_file(&to)?;
    }
    if entry.metadata.is_file() {
        return copy_file(&from, &to, &entry.metadata);
    }
    // A link of a repository, such as an old-style worktree's: its content, not the way to it.
    match fs::metadata(&from) {
        Ok(found) if found.is_file() => fs::copy(&from, &to).map(|_| ()),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// An empty object directory that looks into the other one as well.
fn borrow_objects(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to.join("info"))?;
    fs::create_dir_all(to.join("pack"))?;
    let mut line = from.as_os_str().as_bytes().to_vec();
    line.push(b'\n');
    fs::write(to.join("info/alternates"), line)
}

/// Objects that the tree's repository borrows itself are named by their full paths.
fn adapt_alternates(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(text) = note_in(&from.join("info/alternates")) else { return Ok(()) };
    let mut adapted = Vec::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        adapted.extend_from_slice(from.join(OsStr::from_bytes(line)).as_os_str().as_bytes());
        adapted.push(b'\n');
    }
    fs::write(to.join("info/alternates"), adapted)
}
