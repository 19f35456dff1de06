//! The tests' doors to the machine: programs and where they are looked for.

use std::ffi::OsString;
use std::process::Command;

/// The built program.
#[expect(clippy::disallowed_methods, reason = "these tests run the built program")]
pub(crate) fn stopgate() -> Command {
    Command::new(env!("CARGO_BIN_EXE_stopgate"))
}

/// Where programs are looked for: the one variable that a scene takes over.
#[expect(clippy::disallowed_methods, reason = "rules need the system's programs")]
pub(crate) fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into())
}
