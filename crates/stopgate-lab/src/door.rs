//! The lab's doors to the machine: its environment, its clock, its programs.
//!
//! Nothing else in this crate calls what the house forbids by lint.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A variable of the process that runs the tests.
#[expect(clippy::disallowed_methods, reason = "the lab is told where its programs are")]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The instant at which a wait begins or is looked at.
#[expect(clippy::disallowed_methods, reason = "a session has a time limit")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The time, in seconds since 1970: for what a server says about its limits.
#[expect(clippy::disallowed_methods, reason = "a server says when its limits are over")]
pub(crate) fn unix_seconds() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// A program about to be started.
#[expect(clippy::disallowed_methods, reason = "the lab runs the real client and the real program")]
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// The search path of the process that runs the tests, with this directory before all others.
pub(crate) fn search_path(first: &Path) -> OsString {
    let mut path = first.as_os_str().to_owned();
    path.push(":");
    path.push(variable("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()));
    path
}

/// The workspace's root directory.
pub(crate) fn workspace() -> PathBuf {
    let mut directory = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    directory.pop();
    directory.pop();
    directory
}
