//! The files of a project, as the search for judges sees them. Nothing is written.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use crate::files::read_regular;

/// Of more files with the same end, none is told from the others.
const ALIKE_MAX: usize = 100;

/// How much of a file is read; a larger one has no text.
const TEXT_BYTES_MAX: u64 = 2 << 20;

/// A project's files: their paths from its root, and their texts.
pub(crate) trait ProjectFiles {
    /// Every tracked file and every untracked one that is not ignored, sorted.
    fn paths(&self) -> &BTreeSet<PathBuf>;

    /// The text of a regular file of at most 2 MiB, also of an ignored one.
    fn text(&self, path: &Path) -> Option<String>;

    /// Whether something exists at the path, also where it is ignored.
    fn exists(&self, path: &Path) -> bool;

    /// The Python files whose path ends with the same two names as `end`, the C headers of its name.
    fn ending_like(&self, end: &Path) -> Vec<&PathBuf>;
}

/// Files of a list, read from the disk.
#[derive(Clone, Debug)]
pub(crate) struct ListedFiles {
    root: PathBuf,
    paths: BTreeSet<PathBuf>,
    /// Python files by the last two names of their paths and C headers by their names, once one was
    /// asked for.
    by_end: OnceCell<BTreeMap<PathBuf, Vec<PathBuf>>>,
}

impl ListedFiles {
    /// The files at `paths`, which are relative to `root`.
    pub(crate) fn new(root: &Path, paths: &[PathBuf]) -> Self {
        let paths = paths.iter().cloned().collect();
        Self { root: root.into(), paths, by_end: OnceCell::new() }
    }

    fn by_end(&self) -> BTreeMap<PathBuf, Vec<PathBuf>> {
        let mut found: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for path in &self.paths {
            if let Some(end) = end_of(path) {
                found.entry(end).or_default().push(path.clone());
            }
        }
        found
    }
}

impl ProjectFiles for ListedFiles {
    fn paths(&self) -> &BTreeSet<PathBuf> {
        &self.paths
    }

    fn text(&self, path: &Path) -> Option<String> {
        let path = self.root.join(path);
        let bytes = read_regular(&path, TEXT_BYTES_MAX).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn exists(&self, path: &Path) -> bool {
        self.paths.contains(path) || self.root.join(path).symlink_metadata().is_ok()
    }

    fn ending_like(&self, end: &Path) -> Vec<&PathBuf> {
        let by_end = self.by_end.get_or_init(|| self.by_end());
        let alike = end_of(end).and_then(|end| by_end.get(&end));
        alike.filter(|all| all.len() <= ALIKE_MAX).into_iter().flatten().collect()
    }
}

/// By what a file is found that is imported without saying where it is.
fn end_of(path: &Path) -> Option<PathBuf> {
    match extension_of(path) {
        "py" => Some(Path::new(name_of(path.parent()?)).join(name_of(path))),
        "h" | "hh" | "hpp" => Some(name_of(path).into()),
        _ => None,
    }
}

/// Names of files in a text: the last part of whatever looks like a path.
pub(super) fn file_names(text: &str) -> impl Iterator<Item = &str> {
    let is_other = |letter: char| !letter.is_alphanumeric() && !"_.-/".contains(letter);
    let names = text.split(is_other).filter_map(|word| word.rsplit('/').next());
    names.filter(|name| name.contains('.') && !name.ends_with('.'))
}

/// The files below a directory; all of them for the root.
pub(super) fn below<'a>(
    files: &'a dyn ProjectFiles,
    directory: &'a Path,
) -> impl Iterator<Item = &'a PathBuf> {
    let is_root = directory.as_os_str().is_empty();
    let from = files.paths().range(directory.to_path_buf()..);
    from.take_while(move |path| is_root || path.starts_with(directory))
}

/// The path of `word` from the project's root, as seen from `directory`, where it is inside.
pub(super) fn inner(root: &Path, directory: &Path, word: &str) -> Option<PathBuf> {
    let word = Path::new(word);
    let path = if word.is_absolute() {
        word.strip_prefix(root).ok()?.to_path_buf()
    } else {
        directory.join(word)
    };
    normal(&path)
}

/// The path without `.` and `..`; `None` where it leaves the project.
pub(crate) fn normal(path: &Path) -> Option<PathBuf> {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if !found.pop() => return None,
            Component::ParentDir | Component::CurDir => {}
            Component::Normal(name) => found.push(name),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(found)
}

/// The file's name as text.
pub(super) fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// The file's extension as text; empty where it has none.
pub(super) fn extension_of(path: &Path) -> &str {
    path.extension().and_then(|end| end.to_str()).unwrap_or_default()
}

/// The directory of a file, from the project's root.
pub(super) fn directory_of(path: &Path) -> PathBuf {
    path.parent().map(Path::to_path_buf).unwrap_or_default()
}
