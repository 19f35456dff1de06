//! What tests and documentation depend on beside their own files, as it was at the start.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::files::ProjectFiles;
use super::stored_path::StoredPath;
use super::{JudgeSet, build_scripts, rust_documents, test_registrars};

/// Names and pages by which judging sections are found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct JudgeGround {
    /// Variables, switches and written files that only tests in Rust ask a build script for.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) told: BTreeSet<String>,
    /// Pages whose examples are documentation of Rust.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) documents: BTreeSet<StoredPath>,
    /// Functions of the project that build and register tests for `CMake`.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(super) registrars: BTreeSet<String>,
}

impl JudgeGround {
    pub(super) fn is_empty(&self) -> bool {
        self.told.is_empty() && self.documents.is_empty() && self.registrars.is_empty()
    }
}

/// Notes what tests and documentation depend on beside their own files.
pub(super) fn note_ground(set: &mut JudgeSet, files: &dyn ProjectFiles) {
    set.note_features(files);
    build_scripts::note_told(set, files);
    rust_documents::note_documents(set, files);
    test_registrars::note_registrars(set, files);
}
