//! Ends what checks started when the process that started them is gone.

#[cfg(unix)]
mod unix;

#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use self::unix::{Leash, strike};

#[cfg(unix)]
pub use self::unix::{hold_leash, provide_leash};

#[cfg(windows)]
pub(crate) use self::windows::{Leash, strike};

#[cfg(windows)]
pub use self::windows::{hold_leash, provide_leash};

/// The word by which a program is asked to be a leash.
pub const LEASH: &str = "leash";
