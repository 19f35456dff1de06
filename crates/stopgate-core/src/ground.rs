//! What a loop's criteria rest on: the files they were read from and are judged by.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::stored::is_default;

/// What was fixed when a loop began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ground {
    /// The fingerprint of what the checks are judged by, kept outside the work tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
    /// The project's file that criteria were read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<ProjectSource>,
    /// Further directories whose files the checks depend on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// How many checks run side by side; 0 is the usual number.
    #[serde(skip_serializing_if = "is_default")]
    pub jobs: u32,
    /// The changes of judges that a person accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved: Option<ApprovedJudges>,
}

/// Changes of judges that a person accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovedJudges {
    /// Identifies exactly the changes that were shown.
    pub digest: String,
    /// Who accepted them.
    pub by: String,
}

/// A project's file, as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectSource {
    /// Where it lies.
    pub path: String,
    /// The fingerprint of its content.
    pub content: String,
    /// The fingerprint of a later content that a person accepted; the criteria stay as they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<String>,
}

impl Ground {
    /// Whether nothing was fixed.
    pub const fn is_bare(&self) -> bool {
        self.seal.is_none()
            && self.source.is_none()
            && self.roots.is_empty()
            && self.jobs == 0
            && self.approved.is_none()
    }
}
