//! How long an answer may take.

use std::time::{Duration, Instant};

/// A deadline for every question, or for a whole turn of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    deadline: Duration,
    turn_ends: Option<Instant>,
}

impl Patience {
    /// Every question may take so long.
    pub(crate) const fn new(deadline: Duration) -> Self {
        Self { deadline, turn_ends: None }
    }

    /// From now on, all questions of the turn together may take so long.
    pub(crate) fn begin(&mut self) {
        self.turn_ends = Some(now() + self.deadline);
    }

    /// The turn is over.
    pub(crate) fn end(&mut self) {
        self.turn_ends = None;
    }

    /// The instant by which the next answer must be there.
    pub(crate) fn until(&self) -> Instant {
        self.turn_ends.unwrap_or_else(|| now() + self.deadline)
    }

    /// How long is waited at most, for the message.
    pub(crate) const fn deadline(&self) -> Duration {
        self.deadline
    }
}

/// What is left until `instant`.
pub(crate) fn left(instant: Instant) -> Duration {
    instant.saturating_duration_since(now())
}

#[expect(clippy::disallowed_methods, reason = "a server is waited for, with a deadline")]
fn now() -> Instant {
    Instant::now()
}
