//! A directory in which the files of a place are set out: a whole copy, or the upper layer of
//! an overlay, which shows what is below it where it has nothing of its own.
//!
//! Only we write here until the place is entered. Parts of a path that are links, or files
//! where a directory must be, are replaced, never followed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::path::{Path, PathBuf};
pub(super) use stopgate_system::set_modified;

use stopgate_system::CanonicalPath;
use stopgate_system::fs::{DirBuilderExt, FileTypeExt, MetadataExt, lchown, symlink};
use stopgate_system::set_mode;

use super::copier::CopySort;
use super::relink::relink;
use super::{FileContent, PlaceError, PlaceRecipe, RestoredFile, failed};

/// What becomes of a directory once everything is in it.
#[derive(Clone, Copy, Debug)]
struct DirFinish {
    mode: u32,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
}

/// What a path of the place shows.
#[derive(Debug, PartialEq, Eq)]
enum Shown {
    Nothing,
    Directory,
    File,
    Link,
    /// A part of the path before its last is a link.
    Behind(PathBuf),
}

/// A directory in the making.
#[derive(Debug)]
pub(super) struct Canvas {
    /// The real tree.
    tree: PathBuf,
    /// Where we write.
    top: PathBuf,
    /// Where that will be seen.
    sort: CopySort,
    /// What shows through.
    below: Option<PathBuf>,
    finish: BTreeMap<PathBuf, DirFinish>,
    /// Directories whose entries differ from the tree's: they keep the time of now.
    changed: BTreeSet<PathBuf>,
}

impl Canvas {
    /// A new directory that will hold everything.
    pub(super) fn blank(tree: &Path, top: &Path, sort: CopySort) -> io::Result<Self> {
        make_dir(top)?;
        let (finish, changed) = (BTreeMap::new(), BTreeSet::new());
        Ok(Self { tree: tree.into(), top: top.into(), sort, below: None, finish, changed })
    }

    /// A new directory that covers the tree in parts.
    pub(super) fn over(tree: &Path, top: &Path) -> io::Result<Self> {
        let mut canvas = Self::blank(tree, top, CopySort::Bound)?;
        canvas.below = Some(tree.into());
        canvas.model(Path::new(""), &fs::symlink_metadata(tree)?)?;
        Ok(canvas)
    }

    /// The directory itself.
    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// Where the link at a path must lead to be what it is in the tree.
    pub(super) fn link_target(&self, path: &Path, target: PathBuf) -> PathBuf {
        match self.sort {
            CopySort::Bound => target,
            CopySort::Elsewhere => relink(&self.tree, &self.top, path, &target),
        }
    }

    /// Restores files and takes others away.
    pub(super) fn apply(&mut self, recipe: &PlaceRecipe<'_>) -> Result<(), PlaceError> {
        for file in recipe.restore {
            self.restore(file).map_err(failed(&file.path))?;
        }
        for path in recipe.absent.iter().chain(recipe.unmade) {
            self.take_away(path, recipe.restore)?;
        }
        for path in recipe.absent {
            self.take_away_emptied(path).map_err(failed(path))?;
        }
        for mount in recipe.mounts.iter().filter(|mount| !mount.at.is_absolute()) {
            self.make_dirs(&mount.at).map_err(failed(&mount.at))?;
        }
        Ok(())
    }

    /// Remembers what a directory looks like in the tree, for [`Canvas::finish`].
    pub(super) fn model(&mut self, path: &Path, metadata: &Metadata) -> io::Result<()> {
        let at = self.top.join(path);
        // As root, what belongs to somebody stays theirs.
        if stopgate_system::is_superuser() {
            lchown(&at, Some(metadata.uid()), Some(metadata.gid()))?;
        }
        let modified = (metadata.mtime(), metadata.mtime_nsec());
        self.finish.insert(path.into(), DirFinish { mode: metadata.mode() & 0o7777, modified });
        Ok(())
    }

    /// Gives directories their modes and times, the innermost first.
    pub(super) fn finish(&self) -> io::Result<()> {
        for (path, finish) in self.finish.iter().rev() {
            let at = self.top.join(path);
            if !fs::symlink_metadata(&at).is_ok_and(|found| found.is_dir()) {
                continue;
            }
            set_mode(&at, finish.mode)?;
            if !self.changed.contains(path) {
                set_modified(&at, finish.modified)?;
            }
        }
        Ok(())
    }

    fn restore(&mut self, file: &RestoredFile) -> io::Result<()> {
        let parent = file.path.parent().unwrap_or(Path::new(""));
        self.make_dirs(parent)?;
        let to = self.top.join(&file.path);
        remove_any(&to)?;
        self.changed.insert(parent.into());
        match &file.content {
            FileContent::Link(target) => symlink(self.link_target(&file.path, target.into()), &to),
            FileContent::File { bytes, executable } => {
                fs::write(&to, bytes)?;
                let mode = if *executable { 0o755 } else { 0o644 };
                set_mode(&to, mode)
            }
        }
    }

    /// Makes sure that a path is a directory of its own.
    fn make_dirs(&mut self, path: &Path) -> io::Result<()> {
        let mut at = PathBuf::new();
        for part in path {
            let parent = at.clone();
            at.push(part);
            let to = self.top.join(&at);
            if fs::symlink_metadata(&to).is_ok_and(|found| found.is_dir()) {
                continue;
            }
            let model = self.model_of(&at);
            remove_any(&to)?;
            make_dir(&to)?;
            if let Some(model) = model {
                self.model(&at, &model)?;
            } else {
                set_mode(&to, 0o755)?;
                self.changed.insert(parent);
            }
        }
        Ok(())
    }

