//! Where an original run takes place: today's work tree with some files restored and others
//! absent, at the tree's own path where the system allows it.
//!
//! There are three kinds, best first: an overlay on the tree's path, a copy bound to the tree's
//! path, and a copy elsewhere. The real tree is only read. Whatever making or using a place
//! writes goes to a private directory of its own, which is removed when the place is dropped.
//! Contents are never shared by hard links, and nothing is written through a symbolic link.

mod arguments;
mod canvas;
mod copier;
mod entrance;
mod git_copy;
mod hermetic;
mod listing;
mod namespace;
mod outputs;
mod overlay;
mod private_dir;
mod probe;
mod project_copy;
mod relink;
mod stand_in_home;
mod written;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_system::CanonicalPath;

#[cfg(unix)]
pub(crate) use self::private_dir::{private_roots, remove_orphans};
pub(crate) use self::probe::{PlaceProbe, probe};
pub(crate) use self::project_copy::CopyInterrupts;
pub use self::project_copy::ProjectCopy;
pub(crate) use self::stand_in_home::StandInHome;
pub(crate) use self::written::{PathChange, WrittenPath};

use self::canvas::Canvas;
use self::copier::{CopySort, copy_tree};
use self::entrance::Entrance;
use self::listing::Deadline;
use self::namespace::Namespace;
use self::overlay::Overlay;
use self::private_dir::PrivateDir;
use self::written::PlaceRecord;

stopgate_core::words! {
    /// How a place is made.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PlaceKind {
        /// An overlay on the tree's own path: nothing is copied.
        Overlay = "overlay",
        /// A copy that is bound to the tree's own path.
        BoundCopy = "bound",
        /// A copy at another path, without build outputs.
        Copy = "copy",
    }
}

/// What a file is restored to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileContent {
    /// A regular file.
    File {
        /// All of it.
        bytes: Vec<u8>,
        /// Whether it may be executed.
        executable: bool,
    },
    /// A symbolic link to this target.
    Link(PathBuf),
}

/// A file that has an earlier content in the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RestoredFile {
    /// Its path below the root.
    pub(crate) path: PathBuf,
    /// What it contains there.
    pub(crate) content: FileContent,
}

/// A directory of ours that covers one of the place, such as `target/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BindMount {
    /// The directory; what the run writes there stays.
    pub(crate) from: PathBuf,
    /// Where it appears: below the root, or an absolute path.
    pub(crate) at: PathBuf,
}

/// A file or directory outside the tree that looks different in the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mask {
    /// Its absolute path.
    pub(crate) path: PathBuf,
    /// What is seen instead; an empty file or directory if there is nothing.
    pub(crate) content: Option<Vec<u8>>,
    /// Whether it can be run there.
    pub(crate) executable: bool,
}

/// How far a run is kept apart from the rest of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Isolation {
    /// It sees the machine as it is.
    None,
    /// Own process numbers, an empty home and empty temporary directories of its own.
    ///
    /// `HOME` is a new variable, not a mask: the person's home can still be read by its path,
    /// because toolchains live there.
    Hermetic {
        /// Whether the network can be reached; the loopback interface always works.
        network: NetworkAccess,
    },
}

/// Whether a hermetic run reaches the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetworkAccess {
    /// It does.
    Allowed,
    /// It has nothing but a loopback interface.
    Denied,
}

/// What a place is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaceRecipe<'a> {
    /// The tree's root.
    pub(crate) root: &'a Path,
    /// The directory that private directories are made in, outside the tree.
    pub(crate) scratch: &'a Path,
    /// Files that have earlier contents.
    pub(crate) restore: &'a [RestoredFile],
    /// Paths below the root that are not there, nor directories that hold nothing else.
    pub(crate) absent: &'a [PathBuf],
    /// Paths below the root that are not there, for the run to make them: their directories are.
    pub(crate) unmade: &'a [PathBuf],
    /// Directories of ours that cover others; not in a copy elsewhere.
    pub(crate) mounts: &'a [BindMount],
    /// Files outside the tree that look different; not in a copy elsewhere.
    pub(crate) masks: &'a [Mask],
    /// How far the run is kept apart.
    pub(crate) isolation: Isolation,
}

/// Which kind of place original runs have here, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceReport {
    /// How a place can be made here.
    pub kind: PlaceKind,
    /// Why the better kinds are not available, one sentence each.
    pub missing: Vec<String>,
}

/// Tries which kind of place works for this tree.
pub fn place_report(root: &Path, scratch: &Path) -> PlaceReport {
    let PlaceProbe { kind, missing, .. } = probe(root, scratch, Isolation::None);
    PlaceReport { kind, missing }
}

