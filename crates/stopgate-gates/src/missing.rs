//! What the record of a stop may lack of that which gates look at.
//!
//! An evaluation that never looks at a missing fact is as good as one over everything. One that
//! does is worth nothing: the first missing fact that was looked at is noted, and nobody guesses.

use std::sync::{Arc, OnceLock};

/// A fact that the record of a stop may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextFact {
    /// Which files were changed.
    FilesModified,
    /// What the agent wrote.
    AgentOutput,
    /// Which promises it made, beyond those that are known.
    Promises,
    /// What a command would have answered.
    CommandAnswer,
}

impl ContextFact {
    /// What is missing, as the rest of a sentence.
    pub const fn what(self) -> &'static str {
        match self {
            Self::FilesModified => "which files were changed at that stop is not in the journal",
            Self::AgentOutput => "what the agent wrote at that stop is not in the journal",
            Self::Promises => "what the agent promised at that stop is not in the journal",
            Self::CommandAnswer => "a gate asks a command, which is not run again",
        }
    }

    /// The name by which expressions look at it.
    const fn name(self) -> Option<&'static str> {
        match self {
            Self::FilesModified => Some("filesModified"),
            Self::AgentOutput => Some("agentOutput"),
            Self::Promises => Some("completionPromises"),
            Self::CommandAnswer => None,
        }
    }
}

/// Facts that are missing, and the first of them that was looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct MissingFacts {
    facts: Vec<ContextFact>,
    looked_at: Arc<OnceLock<ContextFact>>,
}

impl MissingFacts {
    pub(crate) fn new(facts: Vec<ContextFact>) -> Self {
        Self { facts, looked_at: Arc::default() }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// The first missing fact that was looked at.
    pub(crate) fn looked_at(&self) -> Option<ContextFact> {
        self.looked_at.get().copied()
    }

    /// Notes a look at the value called `name`.
    pub(crate) fn look(&self, name: &str) {
        if let Some(fact) = self.facts.iter().find(|fact| fact.name() == Some(name)) {
            self.note(*fact);
        }
    }

    /// Notes a look at a promise that is not known of; never one that counts as made.
    pub(crate) fn lacks_promise(&self) -> bool {
        if self.facts.contains(&ContextFact::Promises) {
            self.note(ContextFact::Promises);
        }
        false
    }

    pub(crate) fn note(&self, fact: ContextFact) {
        self.looked_at.get_or_init(|| fact);
    }
}
