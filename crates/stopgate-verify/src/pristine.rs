//! A copy of the work tree in which what a check is judged by is as it was at the start.
//!
//! The work tree and the user's repository are only read. The copy is private, and goes when
//! it is dropped; what a killed process left behind goes when the next copy is made.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, test_kill_process};
use stopgate_core::Criterion;

use crate::seal::{Form, Keep, Original, Seal, SealError, Sealed};
use crate::tree::{Kind, Tree, TreeFile};

const PREFIX: &str = "pristine-";

/// What a copy is made of.
#[derive(Clone, Copy, Debug)]
pub struct Recipe<'a> {
    /// The project's root.
    pub root: &'a Path,
    /// The files of the whole work tree, its root first.
    pub tree: &'a Tree,
    /// What the checks are judged by.
    pub seal: &'a Seal,
    /// Where the seal keeps contents.
    pub store: &'a Path,
    /// The criterion that is to be checked; it says what is borrowed from the work tree.
    pub criterion: &'a Criterion,
    /// The folder that the copy is made in, outside the work tree.
    pub into: &'a Path,
}

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum PristineError {
    /// The criterion was not there at the start.
    #[error("copy the work tree for «{0}»: it was not among the criteria at the start")]
    Unsealed(String),
    /// The seal could not be read.
    #[error("copy the work tree as it was at the start")]
    Seal(#[from] SealError),
    /// A protected file is too large to have been kept.
    #[error(
        "put {} back as it was at the start: it was too large to be kept, or could not be read; \
         protect less, or check in the work tree", path.display()
    )]
    NotKept {
        /// The file.
        path: PathBuf,
    },
    /// What is to be borrowed does not lie in the project.
    #[error("borrow «{0}» from the work tree: name a path in the project")]
    Link(String),
    /// The system refused.
    #[error("copy {}", path.display())]
    Copy {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// A copy, gone when dropped.
#[derive(Debug)]
pub struct Pristine {
    path: PathBuf,
}

impl Pristine {
    /// The copy's root.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Pristine {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Makes a copy for one criterion.
pub fn make(recipe: &Recipe<'_>) -> Result<Pristine, PristineError> {
    let name = &recipe.criterion.name;
    let ground = recipe.seal.ground(name)?;
    let ground = ground.ok_or_else(|| PristineError::Unsealed(name.clone()))?;
    let links = links(&recipe.criterion.terms.link)?;
    let pristine = Pristine { path: fresh(recipe.into)? };
    let mut copy =
        Copy { recipe, ground: &ground, links: &links, to: &pristine.path, made: BTreeSet::new() };
    copy.links()?;
    for file in recipe.tree.files().filter(|file| file.root == 0) {
        copy.file(&file)?;
    }
    for original in ground.originals() {
        copy.original(&original)?;
    }
    Ok(pristine)
}

/// A copy in the making.
struct Copy<'a> {
    recipe: &'a Recipe<'a>,
    ground: &'a Sealed<'a>,
    links: &'a [PathBuf],
    to: &'a Path,
    /// Folders that are there already.
    made: BTreeSet<PathBuf>,
}

impl Copy<'_> {
    /// Borrows from the work tree; what is not there is not missed.
    fn links(&mut self) -> Result<(), PristineError> {
        for link in self.links {
            let from = self.recipe.root.join(link);
            if fs::symlink_metadata(&from).is_ok() {
                self.folder_of(link)?;
                symlink(&from, self.to.join(link)).map_err(|source| failed(&from, source))?;
            }
        }
        Ok(())
    }

    fn file(&mut self, file: &TreeFile) -> Result<(), PristineError> {
        if self.is_borrowed(&file.path) || self.ground.decides(&file.path) {
            return Ok(());
        }
        self.folder_of(&file.path)?;
        let (from, to) = (self.recipe.root.join(&file.path), self.to.join(&file.path));
        let copied = match file.kind {
            Kind::Link => fs::read_link(&from).and_then(|target| symlink(target, &to)),
            Kind::Plain | Kind::Executable | Kind::Unreadable => copy_file(&from, &to),
        };
        match copied {
            // It went meanwhile, or can't be read here either: the check will see the same.
            Err(error) if is_absence(&error) => Ok(()),
            copied => copied.map_err(|source| failed(&from, source)),
        }
    }

    /// Puts a file back as it was at the start.
    fn original(&mut self, original: &Original) -> Result<(), PristineError> {
        let path = &original.path;
        if self.is_borrowed(path) {
            return Ok(());
        }
        if original.form == Form::Lost {
            return Err(PristineError::NotKept { path: path.clone() });
        }
        let to = self.to.join(path);
        let fail = |source| failed(path, source);
        let content = Keep::new(self.recipe.store, 0).get(&original.content).map_err(fail)?;
        self.folder_of(path)?;
        let mode = if original.form == Form::Executable { 0o755 } else { 0o644 };
        match original.form {
            Form::Link => symlink(OsStr::from_bytes(&content), &to),
            Form::Plain | Form::Executable | Form::Lost => fs::write(&to, content)
                .and_then(|()| fs::set_permissions(&to, fs::Permissions::from_mode(mode))),
        }
        .map_err(fail)
    }

    fn is_borrowed(&self, path: &Path) -> bool {
        self.links.iter().any(|link| path.starts_with(link))
    }

    fn folder_of(&mut self, path: &Path) -> Result<(), PristineError> {
        let Some(folder) = path.parent().filter(|folder| !self.made.contains(*folder)) else {
            return Ok(());
        };
        self.clear_way(folder).map_err(|source| failed(&self.to.join(folder), source))?;
        self.made.insert(folder.into());
        Ok(())
    }

    /// Makes a folder. Where the work has put a file or a link instead, that goes: nothing is
    /// ever written through a link.
    fn clear_way(&self, folder: &Path) -> io::Result<()> {
        let mut at = self.to.to_path_buf();
        for part in folder.components() {
            at.push(part);
            match fs::symlink_metadata(&at) {
                Ok(found) if found.is_dir() => continue,
                Ok(_) => fs::remove_file(&at)?,
                Err(_) => {}
            }
            fs::create_dir(&at)?;
        }
        Ok(())
    }
}

