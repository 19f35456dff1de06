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
