//! The tests' doors to the machine: programs and where they are looked for.

use std::ffi::OsString;
use std::process::Command;

/// The built program.
#[expect(clippy::disallowed_methods, reason = "these tests run the built program")]
pub(crate) fn stopgate() -> Command {
    Command::new(env!("CARGO_BIN_EXE_stopgate"))
}

/// `program` with its arguments and variables, and at most `count` open files.
#[expect(clippy::disallowed_methods, reason = "the limit is the shell's to set")]
pub(crate) fn with_descriptors(count: u32, program: &Command) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(format!("ulimit -n {count}; exec \"$0\" \"$@\""));
    command.arg(program.get_program()).args(program.get_args()).env_clear();
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// Where programs are looked for: the one variable that a scene takes over.
#[expect(clippy::disallowed_methods, reason = "rules need the system's programs")]
pub(crate) fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into())
}
