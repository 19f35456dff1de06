//! Files of the start that git no longer tracks, although they are there.

use super::super::git_state::GitState;
use super::super::lasting::LastingChange;
use super::{Compare, GitUse};

/// Notes them, so that an original run shows git what it tracked; or says so, where the
/// repository is outside of every private place.
///
/// `git mv a.py b.py` with a new `a.py` that nobody added yet leaves one as well.
pub(super) fn untracked(compare: &mut Compare<'_>, commit: &str) -> Vec<LastingChange> {
    let found = GitState::untracked_since(compare.root, commit);
    let told = |path: &std::path::PathBuf| {
        let text = format!("git no longer tracks {}", path.display());
        LastingChange::of_file(text, &compare.root.join(path))
    };
    let told: Vec<LastingChange> = found.iter().map(told).collect();
    if compare.found.git == GitUse::None || !compare.root.join(".git").is_dir() {
        return told;
    }
    for LastingChange { text, now } in told {
        compare.found.today.push(format!("{text} {now}"));
        compare.found.texts.push(text);
    }
    compare.found.untracked = found;
    Vec::new()
}
