//! What a check produced.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It ran and passed.
    Pass,
    /// It ran and failed.
    Fail,
    /// It could not be run, which proves nothing either way.
    Error,
    /// It was killed because it took too long.
    Timeout,
    /// What it judges by was changed.
    Tampered,
}

/// What stopgate saw when it ran one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The criterion that was checked.
    pub criterion: String,
    /// How it came out.
    pub status: Status,
    /// The exit code, where the command had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it ran.
    pub duration_ms: u64,
    /// The end of what it printed.
    pub tail: String,
    /// How much it printed in all.
    pub output_bytes: u64,
    /// Where its whole output is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Why it could not be run, or was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// When it ended.
    pub at: Timestamp,
}

impl Status {
    /// The word that users, JSON and SQL use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Error => "error",
            Self::Timeout => "timeout",
            Self::Tampered => "tampered",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