/// Copies a file with its mode and its time, sharing its blocks where the disk can.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    let metadata = fs::metadata(from)?;
    // Tools that compare times see what they would see in the work tree.
    let time = metadata.modified()?;
    match File::options().write(true).open(to) {
        Ok(copy) => copy.set_modified(time),
        // A read-only file keeps the time of its copy.
        Err(_) => Ok(()),
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

fn failed(path: &Path, source: io::Error) -> PristineError {
    PristineError::Copy { path: path.into(), source }
}

fn links(named: &[String]) -> Result<Vec<PathBuf>, PristineError> {
    let inner = |text: &String| {
        let path: PathBuf =
            Path::new(text).components().filter(|part| *part != Component::CurDir).collect();
        let is_inner = path.components().all(|part| matches!(part, Component::Normal(_)));
        let is_inner = is_inner && path.components().next().is_some();
        is_inner.then_some(path).ok_or_else(|| PristineError::Link(text.clone()))
    };
    named.iter().map(inner).collect()
}

/// A new folder that only we can look into.
fn fresh(into: &Path) -> Result<PathBuf, PristineError> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    fs::create_dir_all(into).map_err(|source| failed(into, source))?;
    remove_orphans(into);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = into.join(format!("{PREFIX}{}-{count}", std::process::id()));
    // A process of this number may have died here before.
    remove(&path);
    DirBuilder::new().mode(0o700).create(&path).map_err(|source| failed(&path, source))?;
    path.canonicalize().map_err(|source| failed(&path, source))
}

/// Removes the copies of processes that are gone.
fn remove_orphans(into: &Path) {
    let Ok(found) = fs::read_dir(into) else { return };
    for entry in found.flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let owner = owner.and_then(|rest| rest.split('-').next()?.parse().ok());
        let owner = owner.and_then(Pid::from_raw);
        if owner.is_some_and(|owner| test_kill_process(owner) == Err(rustix::io::Errno::SRCH)) {
            remove(&entry.path());
        }
    }
}

/// Removes a copy, also where a check took away the right to.
fn remove(path: &Path) {
    if fs::remove_dir_all(path).is_err() && path.exists() {
        open_up(path);
        let _ = fs::remove_dir_all(path);
    }
}

fn open_up(folder: &Path) {
    let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
    let inner = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in inner.filter(|entry| entry.file_type().is_ok_and(|sort| sort.is_dir())) {
        open_up(&entry.path());
    }
}

#[cfg(test)]
mod tests;
