//! What a path is to a check, by the rules that a set of judges holds.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::build_scripts::is_build_script;
use super::configuration::ToolConfiguration;
use super::files::{ProjectFiles, extension_of, name_of};
use super::names::{NameSays, is_environment, is_foreign, said, says_settings};
use super::role::{CheckConduct, JudgeRole, MixedKind, Why};
use super::sections::make::{MakeItem, parse};
use super::sections::taskfile_rank;
use super::stored_path::StoredPath;
use super::{JudgeSet, JudgeStance, shadows};
use crate::glob::{Globs, name_matches};

pub(super) const PYTHON: [&str; 28] = [
    "python",
    "pytest",
    "py.test",
    "unittest",
    "nose2",
    "tox",
    "nox",
    "behave",
    "coverage",
    "robot",
    "ruff",
    "flake8",
    "mypy",
    "dmypy",
    "pyright",
    "basedpyright",
    "pylint",
    "black",
    "isort",
    "bandit",
    "pydocstyle",
    "pycodestyle",
    "vulture",
    "hatch",
    "pdm",
    "poe",
    "uv",
    "pre-commit",
];

pub(super) const NODE: [&str; 26] = [
    "node",
    "npm",
    "npx",
    "yarn",
    "pnpm",
    "bun",
    "bunx",
    "jest",
    "vitest",
    "mocha",
    "ava",
    "tap",
    "tape",
    "jasmine",
    "karma",
    "playwright",
    "cypress",
    "node-test",
    "nyc",
    "c8",
    "eslint",
    "prettier",
    "tsc",
    "turbo",
    "nx",
    "lerna",
];

/// What builds C and C++.
pub(super) const C: [&str; 9] =
    ["make", "cmake", "ctest", "cc", "gcc", "g++", "clang", "clang++", "ninja"];

/// A set of judges with its patterns read.
pub(crate) struct JudgeRules<'a> {
    set: &'a JudgeSet,
    protect: Globs,
    may_change: Globs,
    pub(super) configuration: ToolConfiguration,
    tests: Globs,
    /// What judges read into themselves by now, found once.
    sourced: OnceCell<BTreeSet<PathBuf>>,
}

impl<'a> JudgeRules<'a> {
    pub(super) fn of(set: &'a JudgeSet) -> Self {
        let reach = &set.reach;
        // Patterns were tried when the set was found.
        let read = |patterns: &[String]| Globs::new(patterns).unwrap_or_default();
        let paths: Vec<&String> = reach
            .test_patterns
            .iter()
            .filter(|own| own.contains('*') && own.contains('/'))
            .collect();
        Self {
            set,
            protect: read(&set.protect),
            may_change: read(&set.may_change),
            configuration: ToolConfiguration::of(&reach.tools, reach.conduct),
            tests: Globs::new(&paths).unwrap_or_default(),
            sourced: OnceCell::new(),
        }
    }

