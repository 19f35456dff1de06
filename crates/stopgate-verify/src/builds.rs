//! A build directory of our own for checks that build.
//!
//! Cargo runs whatever test binary it finds in `target/`, regardless of its author. So a check that
//! calls cargo builds into a directory that stopgate owns, filled from the tree's own when the
//! loop begins, and binaries in the tree are not evidence.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use stopgate_core::{Criterion, Timestamp};
use stopgate_system::ffi::OsStrExt;
use stopgate_system::fs::MetadataExt;

use crate::env::Variable;
use crate::files::{make_private_directory, read_text};
use crate::git::GitFilters;
use crate::judges::is_product;
use crate::program::uses;
use crate::tree::{hash_of, hex};

/// Tools that compare times.
const MAKERS: [&str; 12] = [
    "task", "make", "gmake", "ninja", "cmake", "ctest", "meson", "just", "bazel", "gradle", "sh",
    "java",
];
/// How long git may take to list what it ignores, for a check that runs apart.
const LIST_WITHIN: Duration = Duration::from_secs(10);
/// The same while a person waits for the loop to start.
const LIST_AT_START: Duration = Duration::from_secs(1);
/// More built files than this are left where they are.
const BUILT_MAX: usize = 5_000;
/// How far behind the clock of files may be: one tick of the slowest kernels.
const CLOCK_STEP: Duration = Duration::from_millis(10);
/// The exit code of git outside of a repository.
const NO_REPOSITORY: i32 = 128;
/// A tree with more entries is not looked through for build directories.
const ENTRIES_MAX: usize = 20_000;
/// Where a project may have an environment of Python.
const ENVIRONMENTS: [&str; 3] = [".venv", "venv", "env"];
const VARIABLE: &str = "CARGO_TARGET_DIR";
/// Filling the directory may not keep a person waiting for longer.
const FILL_WITHIN: Duration = Duration::from_mins(1);
/// No settings of cargo are longer.
const SETTINGS_BYTES_MAX: u64 = 1024 * 1024;

/// Where a check's build outputs are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BuildOutputs {
    /// It builds nothing that is known to be run later.
    None,
    /// In a directory of our own.
    Own(PathBuf),
    /// In the work tree, because the check looks for them there.
    Tree,
}

impl BuildOutputs {
    /// Where the outputs of this criterion's check are, seen with these variables.
    pub(crate) fn of(
        criterion: &Criterion,
        root: &Path,
        home: &Path,
        variables: &[Variable],
    ) -> Self {
        if !uses(root, criterion).programs.iter().any(|name| base(name) == "cargo") {
            return Self::None;
        }
        let names_target = criterion.command().is_some_and(|line| line.contains("target"));
        let set = criterion.terms.set.iter().any(|(name, _)| name == VARIABLE);
        let chosen = variables.iter().any(|(name, _)| name == VARIABLE);
        if names_target || set || chosen || configures_target(root) {
            return Self::Tree;
        }
        Self::Own(directory(root, home))
    }

    /// Whether the check builds by the times of files, so that it may run what was built from
    /// another state of them.
    pub(crate) fn makes(criterion: &Criterion) -> bool {
        let line = criterion.command().unwrap_or_default();
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_');
        line.split(is_end).any(|word| MAKERS.contains(&word))
    }

    /// What a check sees beside its other variables.
    pub(crate) fn variable(&self) -> Option<Variable> {
        match self {
            Self::Own(path) => Some((VARIABLE.into(), OsString::from(path))),
            Self::None | Self::Tree => None,
        }
    }

    /// Fills a directory that is not there yet from the tree's own, so that nothing has to be
    /// built twice; what can't be copied is built.
    pub(crate) fn fill(&self, root: &Path) {
        let Self::Own(own) = self else { return };
        let theirs = root.join("target");
        let is_built = theirs.join("CACHEDIR.TAG").is_file();
        if own.exists() || !is_built {
            return;
        }
        let Some(parent) = own.parent() else { return };
        let partial = parent.join(format!("{}.partial", std::process::id()));
        let copy = [OsString::from("cp"), "-a".into(), "--reflink=auto".into()];
        let argv: Vec<OsString> =
            copy.into_iter().chain([theirs.into(), partial.clone().into()]).collect();
        let made = make_private_directory(parent).is_ok();
        let copied = made && crate::tool(&argv, root, FILL_WITHIN).is_ok_and(|said| said.is_fine());
        if !(copied && fs::rename(&partial, own).is_ok()) {
            let _ = fs::remove_dir_all(&partial);
        }
    }
}

