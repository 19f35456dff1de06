//! What git knows beyond the `.gitignore` files in a tree.
//!
//! Git is asked only when one of its own files changed since it was asked before. It never
//! takes a lock and starts no program for us.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stopgate_system::ffi::OsStrExt;

use super::ignore::{IgnoreRules, Meaning, Thing};
use super::index::join;
use super::stat::Stat;
use crate::environment::{home_directory, variable};
use crate::files::{open_regular, read_regular};
use crate::git::{GitFilters, git};

/// An agent waits meanwhile.
const GIT_PATIENCE: Duration = Duration::from_secs(4);
/// Whether git did not answer the last time.
static HANGS: AtomicBool = AtomicBool::new(false);
/// No list of what to ignore is longer.
pub(crate) const RULES_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// No file that leads to a repository is longer.
const LEAD_BYTES_MAX: u64 = 64 * 1024;

/// Git is asked about this many bytes of single paths at most; a command line holds them.
const OTHERS_BYTES_MAX: usize = 32 * 1024;

/// Says whether a file or, with a slash at its end, a repository within counts already.
pub(crate) type Counts<'a> = dyn Fn(&[u8]) -> bool + 'a;

/// Git could not be asked.
#[derive(Debug)]
pub(crate) struct NoAnswer(pub(crate) String);

/// A file outside the tree, and how it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownFile {
    pub(crate) path: PathBuf,
    /// Nothing where there was none.
    pub(crate) stat: Option<Stat>,
}

/// One repository, or the root of a tree that is in none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repo {
    /// Its directory, from the root.
    pub(crate) at: Vec<u8>,
    /// Its list of tracked files.
    pub(crate) index: Option<KnownFile>,
    /// The checksum that the list ends with; nothing where git was told to leave it out.
    pub(crate) checksum: Vec<u8>,
    /// The files that say what is ignored; any change is a reason to look at everything.
    pub(crate) watched: Vec<KnownFile>,
    /// Paths from the root that are tracked although they are ignored, in order; a repository
    /// within has a slash at its end.
    pub(crate) tracked: Vec<Vec<u8>>,
    /// Its top; above its directory where the root of the tree lies deeper.
    pub(crate) top: PathBuf,
    /// Its own list of what to ignore, and the person's.
    pub(crate) lists: Vec<PathBuf>,
}

/// The rules of one repository that do not stand in its tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outer {
    /// From the repository's top to the root, where the root lies deeper.
    prefix: Vec<u8>,
    /// The rules of directories above the root, and how much of the prefix is above each.
    above: Vec<(usize, IgnoreRules)>,
    /// The repository's own list, then the person's.
    lists: Vec<IgnoreRules>,
}

/// Where git keeps its things.
#[derive(Clone, Debug)]
pub(crate) struct GitDirectory {
    own: PathBuf,
    common: PathBuf,
}

impl KnownFile {
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

impl GitDirectory {
    /// What the directory's `.git` leads to, where that is a repository.
    pub(crate) fn of(directory: &Path) -> Option<Self> {
        let dot = directory.join(".git");
        let own = if fs::metadata(&dot).ok()?.is_dir() {
            dot
        } else {
            let text = read_regular(&dot, LEAD_BYTES_MAX).ok()?;
            let path = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
            directory.join(OsStr::from_bytes(path))
        };
        fs::symlink_metadata(own.join("HEAD")).ok()?;
        let common = match read_regular(&own.join("commondir"), LEAD_BYTES_MAX) {
            Ok(text) => own.join(OsStr::from_bytes(text.trim_ascii_end())),
            Err(_) => own.clone(),
        };
        Some(Self { own, common })
    }
}

/// The repository that a root is in, and its top.
pub(crate) fn around(root: &Path) -> Option<(PathBuf, GitDirectory)> {
    root.ancestors().find_map(|top| Some((top.to_path_buf(), GitDirectory::of(top)?)))
}

impl Repo {
    /// Learns about the repository whose top is `top`, as seen from `directory`, which lies at
    /// `at` from the root.
    pub(crate) fn learn(
        top: PathBuf,
        git: &GitDirectory,
        directory: &Path,
        at: &[u8],
    ) -> Result<Self, NoAnswer> {
        let index = KnownFile::look(git.own.join("index"));
        let checksum = checksum_of(&index.path);
        let (global, said_by) = excludes_file(directory)?;
        let mut lists = vec![git.common.join("info/exclude")];
        lists.extend(global);
        let mut paths = vec![
            git.common.join("config"),
            git.own.join("config.worktree"),
            "/etc/gitconfig".into(),
        ];
        paths.extend(settings().into_iter().chain(said_by).chain(lists.clone()));
        paths.extend(above(&top, directory).map(|(_, file)| file));
        let watched = paths.into_iter().map(KnownFile::look).collect();
        let tracked = tracked(directory, at, Some(&index))?;
        let index = Some(index);
        Ok(Self { at: at.into(), index, checksum, watched, tracked, top, lists })
    }