    /// What the file at `path` is to the check, by what was known at the start.
    pub(crate) fn role(&self, path: &Path) -> JudgeRole {
        let bytes = path.as_os_str().as_encoded_bytes();
        let may_change = self.may_change.takes(bytes);
        if self.protect.takes(bytes) && !(may_change && self.is_excepted(path)) {
            return JudgeRole::Whole(Why::Protected);
        }
        if self.set.stance == JudgeStance::Work || may_change {
            return JudgeRole::Work;
        }
        if let Some(kind) = self.mixed(path) {
            return JudgeRole::Sections(kind);
        }
        if self.set.mixed_python.contains(path) {
            return JudgeRole::Sections(MixedKind::PythonSource);
        }
        if self.set.mixed_vitest.contains(path) {
            return JudgeRole::Sections(MixedKind::VitestSource);
        }
        if let Some(why) = self.set.judges.get(path) {
            return JudgeRole::Whole(why.clone());
        }
        if self.set.ground.documents.contains(path) {
            return JudgeRole::Sections(MixedKind::RustPage);
        }
        if self.set.sourced.contains(path) {
            return JudgeRole::Sections(MixedKind::ShellLibrary);
        }
        if self.set.reach.pages.contains_key(path) {
            return JudgeRole::Sections(MixedKind::Page);
        }
        if is_foreign(path) || self.set.work.contains(path) {
            return JudgeRole::Work;
        }
        if let Some(tool) = self.configuration.tool_of(path) {
            return JudgeRole::Whole(Why::Configuration(tool.into()));
        }
        match said(path).filter(|_| self.set.reach.conduct != CheckConduct::Looks) {
            Some(_) if extension_of(path) == "rs" && !self.set.judges_rust() => JudgeRole::Work,
            Some(NameSays::Test) => JudgeRole::Whole(Why::TestByName),
            Some(NameSays::Data) => JudgeRole::Whole(Why::TestData),
            None if self.is_configured_test(path) => JudgeRole::Whole(Why::TestByName),
            None if is_environment(path) && self.set.reach.conduct != CheckConduct::Looks => {
                JudgeRole::Sections(MixedKind::Environment)
            }
            None if extension_of(path) == "py" && self.set.reach.tools.contains("doctest") => {
                JudgeRole::Sections(MixedKind::PythonSource)
            }
            None if self.is_header(path) => JudgeRole::Sections(MixedKind::CHeader),
            None if !self.set.ground.told.is_empty() && is_build_script(path) => {
                JudgeRole::Sections(MixedKind::BuildScript)
            }
            None if self.set.judges_rust() && extension_of(path) == "rs" => {
                JudgeRole::Sections(MixedKind::RustSource)
            }
            None => JudgeRole::Work,
        }
    }

    /// `protect = ["tests/**"]`, `may_change = ["tests/golden/**"]`: the closer one counts.
    fn is_excepted(&self, path: &Path) -> bool {
        let text = path.to_string_lossy();
        let literal = |pattern: &String| {
            let end = pattern.find(['*', '?', '[', '{']).unwrap_or(pattern.len());
            Some(end).filter(|_| text.starts_with(&pattern[..end]))
        };
        let closest = |patterns: &[String]| patterns.iter().filter_map(literal).max();
        closest(&self.set.may_change) > closest(&self.set.protect)
    }

    /// Whether a judging script may find this file instead of the settings that it goes by.
    fn is_nearer_setting(&self, path: &Path) -> bool {
        let is_same = |(own, why): (&StoredPath, &Why)| {
            *why == Why::UsedByScript && own.0.file_name() == path.file_name()
        };
        let is_hidden = name_of(path).starts_with('.');
        (says_settings(path) || is_hidden)
            && !is_foreign(path)
            && self.set.judges.iter().any(is_same)
    }

    /// What a file that did not exist at the start is to the check.
    pub(crate) fn role_of_new(&self, path: &Path, files_now: &dyn ProjectFiles) -> JudgeRole {
        let bytes = path.as_os_str().as_encoded_bytes();
        let is_free = self.set.stance == JudgeStance::Work || self.may_change.takes(bytes);
        if !is_free && let Some(hidden) = shadows::hidden(self.set, path, files_now) {
            return JudgeRole::Whole(Why::Hides(hidden));
        }
        if !is_free && name_of(path).starts_with('-') {
            let what = "files from commands that take its name for an option";
            return JudgeRole::Whole(Why::Hides(what.into()));
        }
        if !is_free && self.is_nearer_setting(path) {
            return JudgeRole::Whole(Why::UsedByScript);
        }
        if !is_free && self.set.test_modules.wants(path) {
            return JudgeRole::Whole(Why::Helper);
        }
        let links_tests = |text: String| text.contains("rustc-link-arg-tests");
        if !is_free && name_of(path) == "build.rs" && files_now.text(path).is_some_and(links_tests)
        {
            return JudgeRole::Whole(Why::Hides("how tests are linked".into()));
        }
        match self.role(path) {
            JudgeRole::Work if !is_free && self.is_included(path, files_now) => {
                JudgeRole::Sections(MixedKind::Makefile)
            }
            JudgeRole::Work if !is_free && self.is_sourced(path, files_now) => {
                JudgeRole::Sections(MixedKind::ShellLibrary)
            }
            role => role,
        }
    }

