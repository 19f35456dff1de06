//! The one door to the variables that say where programs and settings are found.

use std::ffi::OsString;

/// A variable of this process.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    let found = std::env::vars_os().find(|(own, _)| own == name);
    found.map(|(_, value)| value).filter(|value| !value.is_empty())
}
