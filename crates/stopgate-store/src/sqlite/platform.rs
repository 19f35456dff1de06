//! What differs between systems about the journal's files: who may read them.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(super) use unix::{create_private, lock_options, tighten};
#[cfg(windows)]
pub(super) use windows::{create_private, lock_options, tighten};
