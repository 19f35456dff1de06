//! The terminal that a person looks at.

#[cfg(unix)]
mod unix;

#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use self::unix::{columns, has_piped_answer, is_unread};

#[cfg(all(unix, feature = "tui"))]
pub(crate) use self::unix::{is_hung_up, stop_here};

#[cfg(windows)]
pub(crate) use self::windows::{columns, has_piped_answer, is_unread};

#[cfg(all(windows, feature = "tui"))]
pub(crate) use self::windows::{is_hung_up, stop_here};
