//! Files outside the project that steer a check's runner, or that its judges name.
//!
//! Whether they were there, and what they said, is noted at the start; what changed since is masked
//! where the judges of the start are asked, and else a person is.

mod linters;
mod login;
mod names;
mod reached;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_system::CanonicalPath;
use stopgate_system::fs::PermissionsExt;

use self::names::{ABOVE, AT_HOME, NODE_ENTRIES, NODE_PACKAGES, USER_PACKAGES};
pub(crate) use self::names::{directory_of_above, is_read_at_home};
pub(super) use self::reached::{Reach, Reached, reached};
use super::keep::ContentStore;
use super::programs::fingerprint;
use super::text::{path_text, text_path};
use crate::files::read_regular;
use crate::tree::{hash_of, hex};

/// A larger file can't be shown as it was, only told apart.
const BYTES_MAX: u64 = 1024 * 1024;
/// A larger program is told apart by its size alone.
const PROGRAM_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// More installed packages than this are not looked through.
const ENTRIES_MAX: usize = 20_000;

/// One file outside the project, as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OutsideFile {
    pub(crate) path: String,
    /// Nothing where there was no such file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<String>,
    #[serde(default, skip_serializing_if = "OutsideSort::is_plain")]
    pub(crate) sort: OutsideSort,
}

/// What sort of file it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutsideSort {
    /// It could not be run.
    #[default]
    Plain,
    /// It could be run.
    Program,
    /// A large program on the path, which others replace by newer ones; a small one in its place
    /// is not that.
    LargeProgram,
}

impl OutsideSort {
    fn of(path: &Path, content: Option<&Content>, programs: &BTreeSet<PathBuf>) -> Self {
        match content {
            Some(_) if !is_executable(path) => Self::Plain,
            Some(Content::Large(_)) if programs.contains(path) => Self::LargeProgram,
            Some(_) => Self::Program,
            None => Self::Plain,
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_plain(&self) -> bool {
        *self == Self::Plain
    }
}

/// A file outside the project that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OutsideChange {
    pub(crate) path: PathBuf,
    pub(crate) undone: Undone,
    /// The fingerprint of what it says now; empty where it is not there.
    pub(crate) now: String,
}

/// What an original run sees instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undone {
    /// What it said at the start.
    Says { content: Vec<u8>, executable: bool },
    /// Nothing: it was not there.
    Absent,
    /// It is gone, or was not kept: no run can see it as it was.
    Never,
}

/// Notes every such file and those that the judges reach, and keeps what they say.
pub(crate) fn note(
    root: &Path,
    variables: &Variables,
    tools: &BTreeSet<&String>,
    reached: Reached,
    keep: &mut ContentStore<'_>,
) -> Vec<OutsideFile> {
    let Reached { files, programs } = reached;
    let files = files.into_iter().filter(|path| !path.starts_with(root));
    let mut found: BTreeSet<PathBuf> = candidates(root, variables, tools).into_iter().collect();
    found.extend(files.chain(programs.iter().cloned()));
    let note = |path: PathBuf| {
        let content = Content::of(&path);
        if let Some(Content::Whole(bytes)) = &content {
            // What can't be kept can still be told apart.
            let _ = keep.put(&hex(&hash_of(bytes)), bytes);
        }
        let sort = OutsideSort::of(&path, content.as_ref(), &programs);
        // What is absent is told by its absence, unless its name is fixed.
        let content = content.map(|content| content.fingerprint(&path));
        OutsideFile { path: path_text(&path), content, sort }
    };
    found.into_iter().map(note).collect()
}

/// What is not as it was noted, of what a check that uses these tools may see.
pub(crate) fn changes(
    noted: &[OutsideFile],
    root: &Path,
    variables: &Variables,
    tools: &BTreeSet<&String>,
    keep: &ContentStore<'_>,
) -> Vec<OutsideChange> {
    let mut known: BTreeMap<PathBuf, Option<&OutsideFile>> =
        noted.iter().map(|file| (text_path(&file.path), Some(file))).collect();
    for path in candidates(root, variables, tools) {
        known.entry(path).or_insert(None);
    }
    known.retain(|path, _| !linters::is_for_others(path, tools, variables.home.as_deref()));
    let differs = |(path, was)| change(path, was, variables, keep);
    known.into_iter().filter_map(differs).collect()
}

/// How a file differs from what was noted of it, if it does.
fn change(
    path: PathBuf,
    was: Option<&OutsideFile>,
    variables: &Variables,
    keep: &ContentStore<'_>,
) -> Option<OutsideChange> {
    let sort = was.map(|was| was.sort).unwrap_or_default();
    let is_disabled = !sort.is_plain() && !is_executable(&path);
    let now = Content::of(&path);
    if sort == OutsideSort::LargeProgram && matches!(now, Some(Content::Large(_))) && !is_disabled {
        return None;
    }
    let now = now.map(|content| content.fingerprint(&path));
    let then = was.and_then(|was| was.content.as_ref());
    if now.as_ref() == then && !is_disabled || then.is_none() && is_same_program(&path) {
        return None;
    }
    let executable = !sort.is_plain();
    let undone = match (then, &now) {
        (None, _) => new_file(&path, variables),
        (Some(_), None) => Undone::Never,
        (Some(hash), Some(_)) => {
            let kept = keep.get(hash);
            kept.map_or(Undone::Never, |content| Undone::Says { content, executable })
        }
    };
    Some(OutsideChange { path, undone, now: now.unwrap_or_default() })
}