    /// Whether judges come to read the file into themselves by now.
    fn is_sourced(&self, path: &Path, files_now: &dyn ProjectFiles) -> bool {
        !self.set.sourced.is_empty()
            && self.sourced.get_or_init(|| self.set.sourced_now(files_now)).contains(path)
    }

    /// Whether a makefile in use includes the file by now.
    fn is_included(&self, path: &Path, files_now: &dyn ProjectFiles) -> bool {
        let name = name_of(path);
        let includes = |text: String| {
            parse(&text).iter().any(|lines| match &lines.item {
                MakeItem::Include(names) => names
                    .split_whitespace()
                    .any(|own| name_matches(name_of(Path::new(own)).as_bytes(), name.as_bytes())),
                MakeItem::Rule { .. }
                | MakeItem::Variable { .. }
                | MakeItem::Export(_)
                | MakeItem::Other => false,
            })
        };
        let mut used = self.set.reach.makefiles.keys();
        !is_foreign(path) && used.any(|file| files_now.text(&file.0).is_some_and(includes))
    }

    /// Whether tests in C may include the file, and with it what it makes of their assertions.
    fn is_header(&self, path: &Path) -> bool {
        let reach = &self.set.reach;
        ["h", "hh", "hpp", "hxx"].contains(&extension_of(path))
            && reach.conduct != CheckConduct::Looks
            && C.iter().any(|tool| reach.tools.contains(*tool))
    }

    fn is_configured_test(&self, path: &Path) -> bool {
        let name = name_of(path).as_bytes();
        let patterns = self.set.reach.test_patterns.iter();
        let mut names = patterns.filter(|own| own.contains('*') && !own.contains('/'));
        names.any(|own| name_matches(own.as_bytes(), name))
            || self.tests.takes(path.as_os_str().as_encoded_bytes())
    }

    /// The kind of a file with judging sections, where the check reads it.
    fn mixed(&self, path: &Path) -> Option<MixedKind> {
        if is_foreign(path) {
            return None;
        }
        let set = self.set;
        let kind = match name_of(path) {
            "pyproject.toml" => set.uses(&PYTHON).then_some(MixedKind::Pyproject),
            "setup.cfg" => set.uses(&PYTHON).then_some(MixedKind::SetupCfg),
            "tox.ini" => set.uses(&PYTHON).then_some(MixedKind::ToxIni),
            "package.json" => set.uses(&NODE).then_some(MixedKind::PackageJson),
            "Cargo.toml" => set.uses(&["cargo"]).then_some(MixedKind::CargoToml),
            name if taskfile_rank(name).is_some() => {
                set.uses(&["task"]).then_some(MixedKind::Taskfile)
            }
            // Among tests it is about nothing else.
            "CMakeLists.txt" if said(path).is_some() => None,
            "CMakeLists.txt" => set.uses(&["cmake", "ctest"]).then_some(MixedKind::CMakeLists),
            name if extension_of(path) == "cmake" && !name.starts_with("CTest") => {
                set.uses(&["cmake", "ctest"]).then_some(MixedKind::CMakeLists)
            }
            "go.work" => {
                let users = ["go", "go-test", "gotestsum", "ginkgo", "golangci-lint"];
                set.uses(&users).then_some(MixedKind::GoWork)
            }
            "go.mod" => set.uses(&["go", "gotestsum", "ginkgo"]).then_some(MixedKind::GoMod),
            _ => None,
        };
        let is_make = || {
            let is_part = extension_of(path) == "mk" && !set.reach.makefiles.is_empty();
            is_part || set.reach.makefiles.contains_key(path)
        };
        let is_just = || {
            let is_part = extension_of(path) == "just" && !set.reach.justfiles.is_empty();
            is_part || set.reach.justfiles.contains_key(path)
        };
        kind.or_else(|| is_make().then_some(MixedKind::Makefile))
            .or_else(|| is_just().then_some(MixedKind::Justfile))
    }
}