/// Why there is no place.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlaceError {
    /// The root or a path of the recipe can't be used.
    #[error("use {} for an original run: {why}", path.display())]
    Unusable {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// This machine can't do it.
    #[error("make a place for an original run: {0}")]
    Unsupported(String),
    /// The tree is too large to be copied.
    #[error(
        "copy {}: it has more than {files_max} files or {gigabytes_max} GiB; \
         move data that no check needs out of the tree", root.display()
    )]
    TooLarge {
        /// The tree.
        root: PathBuf,
        /// How many files are copied at most.
        files_max: usize,
        /// How much is copied at most.
        gigabytes_max: u64,
    },
    /// It took too long.
    #[error("copy {}: not done within {} s", root.display(), within.as_secs())]
    TooSlow {
        /// The tree.
        root: PathBuf,
        /// How long it could take.
        within: Duration,
    },
    /// The system refused.
    #[error("prepare {} for an original run", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// What is to be spawned for a command to run in a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The program and its arguments.
    pub(crate) argv: Vec<OsString>,
    /// The directory to spawn it in.
    pub(crate) cwd: PathBuf,
}

/// A place for one run at a time, gone when dropped.
#[derive(Debug)]
pub(crate) struct RunPlace {
    kind: PlaceKind,
    /// The real tree.
    tree: PathBuf,
    /// Where the place is for those inside it.
    root: PathBuf,
    entrance: Option<Entrance>,
    record: PlaceRecord,
    private: PrivateDir,
}

impl RunPlace {
    /// Makes a place of this kind.
    pub(crate) fn open(
        recipe: &PlaceRecipe<'_>,
        kind: PlaceKind,
        within: Duration,
    ) -> Result<Self, PlaceError> {
        let namespace = match kind {
            PlaceKind::Copy => None,
            PlaceKind::Overlay | PlaceKind::BoundCopy => Some(Namespace::find()?),
        };
        Self::open_in(recipe, kind, namespace, within)
    }

    fn open_in(
        recipe: &PlaceRecipe<'_>,
        kind: PlaceKind,
        namespace: Option<Namespace>,
        within: Duration,
    ) -> Result<Self, PlaceError> {
        let tree = arguments::usable_root(recipe)?;
        let recipe = &PlaceRecipe { root: &tree, ..*recipe };
        arguments::check(recipe, kind)?;
        let private = PrivateDir::make(recipe.scratch).map_err(failed(recipe.scratch))?;
        let deadline = Deadline::after(&tree, within);
        match (kind, namespace) {
            (PlaceKind::Overlay, Some(namespace)) => {
                Self::overlay(recipe, private, namespace, &deadline)
            }
            (PlaceKind::BoundCopy, Some(namespace)) => {
                Self::bound_copy(recipe, private, namespace, &deadline)
            }
            (PlaceKind::Copy, _) | (_, None) => Self::copy(recipe, private, &deadline),
        }
    }

    fn overlay(
        recipe: &PlaceRecipe<'_>,
        private: PrivateDir,
        namespace: Namespace,
        deadline: &Deadline,
    ) -> Result<Self, PlaceError> {
        let overlay = Overlay::make(recipe, private.path(), deadline)?;
        let mut entrance = Entrance::new(namespace, private.path());
        for layer in overlay.layers() {
            entrance.overlay(layer);
        }
        entrance.furnish(recipe)?;
        let record = PlaceRecord::of_layer(overlay.top(), recipe)?;
        let tree = recipe.root.to_path_buf();
        let root = tree.clone();
        let entrance = Some(entrance);
        Ok(Self { kind: PlaceKind::Overlay, tree, root, entrance, record, private })
    }

    fn bound_copy(
        recipe: &PlaceRecipe<'_>,
        private: PrivateDir,
        namespace: Namespace,
        deadline: &Deadline,
    ) -> Result<Self, PlaceError> {
        let copy = private.path().join("tree");
        make_copy(recipe, CopySort::Bound, &copy, deadline)?;
        Self::bound(recipe, &copy, private, namespace)
    }

    /// A place in which this directory stands for the tree.
    fn stand_in(
        recipe: &PlaceRecipe<'_>,
        copy: &Path,
        namespace: Namespace,
    ) -> Result<Self, PlaceError> {
        let tree = arguments::usable_root(recipe)?;
        let recipe = &PlaceRecipe { root: &tree, ..*recipe };
        let private = PrivateDir::make(recipe.scratch).map_err(failed(recipe.scratch))?;
        Self::bound(recipe, copy, private, namespace)
    }

