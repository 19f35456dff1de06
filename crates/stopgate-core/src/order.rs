//! The orders in which another tool's formats are judged, one list each.

use crate::policy::{Order, Rule};

/// The limit before what was said; both close the frame on top, and the stop is allowed.
pub(crate) const IDLE: [Rule; 7] = [
    Rule::Ended,
    Rule::Corrupt,
    Rule::Stale,
    Rule::Background,
    Rule::TopLimit,
    Rule::Said,
    Rule::Continue,
];

/// The limit before the promise; the promise is the agent's word.
pub(crate) const RALPH_LOOP: [Rule; 6] =
    [Rule::Ended, Rule::Corrupt, Rule::Background, Rule::Iterations, Rule::Signals, Rule::Continue];

/// Complete, then the limit; a session that has done its share hands over after both.
pub(crate) const FEATURES: [Rule; 8] = [
    Rule::Ended,
    Rule::Corrupt,
    Rule::Background,
    Rule::Empty,
    Rule::Written,
    Rule::Iterations,
    Rule::Paused,
    Rule::Continue,
];

/// The file's status, its breaker, and then both conditions of done.
pub(crate) const CRITERIA: [Rule; 8] = [
    Rule::Ended,
    Rule::Corrupt,
    Rule::Paused,
    Rule::Background,
    Rule::Stuck,
    Rule::Empty,
    Rule::Written,
    Rule::Continue,
];

/// What was said comes first, and then whatever must pause the task.
pub(crate) const TASK: [Rule; 10] = [
    Rule::Ended,
    Rule::Corrupt,
    Rule::Background,
    Rule::Signals,
    Rule::Paused,
    Rule::Errors,
    Rule::Spend,
    Rule::Iterations,
    Rule::Idle,
    Rule::Continue,
];

impl Order {
    /// Whether stopgate keeps the loop itself; else another tool's file is the truth,
    /// and the journal an audit trail that holds nobody.
    pub const fn is_native(self) -> bool {
        match self {
            Self::Native => true,
            Self::Idle | Self::Features | Self::Criteria | Self::Task | Self::RalphLoop => false,
        }
    }
}
