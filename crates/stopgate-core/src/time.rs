//! Points in time, as the core sees them.

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch; read once per invocation, outside the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The instant `millis` milliseconds after the Unix epoch.
    pub const fn from_unix_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn unix_millis(self) -> i64 {
        self.0
    }

    /// How long ago `earlier` was; never negative, for a clock may step back.
    pub const fn since(self, earlier: Self) -> i64 {
        let span = self.0.saturating_sub(earlier.0);
        if span < 0 { 0 } else { span }
    }

    /// The instant `millis` milliseconds later.
    #[must_use]
    pub const fn plus(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }
}
