//! Windows: there is no background process yet, and each door says so.

use std::ffi::OsString;
use std::path::Path;

use stopgate_engine::{Failure, Settings, Stores};

/// The word that makes the program wake one loop.
pub const WAKE: &str = "__wake";
/// There is nothing to wake.
const NOTHING: u8 = 1;

/// What a background process says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Fails: nobody would watch.
pub fn ensure(_: Settings) -> Result<(), Failure> {
    Err(missing())
}

/// Does nothing: stops ask for their conditions themselves.
pub const fn nudge(_: Settings) {}

/// Does nothing: none runs.
pub const fn poke(_: Settings) {}

/// Always nothing: none runs.
pub const fn state(_: Settings) -> Result<Option<DaemonState>, Failure> {
    Ok(None)
}

/// Always false: none runs.
pub const fn stop(_: Settings) -> Result<bool, Failure> {
    Ok(false)
}

/// Fails, and says what is missing.
pub fn serve(_: Settings, _: Stores, _: Stay) -> Result<Served, Failure> {
    Err(missing())
}

/// Always empty: there is no manager for such a unit.
pub const fn unit_text(_: &Path, _: &Path) -> String {
    String::new()
}

/// Wakes nobody.
pub fn wake_loop(_: Settings, _: Stores, _: impl Iterator<Item = OsString>) -> u8 {
    NOTHING
}

fn missing() -> Failure {
    Failure::usage("the background process is not available on Windows yet")
        .hint("a session that stops looks by itself whether it may go on")
}
