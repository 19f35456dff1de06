//! What differs between Unix and Windows, behind one small interface.
//!
//! The names are Unix's own: there, most of this is the standard library's. On Windows each has a
//! counterpart that does what that system can, and its documentation says what it can't.

#[cfg(unix)]
mod unix;

#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use crate::unix::*;

#[cfg(windows)]
pub use crate::windows::*;

/// A path without links and relative parts.
pub trait CanonicalPath {
    /// The path of what is there, as other programs know it, too.
    fn canonical(&self) -> std::io::Result<std::path::PathBuf>;
}

#[cfg(test)]
mod tests;
