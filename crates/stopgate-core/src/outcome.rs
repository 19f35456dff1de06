//! How a loop can end: a closed list.

use core::fmt;

use serde::{Deserialize, Serialize};

/// How a loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every criterion was proven by a check that stopgate ran itself.
    Done,
    /// Somebody said so; nothing proved it.
    Attested,
    /// The agent was sent back as often as its owner allowed.
    MaxIterations,
    /// Time, tokens or money ran out.
    Budget,
    /// The loop went on without progress.
    Stalled,
    /// Fixing one criterion kept breaking another.
    Oscillating,
    /// Nobody had touched the loop for too long.
    Stale,
    /// The agent said that something outside its reach is in the way.
    Blocked,
    /// The agent said that the goal can't be reached.
    Impossible,
    /// The agent needs an answer from a person.
    NeedsInput,
    /// A person must say whether changed judges are acceptable.
    NeedsApproval,
    /// The model's service asked to slow down.
    RateLimited,
    /// The checks themselves could not be run.
    InfraError,
    /// The record was forged.
    Tampered,
    /// A person ended it.
    Cancelled,
    /// The record was not sound.
    Aborted,
    /// The agent's own limit on hooks cut it.
    Capped,
}

impl Outcome {
    /// The word that users, JSON and SQL use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Attested => "attested",
            Self::MaxIterations => "max_iterations",
            Self::Budget => "budget",
            Self::Stalled => "stalled",
            Self::Oscillating => "oscillating",
            Self::Stale => "stale",
            Self::Blocked => "blocked",
            Self::Impossible => "impossible",
            Self::NeedsInput => "needs_input",
            Self::NeedsApproval => "needs_approval",
            Self::RateLimited => "rate_limited",
            Self::InfraError => "infra_error",
            Self::Tampered => "tampered",
            Self::Cancelled => "cancelled",
            Self::Aborted => "aborted",
            Self::Capped => "capped",
        }
    }

    /// Whether a person may bring the loop back to life.
    ///
    /// Cancel is final, and so is every claim of success: a finished loop is a
    /// record, and a new goal deserves a new one.
    pub const fn can_resume(self) -> bool {
        match self {
            Self::MaxIterations
            | Self::Budget
            | Self::Stalled
            | Self::Oscillating
            | Self::Stale
            | Self::Blocked
            | Self::Impossible
            | Self::NeedsInput
            | Self::NeedsApproval
            | Self::RateLimited
            | Self::InfraError
            | Self::Tampered
            | Self::Capped => true,
            Self::Done | Self::Attested | Self::Cancelled | Self::Aborted => false,
        }
    }

    /// Every outcome there is.
    pub const ALL: [Self; 17] = [
        Self::Done,
        Self::Attested,
        Self::MaxIterations,
        Self::Budget,
        Self::Stalled,
        Self::Oscillating,
        Self::Stale,
        Self::Blocked,
        Self::Impossible,
        Self::NeedsInput,
        Self::RateLimited,
        Self::InfraError,
        Self::Tampered,
        Self::Cancelled,
        Self::Aborted,
        Self::Capped,
        Self::NeedsApproval,
    ];
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
