//! What Rust compiles for tests only, and what decides whether it does.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::files::{self, ProjectFiles, extension_of};
use super::names::{is_foreign, said};
use super::role::{CheckConduct, JudgeRole, MixedKind, Why};
use super::stored_path::StoredPath;
use super::{JudgeRules, JudgeSet, sections};

impl JudgeSet {
    /// Whether tests in sources of Rust judge.
    pub(super) fn judges_rust(&self) -> bool {
        let tools = &self.reach.tools;
        tools.contains("cargo") && self.reach.conduct != CheckConduct::Looks
    }

    /// Modules in files of their own that Rust compiles for tests only.
    pub(super) fn add_rust_modules(&mut self, files: &dyn ProjectFiles) {
        if !self.judges_rust() {
            return;
        }
        let is_rust = |path: &&PathBuf| extension_of(path) == "rs" && !is_foreign(path);
        for path in files.paths().iter().filter(is_rust).filter(|path| said(path).is_none()) {
            let text = files.text(path).unwrap_or_default();
            if !text.contains("cfg(") || !text.contains("test") {
                continue;
            }
            let places = sections::test_module_files(path, &text);
            let found = places.iter().flat_map(|place| files::below(files, place)).cloned();
            for own in found {
                self.judges.entry(StoredPath(own)).or_insert(Why::TestByName);
            }
        }
    }

    /// Features by which Rust's tests are left out or compiled.
    pub(super) fn note_features(&mut self, files: &dyn ProjectFiles) {
        if !self.judges_rust() {
            return;
        }
        let rules = JudgeRules::of(self);
        let is_rust = |path: &&PathBuf| extension_of(path) == "rs" && !is_foreign(path);
        let mut found = BTreeSet::new();
        for path in files.paths().iter().filter(is_rust) {
            let text = files.text(path).filter(|text| text.contains("feature"));
            let Some(text) = text else { continue };
            match rules.role(path) {
                JudgeRole::Whole(_) => found.extend(sections::features_named(&text)),
                JudgeRole::Sections(MixedKind::RustSource) => {
                    found.extend(sections::features_of_tests(&text));
                }
                JudgeRole::Work | JudgeRole::Sections(_) => {}
            }
        }
        drop(rules);
        self.features = found;
    }
}