    /// Asks again which ignored files are tracked; `counts` knows which files count already.
    pub(crate) fn ask_again(&mut self, root: &Path, counts: &Counts<'_>) -> Result<(), NoAnswer> {
        let Some(index) = &mut self.index else { return Ok(()) };
        *index = KnownFile::look(std::mem::take(&mut index.path));
        self.checksum = checksum_of(&index.path);
        let directory = root.join(OsStr::from_bytes(&self.at));
        if !self.tracks_no_other(&directory, counts)? {
            self.tracked = tracked(&directory, &self.at, self.index.as_ref())?;
        }
        Ok(())
    }

    /// Whether all that is tracked counts already, or is not ignored: much cheaper to ask.
    fn tracks_no_other(&self, directory: &Path, counts: &Counts<'_>) -> Result<bool, NoAnswer> {
        let Said::Text(list) = ask(directory, &["ls-files", "-c", "-s", "-z"])? else {
            return Ok(false);
        };
        let mut left: BTreeSet<&[u8]> = self.tracked.iter().map(Vec::as_slice).collect();
        let mut others = Vec::new();
        for line in list.split(|byte| *byte == 0) {
            let Some(path) = tracked_path(line, &self.at) else { continue };
            left.remove(path.as_slice());
            if !counts(&path) {
                others.push(OsStr::from_bytes(path_in(line)));
            }
        }
        let bytes: usize = others.iter().map(|path| path.len() + 1).sum();
        if !left.is_empty() || bytes > OTHERS_BYTES_MAX {
            return Ok(false);
        }
        if others.is_empty() {
            return Ok(true);
        }
        let asked = ["check-ignore", "--no-index", "--"].map(OsStr::new);
        let said = ask_about(directory, &[asked.as_slice(), &others].concat())?;
        Ok(matches!(said, Said::Nothing))
    }

    /// Whether other files are tracked than those that git was asked about.
    pub(crate) fn tracks_others(&self, taken: i64) -> bool {
        let Some(index) = &self.index else { return false };
        // The list is written often, and often just now: its checksum tells more than its times.
        !index.is_same(taken)
            && (self.checksum.is_empty() || self.checksum != checksum_of(&index.path))
    }

