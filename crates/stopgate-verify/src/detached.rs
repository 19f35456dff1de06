//! A program that is started and left alone: nothing waits for it.

#[cfg(unix)]
mod unix;

#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use self::unix::{detached, detached_for};

#[cfg(windows)]
pub use self::windows::{detached, detached_for};
