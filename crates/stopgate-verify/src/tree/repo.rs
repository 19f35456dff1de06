//! What git knows beyond the `.gitignore` files in a tree.
//!
//! Git is asked only when one of its own files changed since it was asked before. It never
//! takes a lock and starts no program for us.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::ignore::{Meaning, Rules, Thing};
use super::stat::Stat;
use crate::environment::variable;

/// Variables that would send git elsewhere.
const MISLEADING: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

/// Git could not be asked.
#[derive(Debug)]
pub(crate) struct NoAnswer(pub(crate) String);

/// A file outside the tree, and how it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Watched {
    pub(crate) path: PathBuf,
    /// Nothing where there was none.
    pub(crate) stat: Option<Stat>,
}

/// One repository, or the root of a tree that is in none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repo {
    /// Its folder, from the root.
    pub(crate) at: Vec<u8>,
    /// Its list of tracked files.
    pub(crate) index: Option<Watched>,
    /// The files that say what is ignored; any change is a reason to look at everything.
    pub(crate) watched: Vec<Watched>,
    /// Paths from the root that are tracked although they are ignored, in order.
    pub(crate) tracked: Vec<Vec<u8>>,
    /// Its top; above its folder where the root of the tree lies deeper.
    pub(crate) top: PathBuf,
    /// Its own list of what to ignore, and the person's.
    pub(crate) lists: Vec<PathBuf>,
}

/// The rules of one repository that do not stand in its tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outer {
    /// From the repository's top to the root, where the root lies deeper.
    prefix: Vec<u8>,
    /// The rules of folders above the root, and how much of the prefix is above each.
    above: Vec<(usize, Rules)>,
    /// The repository's own list, then the person's.
    lists: Vec<Rules>,
}

/// Where git keeps its things.
#[derive(Clone, Debug)]
pub(crate) struct GitFolder {
    own: PathBuf,
    common: PathBuf,
}

impl Watched {
    pub(crate) fn look(path: PathBuf) -> Self {
        let stat = fs::metadata(&path).ok().map(|metadata| Stat::of_metadata(&metadata));
        Self { path, stat }
    }

    pub(crate) fn is_same(&self, taken: i64) -> bool {
        let now = fs::metadata(&self.path).ok().map(|metadata| Stat::of_metadata(&metadata));
        match (now, self.stat) {
            (Some(now), Some(then)) => now.still_is(&then, taken),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    }
}

impl GitFolder {
    /// What the folder's `.git` leads to, where that is a repository.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        let dot = folder.join(".git");
        let own = if fs::metadata(&dot).ok()?.is_dir() {
            dot
        } else {
            let text = fs::read(&dot).ok()?;
            let path = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
            folder.join(OsStr::from_bytes(path))
        };
        fs::symlink_metadata(own.join("HEAD")).ok()?;
        let common = match fs::read(own.join("commondir")) {
            Ok(text) => own.join(OsStr::from_bytes(text.trim_ascii_end())),
            Err(_) => own.clone(),
        };
        Some(Self { own, common })
    }
}

/// The repository that a root lies in, and its top.
pub(crate) fn around(root: &Path) -> Option<(PathBuf, GitFolder)> {
    root.ancestors().find_map(|top| Some((top.to_path_buf(), GitFolder::of(top)?)))
}

impl Repo {
    /// Learns about the repository whose top is `top`, as seen from `folder`, which lies at
    /// `at` from the root.
    pub(crate) fn learn(
        top: PathBuf,
        git: &GitFolder,
        folder: &Path,
        at: &[u8],
    ) -> Result<Self, NoAnswer> {
        let index = Watched::look(git.own.join("index"));
        let (global, said_by) = excludes_file(folder)?;
        let mut lists = vec![git.common.join("info/exclude")];
        lists.extend(global);
        let mut paths = vec![
            git.common.join("config"),
            git.own.join("config.worktree"),
            "/etc/gitconfig".into(),
        ];
        paths.extend(settings().into_iter().chain(said_by).chain(lists.clone()));
        paths.extend(above(&top, folder).map(|(_, file)| file));
        let watched = paths.into_iter().map(Watched::look).collect();
        let tracked = tracked(folder, at, &index)?;
        Ok(Self { at: at.into(), index: Some(index), watched, tracked, top, lists })
    }

    /// Asks again which ignored files are tracked.
    pub(crate) fn ask_again(&mut self, root: &Path) -> Result<(), NoAnswer> {
        if let Some(index) = &mut self.index {
            *index = Watched::look(std::mem::take(&mut index.path));
            let folder = root.join(OsStr::from_bytes(&self.at));
            self.tracked = tracked(&folder, &self.at, index)?;
        }
        Ok(())
    }

    /// Whether git keeps its list of this repository's files there.
    pub(crate) fn is_of(&self, git: Option<&GitFolder>) -> bool {
        let own = self.index.as_ref().map(|index| index.path.as_path());
        own == git.map(|git| git.own.join("index")).as_deref()
    }
}

/// The ignore files between a repository's top and a folder, and how much of the way is above.
fn above<'a>(top: &'a Path, folder: &'a Path) -> impl Iterator<Item = (usize, PathBuf)> + 'a {
    let below = folder.strip_prefix(top).unwrap_or(Path::new(""));
    let mut at = top.to_path_buf();
    let mut length = 0;
    below.components().map(move |part| {
        let found = (length, at.join(".gitignore"));
        at.push(part);
        length += part.as_os_str().len() + 1;
        found
    })
}

