//! What programs print, as it comes, and waiting for it.

#[cfg(unix)]
mod unix;

#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use self::unix::{OutputPipe, output_of, wait_for_news};

#[cfg(windows)]
pub(crate) use self::windows::{OutputPipe, output_of, wait_for_news};
