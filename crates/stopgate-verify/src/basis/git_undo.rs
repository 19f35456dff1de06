//! What a private place undoes in its own repository, before a check that asks git runs there.

use std::path::PathBuf;

use super::lasting::LastingChange;

/// Everything that an original run has otherwise in its repository than today's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GitUndo {
    /// Settings with what they said; nothing where they said nothing.
    pub(crate) settings: Vec<(String, Option<String>)>,
    /// Files of the repository, by their paths in it, with what they said; nothing where they
    /// were not there.
    pub(crate) files: Vec<(String, Option<String>)>,
    /// Tags, branches and the like, with where they were; nothing where there were none.
    pub(crate) refs: Vec<(String, Option<String>)>,
    /// Files that git was told not to look at.
    pub(crate) unseen: Vec<String>,
    /// New tags and branches that the check may look at: they get the judges of the start, too.
    pub(crate) names: Vec<String>,
    /// Judges that were committed otherwise than the tree has them.
    pub(crate) committed: Vec<PathBuf>,
}

impl GitUndo {
    /// Whether the repository is as it was.
    pub(crate) fn is_empty(&self) -> bool {
        let Self { settings, files, refs, unseen, names: _, committed } = self;
        settings.is_empty()
            && files.is_empty()
            && refs.is_empty()
            && unseen.is_empty()
            && committed.is_empty()
    }
}

/// What changed of how git sees the project.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct GitChanges {
    /// What no run can undo.
    pub(super) lasting: Vec<LastingChange>,
    /// What a private place with a repository of its own undoes.
    pub(super) undone: Vec<LastingChange>,
    /// How it does.
    pub(super) undo: GitUndo,
    /// Files that a run goes without, because git no longer shows them.
    pub(super) absent: Vec<PathBuf>,
}

impl GitChanges {
    /// Without such a place, a person is asked about all of it.
    pub(super) fn all_lasting(self) -> Self {
        let Self { mut lasting, undone, undo, absent: _ } = self;
        lasting.extend(undone);
        let undo = GitUndo { names: undo.names, ..GitUndo::default() };
        Self { lasting, undo, ..Self::default() }
    }

    pub(super) fn ask(&mut self, text: impl Into<String>, now: &str) {
        self.lasting.push(LastingChange::new(text, now));
    }

    pub(super) fn undo(&mut self, text: impl Into<String>, now: &str) {
        self.undone.push(LastingChange::new(text, now));
    }
}
