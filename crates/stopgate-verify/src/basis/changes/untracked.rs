//! Files of the start that git no longer tracks, although they are there.

use super::super::git_state::GitState;
use super::super::lasting::LastingChange;
use super::{Compare, GitUse};

impl Compare<'_> {
    /// Notes them, so that an original run shows git what it tracked; or says so, where the
    /// repository is outside of every private place.
    ///
    /// `git mv a.py b.py` with a new `a.py` that nobody added yet leaves one as well.
    pub(super) fn untracked(&mut self, commit: &str) -> Vec<LastingChange> {
        let found = GitState::untracked_since(self.root, commit);
        let told = |path: &std::path::PathBuf| {
            let text = format!("git no longer tracks {}", path.display());
            LastingChange::of_file(text, &self.root.join(path))
        };
        let told: Vec<LastingChange> = found.iter().map(told).collect();
        if self.found.git == GitUse::None || !self.root.join(".git").is_dir() {
            return told;
        }
        for LastingChange { text, now } in told {
            self.found.today.push(format!("{text} {now}"));
            self.found.texts.push(text);
        }
        self.found.untracked = found;
        Vec::new()
    }
}
