//! Standard input and output of a hook: read with patience, written past every lock.

#[cfg(unix)]
mod unix;

#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use self::unix::{StandardInput, write_unlocked};

#[cfg(windows)]
pub(super) use self::windows::{StandardInput, write_unlocked};
