//! Repositories within the project: submodules, and clones in a directory of it.

use std::path::{Path, PathBuf};

use super::super::files::inner;
use super::super::shell::is_open;
use super::Stand;
use super::preparing::says_preparing;
use crate::judges::files::ProjectFiles;

/// The project, as far as other repositories within it are concerned.
pub(super) struct ProjectPlace<'a> {
    pub(super) root: &'a Path,
    pub(super) files: &'a dyn ProjectFiles,
}

impl ProjectPlace<'_> {
    /// Whether a script is a suite that others keep, and that is told where the work is:
    /// `sh vendor/conformance/run.sh .`
    ///
    /// A tool of another repository that is only tried out (`--version`) is none.
    pub(super) fn is_foreign_suite(&self, path: &Path, rest: &[&str], stand: &Stand) -> bool {
        let Some(repository) = self.repository_within(path) else { return false };
        !says_preparing(path)
            && rest.iter().any(|word| self.is_work_place(word, &repository, stand))
    }

    /// The repository within the project that has the file.
    fn repository_within(&self, path: &Path) -> Option<PathBuf> {
        let directories = path.ancestors().skip(1).filter(|own| !own.as_os_str().is_empty());
        let mut directories = directories.map(Path::to_path_buf);
        directories.find(|own| self.files.exists(&own.join(".git")))
    }

    /// Whether an argument leads to something of the project outside of that repository.
    fn is_work_place(&self, word: &str, repository: &Path, stand: &Stand) -> bool {
        let word = word.rsplit_once('=').map_or(word, |(_, value)| value);
        if is_open(word) {
            return true;
        }
        let is_there = |path: &PathBuf| {
            !path.starts_with(repository)
                && (path.as_os_str().is_empty() || self.files.exists(path))
        };
        let mut places = stand.places().filter_map(|place| inner(self.root, place, word));
        !word.is_empty() && places.any(|path| is_there(&path))
    }
}