impl Outer {
    /// Reads the rules of a repository that was learnt at `folder`.
    pub(crate) fn read(repo: &Repo, folder: &Path) -> Self {
        let mut outer = Self::default();
        outer.lists.extend(repo.lists.iter().map(|path| read_rules(path)));
        if repo.index.is_some() {
            let above = above(&repo.top, folder);
            outer.above.extend(above.map(|(from, file)| (from, read_rules(&file))));
            let below = folder.strip_prefix(&repo.top).unwrap_or(Path::new(""));
            for part in below.components() {
                outer.prefix.extend_from_slice(part.as_os_str().as_bytes());
                outer.prefix.push(b'/');
            }
        }
        // Whoever works in an ignored folder does not mean that nothing in it counts.
        if outer.ignores_itself() { Self::default() } else { outer }
    }

    /// What they say about a path from the folder that the repository was learnt at.
    pub(crate) fn about(&self, path: &[u8], thing: Thing) -> Option<Meaning> {
        if self.prefix.is_empty() {
            return self.lists.iter().find_map(|rules| rules.about(path, thing));
        }
        self.about_whole(&[self.prefix.as_slice(), path].concat(), thing)
    }

    fn about_whole(&self, whole: &[u8], thing: Thing) -> Option<Meaning> {
        let above = self.above.iter().rev().filter(|(from, _)| *from < whole.len());
        let mut above = above.map(|(from, rules)| rules.about(&whole[*from..], thing));
        let mut lists = self.lists.iter().map(|rules| rules.about(whole, thing));
        above.find_map(|told| told).or_else(|| lists.find_map(|told| told))
    }

    /// Whether the folder itself is ignored by what lies around it.
    fn ignores_itself(&self) -> bool {
        let slashes = (0..self.prefix.len()).filter(|at| self.prefix[*at] == b'/');
        let folders = slashes.map(|end| &self.prefix[..end]);
        let mut told = folders.map(|folder| self.about_whole(folder, Thing::Folder));
        told.any(|told| told == Some(Meaning::Ignore))
    }
}

fn read_rules(path: &Path) -> Rules {
    fs::read(path).map(|text| Rules::read(&text)).unwrap_or_default()
}

/// The person's own settings, wherever they may lie.
fn settings() -> Vec<PathBuf> {
    let home = std::env::home_dir().map(|home| home.join(".gitconfig"));
    home.into_iter().chain(config_folder().map(|folder| folder.join("config"))).collect()
}

fn config_folder() -> Option<PathBuf> {
    let named = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let folder = named.or_else(|| Some(std::env::home_dir()?.join(".config")))?;
    Some(folder.join("git"))
}

/// The person's own list of what to ignore, and the file that names it.
fn excludes_file(folder: &Path) -> Result<(Option<PathBuf>, Option<PathBuf>), NoAnswer> {
    let asked = ["config", "--show-origin", "-z", "--type=path", "--get", "core.excludesFile"];
    let said = match ask(folder, &asked)? {
        Said::Text(text) => text,
        // Not set.
        Said::Failed(_) => return Ok((config_folder().map(|git| git.join("ignore")), None)),
    };
    let mut parts = said.split(|byte| *byte == 0);
    let origin = parts.next().and_then(|origin| origin.strip_prefix(b"file:"));
    let path = parts.next().filter(|path| !path.is_empty());
    let at = |path: &[u8]| folder.join(OsStr::from_bytes(path));
    Ok((path.map(at), origin.map(at)))
}

/// Paths from the root that are tracked although they are ignored, in order.
fn tracked(folder: &Path, at: &[u8], index: &Watched) -> Result<Vec<Vec<u8>>, NoAnswer> {
    if index.stat.is_none() {
        return Ok(Vec::new());
    }
    let said = match ask(folder, &["ls-files", "-c", "-i", "--exclude-standard", "-z"])? {
        Said::Text(text) => text,
        Said::Failed(why) => return Err(NoAnswer(why)),
    };
    let paths = said.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    let mut tracked: Vec<Vec<u8>> = paths
        .map(|path| if at.is_empty() { path.into() } else { [at, b"/", path].concat() })
        .collect();
    tracked.sort_unstable();
    tracked.dedup();
    Ok(tracked)
}

enum Said {
    Text(Vec<u8>),
    Failed(String),
}

#[expect(clippy::disallowed_methods, reason = "the door to git")]
fn ask(folder: &Path, arguments: &[&str]) -> Result<Said, NoAnswer> {
    let mut git = Command::new("git");
    git.args(["--no-optional-locks", "-c", "core.fsmonitor=false"]).args(arguments);
    git.current_dir(folder).stdin(Stdio::null());
    for name in MISLEADING {
        git.env_remove(name);
    }
    let output = git.output().map_err(|error| NoAnswer(format!("git: {error}")))?;
    if output.status.success() {
        return Ok(Said::Text(output.stdout));
    }
    let why = std::ffi::OsString::from_vec(output.stderr).to_string_lossy().trim().to_string();
    Ok(Said::Failed(why))
}
