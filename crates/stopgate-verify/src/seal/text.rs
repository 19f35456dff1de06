//! The form in which a seal is kept: one JSON text, outside the work tree.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What marks a path that is no text, followed by its bytes as digits.
const BYTES: &str = "\u{0}";
/// Files whose times are older than this are told apart by them.
const SETTLED_NANOS: i64 = 60_000_000_000;

/// A seal, as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SealText {
    pub(crate) version: u32,
    /// When it was taken, in nanoseconds since 1970.
    pub(crate) taken: i64,
    pub(crate) criteria: Vec<CriterionText>,
    pub(crate) files: Vec<FileText>,
}

/// What is sealed of one criterion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CriterionText {
    pub(crate) name: String,
    pub(crate) definition: String,
    pub(crate) act: ActText,
    /// Programs by name, found or not: they say whose settings matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) used: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) protect: Vec<String>,
    /// The project's own programs and scripts that its command names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) scripts: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) programs: Vec<ProgramText>,
    /// Scripts of `package.json` and the fingerprints of their texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) package: Vec<(String, String)>,
}

/// How a criterion is proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ActText {
    /// By a command.
    Run,
    /// By looking.
    Look,
}

/// A program, as it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProgramText {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) content: String,
    pub(crate) mtime: i64,
    pub(crate) ctime: i64,
    pub(crate) size: u64,
    pub(crate) inode: u64,
    pub(crate) mode: u32,
}

/// A file, as it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileText {
    pub(crate) path: String,
    pub(crate) kind: KindText,
    pub(crate) content: String,
    /// Whether the content itself is kept.
    pub(crate) kept: bool,
}

/// What a sealed file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KindText {
    Plain,
    Executable,
    Link,
    Unreadable,
}

/// A path as text, also where it is none.
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

/// The earliest time at which none of the programs would have looked just changed.
pub(crate) fn settled(criteria: &[CriterionText], taken: i64) -> i64 {
    let programs = criteria.iter().flat_map(|criterion| &criterion.programs);
    let newest = programs.map(|program| program.mtime.max(program.ctime)).max().unwrap_or(0);
    taken.min(newest.saturating_add(SETTLED_NANOS))
}
