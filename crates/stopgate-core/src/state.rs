//! What is remembered between two stops.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::criterion::Criterion;
use crate::gate::LoopGate;
use crate::ground::Ground;
use crate::outcome::Outcome;
use crate::parking::{Parking, WokenClient};
use crate::policy::Policy;
use crate::spend::Spend;
use crate::tally::Tally;
use crate::time::Timestamp;
use crate::word::Origin;
use crate::worktree::LoopWorktree;

/// How deep frames may be nested.
pub const FRAMES_MAX: usize = 16;

/// A loop's own name; never the session's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LoopId(String);

/// An agent's name for one session. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(String);

/// All that is remembered about one loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Its name.
    pub id: LoopId,
    /// What it is for, as its owner wrote it.
    pub goal: String,
    /// The directory it belongs to.
    pub project: String,
    /// The session that it holds; none while it is pending.
    pub session: Option<SessionId>,
    /// Until when a session may claim it.
    pub claim_until: Option<Timestamp>,
    /// How it is judged.
    pub policy: Policy,
    /// Whether it is steering.
    pub phase: Phase,
    /// Its nested frames, the outermost first.
    pub frames: Vec<Frame>,
    /// What must hold before it is done.
    pub criteria: Vec<Criterion>,
    /// What the criteria rest on.
    #[serde(default, skip_serializing_if = "Ground::is_bare")]
    pub ground: Ground,
    /// Who steers it.
    #[serde(default, skip_serializing_if = "Surface::is_hook")]
    pub surface: Surface,
    /// What else must agree before the agent goes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<LoopGate>,
    /// A person's answer that the session has not heard yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Who began it, and whose criteria it has.
    #[serde(default, skip_serializing_if = "Origin::is_blank")]
    pub origin: Origin,
    /// What its agent has used, where that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spend: Option<Box<Spend>>,
    /// The client that was started after a wait, until it comes to a stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woken: Option<WokenClient>,
    /// The git worktree in which its sessions work, until it is merged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<Box<LoopWorktree>>,
    /// What it counts.
    pub tally: Tally,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was last touched.
    pub updated_at: Timestamp,
    /// When the agent last did something or a criterion changed.
    pub progress_at: Timestamp,
    /// How long it has rested: time that is not counted as work.
    pub rest_ms: i64,
}

/// Who steers a loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// The hook that answers stops; a session claims it.
    #[default]
    Hook,
    /// Tools that the agent calls: the loop is a task, and holds a session while it iterates.
    Tools,
}

/// Whether a loop is steering its agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// It answers stops.
    Active,
    /// The agent asked for verification; the next stop gives it.
    Completing,
    /// It lets stops pass until something happens.
    Waiting {
        /// What it waits for.
        on: Waiting,
        /// Since when.
        since: Timestamp,
    },
    /// A person asked it to stand aside.
    Paused {
        /// Until when it rests.
        rest: Rest,
        /// Since when.
        since: Timestamp,
    },
    /// It is over.
    Ended {
        /// How.
        outcome: Outcome,
        /// Why, in a sentence.
        why: String,
        /// When.
        at: Timestamp,
    },
}

/// What a waiting loop waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Waiting {
    /// Background work of the agent.
    Background,
    /// A person's answer to this question.
    Answer(String),
    /// A person's word on criteria that only a person can attest.
    Approval,
    /// Something outside the session.
    Condition(Box<Parking>),
}

/// How long a person's pause lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rest {
    /// Until the person speaks to the agent again.
    NextPrompt,
    /// Until somebody resumes it.
    Resume,
    /// Until another session takes over.
    NextSession,
}

/// One level of a nested loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Which markers it listens to.
    pub mode: Mode,
    /// How often the agent was sent back within it.
    pub iteration: u32,
    /// How often the agent may be sent back within it.
    pub max: u32,
    /// What it asks for.
    pub prompt: String,
}

crate::words! {
    /// What people and programs see of a loop's phase: one of seven words.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum LoopState {
        /// It holds nobody: finished, or never attached to a session.
        Idle = "idle",
        /// It answers stops.
        Active = "active",
        /// The agent asked for verification.
        Completing = "completing",
        /// It ended, and a person may bring it back.
        Stuck = "stuck",
        /// It ended for good without being finished.
        Aborted = "aborted",
        /// It lets stops pass until something happens.
        Waiting = "waiting",
        /// A person asked it to stand aside.
        Paused = "paused",
    }
}

