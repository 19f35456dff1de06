//! The form in which a basis is kept: one JSON text, outside the work tree.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_system::ffi::OsStrExt;

use super::build_settings::BuildSettings;
use super::changes::WatchedFile;
use super::environments::RunnerPlugin;
use super::git_state::GitState;
use super::imported::ImportedPackage;
use super::installed::InstalledProgram;
use super::linked::LinkedPackage;
use super::outside::OutsideFile;
use super::programs::FoundProgram;
use crate::judges::JudgeSet;
use crate::kinds::GitBasis;
use crate::tree::FileKind;

/// What marks a path that is not text, followed by its bytes as digits.
const BYTES: &str = "\u{0}";

/// The version of this form.
pub(super) const VERSION: u32 = 2;

/// A basis, as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct BasisText {
    pub(super) version: u32,
    pub(super) criteria: Vec<CriterionText>,
    /// Every file that judges any criterion.
    pub(super) files: Vec<FileText>,
    /// The variables that checks see.
    pub(super) variables: Vec<(String, String)>,
    /// Files outside the project that steer runners.
    pub(super) outside: Vec<OutsideFile>,
    /// How git was set up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) git: Option<GitBasis>,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) commit: Option<String>,
    /// Compiled Python of the first run, but for the project's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) bytecode: Option<String>,
    /// The names of the packages in `node_modules`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) packages: BTreeSet<String>,
}

/// What is fixed of one criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CriterionText {
    pub(super) name: String,
    pub(super) definition: String,
    pub(super) judges: JudgeSet,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) programs: Vec<FoundProgram>,
    /// Its tools in `node_modules/.bin`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) installed: Vec<InstalledProgram>,
    /// Packages of the project that are linked into `node_modules`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) linked: Vec<LinkedPackage>,
    /// Files that the check itself wrote when it was run before the work began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) outputs: Vec<String>,
    /// Directories with files that it made then and git ignores, and such files in the root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) made: Vec<String>,
    /// Whether it runs tests that the work itself is yet to write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) self_judged: bool,
    /// Installed packages that its tests import.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) imported: Vec<ImportedPackage>,
    /// Plugins that its runner loads from environments of the project, or that the project needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) plugins: Vec<RunnerPlugin>,
    /// How git saw the project, where the check asks it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) git: Option<GitState>,
    /// What `CMake` kept in its build directories.
    #[serde(default, skip_serializing_if = "BuildSettings::is_empty")]
    pub(super) built: BuildSettings,
    /// Programs of the project that make what it has git compare.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) makers: Vec<FileText>,
    /// What it reads and did not accept, by the patterns and directories that it names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) watched: Vec<WatchedFile>,
    /// Lists of what its scripts look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) lists: Vec<FileText>,
}

/// A file, as it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileText {
    pub(super) path: String,
    pub(super) kind: FileKind,
    pub(super) content: String,
    /// Whether the content itself is kept.
    pub(super) kept: bool,
}

/// A path as text, also where it is not UTF-8.
pub(crate) fn path_text(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.into(),
        None => format!("{BYTES}{}", crate::tree::hex(path.as_os_str().as_bytes())),
    }
}

/// The path that a text stands for.
pub(crate) fn text_path(text: &str) -> PathBuf {
    let Some(digits) = text.strip_prefix(BYTES) else { return text.into() };
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    };
    let bytes: Vec<u8> = digits.as_bytes().chunks(2).filter_map(byte).collect();
    PathBuf::from(OsStr::from_bytes(&bytes))
}
