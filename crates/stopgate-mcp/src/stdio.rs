//! Standard input and output, as a server reads and writes them.

#[cfg(unix)]
mod unix;

#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use self::unix::{Input, Output};

#[cfg(windows)]
pub(crate) use self::windows::{Input, Output};
