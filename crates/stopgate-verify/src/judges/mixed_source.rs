//! Source with tests beside the code that they are about, in one file, and work that judges read
//! into themselves.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::files::{ProjectFiles, extension_of};
use super::names::{is_foreign, said};
use super::role::{JudgeRole, Why};
use super::rules::JudgeRules;
use super::stored_path::StoredPath;
use super::{JudgeSet, sections, sourced};

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

    /// Work that judges read into themselves, and the commands that they run.
    pub(super) fn note_sourced(&mut self, files: &dyn ProjectFiles, command: &str) {
        let found = sourced::sourced(files, &self.whole(files), command);
        let rules = JudgeRules::of(self);
        let is_work = |path: &PathBuf| rules.role(path) == JudgeRole::Work;
        let own: BTreeSet<StoredPath> =
            found.files.into_iter().filter(is_work).map(StoredPath).collect();
        drop(rules);
        if !own.is_empty() {
            self.commands = found.commands;
        }
        self.sourced = own;
    }

    /// All that the judges come to read by now, through what they read at the start.
    pub(super) fn sourced_now(&self, files: &dyn ProjectFiles) -> BTreeSet<PathBuf> {
        sourced::closure(self.sourced.iter().map(|path| path.0.clone()).collect(), files)
    }
}
