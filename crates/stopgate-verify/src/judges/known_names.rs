//! Names that would hide something if they were new, but were there when the work was given out.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::files::{ProjectFiles, extension_of};
use super::stored_path::StoredPath;
use super::{JudgeSet, shadows};

impl JudgeSet {
    /// Names that would hide something, but were there before.
    pub(super) fn note_modules(&mut self, files: &dyn ProjectFiles) {
        let is_there = |path: &StoredPath| files.exists(&path.0);
        self.reach.file_like_targets.retain(|path| !is_there(path));
        if !shadows::uses_python(self) {
            return;
        }
        let is_python = |path: &&PathBuf| ["py", "so", "pyd"].contains(&extension_of(path));
        let found = files.paths().iter().filter(is_python);
        let found: BTreeSet<(PathBuf, String)> =
            found.filter_map(|path| shadows::module_of(self, path, files)).collect();
        let known = found.into_iter().filter(|(_, name)| shadows::is_found_elsewhere(self, name));
        self.modules = known.map(|(place, name)| StoredPath(place.join(name))).collect();
    }

    /// Files that are called like something else, but were there before.
    pub(super) fn note_hiding(&mut self, files: &dyn ProjectFiles) {
        let hides = |path: &&PathBuf| shadows::hidden(self, path, files).is_some();
        let found = files.paths().iter().filter(hides).cloned().map(StoredPath);
        self.hiding = found.collect();
    }
}
