//! Files that are work and judge as well: source with tests beside the code, manifests with
//! settings, and work that judges read into themselves.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::build_scripts::is_build_script;
use super::files::{ProjectFiles, directory_of, extension_of, name_of};
use super::names::{is_environment, is_foreign, said};
use super::role::{CheckConduct, JudgeRole, Why};
use super::rules::JudgeRules;
use super::sections::SectionReach;
use super::stored_path::StoredPath;
use super::{JudgeSet, JudgeStance, script_settings, sections, sourced};
use crate::glob::Globs;

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

    /// Words by which judging scripts and tests find their settings in a manifest.
    pub(super) fn note_settings(&mut self, files: &dyn ProjectFiles) {
        self.settings = script_settings::words_of(self.scripts(), files);
        if self.reach.conduct != CheckConduct::Looks {
            let judges = self.whole(files).into_iter().collect();
            self.settings.extend(script_settings::words_of_tests(&judges, files));
        }
    }

    /// Scripts that judge without being tests.
    pub(crate) fn scripts(&self) -> impl Iterator<Item = &Path> {
        let judges = self.judges.iter();
        let scripts = judges.filter(|(_, why)| matches!(why, Why::Script | Why::UsedByScript));
        scripts.map(|(path, _)| path.0.as_path())
    }

    /// Patterns and directories by which the check finds what it reads.
    pub(crate) fn watched(&self) -> impl Iterator<Item = &String> {
        self.reach.watched.iter()
    }

    /// Files that judging scripts read and that may list what they look at.
    pub(crate) fn lists(&self) -> impl Iterator<Item = &Path> {
        self.reach.lists.iter().map(|path| path.0.as_path())
    }

    /// Whether a program under test makes what the check has git compare, and no person said that it
    /// may change.
    pub(crate) fn is_maker(&self, path: &Path) -> bool {
        let bytes = path.as_os_str().as_encoded_bytes();
        let may_change = || Globs::new(&self.may_change).is_ok_and(|globs| globs.takes(bytes));
        self.stance == JudgeStance::Judges
            && self.makers.iter().any(|own| own.0 == path)
            && !may_change()
    }

    /// Files that make would make, and that the check has git compare.
    pub(crate) fn made(&self) -> impl Iterator<Item = &Path> {
        let own = self.made.iter().map(|own| own.0.as_path());
        own.filter(|_| self.stance == JudgeStance::Judges)
    }

    /// What of a file with judging sections the check reaches.
    pub(crate) fn reach_of(&self, path: &Path) -> SectionReach {
        let reach = &self.reach;
        let own = if name_of(path) == "package.json" {
            reach.packages.get(&directory_of(path) as &Path).cloned().unwrap_or_default()
        } else if name_of(path) == "Cargo.toml" {
            self.features.clone()
        } else if name_of(path) == "CMakeLists.txt" || extension_of(path) == "cmake" {
            self.ground.registrars.clone()
        } else if is_build_script(path) {
            self.ground.told.clone()
        } else if name_of(path) == "pyproject.toml" {
            // `tools/tidy.py` may well read `[tool.tidy]`.
            let stem = |path: &Path| path.file_stem()?.to_str().map(String::from);
            self.scripts().filter_map(stem).collect()
        } else if is_environment(path) {
            reach.variables.clone()
        } else if let Some(languages) = reach.pages.get(path) {
            languages.clone()
        } else {
            let all = reach.makefiles.iter().chain(&reach.justfiles);
            let known = all.clone().find(|(other, _)| other.0 == path);
            // A makefile that is new is read together with those that were there.
            let together = || all.flat_map(|(_, names)| names.clone()).collect();
            known.map_or_else(together, |(_, names)| names.clone())
        };
        SectionReach {
            tools: reach.tools.clone(),
            names: own,
            commands: self.commands.clone(),
            settings: self.settings.clone(),
            is_open: reach.conduct == CheckConduct::Unknown,
        }
    }

    /// Lines of the work that were left out of coverage at the start; nothing where it is not
    /// measured.
    pub(crate) fn coverage_marks(&self) -> Option<&BTreeSet<String>> {
        self.coverage_marks.as_ref()
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
