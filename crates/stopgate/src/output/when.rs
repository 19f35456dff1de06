//! Instants as people read them: in their own time zone unless they ask for UTC.

use stopgate_core::Timestamp;

/// In which zone times are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zone {
    /// The person's own.
    Local,
    /// The same everywhere.
    Utc,
}

impl From<bool> for Zone {
    /// What `--utc` asks for.
    fn from(utc: bool) -> Self {
        if utc { Self::Utc } else { Self::Local }
    }
}

impl Zone {
    /// Date and time, always as wide.
    pub(crate) fn full(self, at: Timestamp) -> String {
        match self {
            Self::Local => stopgate_engine::local_time(at, "%Y-%m-%d %H:%M:%S"),
            Self::Utc => stopgate_engine::utc_time(at, "%Y-%m-%dT%H:%M:%SZ"),
        }
    }
}

/// The hour and minute here.
pub(crate) fn clock(at: Timestamp) -> String {
    stopgate_engine::local_time(at, "%H:%M")
}
