//! The judging sections of files that are work as well, and how the original ones are put back.
//!
//! Texts in, texts out. Layout, comments and an order that means nothing do not count.

mod blocks;
mod build_script;
mod c_header;
mod cargo;
mod cargo_features;
mod cmake;
mod env_file;
mod import_paths;
mod ini;
mod json;
mod modfile;
mod package;
mod pages;
mod pyproject;
mod python_docs;
mod python_tests;
mod rust;
mod rust_docs;
mod rust_moves;
mod rust_page;
mod rust_tokens;
mod shell_library;
mod taskfile;
mod toml_tree;
mod vitest_source;

pub(crate) use self::cargo::with_moved_targets;
pub(super) use self::cmake::registrars as test_registrars;
pub(crate) use self::import_paths::{import_paths, with_import_paths};
pub(crate) use self::modfile::{ModuleFile, ModuleLead, with_new_leads};
pub(crate) use self::package::with_moved_entries;
pub(super) use self::python_tests::is_mixed as is_mixed_python;
pub(crate) use self::rust_moves::{MovedTests, SourcePair};
pub(crate) use self::taskfile::taskfile_rank;
pub(super) use self::vitest_source::has_tests as has_vitest_tests;

pub(super) mod just;
pub(super) mod make;
mod make_flags;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::role::MixedKind;

/// What of a file the check reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SectionReach {
    /// Tools that the check uses.
    pub(crate) tools: BTreeSet<String>,
    /// Scripts of a package, targets and `$variables` of a makefile, recipes and `$variables` of
    /// a justfile that the check reaches; features of a Cargo package that tests name, and what
    /// only tests ask its build script for; functions that register tests for `CMake`; scripts
    /// that may have a table of their own in `pyproject.toml`; variables that the check expands.
    pub(crate) names: BTreeSet<String>,
    /// Commands of the shell that its judges run.
    pub(crate) commands: BTreeSet<String>,
    /// Words by which judging scripts find settings of their own, and tests; for what tests find
    /// below a table of the work, with a dot before it.
    pub(crate) settings: BTreeSet<String>,
    /// The check starts something that nobody here knows: settings of all tools count.
    pub(crate) is_open: bool,
}

impl SectionReach {
    /// Whether the check uses one of the tools.
    fn uses(&self, tools: &str) -> bool {
        self.is_open || tools.split_whitespace().any(|tool| self.tools.contains(tool))
    }
}

/// What the judging sections of a text say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judging {
    /// Each section in one form, whatever its layout.
    sections: Vec<String>,
    /// What may grow, but not shrink: workspace members, phony targets.
    members: BTreeSet<String>,
}

impl Judging {
    /// Whether `today` judges at least by what this judges by.
    pub(crate) fn is_kept_by(&self, today: &Self) -> bool {
        self.sections == today.sections && self.members.is_subset(&today.members)
    }

    /// Whether the text has no judging section.
    pub(crate) fn is_empty(&self) -> bool {
        self.sections.is_empty() && self.members.is_empty()
    }

    /// Its sections, for people who compare two of them.
    #[cfg(test)]
    pub(crate) fn lines(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().chain(&self.members).map(String::as_str)
    }
}

/// Why the original sections could not be put into today's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RestoreError {
    /// A text is not in its own language.
    #[error("read {which}: {problem}")]
    Unreadable {
        /// Which of the two texts.
        which: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A section's surroundings are gone or mean something else now.
    #[error("find a place for the original sections: today's text is built differently")]
    NoPlace,
}

/// What the judging sections of a text say.
pub(crate) fn judging(
    kind: MixedKind,
    text: &str,
    reach: &SectionReach,
) -> Result<Judging, RestoreError> {
    let found = match kind {
        MixedKind::Pyproject => pyproject::judging(text, reach),
        MixedKind::CargoToml => cargo::judging(text, &reach.names),
        MixedKind::SetupCfg | MixedKind::ToxIni => Ok(ini::judging(kind, text, reach)),
        MixedKind::PackageJson => package::judging(text, reach),
        MixedKind::GoMod | MixedKind::GoWork => Ok(modfile::judging(kind, text)),
        MixedKind::Makefile => Ok(make::judging(text, reach)),
        MixedKind::Justfile => Ok(just::judging(text, reach)),
        MixedKind::CMakeLists => Ok(cmake::judging(text, &reach.names)),
        MixedKind::Taskfile => Ok(taskfile::judging(text)),
        MixedKind::RustSource => rust::judging(text),
        MixedKind::BuildScript => build_script::judging(text, &reach.names),
        MixedKind::RustPage => Ok(rust_page::judging(text)),
        MixedKind::PythonSource => Ok(python_docs::judging(text)),
        MixedKind::VitestSource => Ok(vitest_source::judging(text)),
        MixedKind::Environment => Ok(env_file::judging(text, &reach.names)),
        MixedKind::CHeader => Ok(c_header::judging(text)),
        MixedKind::ShellLibrary => Ok(shell_library::judging(text, &reach.commands)),
        MixedKind::Page => Ok(pages::judging(text, &reach.names)),
    };
    found.map_err(|problem| RestoreError::Unreadable { which: "the file", problem })
}

