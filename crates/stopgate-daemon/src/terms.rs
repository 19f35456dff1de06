//! What callers say to the background process and hear of it, the same on every system.

use serde::{Deserialize, Serialize};

/// What a background process says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonState {
    /// The program's version.
    pub version: String,
    /// Its process.
    pub pid: i32,
    /// How many loops it watches for.
    pub waiting: usize,
}

/// How a background process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// Another one runs already.
    Elsewhere,
    /// There was nothing to watch any more, or it was asked to end.
    Done,
}

/// How long it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stay {
    /// Until there was nothing to watch for a while.
    WhileNeeded,
    /// Until somebody asks it to end.
    Always,
}