    fn bound(
        recipe: &PlaceRecipe<'_>,
        copy: &Path,
        private: PrivateDir,
        namespace: Namespace,
    ) -> Result<Self, PlaceError> {
        let mut entrance = Entrance::new(namespace, private.path());
        entrance.bind(copy, recipe.root);
        entrance.furnish(recipe)?;
        let record = PlaceRecord::of_copy(copy, recipe)?;
        let tree = recipe.root.to_path_buf();
        let root = tree.clone();
        let entrance = Some(entrance);
        Ok(Self { kind: PlaceKind::BoundCopy, tree, root, entrance, record, private })
    }

    fn copy(
        recipe: &PlaceRecipe<'_>,
        private: PrivateDir,
        deadline: &Deadline,
    ) -> Result<Self, PlaceError> {
        let root = private.path().join("tree");
        make_copy(recipe, CopySort::Elsewhere, &root, deadline)?;
        let record = PlaceRecord::of_copy(&root, recipe)?;
        let tree = recipe.root.to_path_buf();
        Ok(Self { kind: PlaceKind::Copy, tree, root, entrance: None, record, private })
    }

    /// What to spawn for `argv` to run in the place, in `cwd`, a directory of the tree.
    ///
    /// Exit codes and signals are the command's own. Only a hermetic run, which has a process
    /// of ours around it, turns exit codes above 128 into the signals they stand for.
    pub(crate) fn command(&self, argv: Vec<OsString>, cwd: &Path) -> Launch {
        let Some(entrance) = &self.entrance else {
            let argv = argv.iter().map(|word| self.translate(word)).collect();
            return Launch { argv, cwd: self.inside(cwd) };
        };
        entrance.renew();
        let cwd = cwd.canonical().unwrap_or_else(|_| cwd.into());
        Launch { argv: entrance.argv(argv, &cwd), cwd: self.private.path().into() }
    }

    /// A text for those inside: in a copy elsewhere, paths of the tree become the copy's.
    ///
    /// Variables such as `VIRTUAL_ENV` and `PYTHONPATH` would lead out of the place otherwise.
    pub(crate) fn translate(&self, text: &OsStr) -> OsString {
        arguments::translate(text, &self.tree, &self.root)
    }

    /// Whether the last command was started at all; if not, the place refused, not the check.
    pub(crate) fn entered(&self) -> bool {
        let Some(entrance) = &self.entrance else { return true };
        fs::metadata(entrance.mark()).is_ok_and(|mark| mark.len() > 0)
    }

    /// A directory of the place for a run's own home, which is not made yet.
    pub(crate) fn home(&self) -> PathBuf {
        self.private.path().join("home")
    }

    /// Where the files of a copy are for those outside it; nothing for an overlay.
    pub(crate) fn copied(&self) -> Option<PathBuf> {
        (self.kind != PlaceKind::Overlay).then(|| self.private.path().join("tree"))
    }

    /// The tree's root as a command inside sees it.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// What runs have created, changed or deleted below the root, in order.
    ///
    /// What a [`BindMount`] covers is not looked at.
    pub(crate) fn written(&self) -> io::Result<Vec<WrittenPath>> {
        self.record.compare(&self.tree)
    }

    /// A file as runs have left it, where it is there and not too long.
    pub(crate) fn left(&self, path: &Path, bytes_max: u64) -> Option<RestoredFile> {
        let content = self.record.content(path, bytes_max)?;
        Some(RestoredFile { path: path.into(), content })
    }

    fn inside(&self, path: &Path) -> PathBuf {
        let real = path.canonical();
        let real = real.as_deref().unwrap_or(path);
        real.strip_prefix(&self.tree).map_or_else(|_| path.into(), |rest| self.root.join(rest))
    }
}

fn make_copy(
    recipe: &PlaceRecipe<'_>,
    sort: CopySort,
    to: &Path,
    deadline: &Deadline,
) -> Result<(), PlaceError> {
    let mut canvas = Canvas::blank(recipe.root, to, sort).map_err(failed(to))?;
    copy_tree(recipe, sort, &mut canvas, deadline)?;
    canvas.apply(recipe)?;
    canvas.finish().map_err(failed(to))
}

/// What the system said about a path.
fn failed(path: &Path) -> impl Fn(io::Error) -> PlaceError {
    let path = path.to_path_buf();
    move |source| PlaceError::Io { path: path.clone(), source }
}

#[cfg(test)]
mod tests;
