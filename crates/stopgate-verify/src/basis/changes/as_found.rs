//! Files as they were found: whether they are the same, what they are built with, what takes their
//! place.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::text::FileText;
use crate::place::{FileContent, RestoredFile};
use crate::tree::{FileKind, TreeFile, hex};

/// Tools that may run a binary that was built from another state of a judge.
const BUILDERS: [&str; 17] = [
    "task", "cargo", "rustc", "make", "gmake", "ninja", "cmake", "ctest", "meson", "gradle",
    "gradlew", "mvn", "bazel", "dotnet", "gcc", "just", "tsc",
];

/// A file with another text.
pub(super) fn as_text(path: &Path, text: String, now: &TreeFile) -> RestoredFile {
    let executable = now.kind == FileKind::Executable;
    let content = FileContent::File { bytes: text.into_bytes(), executable };
    RestoredFile { path: path.into(), content }
}

/// Whether a file is what it was; one that can be executed by now makes no difference to a test,
/// but one that no longer can may be passed over.
pub(super) fn is_same(noted: &FileText, now: &TreeFile) -> bool {
    let is_link = now.kind == FileKind::Link;
    let is_disabled = noted.kind == FileKind::Executable && now.kind == FileKind::Plain;
    (noted.kind == FileKind::Link) == is_link && !is_disabled && noted.content == hex(&now.content)
}

/// Whether a test in this language is run as a program that was built from it.
pub(super) fn is_compiled(path: &Path) -> bool {
    const ENDS: [&str; 8] = ["c", "cc", "cpp", "cxx", "h", "hpp", "java", "rs"];
    path.extension().and_then(|end| end.to_str()).is_some_and(|end| ENDS.contains(&end))
}

pub(super) fn mentions_builder(line: &str) -> bool {
    let is_end = |c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_');
    line.split(is_end).any(|word| BUILDERS.contains(&word))
}

/// Whether a program, by its name or path, is one of these tools.
pub(super) fn is_builder(program: &str) -> bool {
    BUILDERS.contains(&program.rsplit('/').next().unwrap_or(program))
}

pub(super) fn nanos(time: SystemTime) -> Option<i64> {
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}
