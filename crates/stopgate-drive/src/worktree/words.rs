//! What a person reads when a merge is theirs to finish: what is in the way, where the work is,
//! how to look at it, how to finish.

use std::error::Error;
use std::path::Path;

use stopgate_core::{LoopWorktree, State};

/// What is in the way, and the commands.
pub(super) fn left_to_person(
    state: &State,
    worktree: &LoopWorktree,
    what: &str,
    finish: &str,
) -> String {
    let LoopWorktree { directory, branch, target, .. } = worktree;
    let git = git_in(Path::new(directory));
    format!(
        "{what}. Nothing is lost: the work is on branch {branch}, in the worktree {directory}. \
         Look: {git} diff {target}...{branch}. Finish: {finish}, then: stopgate run {} --continue -- AGENT",
        state.id
    )
}

/// How a person brings the target's changes into the loop's branch.
pub(super) fn merge_by_hand(worktree: &LoopWorktree) -> String {
    let git = git_in(Path::new(&worktree.directory));
    format!("{git} merge {}, resolve, {git} commit", worktree.target)
}

/// `git -C` with a directory, as a shell reads it.
pub(super) fn git_in(directory: &Path) -> String {
    format!("git -C {}", quoted(directory))
}

/// A path as a shell reads it.
pub(super) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// An error with its causes.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
