//! A text file of a person or another tool: read with a bound, replaced whole or not at all.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use stopgate_system::CanonicalPath;
use stopgate_verify::files::{Durable, read_text};

use crate::failure::Failure;

/// No such file is longer; what is, is something else.
pub(crate) const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A file's text; `None` if the file does not exist.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Failure> {
    match read_text(path, BYTES_MAX) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::fault(format!("could not read {}", path.display()))
            .hint("see that it is a text file of yours")
            .because(error)),
    }
}

/// Writes a draft beside the file and puts it into its place, so that nobody ever reads half of it.
///
/// A link is followed: what it points to is changed, and it stays a link. The draft's name ends
/// with `mark`; what has that name was left by a process that died.
pub(crate) fn replace(path: &Path, text: &str, mark: &str, durable: Durable) -> io::Result<()> {
    let target = target(path)?;
    let directory = target.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory)?;
    let name = target.file_name().unwrap_or_default().display();
    let draft = directory.join(format!(".{name}.stopgate-{mark}"));
    let _ = fs::remove_file(&draft);
    let written = write_new(&draft, text, permissions(&target), durable)
        .and_then(|()| fs::rename(&draft, &target));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Writes a file that must not be there yet.
pub(crate) fn write_new(
    path: &Path,
    text: &str,
    permissions: Option<Permissions>,
    durable: Durable,
) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(text.as_bytes())?;
    match durable {
        Durable::Buffered => Ok(()),
        Durable::Synced => file.sync_all(),
    }
}

/// A file's permissions, where it exists.
pub(crate) fn permissions(path: &Path) -> Option<Permissions> {
    fs::metadata(path).ok().map(|found| found.permissions())
}

/// The file itself, where `path` is a link to it.
fn target(path: &Path) -> io::Result<PathBuf> {
    if !path.is_symlink() {
        return Ok(path.into());
    }
    path.canonical().map_err(|error| io::Error::new(error.kind(), "it is a broken link"))
}