/// Today's text with the judging sections of the original.
pub(crate) fn restore(
    kind: MixedKind,
    original: &str,
    today: &str,
    reach: &SectionReach,
) -> Result<String, RestoreError> {
    let of = |text, which| {
        judging(kind, text, reach).map_err(|error| match error {
            RestoreError::Unreadable { problem, .. } => RestoreError::Unreadable { which, problem },
            RestoreError::NoPlace => RestoreError::NoPlace,
        })
    };
    let was = of(original, "the original file")?;
    if was.is_kept_by(&of(today, "today's file")?) {
        return Ok(today.into());
    }
    let restored = match kind {
        MixedKind::Pyproject => pyproject::restore(original, today, reach),
        MixedKind::CargoToml => cargo::restore(original, today, &reach.names),
        MixedKind::SetupCfg | MixedKind::ToxIni => Some(ini::restore(kind, original, today, reach)),
        MixedKind::PackageJson => package::restore(original, today, reach),
        MixedKind::GoMod | MixedKind::GoWork => Some(modfile::restore(kind, original, today)),
        MixedKind::Makefile => Some(make::restore(original, today, reach)),
        MixedKind::Justfile => Some(just::restore(original, today, reach)),
        MixedKind::CMakeLists => Some(cmake::restore(original, today, &reach.names)),
        MixedKind::Taskfile => Some(taskfile::restore(original, today)),
        MixedKind::RustSource => rust::restore(original, today),
        MixedKind::BuildScript => build_script::restore(original, today, &reach.names),
        MixedKind::RustPage => Some(rust_page::restore(original, today)),
        MixedKind::PythonSource => Some(python_docs::restore(original, today)),
        MixedKind::VitestSource => Some(vitest_source::restore(original, today)),
        MixedKind::Environment => Some(env_file::restore(original, today, &reach.names)),
        MixedKind::CHeader => Some(c_header::restore(original, today)),
        MixedKind::ShellLibrary => Some(shell_library::restore(original, today, &reach.commands)),
        MixedKind::Page => Some(pages::restore(original, today, &reach.names)),
    };
    let restored = restored.ok_or(RestoreError::NoPlace)?;
    // Never believed, always read again: a section in the wrong place judges differently.
    if was.is_kept_by(&of(&restored, "the restored file")?) {
        Ok(restored)
    } else {
        Err(RestoreError::NoPlace)
    }
}

/// Today's text without the judging sections that were added, where it can be had without them.
pub(crate) fn without_added(kind: MixedKind, original: &str, today: &str) -> Option<String> {
    (kind == MixedKind::PythonSource).then(|| python_docs::without_added(original, today))?
}

/// The files and directories of modules that `text`, at `path`, declares for tests only.
pub(super) fn test_module_files(path: &Path, text: &str) -> Vec<PathBuf> {
    let directory = path.parent().unwrap_or(Path::new(""));
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let own = match stem {
        "lib" | "main" | "mod" => directory.to_path_buf(),
        stem => directory.join(stem),
    };
    let mut found = Vec::new();
    for (name, file) in rust::test_modules(text) {
        if let Some(file) = file {
            found.push(directory.join(file));
        } else {
            found.extend([own.join(format!("{name}.rs")), own.join(name)]);
        }
    }
    found
}

/// The features that a text of Rust names: `feature = "slow"`.
pub(super) fn features_named(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for rest in text.split("feature").skip(1) {
        let value = rest.trim_start().strip_prefix('=').map(str::trim_start);
        let name = value.and_then(|value| value.strip_prefix('"')?.split('"').next());
        found.extend(name.filter(|name| !name.is_empty()).map(str::to_string));
    }
    found
}

/// The features that the tests in a source of Rust name.
pub(super) fn features_of_tests(text: &str) -> BTreeSet<String> {
    let found = rust::judging(text).unwrap_or_default();
    found.sections.iter().flat_map(|section| features_named(section)).collect()
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod rust_tests;
#[cfg(test)]
mod tests;