/// Files that git ignores and that were built since the loop began: apart from the tree they are
/// built again, from what is there.
pub(crate) fn built_since(root: &Path, since: Option<SystemTime>) -> Vec<PathBuf> {
    let Some(since) = since else { return Vec::new() };
    let is_young = |path: &PathBuf| {
        let found = fs::symlink_metadata(root.join(path)).and_then(|found| found.modified());
        found.is_ok_and(|modified| modified >= since)
    };
    let listed = ignored(root, LIST_WITHIN).unwrap_or_default();
    listed.into_iter().filter(is_young).take(BUILT_MAX).collect()
}

/// Files that git ignores and that a run wrote that began at `begun`.
pub(crate) fn made_since(root: &Path, begun: SystemTime) -> Vec<PathBuf> {
    let begun = begun.checked_sub(CLOCK_STEP).unwrap_or(begun);
    let is_made =
        |path: &PathBuf| changed_at(&root.join(path)).is_some_and(|written| written >= begun);
    let listed = ignored(root, LIST_WITHIN).unwrap_or_default();
    listed.into_iter().filter(is_made).take(BUILT_MAX).collect()
}

/// Modules that were written since then in the project's own environments of Python: packages are
/// installed there, the project's among them.
pub(crate) fn installed_since(root: &Path, since: SystemTime) -> Vec<PathBuf> {
    let names = |place: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(root.join(place)).into_iter().flatten().flatten();
        entries.map(|entry| place.join(entry.file_name())).collect()
    };
    let libraries = ENVIRONMENTS.iter().flat_map(|own| names(&Path::new(own).join("lib")));
    let mut open: Vec<PathBuf> = libraries.map(|place| place.join("site-packages")).collect();
    let (mut found, mut seen) = (Vec::new(), 0);
    while let Some(place) = open.pop() {
        for path in names(&place) {
            seen += 1;
            let about = fs::symlink_metadata(root.join(&path));
            match about {
                _ if seen > ENTRIES_MAX => return found,
                Ok(about) if about.is_dir() => open.push(path),
                Ok(_) if changed_at(&root.join(&path)).is_some_and(|at| at > since) => {
                    found.push(path);
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    found
}

/// Whether a built file is a program, a library or a bundle: a stamp or a cache is none.
pub(crate) fn is_program(root: &Path, path: &Path) -> bool {
    const ENDS: [&str; 11] =
        ["js", "mjs", "cjs", "css", "so", "a", "o", "jar", "class", "wasm", "dll"];
    let is_hidden = path.iter().any(|part| part.as_bytes().starts_with(b"."));
    let ends = path.extension().and_then(OsStr::to_str).is_some_and(|end| ENDS.contains(&end));
    let found = fs::symlink_metadata(root.join(path));
    let runs =
        || found.is_ok_and(|found| found.is_file() && found.len() > 0 && found.mode() & 0o111 != 0);
    !is_hidden && (ends || runs())
}

/// Files that git ignores and that were written since then, whatever time they claim: what is
/// unpacked has the times of its archive.
pub(crate) fn written_since(root: &Path, since: Timestamp) -> Vec<PathBuf> {
    let since = since.unix_millis() / 1_000;
    let is_young = |path: &PathBuf| {
        fs::symlink_metadata(root.join(path)).is_ok_and(|found| found.ctime() >= since)
    };
    let listed = ignored(root, LIST_AT_START).unwrap_or_default();
    listed.into_iter().filter(is_young).take(BUILT_MAX).collect()
}

/// Files that git ignores, and which of them a run left as they were although somebody wrote them
/// since the start: where the run needed them, it used what it did not make.
#[derive(Debug, Default)]
pub(crate) struct IgnoredFiles {
    pub(crate) all: Vec<PathBuf>,
    pub(crate) left: Vec<PathBuf>,
}

impl IgnoredFiles {
    /// Looks at them after a run that began at `begun`, in a loop that began at `since`; nothing
    /// where git does not tell in time.
    pub(crate) fn after_run(root: &Path, since: SystemTime, begun: SystemTime) -> Option<Self> {
        // The clock of files may be behind.
        let begun = begun.checked_sub(CLOCK_STEP).unwrap_or(begun);
        let is_left = |path: &&PathBuf| {
            let written = changed_at(&root.join(path));
            written.is_some_and(|written| since < written && written < begun)
        };
        // However many there are: one that counts may be the last.
        let all = ignored(root, LIST_WITHIN)?;
        let left = all.iter().filter(is_left).cloned().collect();
        Some(Self { all, left })
    }
}

/// When anything about a file last changed.
fn changed_at(path: &Path) -> Option<SystemTime> {
    let found = fs::symlink_metadata(path).ok().filter(|found| !found.is_dir())?;
    let nanos = u32::try_from(found.ctime_nsec()).ok()?;
    Some(UNIX_EPOCH + Duration::new(u64::try_from(found.ctime()).ok()?, nanos))
}

/// Files that git ignores, without what was installed; nothing where git does not answer in time.
/// In a project that is itself below an ignored directory of another repository, there are none:
/// it would be every file.
fn ignored(root: &Path, within: Duration) -> Option<Vec<PathBuf>> {
    // It takes no literal paths, so it is asked by words of its own; it runs no filter and no hook.
    let asked =
        ["git", "--no-optional-locks", "-c", "core.fsmonitor=false", "check-ignore", "-q", "."];
    // A git that does not answer is not asked twice.
    match crate::tool(&asked, root, within) {
        Ok(said) if said.status_code == Some(NO_REPOSITORY) => {
            return Some(in_build_directories(root));
        }
        Ok(said) if !said.is_fine() => {}
        Ok(_) => return Some(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(Vec::new()),
        Err(_) => return None,
    }
    let words = ["ls-files", "-o", "-i", "--exclude-standard", "-z"];
    let said = crate::git::git(&words, root, GitFilters::OwnOnly, within).ok()?;
    let names = said.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let paths = names.map(|name| PathBuf::from(OsStr::from_bytes(name)));
    let is_installed =
        |path: &PathBuf| path.iter().any(|part| crate::judges::is_installed(part.as_bytes()));
    Some(paths.filter(|path| !is_installed(path)).collect())
}

/// Without a repository nothing is ignored: files in directories in which builds leave what they
/// make, as their names say. Nothing where there is too much to look through.
fn in_build_directories(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut seen) = (Vec::new(), 0);
    let mut open = vec![PathBuf::new()];
    while let Some(place) = open.pop() {
        for entry in fs::read_dir(root.join(&place)).into_iter().flatten().flatten() {
            seen += 1;
            if seen > ENTRIES_MAX {
                return Vec::new();
            }
            let path = place.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    let is_installed =
                        crate::judges::is_installed(entry.file_name().as_encoded_bytes());
                    open.extend((!is_installed).then_some(path));
                }
                // `bin` holds scripts as often as what was built.
                Ok(kind) if kind.is_file() && is_product(&path) && !path.starts_with("bin") => {
                    found.push(path);
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    found
}

/// The build directory of a project.
fn directory(root: &Path, home: &Path) -> PathBuf {
    let name = hex(&hash_of(root.as_os_str().as_encoded_bytes()));
    home.join("builds").join(name)
}

/// Whether the project itself says where its outputs go.
fn configures_target(root: &Path) -> bool {
    let says = |name: &str| {
        let text =
            read_text(&root.join(".cargo").join(name), SETTINGS_BYTES_MAX).unwrap_or_default();
        text.contains("target-dir")
    };
    says("config.toml") || says("config")
}

fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

#[cfg(test)]
mod tests;
