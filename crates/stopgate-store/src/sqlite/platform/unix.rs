//! Unix: a mode says who may read a file.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// For the owner alone.
const PRIVATE: u32 = 0o600;

/// Opens a file that these options make, for its owner alone, whatever the umask.
pub(in crate::sqlite) fn create_private(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.clone().mode(PRIVATE).open(path)?;
    // A strange umask may have taken rights from the owner, too.
    file.set_permissions(Permissions::from_mode(PRIVATE))?;
    Ok(file)
}

/// How a lock's file is opened: a pipe or a link that was put there is neither waited for nor
/// followed.
pub(in crate::sqlite) fn lock_options() -> OpenOptions {
    let flags = OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(flags.bits().cast_signed());
    options
}

/// Takes other users' rights away; a file that is another's stays as it is.
pub(in crate::sqlite) fn tighten(path: &Path) {
    let is_open = |mode: u32| mode & 0o077 != 0;
    let found = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file);
    if found.is_some_and(|found| is_open(found.permissions().mode())) {
        let _ = std::fs::set_permissions(path, Permissions::from_mode(PRIVATE));
    }
}
