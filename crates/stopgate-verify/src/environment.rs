//! The one door to the variables that say where programs and settings are found.

use std::ffi::OsString;

/// A variable of this process.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    let is_it =
        |own: &OsString| if cfg!(windows) { own.eq_ignore_ascii_case(name) } else { own == name };
    let found = std::env::vars_os().find(|(own, _)| is_it(own));
    found.map(|(_, value)| value).filter(|value| !value.is_empty())
}
