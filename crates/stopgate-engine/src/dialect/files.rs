//! Another tool's files: read with care, changed whole or not at all, kept before that.

use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use stopgate_core::Timestamp;
use stopgate_system::CanonicalPath;
use stopgate_verify::files::{Durable, read_regular, read_text, replace_private};

use crate::failure::Failure;

/// No state file is longer; what is, is something else.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A file's text; nothing where there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, Failure> {
    let trouble = |error: io::Error| {
        Failure::fault(format!("could not read {}", path.display()))
            .hint("see that it is a text file of yours")
            .because(error)
    };
    match read_text(path, FILE_BYTES_MAX) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(trouble(error)),
    }
}

/// Writes beside the file and puts it into its place, so that nobody ever reads half of it.
///
/// A link is followed: what it points to is changed, and it stays a link.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let written = target(path).and_then(|target| replace(&target, text));
    written.map_err(|error| {
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
    let copied = read_regular(path, FILE_BYTES_MAX);
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

fn replace(target: &Path, text: &str) -> io::Result<()> {
    let directory = target.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(directory)?;
    let name = target.file_name().unwrap_or_default().display();
    // One name for all: the writer holds the lock, so what is there was left by a dead process.
    let draft = directory.join(format!(".{name}.stopgate-draft"));
    let permissions = fs::metadata(target).ok().map(|found| found.permissions());
    let written = write_new(&draft, text, permissions).and_then(|()| fs::rename(&draft, target));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

fn write_new(path: &Path, text: &str, permissions: Option<Permissions>) -> io::Result<()> {
    // What lies here was left by a process that died: nobody else is at it.
    let _ = fs::remove_file(path);
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.write_all(text.as_bytes())
}

/// The file itself, where `path` is a link to it.
fn target(path: &Path) -> io::Result<PathBuf> {
    if !path.is_symlink() {
        return Ok(path.into());
    }
    path.canonical().map_err(|error| io::Error::new(error.kind(), "it is a link to nothing"))
}

/// When a file was last changed.
pub(super) fn changed_at(path: &Path) -> Option<Timestamp> {
    let changed = fs::metadata(path).and_then(|found| found.modified()).ok()?;
    let since = changed.duration_since(std::time::UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(Timestamp::from_unix_millis)
}
