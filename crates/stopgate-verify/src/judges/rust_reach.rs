//! What Rust compiles for tests only, and what decides whether it does.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::files::{self, ProjectFiles, extension_of};
use super::names::{is_foreign, said};
use super::role::{CheckConduct, JudgeRole, MixedKind, Why};
use super::stored_path::StoredPath;
use super::tools::BENCHES;
use super::{JudgeRules, JudgeSet, sections};

/// How many sources of benches are read.
const BENCHES_MAX: usize = 1_000;

impl JudgeSet {
    /// Benches that assert, where the check runs them: `cargo test --all-targets`.
    pub(super) fn add_benches(&mut self, files: &dyn ProjectFiles) {
        if !self.reach.tools.contains(BENCHES) || !self.judges_rust() {
            return;
        }
        let is_bench = |path: &&PathBuf| {
            let is_in = path.iter().any(|part| part == "benches");
            is_in && extension_of(path) == "rs" && !is_foreign(path)
        };
        let asserts = |path: &&PathBuf| files.text(path).is_some_and(|text| asserts(&text));
        let benches = files.paths().iter().filter(is_bench).take(BENCHES_MAX);
        let found: Vec<PathBuf> = benches.filter(asserts).cloned().collect();
        self.add(found, &Why::TestByContent);
    }

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

/// Whether a bench can fail by what it finds.
fn asserts(text: &str) -> bool {
    let words = ["assert!(", "assert_eq!(", "assert_ne!(", "panic!(", "process::exit("];
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.into_iter().any(|line| words.iter().any(|word| line.contains(word)))
}
