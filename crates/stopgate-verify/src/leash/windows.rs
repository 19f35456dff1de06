//! Windows: the system closes the jobs of a process that is gone, and so ends everybody in them.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

/// Needs nothing.
pub const fn provide_leash() {}

/// A leash that is not needed here.
#[derive(Debug)]
pub(crate) enum Leash {}

impl Leash {
    /// Always nothing.
    pub(crate) const fn fasten(_: &str, _: &Path) -> Option<Self> {
        None
    }
}

/// Nothing is asked of this program here.
pub fn hold_leash(_: impl Iterator<Item = OsString>) {}

/// Nobody is left of a run whose process is gone.
pub(crate) const fn strike(_: &str, _: &BTreeSet<(i32, u64)>) -> bool {
    false
}