/// What stands for a file that was not there: an empty one, unless that would say something.
fn new_file(path: &Path, variables: &Variables) -> Undone {
    // Others may need the program that a link leads to.
    if path.is_symlink() && is_executable(path) {
        return Undone::Never;
    }
    let nothing = login::instead_of(path, variables.home.as_deref());
    nothing
        .or_else(|| linters::nothing_in(path))
        .map_or(Undone::Absent, |content| Undone::Says { content, executable: false })
}

/// Whether it is a link to the system's program of that name: `python` to `/usr/bin/python3`.
fn is_same_program(path: &Path) -> bool {
    let target = path.canonical().ok().filter(|_| path.is_symlink());
    let name = |path: &Path| path.file_name().map(|own| own.to_string_lossy().into_owned());
    target.is_some_and(|target| {
        let is_version = |end: &str| end.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let is_of_system = target.starts_with("/usr") || target.starts_with("/bin");
        let (own, other) = (name(path).unwrap_or_default(), name(&target).unwrap_or_default());
        is_of_system && is_executable(&target) && other.strip_prefix(&own).is_some_and(is_version)
    })
}

/// Where checks find their home and their Python, and what else their environment says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    pub(crate) home: Option<PathBuf>,
    pub(crate) cargo_home: Option<PathBuf>,
    pub(crate) virtual_env: Option<PathBuf>,
    pub(crate) pythons: Vec<PathBuf>,
    /// All that are text.
    pub(crate) all: BTreeMap<String, String>,
}

impl Variables {
    /// Where settings are that others expect in `.config`, where that is elsewhere.
    fn config_home(&self) -> Option<PathBuf> {
        self.all.get("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute())
    }
}

fn candidates(root: &Path, variables: &Variables, tools: &BTreeSet<&String>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for above in root.ancestors().skip(1) {
        found.extend(ABOVE.iter().map(|name| above.join(name)));
        found.extend(linters::settings_of(tools).map(|name| above.join(name)));
    }
    if let Some(place) = variables.config_home() {
        let inner = AT_HOME.iter().filter_map(|name| name.strip_prefix(".config/"));
        found.extend(inner.map(|name| place.join(name)));
    }
    if let Some(home) = &variables.home {
        found.extend(AT_HOME.iter().map(|name| home.join(name)));
        for place in NODE_PACKAGES.map(|name| home.join(name)) {
            let packages = children(&place, |_| true).into_iter();
            found.extend(packages.flat_map(|own| NODE_ENTRIES.map(|name| own.join(name))));
        }
        let user_sites = children(&home.join(USER_PACKAGES), |name| name.starts_with("python"));
        for site in user_sites {
            found.extend(steering_in(&site.join("site-packages")));
        }
    }
    if let Some(cargo) = &variables.cargo_home {
        found.extend(["config", "config.toml"].map(|name| cargo.join(name)));
    }
    let mut prefixes: Vec<&PathBuf> = variables.virtual_env.iter().collect();
    prefixes.extend(&variables.pythons);
    for prefix in prefixes {
        let libraries = children(&prefix.join("lib"), |name| name.starts_with("python"));
        for library in libraries {
            found.extend(steering_in(&library.join("site-packages")));
        }
    }
    found.sort();
    found.dedup();
    // What is in the project is looked at with the project's other files.
    found.retain(|path| !path.starts_with(root) || is_installed(path, root));
    found
}

/// Whether a file in the project belongs to an installed environment, which git ignores.
fn is_installed(path: &Path, root: &Path) -> bool {
    path.strip_prefix(root)
        .is_ok_and(|inner| inner.components().any(|part| part.as_os_str() == "site-packages"))
}

/// What changes how Python starts, in one directory of installed packages.
pub(super) fn steering_in(site: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        ["sitecustomize.py", "usercustomize.py"].map(|name| site.join(name)).into();
    for entry in children(site, |_| true) {
        let name = entry.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        if name.rsplit_once('.').is_some_and(|(_, end)| end == "pth") {
            found.push(entry);
        } else if name.ends_with(".dist-info") || name.ends_with(".egg-info") {
            let plugins = entry.join("entry_points.txt");
            let declares =
                read(&plugins).is_some_and(|text| text.windows(8).any(|part| part == b"pytest11"));
            if declares {
                found.push(plugins);
            }
        }
    }
    found
}

pub(super) fn children(directory: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(ENTRIES_MAX);
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| wanted(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// The content of a regular file, followed through links; nothing where there is none.
pub(super) fn read(path: &Path) -> Option<Vec<u8>> {
    Content::of(path).map(|content| match content {
        Content::Whole(bytes) => bytes,
        Content::Large(size) => format!("{size} bytes").into_bytes(),
    })
}

/// What a file says.
enum Content {
    Whole(Vec<u8>),
    /// It is too large to be kept, and has this many bytes.
    Large(u64),
}

impl Content {
    fn of(path: &Path) -> Option<Self> {
        let size = fs::metadata(path).ok().filter(fs::Metadata::is_file)?.len();
        if size > BYTES_MAX {
            return Some(Self::Large(size));
        }
        read_regular(path, BYTES_MAX).ok().map(Self::Whole)
    }

    /// What tells the content of the file at `path` apart.
    fn fingerprint(&self, path: &Path) -> String {
        match self {
            Self::Whole(bytes) => hex(&hash_of(bytes)),
            Self::Large(size) => {
                let is_program = *size <= PROGRAM_BYTES_MAX && is_executable(path);
                let says = if is_program { fingerprint(path) } else { String::new() };
                hex(&hash_of(format!("{size} bytes{says}").as_bytes()))
            }
        }
    }
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests;
