//! What a parked loop waits for, and what became of waking it.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// What a parked loop waits for, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parking {
    /// What must happen.
    pub condition: WaitCondition,
    /// When a person is asked instead.
    pub deadline: Timestamp,
    /// The agent whose client is resumed, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The machine on which the condition is looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The driver that runs the loop's sessions and wakes it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// When it was found that the condition holds, where nobody could be woken at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_at: Option<Timestamp>,
    /// The checks that run in the background, where it is their end that is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checks: Option<BackgroundChecks>,
}

/// Checks that take longer than a stop can wait, and go on without it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the stored form")]
pub struct BackgroundChecks {
    /// The names of those that take so long, as people and agents may know them.
    pub names: Vec<String>,
    /// How long they take, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_ms: Option<u64>,
    /// How long a stop waits for checks.
    #[serde(default)]
    pub hook_ms: u64,
    /// Where their output goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logs: Option<String>,
    /// Whether the agent had asked for verification: it need not ask again.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub claimed: bool,
    /// Whether it is their first run, on the tree as it was at the start.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub first: bool,
}

/// What a parked loop waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitCondition {
    /// A time is reached.
    Time {
        /// The time.
        at: Timestamp,
    },
    /// A process has exited.
    Process {
        /// Its number.
        pid: i32,
        /// When it began: with the number, this names it for good.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        began: Option<u64>,
    },
    /// A path is not as it was.
    Path {
        /// The absolute path.
        path: String,
        /// What was there when the wait began.
        seen: String,
    },
    /// A command ends with exit code 0.
    Command {
        /// The command, for the platform's shell.
        command: String,
        /// Where it is run.
        directory: String,
    },
    /// An address answers with a status of 200 to 299.
    Url {
        /// The address.
        url: String,
    },
    /// A git reference is not where it was.
    Reference {
        /// Where the repository is asked.
        directory: String,
        /// The reference, as it was written.
        name: String,
        /// The commit it led to when the wait began, where it led to one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<String>,
    },
}

/// Who ended a wait because its condition holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnparkedBy {
    /// A stop of the session asked for the condition.
    Stop,
    /// The process that becomes the session's client.
    Client {
        /// Its number, and when it began.
        process: String,
    },
    /// The driver that runs the loop's sessions.
    Driver,
}

/// A client that was started to go on after a wait, and has not come to a stop yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WokenClient {
    /// Its number, and when it began.
    pub process: String,
    /// When it was started.
    pub at: Timestamp,
}

impl WaitCondition {
    /// The word that users and JSON use for the kind.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Time { .. } => "time",
            Self::Process { .. } => "pid",
            Self::Path { .. } => "path",
            Self::Command { .. } => "cmd",
            Self::Url { .. } => "url",
            Self::Reference { .. } => "ref",
        }
    }

    /// Whether it can be asked in no time, without a program or the network.
    pub const fn is_cheap(&self) -> bool {
        match self {
            Self::Time { .. } | Self::Process { .. } | Self::Path { .. } => true,
            Self::Command { .. } | Self::Url { .. } | Self::Reference { .. } => false,
        }
    }
}
