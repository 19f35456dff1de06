//! Git, as far as a loop is concerned: a worktree of its own, and the repository that it was proven
//! in.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// The worktree of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopWorktree {
    /// Its directory.
    pub directory: String,
    /// The loop's own branch.
    pub branch: String,
    /// The branch that it is merged into.
    pub target: String,
    /// Whether a stop found everything proven in it; only the merge is left then.
    #[serde(default)]
    pub is_proven: bool,
}

/// Which repository something was proven in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Repository {
    /// The commits that it begins with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// Where its remotes are, without credentials.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<String>,
    /// The commit that was checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
}

#[cfg(test)]
mod tests;
