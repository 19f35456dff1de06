//! The tests' doors to the machine: programs, its clock, its users.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Nobody in particular.
pub(crate) const NOBODY: u32 = 65534;

/// A program about to be started.
#[expect(clippy::disallowed_methods, reason = "these tests run the built program")]
pub(crate) fn program(path: impl AsRef<OsStr>) -> Command {
    Command::new(path)
}

/// The instant at which a wait begins or is looked at.
#[expect(clippy::disallowed_methods, reason = "a hook that waits for ever must fail its test")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// Where programs are looked for: the one variable that a stage takes over.
#[expect(clippy::disallowed_methods, reason = "checks need the system's programs")]
pub(crate) fn search_path() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into())
}

/// Whether these tests run as the machine's owner, whom no permission stops.
pub(crate) fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

/// Says why a test does nothing here.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
pub(crate) fn note(text: &str) {
    eprintln!("{text}");
}

/// `path` run as an ordinary user.
pub(crate) fn as_ordinary_user(path: &Path) -> Command {
    if !is_root() {
        return program(path);
    }
    let works = program("setpriv").arg("--version").output().is_ok_and(|ran| ran.status.success());
    assert!(works, "these tests run as root and need `setpriv` to drop privileges");
    let mut command = program("setpriv");
    let user = NOBODY.to_string();
    command.args(["--reuid", &user, "--regid", &user, "--clear-groups", "--"]).arg(path);
    command
}

/// Gives `path` to the ordinary user.
pub(crate) fn give_away(path: &Path) {
    if is_root() {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("give the file away");
    }
}

/// Takes it back.
pub(crate) fn take_back(path: &Path) {
    if is_root() {
        std::os::unix::fs::chown(path, Some(0), Some(0)).expect("take the file back");
    }
}

/// What a Rust toolchain needs to be found by a program that is called without a home.
#[expect(clippy::disallowed_methods, reason = "a suite of Rust tests needs Rust")]
pub(crate) fn toolchain() -> Vec<(&'static str, &'static str)> {
    let home = std::env::var("HOME").unwrap_or_default();
    let or_home = |name: &str, directory: &str| {
        std::env::var(name).unwrap_or_else(|_| format!("{home}/{directory}"))
    };
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    vec![
        ("CARGO_HOME", leak(or_home("CARGO_HOME", ".cargo"))),
        ("RUSTUP_HOME", leak(or_home("RUSTUP_HOME", ".rustup"))),
    ]
}