crate::words! {
    /// How a frame works, which decides the markers it listens to.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Mode {
        /// One goal.
        Loop = "loop",
        /// One issue.
        Issue = "issue",
        /// Issue after issue.
        Grind = "grind",
    }
}

impl LoopId {
    /// Takes the name as it is; the engine makes them.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SessionId {
    /// Accepts any name but a blank one.
    pub fn new(name: &str) -> Option<Self> {
        if name.trim().is_empty() { None } else { Some(Self(name.into())) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl State {
    /// The frame that is being worked on.
    pub fn top(&self) -> Option<&Frame> {
        self.frames.last()
    }

    /// Where its work is: its worktree, else its project.
    pub fn root(&self) -> &str {
        self.worktree.as_ref().map_or(&self.project, |worktree| &worktree.directory)
    }

    /// How the loop ended, if it has.
    pub fn outcome(&self) -> Option<Outcome> {
        match &self.phase {
            Phase::Ended { outcome, .. } => Some(*outcome),
            Phase::Active | Phase::Completing | Phase::Waiting { .. } | Phase::Paused { .. } => {
                None
            }
        }
    }

    /// What the loop is parked for, if it is.
    pub const fn parking(&self) -> Option<&Parking> {
        match &self.phase {
            Phase::Waiting { on: Waiting::Condition(parking), .. } => Some(parking),
            Phase::Waiting { .. }
            | Phase::Active
            | Phase::Completing
            | Phase::Paused { .. }
            | Phase::Ended { .. } => None,
        }
    }

    /// Whether the record makes sense at all.
    pub fn is_sound(&self) -> bool {
        // Another tool's file may set a limit of nothing; that is a limit, not damage.
        let limited = !self.policy.order.is_native() || self.frames.iter().all(|f| f.max > 0);
        (1..=FRAMES_MAX).contains(&self.frames.len()) && limited
    }

    /// The state that people see.
    pub const fn shown(&self) -> LoopState {
        match &self.phase {
            Phase::Active => LoopState::Active,
            Phase::Completing => LoopState::Completing,
            Phase::Waiting { .. } => LoopState::Waiting,
            Phase::Paused { .. } => LoopState::Paused,
            Phase::Ended { outcome, .. } => match outcome {
                Outcome::Done | Outcome::Attested => LoopState::Idle,
                Outcome::Cancelled | Outcome::Aborted => LoopState::Aborted,
                Outcome::MaxIterations
                | Outcome::Budget
                | Outcome::Stalled
                | Outcome::Oscillating
                | Outcome::Stale
                | Outcome::Blocked
                | Outcome::Impossible
                | Outcome::NeedsInput
                | Outcome::NeedsApproval
                | Outcome::RateLimited
                | Outcome::InfraError
                | Outcome::Tampered
                | Outcome::Capped => LoopState::Stuck,
            },
        }
    }

    /// Milliseconds of work so far.
    pub fn used_ms(&self, now: Timestamp) -> i64 {
        let end = match &self.phase {
            Phase::Ended { at, .. } => *at,
            Phase::Paused { since, .. }
            | Phase::Waiting {
                on: Waiting::Answer(_) | Waiting::Approval | Waiting::Condition(_),
                since,
            } => *since,
            Phase::Active | Phase::Completing | Phase::Waiting { .. } => now,
        };
        end.since(self.started_at).saturating_sub(self.rest_ms).max(0)
    }
}

impl Surface {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
    pub(crate) const fn is_hook(&self) -> bool {
        matches!(self, Self::Hook)
    }
}

impl Mode {
    /// The marker that ends a frame of this kind.
    pub const fn marker(self) -> &'static str {
        match self {
            Self::Loop => "<promise>COMPLETE</promise>",
            Self::Issue => "<issue-complete>DONE</issue-complete>",
            Self::Grind => "<grind-done>NO_MORE_ISSUES</grind-done>",
        }
    }
}

impl fmt::Display for LoopId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
