//! What a loop counts from stop to stop.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::criterion::{Criterion, Proof};
use crate::digest::Digest;
use crate::receipt::Status;
use crate::seen::{CapScope, Seen, ToolUse};
use crate::state::State;
use crate::stored::is_default;

/// Background tasks remembered; beyond that, those that have ended are forgotten.
const TASKS_MAX: usize = 64;
/// Sets of failures remembered; enough for eight rounds.
const RECENT_MAX: usize = 16;

/// Everything a loop counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Stops that were judged, whatever came out.
    pub stops: u64,
    /// Continuations in a row that led to nothing.
    pub idle: u32,
    /// Stops in a row with the same failures as the one before.
    pub repeat: u32,
    /// Refusals in a row as the agent's client counts them.
    pub refusals: u32,
    /// Stops in a row at which a check could not be run.
    pub errors: u32,
    /// Stops in a row at which something that judges the work was found changed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tampered: u32,
    /// Whether a person spoke during the running turn.
    #[serde(default, skip_serializing_if = "is_default")]
    pub person_spoke: bool,
    /// What failed at the last stop, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<u64>,
    /// Which criteria failed at the last stops, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recent: Vec<u64>,
    /// The last message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<u64>,
    /// Where the agent's tool counter stood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_mark: Option<u64>,
    /// Where the transcript ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transcript_mark: Option<u64>,
    /// The prompt that the agent is answering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<String>,
    /// Background tasks that had their turn to park the loop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<String>,
}

impl Tally {
    /// The tally with this stop counted in, before anything is decided.
    #[must_use]
    pub(crate) fn after(&self, state: &State, seen: &Seen) -> Self {
        // A nested stop looks at no check, so it says nothing new about what is unmet.
        let names = match self.recent.last() {
            Some(last) if state.frames.len() > 1 => *last,
            Some(_) | None => unmet_names(state, seen),
        };
        let failure = failure(state, seen);
        let repeats = failure.is_some() && failure == self.failure;
        let first = self.recent.is_empty();
        let idle_now = !first && self.is_idle(seen, names) && !tree_changed(state, seen);
        Self {
            stops: self.stops.saturating_add(1),
            idle: if idle_now { self.idle.saturating_add(1) } else { 0 },
            repeat: if repeats { self.repeat.saturating_add(1) } else { 0 },
            refusals: if self.client_counts_on(seen) { self.refusals } else { 0 },
            errors: if any(seen, Status::Error) { self.errors.saturating_add(1) } else { 0 },
            tampered: self.tampered_after(seen),
            person_spoke: false,
            failure,
            recent: with_newest(&self.recent, names),
            message: seen.message,
            tool_mark: seen.tool_mark,
            transcript_mark: seen.transcript_mark,
            prompt_id: seen.prompt_id.clone().or_else(|| self.prompt_id.clone()),
            tasks: self.tasks.clone(),
        }
    }

    /// The tally after a stop that is allowed and not counted.
    #[must_use]
    pub(crate) fn passed_over(&self, seen: &Seen) -> Self {
        let mut next = self.clone();
        next.stops = next.stops.saturating_add(1);
        for task in &seen.background {
            if !next.tasks.contains(task) {
                next.tasks.push(task.clone());
            }
        }
        // Only what has ended may be forgotten: a forgotten task would park once more.
        if next.tasks.len() > TASKS_MAX {
            next.tasks.retain(|task| seen.background.contains(task));
        }
        next.person_spoke = false;
        next
    }

    /// Whether the criteria that failed have taken turns for `rounds` rounds.
    pub(crate) fn oscillates(&self, rounds: u32) -> bool {
        let span = usize::try_from(rounds).unwrap_or(usize::MAX).saturating_mul(2);
        if span == 0 || self.recent.len() < span {
            return false;
        }
        let recent = &self.recent[self.recent.len() - span..];
        recent[0] != recent[1] && recent.chunks(2).all(|pair| pair == &recent[..2])
    }

    /// A stop that looked at no check says nothing about tampering.
    fn tampered_after(&self, seen: &Seen) -> u32 {
        match seen.receipts.is_empty() {
            true => self.tampered,
            false if any(seen, Status::Tampered) => self.tampered.saturating_add(1),
            false => 0,
        }
    }

    fn is_idle(&self, seen: &Seen, names: u64) -> bool {
        let same_unmet = self.recent.last() == Some(&names);
        let did_nothing = match seen.tools {
            ToolUse::Used => false,
            ToolUse::None => true,
            ToolUse::Unknown => seen.message.is_some() && seen.message == self.message,
        };
        same_unmet && did_nothing
    }

    /// A new prompt, and with most clients a tool call, starts the client's count of refusals anew.
    fn client_counts_on(&self, seen: &Seen) -> bool {
        let new_prompt = seen.prompt_id.is_some() && seen.prompt_id != self.prompt_id;
        let spans_tools = seen.cap.is_some_and(|cap| cap.scope == CapScope::Turn);
        let on = spans_tools || seen.tools != ToolUse::Used;
        on && seen.continued != Some(false) && !new_prompt
    }
}

/// Whether files that a check depends on are not what they were when it was last looked at; where
/// that can't be told, they are.
fn tree_changed(state: &State, seen: &Seen) -> bool {
    let mut known = state.criteria.iter().filter_map(|criterion| {
        let before = criterion.last.as_ref()?.kept.as_ref()?.evidence.tree.as_ref()?;
        Some((before, seen.receipt(&criterion.name)?.evidence.tree.as_ref()?))
    });
    known.any(|(before, now)| before != now)
}

/// One more at the end, and no more than are looked at; in one allocation.
fn with_newest(recent: &[u64], newest: u64) -> Vec<u64> {
    let surplus = (recent.len() + 1).saturating_sub(RECENT_MAX);
    recent.iter().skip(surplus).copied().chain([newest]).collect()
}

/// Which criteria do not pass, as a fingerprint.
fn unmet_names(state: &State, seen: &Seen) -> u64 {
    let mut digest = Digest::new();
    let approved = |c: &Criterion| c.proof == Proof::Approve && c.approved_at.is_some();
    for criterion in state.criteria.iter().filter(|c| !seen.passed(&c.name) && !approved(c)) {
        digest = digest.part(criterion.name.as_bytes());
    }
    digest.value()
}

/// What fails and how, as a fingerprint; nothing where no check fails.
fn failure(state: &State, seen: &Seen) -> Option<u64> {
    let mut digest = Digest::new();
    let mut any = false;
    for receipt in seen.receipts.iter().filter(|r| r.status != Status::Pass) {
        any = true;
        digest = digest.part(receipt.criterion.as_bytes());
        digest = digest.part(receipt.status.word().as_bytes()).words(&receipt.tail);
    }
    (any && !state.criteria.is_empty()).then(|| digest.value())
}

fn any(seen: &Seen, status: Status) -> bool {
    seen.receipts.iter().any(|receipt| receipt.status == status)
}

#[cfg(test)]
mod tests;
