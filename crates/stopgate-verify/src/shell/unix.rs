//! Unix: the system's own.

use std::ffi::OsString;

/// What a shell exits with where it finds no such command.
pub(crate) const NOT_FOUND: [i32; 1] = [127];

/// Whether lines are for a POSIX shell.
pub const fn has_posix_shell() -> bool {
    true
}

/// The program that runs a line, and its arguments.
pub(crate) fn shell_argv(line: &str) -> Vec<OsString> {
    ["/bin/sh", "-c", line].map(OsString::from).to_vec()
}
