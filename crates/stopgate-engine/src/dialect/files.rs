//! Another tool's files: read with care, changed whole or not at all, kept before that.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use stopgate_core::Timestamp;
use stopgate_system::CanonicalPath;
use stopgate_verify::files::{Durable, read_regular, replace_private};

use crate::failure::Failure;
use crate::text_file;
pub(super) use crate::text_file::read;

/// Changes a file. The writer holds the lock, so one draft's name is enough for all.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    text_file::replace(path, text, "draft", Durable::Buffered).map_err(|error| {
        Failure::fault(format!("could not write {}", path.display()))
            .hint("see that its directory is yours and may be written to")
            .because(error)
    })
}

/// Removes a file; one that is gone already is as good.
pub(super) fn remove(path: &Path) -> Result<(), Failure> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(Failure::fault(format!("could not remove {}", path.display())).because(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Keeps a copy of the file as it is at `kept`.
pub(super) fn keep(path: &Path, kept: &Path) -> Result<(), Failure> {
    let copied = read_regular(path, text_file::BYTES_MAX);
    copied.and_then(|content| replace_private(kept, &content, Durable::Buffered)).map_err(|error| {
        Failure::fault(format!("could not back up {}", path.display()))
            .hint(format!("see that {} may be written to", kept.display()))
            .because(error)
    })
}

/// The path without links, also where its last parts do not exist yet.
pub(super) fn canonical(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(real) = ancestor.canonical() {
            let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.into()
}

/// When a file was last changed.
pub(super) fn changed_at(path: &Path) -> Option<Timestamp> {
    let changed = fs::metadata(path).and_then(|found| found.modified()).ok()?;
    let since = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Timestamp::from_unix_millis)
}
