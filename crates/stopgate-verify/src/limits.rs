//! Limits that the system holds a check to.
//!
//! They must stand before the check's first instruction, so a shell sets them and
//! then becomes the program. Each process of the check has them, not all together.
//! Windows has none of them.

#[cfg(unix)]
mod unix;

#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use self::unix::{
    ends_by_processor_limit, limited, restore_core_dumps, stop_core_dumps,
};

#[cfg(windows)]
pub(crate) use self::windows::{ends_by_processor_limit, limited};