    /// Whether git keeps its list of this repository's files there.
    pub(crate) fn is_of(&self, git: Option<&GitDirectory>) -> bool {
        let own = self.index.as_ref().map(|index| index.path.as_path());
        own == git.map(|git| git.own.join("index")).as_deref()
    }
}

fn checksum_of(index: &Path) -> Vec<u8> {
    let mut end = vec![0; 20];
    let read = open_regular(index).and_then(|mut file| {
        file.seek(SeekFrom::End(-20))?;
        file.read_exact(&mut end)
    });
    let is_there = read.is_ok() && end.iter().any(|byte| *byte != 0);
    if is_there { end } else { Vec::new() }
}

/// The ignore files between a repository's top and a directory, and how much of the way is above.
fn above<'a>(top: &'a Path, directory: &'a Path) -> impl Iterator<Item = (usize, PathBuf)> + 'a {
    let below = directory.strip_prefix(top).unwrap_or(Path::new(""));
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
    /// Reads the rules of a repository that was learnt at `directory`.
    pub(crate) fn read(repo: &Repo, directory: &Path) -> Self {
        let mut outer = Self::default();
        outer.lists.extend(repo.lists.iter().map(|path| read_rules(path)));
        if repo.index.is_some() {
            let above = above(&repo.top, directory);
            outer.above.extend(above.map(|(from, file)| (from, read_rules(&file))));
            let below = directory.strip_prefix(&repo.top).unwrap_or(Path::new(""));
            for part in below.components() {
                outer.prefix.extend_from_slice(part.as_os_str().as_bytes());
                outer.prefix.push(b'/');
            }
        }
        // A person who works in an ignored directory does not mean that nothing in it counts.
        if outer.ignores_itself() { Self::default() } else { outer }
    }

    /// What they say about a path from the directory that the repository was learnt at.
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

    /// Whether the directory itself is ignored by what lies around it.
    fn ignores_itself(&self) -> bool {
        let slashes = (0..self.prefix.len()).filter(|at| self.prefix[*at] == b'/');
        let directories = slashes.map(|end| &self.prefix[..end]);
        let mut told = directories.map(|directory| self.about_whole(directory, Thing::Directory));
        told.any(|told| told == Some(Meaning::Ignore))
    }
}

fn read_rules(path: &Path) -> IgnoreRules {
    read_regular(path, RULES_BYTES_MAX).map(|text| IgnoreRules::read(&text)).unwrap_or_default()
}

/// The person's own settings, wherever they may lie.
fn settings() -> Vec<PathBuf> {
    let home = home_directory().map(|home| home.join(".gitconfig"));
    home.into_iter().chain(config_directory().map(|directory| directory.join("config"))).collect()
}

fn config_directory() -> Option<PathBuf> {
    let named = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let directory = named.or_else(|| Some(home_directory()?.join(".config")))?;
    Some(directory.join("git"))
}

/// The person's own list of what to ignore, and the file that names it.
fn excludes_file(directory: &Path) -> Result<(Option<PathBuf>, Option<PathBuf>), NoAnswer> {
    let asked = ["config", "--show-origin", "-z", "--type=path", "--get", "core.excludesFile"];
    let said = match ask(directory, &asked)? {
        Said::Text(text) => text,
        // Not set.
        Said::Nothing | Said::Failed(_) => {
            return Ok((config_directory().map(|git| git.join("ignore")), None));
        }
    };
    let mut parts = said.split(|byte| *byte == 0);
    let origin = parts.next().and_then(|origin| origin.strip_prefix(b"file:"));
    let path = parts.next().filter(|path| !path.is_empty());
    let at = |path: &[u8]| directory.join(OsStr::from_bytes(path));
    Ok((path.map(at), origin.map(at)))
}

/// Paths from the root that are tracked although they are ignored, in order.
fn tracked(
    directory: &Path,
    at: &[u8],
    index: Option<&KnownFile>,
) -> Result<Vec<Vec<u8>>, NoAnswer> {
    if index.is_none_or(|index| index.stat.is_none()) {
        return Ok(Vec::new());
    }
    let said = match ask(directory, &["ls-files", "-c", "-i", "-s", "--exclude-standard", "-z"])? {
        Said::Text(text) => text,
        Said::Nothing => return Err(NoAnswer("git ls-files failed".into())),
        Said::Failed(why) => return Err(NoAnswer(why)),
    };
    let lines = said.split(|byte| *byte == 0).filter(|line| !line.is_empty());
    let mut tracked: Vec<Vec<u8>> = lines.filter_map(|line| tracked_path(line, at)).collect();
    tracked.sort_unstable();
    tracked.dedup();
    Ok(tracked)
}

/// What follows the first tab; a path may have more of them.
fn path_in(line: &[u8]) -> &[u8] {
    let tab = line.iter().position(|byte| *byte == b'\t');
    tab.map_or(&[], |tab| &line[tab + 1..])
}

/// The path in one line of git's list, from the root.
fn tracked_path(line: &[u8], at: &[u8]) -> Option<Vec<u8>> {
    let own = Some(path_in(line)).filter(|own| !own.is_empty())?;
    let mut path = at.to_vec();
    join(&mut path, own);
    if line.starts_with(b"160000 ") {
        path.push(b'/');
    }
    Some(path)
}

/// What git said.
enum Said {
    Text(Vec<u8>),
    /// That there is none: it ended with 1.
    Nothing,
    Failed(String),
}

/// Asks git.
fn ask(directory: &Path, arguments: &[&str]) -> Result<Said, NoAnswer> {
    ask_about(directory, &arguments.iter().map(OsStr::new).collect::<Vec<_>>())
}

fn ask_about(directory: &Path, arguments: &[&OsStr]) -> Result<Said, NoAnswer> {
    // A git that hangs would keep an agent waiting once for every question.
    if HANGS.swap(false, Ordering::Relaxed) {
        return Err(NoAnswer("git did not answer before".into()));
    }
    // Nothing that is asked here looks into files, so no filter can be meant.
    let said = git(arguments, directory, GitFilters::Run, GIT_PATIENCE);
    let hangs = said.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::TimedOut);
    HANGS.store(hangs, Ordering::Relaxed);
    let output = said.map_err(|error| match error.kind() {
        io::ErrorKind::TimedOut => {
            NoAnswer(format!("git gave no answer in {} s", GIT_PATIENCE.as_secs()))
        }
        _ => NoAnswer(format!("git: {error}")),
    })?;
    Ok(match output.status_code {
        Some(0) => Said::Text(output.stdout),
        Some(1) => Said::Nothing,
        _ => Said::Failed(String::from_utf8_lossy(&output.stderr).trim().to_string()),
    })
}
