//! Source with tests beside the code that they are about, in one file.

use std::path::PathBuf;

use super::files::{ProjectFiles, extension_of};
use super::names::{is_foreign, said};
use super::role::Why;
use super::stored_path::StoredPath;
use super::{JudgeSet, sections};

impl JudgeSet {
    /// Files that the command names for their tests, and that hold the work as well.
    pub(super) fn note_mixed_python(&mut self, files: &dyn ProjectFiles) {
        let named = self.judges.iter().filter(|(_, why)| **why == Why::Named);
        let named = named.map(|(path, _)| path).filter(|path| {
            let is_mixed = |text: String| sections::is_mixed_python(&text);
            extension_of(&path.0) == "py"
                && said(&path.0).is_none()
                && files.text(&path.0).is_some_and(is_mixed)
        });
        self.mixed_python = named.cloned().collect();
    }

    /// Files with tests under `import.meta.vitest`.
    pub(super) fn note_vitest_source(&mut self, files: &dyn ProjectFiles) {
        if !self.reach.tools.contains("vitest") {
            return;
        }
        let is_own = |path: &&PathBuf| {
            let is_source = ["js", "mjs", "jsx", "ts", "mts", "tsx"].contains(&extension_of(path));
            is_source && said(path).is_none() && !is_foreign(path)
        };
        let has_tests = |path: &&PathBuf| {
            files.text(path).is_some_and(|text| sections::has_vitest_tests(&text))
        };
        let found = files.paths().iter().filter(is_own).filter(has_tests);
        self.mixed_vitest = found.cloned().map(StoredPath).collect();
    }
}
