//! Whose word stands behind an end.
//!
//! Passing checks end a loop as done only where a person, or a file that a person trusts, said
//! what is to be proven, and where the record of it is sound. Else the end is attested: the
//! checks passed, and it was the agent who chose them.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::criterion::Author;
use crate::outcome::Outcome;
use crate::seen::Seen;
use crate::soundness::Soundness;
use crate::state::{LoopId, State};

crate::words! {
    /// Who did something to a loop.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Party {
        /// Nobody wrote it down.
        #[default]
        Unknown = "unknown",
        /// A person.
        Person = "person",
        /// An agent, by its tools or in its shell.
        Agent = "agent",
    }
}

/// Who began a loop, and whose criteria it has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// Who began it.
    #[serde(skip_serializing_if = "Party::is_unknown")]
    pub by: Party,
    /// What showed that an agent did: a variable of its client, or the tool that was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_by: Option<String>,
    /// Earlier loops of the session that were replaced or cancelled for it, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<Replaced>,
    /// How a person vouched for it after it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vouched: Option<Vouch>,
}

/// A loop that another one took the place of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// The earlier loop.
    pub id: LoopId,
    /// Who ended it.
    pub by: Party,
}

/// Whether a person trusts the project's file that criteria were read from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileTrust {
    /// Nobody does, or it was not asked.
    #[default]
    Untrusted,
    /// A person trusts it with this content.
    Trusted,
}

/// How a person vouched for a loop that an agent began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vouch {
    /// The client's transcript shows that the person typed the command.
    Typed,
    /// They approved it.
    Approved,
}

impl Party {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }
}

impl Origin {
    /// Whether nothing was written down.
    pub const fn is_blank(&self) -> bool {
        self.by.is_unknown()
            && self.shown_by.is_none()
            && self.replaced.is_empty()
            && self.vouched.is_none()
    }

    /// A person vouches for the loop; what they typed, they began.
    pub(crate) fn vouch(&mut self, how: Vouch) {
        self.vouched = Some(how);
        if how == Vouch::Typed {
            self.by = Party::Person;
            self.shown_by = None;
        }
    }
}

/// Whether an agent chose what this loop has to prove, and no person vouched for that.
///
/// An agent that put an earlier loop aside also chose the moment from which the work is judged.
pub fn is_agents_choice(state: &State, file: FileTrust) -> bool {
    let origin = &state.origin;
    if origin.by != Party::Agent || origin.vouched.is_some() {
        return false;
    }
    let from_file = |c: &crate::Criterion| {
        c.is_required() && c.is_checked() && c.terms.author == Author::Project
    };
    let is_projects = file == FileTrust::Trusted && state.criteria.iter().any(from_file);
    !is_projects || !origin.replaced.is_empty()
}

/// How a loop ends whose checks all pass, and why.
pub(crate) fn proven(state: &State, seen: &Seen, checks: String) -> (Outcome, String) {
    if let Some(why) = unconfirmed(seen.soundness) {
        return (Outcome::Attested, format!("{checks}; {why}"));
    }
    if is_agents_choice(state, seen.file) {
        let why = match state.origin.replaced.last() {
            Some(earlier) => format!("an agent put loop {} aside for it", earlier.id),
            None => "an agent chose them".into(),
        };
        return (Outcome::Attested, format!("{checks}; {why}, so a person's word is missing"));
    }
    match state.origin.vouched {
        Some(Vouch::Approved) => (Outcome::Done, format!("{checks}; approved by a person")),
        Some(Vouch::Typed) | None => (Outcome::Done, checks),
    }
}

/// Why a record can't be relied on, where it can't.
const fn unconfirmed(soundness: Soundness) -> Option<&'static str> {
    match soundness {
        Soundness::Sound => None,
        Soundness::Unchained => Some("its record has parts without a seal, so it is not confirmed"),
        Soundness::UnknownWriter => {
            Some("part of its record is by a writer whose key is not here, so it is not confirmed")
        }
        Soundness::Forged => Some("its record was changed outside of stopgate"),
    }
}

#[cfg(test)]
mod tests;
