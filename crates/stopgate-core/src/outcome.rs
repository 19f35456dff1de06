//! How a loop can end: a closed list.

use serde::{Deserialize, Serialize};

crate::words! {
    /// How a loop ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Outcome {
        /// Every criterion was proven by a check that stopgate ran itself.
        Done = "done",
        /// Somebody said so; nothing proved it.
        Attested = "attested",
        /// The agent was sent back as often as its owner allowed.
        MaxIterations = "max_iterations",
        /// Time, tokens or money ran out.
        Budget = "budget",
        /// The loop went on without progress.
        Stalled = "stalled",
        /// Fixing one criterion kept breaking another.
        Oscillating = "oscillating",
        /// Nobody had touched the loop for too long.
        Stale = "stale",
        /// The agent said that something outside its reach is in the way.
        Blocked = "blocked",
        /// The agent said that the goal can't be reached.
        Impossible = "impossible",
        /// The agent needs an answer from a person.
        NeedsInput = "needs_input",
        /// A person must say whether changed judges are acceptable.
        NeedsApproval = "needs_approval",
        /// The model's service asked to slow down.
        RateLimited = "rate_limited",
        /// The checks themselves could not be run.
        InfraError = "infra_error",
        /// The record was forged.
        Tampered = "tampered",
        /// A person ended it.
        Cancelled = "cancelled",
        /// The record was not sound.
        Aborted = "aborted",
        /// The agent's own limit on hooks cut it.
        Capped = "capped",
    }
}

impl Outcome {
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
}