    /// The directory that shows through at a path, if there is one.
    fn model_of(&self, path: &Path) -> Option<Metadata> {
        if self.shown(path) != Shown::Directory {
            return None;
        }
        fs::symlink_metadata(self.below.as_ref()?.join(path)).ok()
    }

    fn take_away(&mut self, path: &Path, kept: &[RestoredFile]) -> Result<(), PlaceError> {
        match self.shown(path) {
            Shown::Nothing => Ok(()),
            // What stood in the way of a link that was put back went with that.
            Shown::Behind(link) if kept.iter().any(|file| file.path == *link) => Ok(()),
            Shown::Behind(link) => self.take_away_behind(&link, path, kept),
            Shown::File | Shown::Link if kept.iter().any(|file| file.path == *path) => Ok(()),
            Shown::Directory if kept.iter().any(|file| file.path.starts_with(path)) => {
                for name in self.names(path).map_err(failed(path))? {
                    self.take_away(&path.join(name), kept)?;
                }
                Ok(())
            }
            Shown::Directory | Shown::File | Shown::Link => self.hide(path).map_err(failed(path)),
        }
    }

    /// Takes away what a link of the tree leads to, if that is in the tree as well.
    fn take_away_behind(
        &mut self,
        link: &Path,
        path: &Path,
        kept: &[RestoredFile],
    ) -> Result<(), PlaceError> {
        let real = self.tree.join(link).canonical().ok();
        let inner = real.as_deref().and_then(|real| real.strip_prefix(&self.tree).ok());
        let rest = path.strip_prefix(link).unwrap_or(path);
        match inner {
            // It was a link a moment ago: somebody changes the tree meanwhile.
            Some(inner) if inner == link => Ok(()),
            Some(inner) => self.take_away(&inner.join(rest), kept),
            None if !self.tree.join(path).exists() => Ok(()),
            None => Err(PlaceError::Unusable {
                path: path.into(),
                why: "it is behind a link that leads out of the tree, so it can't be taken away",
            }),
        }
    }

    fn hide(&mut self, path: &Path) -> io::Result<()> {
        let parent = path.parent().unwrap_or(Path::new(""));
        let to = self.top.join(path);
        let shows_through = self.below.is_some() && self.below_at(path).is_some();
        remove_any(&to)?;
        self.changed.insert(parent.into());
        if shows_through {
            self.make_dirs(parent)?;
            whiteout(&to)?;
        }
        Ok(())
    }

    /// Takes away directories that hold nothing any more: a loop over them would miss their files.
    fn take_away_emptied(&mut self, path: &Path) -> io::Result<()> {
        let above = path.ancestors().skip(1).filter(|at| !at.as_os_str().is_empty());
        for directory in above.collect::<Vec<_>>() {
            if self.shown(directory) != Shown::Directory {
                continue;
            }
            let mut names = self.names(directory)?.into_iter();
            if names.any(|name| self.shown(&directory.join(name)) != Shown::Nothing) {
                break;
            }
            self.hide(directory)?;
        }
        Ok(())
    }

    fn names(&self, path: &Path) -> io::Result<BTreeSet<std::ffi::OsString>> {
        let mut names = BTreeSet::new();
        let both = [Some(self.top.join(path)), self.below_at(path)];
        for directory in both.iter().flatten().filter(|at| at.is_dir()) {
            for entry in fs::read_dir(directory)? {
                names.insert(entry?.file_name());
            }
        }
        Ok(names)
    }

    /// Where a path is in the tree, if nothing of ours covers it.
    fn below_at(&self, path: &Path) -> Option<PathBuf> {
        let mut at = self.below.clone()?;
        let mut top = self.top.clone();
        for part in path {
            if !fs::symlink_metadata(&at).ok()?.is_dir() {
                return None;
            }
            if fs::symlink_metadata(&top).is_ok_and(|found| !found.is_dir()) {
                return None;
            }
            at.push(part);
            top.push(part);
        }
        fs::symlink_metadata(&at).is_ok().then_some(at)
    }

    /// What a path of the place shows, whichever directory it comes from.
    fn shown(&self, path: &Path) -> Shown {
        let mut at = PathBuf::new();
        let mut shown = Shown::Directory;
        for part in path {
            match shown {
                Shown::Directory => {}
                Shown::Link => return Shown::Behind(at),
                Shown::Nothing | Shown::File | Shown::Behind(_) => return Shown::Nothing,
            }
            at.push(part);
            let own = fs::symlink_metadata(self.top.join(&at)).ok();
            let found = own.or_else(|| fs::symlink_metadata(self.below_at(&at)?).ok());
            shown = found.map_or(Shown::Nothing, |found| sort(&found));
        }
        shown
    }
}

fn sort(found: &Metadata) -> Shown {
    if found.is_dir() {
        Shown::Directory
    } else if found.is_symlink() {
        Shown::Link
    } else if is_whiteout(found) {
        Shown::Nothing
    } else {
        Shown::File
    }
}

/// Whether an overlay takes this for a name that was deleted.
pub(super) fn is_whiteout(found: &Metadata) -> bool {
    found.file_type().is_char_device() && found.rdev() == 0
}

/// A directory that nobody else can change meanwhile; its mode comes at the end.
pub(super) fn make_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

fn remove_any(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(target_os = "linux")]
fn whiteout(path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    Ok(mknodat(CWD, path, FileType::CharacterDevice, Mode::empty(), 0)?)
}

#[cfg(not(target_os = "linux"))]
fn whiteout(_: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
