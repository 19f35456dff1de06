//! Windows: files below a person's profile are theirs alone by what they inherit, so there is
//! nothing to set.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

/// Opens the link itself, where a link was put: it can't be written to.
const OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// Opens a file that these options make; it inherits who may read it.
pub(in crate::sqlite) fn create_private(options: &OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// How a lock's file is opened: a link that was put there is not followed.
pub(in crate::sqlite) fn lock_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(OPEN_REPARSE_POINT);
    options
}

/// Nothing to take away.
pub(in crate::sqlite) fn tighten(_path: &Path) {}
