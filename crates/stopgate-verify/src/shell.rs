//! The shell that lines of a check are for.

#[cfg(unix)]
mod unix;

#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use self::unix::shell_argv;

#[cfg(windows)]
pub(crate) use self::windows::{command_line, shell_argv};
