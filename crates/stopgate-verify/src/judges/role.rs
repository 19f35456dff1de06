//! What a file is to a check: work, a judge, or a file with judging sections in it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a check does, as far as can be seen from its command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CheckConduct {
    /// It looks at files, lints or builds: tests do not decide.
    #[default]
    Looks,
    /// It runs tests.
    Tests,
    /// It starts something that nobody here knows, so it may do anything.
    Unknown,
}

/// What a file is to the check of one criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JudgeRole {
    /// The agent may change it; the check judges it.
    Work,
    /// All of it decides what "pass" means.
    Whole(Why),
    /// Some sections of it decide what "pass" means; the rest is work.
    Sections(MixedKind),
}

impl JudgeRole {
    /// Whether people are shown the file among the judges: shell code that judges read judges only
    /// by what may be new in it.
    pub(crate) fn is_shown(&self) -> bool {
        !matches!(self, Self::Work | Self::Sections(MixedKind::ShellLibrary))
    }
}

/// Why a whole file is a judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    /// A `protect` pattern names it.
    Protected,
    /// Its name or directory says that it is a test.
    TestByName,
    /// What it says shows that it is a test.
    TestByContent,
    /// Tests compare with it or read it.
    TestData,
    /// The command names it as a test or as a setting.
    Named,
    /// It configures this tool.
    Configuration(String),
    /// The check runs it.
    Script,
    /// A script that the check runs uses it, too.
    UsedByScript,
    /// Only tests import it.
    Helper,
    /// It takes the place of this, which was found elsewhere at the start.
    Hides(String),
    /// A judge is a link to it.
    BehindLink,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Protected => f.write_str("protected"),
            Self::TestByName => f.write_str("test by name"),
            Self::TestByContent => f.write_str("test by what it says"),
            Self::TestData => f.write_str("data that tests compare with"),
            Self::Named => f.write_str("named by the check"),
            Self::Configuration(tool) => write!(f, "configuration of {tool}"),
            Self::Script => f.write_str("script that the check runs"),
            Self::UsedByScript => f.write_str("used by a script that the check runs"),
            Self::Helper => f.write_str("helper that only tests import"),
            Self::Hides(name) => write!(f, "hides {name}"),
            Self::BehindLink => f.write_str("a judge is a link to it"),
        }
    }
}

/// How a file with judging sections is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MixedKind {
    /// `pyproject.toml`
    Pyproject,
    /// `setup.cfg`
    SetupCfg,
    /// `tox.ini`
    ToxIni,
    /// `package.json`
    PackageJson,
    /// `Cargo.toml`
    CargoToml,
    /// `go.mod`
    GoMod,
    /// `go.work`
    GoWork,
    /// A makefile, or what one includes.
    Makefile,
    /// A justfile, or what one imports.
    Justfile,
    /// `CMakeLists.txt`, or what one includes.
    CMakeLists,
    /// `Taskfile.yml`
    Taskfile,
    /// Rust source, for its `#[cfg(test)]` items and the examples in its documentation.
    RustSource,
    /// `build.rs`, for what it tells tests and nothing else.
    BuildScript,
    /// A page that Rust includes as documentation, for its examples.
    RustPage,
    /// Python source, for its tests and the examples in its docstrings.
    PythonSource,
    /// JavaScript or TypeScript, for its tests under `import.meta.vitest`.
    VitestSource,
    /// `.env` and its like, for variables that steer runners.
    Environment,
    /// A header of C, for what it makes of assertions.
    CHeader,
    /// Shell code that judges read into themselves, for functions with the names of commands.
    ShellLibrary,
    /// A page of documentation, for the examples that a script of the project tries out.
    Page,
}

impl fmt::Display for MixedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pyproject | Self::SetupCfg | Self::ToxIni => "settings of test tools",
            Self::PackageJson => "scripts that the check reaches, settings of test tools",
            Self::CargoToml => "test targets, lints, profiles, patches",
            Self::GoMod => "replacements",
            Self::GoWork => "modules in use, replacements",
            Self::Makefile => "targets that the check reaches",
            Self::Justfile => "recipes that the check reaches",
            Self::Taskfile => "tasks that test",
            Self::CMakeLists => "tests, and what they are built from",
            Self::RustSource => "#[cfg(test)] items, examples in documentation",
            Self::BuildScript => "what only tests are told",
            Self::RustPage => "examples in documentation",
            Self::PythonSource => "tests and examples in source",
            Self::VitestSource => "tests in source",
            Self::Environment => "variables that steer test tools",
            Self::CHeader => "assertion macros",
            Self::Page => "examples that a script tries out",
            Self::ShellLibrary => "functions with the names of commands that tests run",
        })
    }
}

impl fmt::Display for JudgeRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Work => f.write_str("work"),
            Self::Whole(why) => write!(f, "{why}"),
            Self::Sections(kind) => write!(f, "{kind}"),
        }
    }
}
