//! Unix: the system's own.

use std::ffi::OsString;

/// The program that runs a line, and its arguments.
pub(crate) fn shell_argv(line: &str) -> Vec<OsString> {
    ["/bin/sh", "-c", line].map(OsString::from).to_vec()
}
