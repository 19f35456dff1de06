//! Copies a tree, contents, modes, times and links, into a canvas.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_system::ffi::OsStrExt;
use stopgate_system::fs::{MetadataExt, OpenOptionsExt, symlink};
use stopgate_system::{open, set_mode, set_modified};

use super::canvas::{Canvas, make_dir};
use super::git_copy::{GitCopy, adapt_plain_copy, is_config, is_external};
use super::listing::{Deadline, FileList, ListEntry, Take, is_absence, is_named};
use super::outputs::is_output;
use super::{PlaceError, PlaceRecipe, failed};
use crate::tool::tool;

/// How long git may take to list what it tracks.
const GIT_TIME: Duration = Duration::from_secs(10);

/// Where the copy will be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopySort {
    /// At the tree's own path.
    Bound,
    /// At its own path.
    Elsewhere,
}

/// Copies the whole tree.
pub(super) fn copy_tree(
    recipe: &PlaceRecipe<'_>,
    sort: CopySort,
    canvas: &mut Canvas,
    deadline: &Deadline,
) -> Result<(), PlaceError> {
    let root = recipe.root;
    let mut plan = Plan { root, sort, repositories: Vec::new(), outputs: Vec::new() };
    let mut list = FileList::new(root, deadline);
    list.add(Path::new(""), &mut |path, found| plan.take(path, found))?;
    for output in tracked(root, &plan.outputs) {
        list.add(&output, &mut |_, _| Take::All)?;
    }
    for entry in &list.entries {
        deadline.check()?;
        copy_entry(root, entry, canvas).map_err(failed(&root.join(&entry.path)))?;
    }
    for path in &plan.repositories {
        GitCopy { root, copy: canvas.top(), path, sort, deadline }.make()?;
    }
    let is_git = |path: &Path| is_config(path) && is_in_git(path);
    for entry in list.entries.iter().filter(|entry| is_git(&entry.path)) {
        let config = canvas.top().join(&entry.path);
        if entry.metadata.is_file() && config.with_file_name("HEAD").exists() {
            adapt_plain_copy(&config).map_err(failed(&config))?;
        }
    }
    Ok(())
}

/// What a walk finds out on its way.
struct Plan<'a> {
    root: &'a Path,
    sort: CopySort,
    /// `.git` files and directories that can't be copied as they are.
    repositories: Vec<PathBuf>,
    outputs: Vec<PathBuf>,
}

impl Plan<'_> {
    fn take(&mut self, path: &Path, found: &Metadata) -> Take {
        if is_named(path, ".git") && self.is_special(path, found) {
            self.repositories.push(path.into());
            return Take::Nothing;
        }
        if is_git_lock(path) {
            return Take::Nothing;
        }
        if self.sort == CopySort::Elsewhere && is_output(self.root, path) {
            self.outputs.push(path.into());
            return Take::Nothing;
        }
        Take::All
    }

    fn is_special(&self, path: &Path, found: &Metadata) -> bool {
        match self.sort {
            CopySort::Elsewhere => true,
            CopySort::Bound => !found.is_dir() && is_external(self.root, path),
        }
    }
}

/// Whether a git that runs meanwhile holds this.
fn is_git_lock(path: &Path) -> bool {
    is_in_git(path) && path.extension().is_some_and(|end| end == "lock")
}

fn is_in_git(path: &Path) -> bool {
    path.iter().any(|part| part == ".git")
}

/// Those outputs that git tracks: somebody called sources so.
fn tracked(root: &Path, outputs: &[PathBuf]) -> Vec<PathBuf> {
    if outputs.is_empty() {
        return Vec::new();
    }
    // Without git nothing is tracked.
    let Ok(listed) = tool(&["git", "ls-files", "-z"], root, GIT_TIME) else { return Vec::new() };
    let mut names: Vec<&[u8]> = listed.stdout.split(|byte| *byte == 0).collect();
    names.sort_unstable();
    let is_tracked = |output: &&PathBuf| {
        let output = output.as_os_str().as_bytes();
        let first = names.partition_point(|name| *name < output);
        let inside = |name: &[u8]| {
            name.strip_prefix(output)
                .is_some_and(|rest| rest.first() == Some(&b'/') || rest.is_empty())
        };
        // Names such as `target-x` sort between `target` and `target/`.
        names[first..].iter().take_while(|name| name.starts_with(output)).any(|name| inside(name))
    };
    outputs.iter().filter(is_tracked).cloned().collect()
}

fn copy_entry(root: &Path, entry: &ListEntry, canvas: &mut Canvas) -> io::Result<()> {
    let (from, to) = (root.join(&entry.path), canvas.top().join(&entry.path));
    let metadata = &entry.metadata;
    if metadata.is_dir() {
        // The root is there already.
        if !entry.path.as_os_str().is_empty() {
            make_dir(&to)?;
        }
        return canvas.model(&entry.path, metadata);
    }
    if metadata.is_file() {
        return copy_file(&from, &to, metadata);
    }
    let target = match fs::read_link(&from) {
        Err(error) if is_absence(&error) => return Ok(()),
        target => target?,
    };
    symlink(canvas.link_target(&entry.path, target), &to)?;
    set_modified(&to, (metadata.mtime(), metadata.mtime_nsec()))
}

/// Copies a file with its mode and its time, sharing its blocks where the disk can.
pub(super) fn copy_file(from: &Path, to: &Path, metadata: &Metadata) -> io::Result<()> {
    match copy_content(from, to) {
        // It went meanwhile.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        // The check can't read it either.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            File::create(to)?;
        }
        copied => copied?,
    }
    set_mode(to, metadata.mode() & 0o7777)?;
    set_modified(to, (metadata.mtime(), metadata.mtime_nsec()))
}

fn copy_content(from: &Path, to: &Path) -> io::Result<()> {
    // A link or a pipe that took the file's place meanwhile is neither followed nor waited for.
    let flags = open::NO_FOLLOW | open::NO_WAIT;
    let mut from = OpenOptions::new().read(true).custom_flags(flags).open(from)?;
    if !from.metadata()?.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut to = File::create_new(to)?;
    io::copy(&mut from, &mut to).map(|_| ())
}
