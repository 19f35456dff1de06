//! The one door to time: when a look began, and when it has taken too long.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Longer than this and checks had better run without a fingerprint.
const TIME_MAX: Duration = Duration::from_secs(30);

/// When a look began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// By the calendar, in nanoseconds since 1970: compared with what file systems say.
    pub(crate) taken: i64,
    begun: Instant,
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "the door: file times are compared with now")]
    pub(crate) fn start() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { taken: i64::try_from(now.as_nanos()).unwrap_or(i64::MAX), begun: Instant::now() }
    }

    /// A clock that is an hour ahead, so that nothing seems to have changed just now.
    #[cfg(test)]
    pub(crate) fn ahead() -> Self {
        let clock = Self::start();
        Self { taken: clock.taken + 3_600_000_000_000, ..clock }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.begun.elapsed() > TIME_MAX
    }
}
