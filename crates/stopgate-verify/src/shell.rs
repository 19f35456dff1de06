//! The shell that lines of a check are for.

#[cfg(unix)]
mod unix;

#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use self::unix::has_posix_shell;
#[cfg(unix)]
pub(crate) use self::unix::{NOT_FOUND, shell_argv};

#[cfg(windows)]
pub use self::windows::has_posix_shell;
#[cfg(windows)]
pub(crate) use self::windows::{NOT_FOUND, command_line, shell_argv};
