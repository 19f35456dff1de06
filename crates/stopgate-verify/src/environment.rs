//! The one door to the variables of this process, and to the person's home directory.

use std::ffi::OsString;
use std::path::PathBuf;

/// Every variable of this process.
#[expect(clippy::disallowed_methods, reason = "the door")]
pub fn variables() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os()
}

/// A variable of this process.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    let is_it =
        |own: &OsString| if cfg!(windows) { own.eq_ignore_ascii_case(name) } else { own == name };
    let found = variables().find(|(own, _)| is_it(own));
    found.map(|(_, value)| value).filter(|value| !value.is_empty())
}

/// The person's home directory.
#[expect(clippy::disallowed_methods, reason = "the door")]
pub(crate) fn home_directory() -> Option<PathBuf> {
    std::env::home_dir()
}
