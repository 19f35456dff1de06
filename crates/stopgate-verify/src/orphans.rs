//! Finds what a check left behind, wherever it fled to, and ends it.

#[cfg(unix)]
mod unix;

#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use self::unix::{Keeper, adopt, adopt_leash, release, release_leash};

#[cfg(unix)]
pub use self::unix::end_children;

#[cfg(windows)]
pub(crate) use self::windows::Keeper;

#[cfg(windows)]
pub use self::windows::end_children;

/// What happens at the end of a run to children of this process that no check owns up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strangers {
    /// They are ended: this process has no other children than its checks.
    End,
    /// They stay: this process starts other programs, too.
    Spare,
}

/// By what the processes of one check are known.
#[derive(Clone, Debug)]
#[cfg_attr(windows, expect(dead_code, reason = "jobs know their processes"))]
pub(crate) struct OrphanMark {
    /// Stands in their environment.
    pub(crate) token: String,
    /// The first of them, and the number of its group and perhaps its session.
    pub(crate) leader: i32,
}

/// What a sweep found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(windows, expect(dead_code, reason = "jobs leave nobody"))]
pub(crate) enum SweepResult {
    Nobody,
    Somebody,
}
