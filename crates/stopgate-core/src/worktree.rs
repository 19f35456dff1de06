//! A git worktree of a loop's own: where its sessions work, and what becomes of that.

use alloc::string::String;

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

#[cfg(test)]
mod tests;
