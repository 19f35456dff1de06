//! The one door to other programs.
//!
//! A child has no standard input and pipes of its own: nothing of it can reach the agent through
//! the hook's output, and nothing that the hook has open reaches it. It can be ended with all that
//! it started: by its process group on Unix, by its job object on Windows.

#[cfg(unix)]
mod unix;

#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use self::unix::{Child, EndHandle};

#[cfg(windows)]
pub(crate) use self::windows::{Child, EndHandle};
