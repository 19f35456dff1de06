//! What a file system says about a file without opening it.
//!
//! Every change of content moves the change time, and nobody can move it back. Two changes
//! within one tick look alike, though: what changed just before it was looked at is looked at
//! again.

use std::fs::Metadata;

use stopgate_system::fs::MetadataExt;

/// File systems count time in steps of up to two seconds.
const TICK_NANOS: i64 = 2_000_000_000;

/// What is compared to tell whether a file is as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    /// When the content changed, in nanoseconds since 1970.
    pub(crate) mtime: i64,
    /// When anything about it changed.
    pub(crate) ctime: i64,
    pub(crate) size: u64,
    pub(crate) inode: u64,
    pub(crate) mode: u32,
}

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    File,
    Directory,
    Link,
    /// A device, a pipe, a socket: git does not see them either.
    Other,
}

impl Stat {
    /// What a system call said.
    #[cfg(unix)]
    pub(crate) fn of(raw: &rustix::fs::Stat) -> Self {
        Self {
            mtime: nanos(signed(raw.st_mtime), signed(raw.st_mtime_nsec)),
            ctime: nanos(signed(raw.st_ctime), signed(raw.st_ctime_nsec)),
            size: unsigned(raw.st_size),
            inode: unsigned(raw.st_ino),
            mode: u32::try_from(unsigned(raw.st_mode)).unwrap_or(0),
        }
    }

    /// What the standard library said.
    pub(crate) fn of_metadata(metadata: &Metadata) -> Self {
        Self {
            mtime: nanos(metadata.mtime(), metadata.mtime_nsec()),
            ctime: nanos(metadata.ctime(), metadata.ctime_nsec()),
            size: metadata.size(),
            inode: metadata.ino(),
            mode: metadata.mode(),
        }
    }

    /// Whether another change may hide behind the same times, when it was looked at then.
    pub(crate) fn is_racy(&self, taken: i64) -> bool {
        self.mtime.max(self.ctime) >= taken.saturating_sub(TICK_NANOS)
    }

    /// Whether it is safely the same as it was then.
    pub(crate) fn still_is(&self, then: &Self, taken: i64) -> bool {
        self == then && !then.is_racy(taken)
    }

    pub(crate) const fn sort(&self) -> Sort {
        match self.mode & 0o170_000 {
            0o100_000 => Sort::File,
            0o040_000 => Sort::Directory,
            0o120_000 => Sort::Link,
            _ => Sort::Other,
        }
    }

    pub(crate) const fn is_executable(&self) -> bool {
        self.mode & 0o100 != 0
    }
}

const fn nanos(seconds: i64, nanos: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

/// The widths of these fields differ from system to system.
#[cfg(unix)]
fn signed<T: TryInto<i64>>(field: T) -> i64 {
    field.try_into().unwrap_or(i64::MAX)
}

#[cfg(unix)]
fn unsigned<T: TryInto<u64>>(field: T) -> u64 {
    field.try_into().unwrap_or(0)
}
