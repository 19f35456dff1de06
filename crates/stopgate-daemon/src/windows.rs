//! Windows: there is no background process yet, and each door says so.

use std::ffi::OsString;
use std::path::Path;

use stopgate_engine::{Failure, Settings, Stores};

use crate::terms::{DaemonState, Served, Stay};

/// There is nothing to wake.
const NOTHING: u8 = 1;

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
