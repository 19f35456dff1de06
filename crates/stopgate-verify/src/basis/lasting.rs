//! A change that no private run can undo, so that a person is asked about it.

use std::path::Path;

use super::programs::fingerprint;

/// What is not as it was, and what it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LastingChange {
    /// A sentence for people.
    pub(super) text: String,
    /// Identifies what is there now: a person accepts this, and nothing that comes later.
    pub(super) now: String,
}

impl LastingChange {
    pub(super) fn new(text: impl Into<String>, now: &str) -> Self {
        Self { text: text.into(), now: now.into() }
    }

    /// A change of a file, bound to what the file says now.
    pub(super) fn of_file(text: impl Into<String>, path: &Path) -> Self {
        Self { text: text.into(), now: fingerprint(path) }
    }
}
