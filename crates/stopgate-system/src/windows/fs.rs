//! Modes, owners, kinds and links of files, as far as Windows has them.
//!
//! Who may read a file comes from the directory that it is made in; what is below a person's
//! profile is theirs alone. So a mode is only told, never set.

use std::fs::{DirBuilder, FileType, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::windows::fs::MetadataExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

const DIRECTORY: u32 = 0o040_700;
const LINK: u32 = 0o120_700;
const FILE: u32 = 0o100_600;

/// What is known about a file.
pub trait MetadataExt {
    /// Its kind, and that it is its owner's alone.
    fn mode(&self) -> u32;
    /// What tells it from one that took its place: when it was made.
    fn ino(&self) -> u64;
    /// Always 0.
    fn dev(&self) -> u64;
    /// Always 1: other names of a file are not counted.
    fn nlink(&self) -> u64;
    /// Always 0, the number of this user.
    fn uid(&self) -> u32;
    /// Always 0.
    fn gid(&self) -> u32;
    /// Always 0.
    fn rdev(&self) -> u64;
    /// Its length.
    fn size(&self) -> u64;
    /// When its content was last changed, in seconds since 1970.
    fn mtime(&self) -> i64;
    /// The nanoseconds of that.
    fn mtime_nsec(&self) -> i64;
    /// Now: when anything about a file changed is not told here, so it is read again each time.
    fn ctime(&self) -> i64;
    /// The nanoseconds of that.
    fn ctime_nsec(&self) -> i64;
}

impl MetadataExt for Metadata {
    fn mode(&self) -> u32 {
        match self.file_type() {
            kind if kind.is_dir() => DIRECTORY,
            kind if kind.is_symlink() => LINK,
            _ => FILE,
        }
    }

    fn ino(&self) -> u64 {
        self.creation_time()
    }

    fn dev(&self) -> u64 {
        0
    }

    fn nlink(&self) -> u64 {
        1
    }

    fn uid(&self) -> u32 {
        0
    }

    fn gid(&self) -> u32 {
        0
    }

    fn rdev(&self) -> u64 {
        0
    }

    fn size(&self) -> u64 {
        self.file_size()
    }

    fn mtime(&self) -> i64 {
        since_1970(self.modified()).0
    }

    fn mtime_nsec(&self) -> i64 {
        since_1970(self.modified()).1
    }

    fn ctime(&self) -> i64 {
        since_1970(Ok(now())).0
    }

    fn ctime_nsec(&self) -> i64 {
        since_1970(Ok(now())).1
    }
}

#[expect(clippy::disallowed_methods, reason = "stands for a time that the system does not tell")]
fn now() -> SystemTime {
    SystemTime::now()
}

fn since_1970(time: io::Result<SystemTime>) -> (i64, i64) {
    let since = time.ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    (i64::try_from(since.as_secs()).unwrap_or(i64::MAX), i64::from(since.subsec_nanos()))
}

/// What may be done with a file.
pub trait PermissionsExt {
    /// Its owner's rights.
    fn mode(&self) -> u32;
    /// Does nothing: rights are inherited.
    fn set_mode(&mut self, mode: u32);
}

impl PermissionsExt for Permissions {
    fn mode(&self) -> u32 {
        if self.readonly() { 0o500 } else { 0o700 }
    }

    fn set_mode(&mut self, _: u32) {}
}

/// Options for opening a file.
pub trait OpenOptionsExt {
    /// Does nothing: rights are inherited.
    fn mode(&mut self, mode: u32) -> &mut Self;
    /// Options of the system's own, from [`crate::open`].
    fn custom_flags(&mut self, flags: i32) -> &mut Self;
}

impl OpenOptionsExt for OpenOptions {
    fn mode(&mut self, _: u32) -> &mut Self {
        self
    }

    fn custom_flags(&mut self, flags: i32) -> &mut Self {
        std::os::windows::fs::OpenOptionsExt::custom_flags(self, flags.cast_unsigned())
    }
}

/// Options for making a directory.
pub trait DirBuilderExt {
    /// Does nothing: rights are inherited.
    fn mode(&mut self, mode: u32) -> &mut Self;
}

impl DirBuilderExt for DirBuilder {
    fn mode(&mut self, _: u32) -> &mut Self {
        self
    }
}

/// Kinds of files that are not here.
pub trait FileTypeExt {
    /// Always false.
    fn is_fifo(&self) -> bool;
    /// Always false.
    fn is_socket(&self) -> bool;
    /// Always false.
    fn is_char_device(&self) -> bool;
    /// Always false.
    fn is_block_device(&self) -> bool;
}

impl FileTypeExt for FileType {
    fn is_fifo(&self) -> bool {
        false
    }

    fn is_socket(&self) -> bool {
        false
    }

    fn is_char_device(&self) -> bool {
        false
    }

    fn is_block_device(&self) -> bool {
        false
    }
}

/// Makes a link; the system asks for a privilege, or for its developer mode.
pub fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let (target, link) = (target.as_ref(), link.as_ref());
    let seen_from = link.parent().unwrap_or(Path::new(""));
    if seen_from.join(target).is_dir() {
        std::os::windows::fs::symlink_dir(target, link)
    } else {
        std::os::windows::fs::symlink_file(target, link)
    }
}

/// Does nothing: owners are inherited.
pub fn lchown(_: impl AsRef<Path>, _: Option<u32>, _: Option<u32>) -> io::Result<()> {
    Ok(())
}
