//! Files that are there whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use stopgate_store::transfer::{Exported, Reader, scan};
use stopgate_system::fs::{DirBuilderExt, OpenOptionsExt};

use crate::failure::Failure;

/// Writes an export.
pub(super) type ExportWriter<'a> = &'a mut dyn FnMut(&mut dyn Write) -> Result<Exported, Failure>;

/// Writes a new file at `path`, in place of what is there; a pipe or a device is written to.
pub(super) fn write(path: &Path, writer: ExportWriter<'_>) -> Result<Exported, Failure> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let opened = OpenOptions::new().write(true).open(path);
        let mut out = BufWriter::new(opened.map_err(|error| unwritten(path, error))?);
        return writer(&mut out);
    }
    replace(path, &mut |_| Ok(()), writer)
}

/// Adds an export to the archive at `path`; it is on the disk when this returns.
pub(super) fn add(path: &Path, writer: ExportWriter<'_>) -> Result<Exported, Failure> {
    let trouble = |error| unwritten(path, error);
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(Failure::usage(format!("{} is not a file", path.display())));
    }
    if let Some(directory) = path.parent() {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
        made.map_err(trouble)?;
    }
    let copy = &mut |out: &mut File| match File::open(path) {
        Ok(mut old) => {
            // Only an archive is added to, and only a sound one.
            scan(&mut Reader::new(BufReader::new(&old)))?;
            io::Seek::rewind(&mut old).map_err(trouble)?;
            io::copy(&mut old, out).map(|_| ()).map_err(trouble)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(trouble(error)),
    };
    replace(path, copy, writer)
}

fn replace(
    path: &Path,
    begin: &mut dyn FnMut(&mut File) -> Result<(), Failure>,
    writer: ExportWriter<'_>,
) -> Result<Exported, Failure> {
    let part = part(path);
    let written = write_part(path, &part, begin, writer);
    if written.is_err() {
        // What is left of it is of no use to anybody.
        let _ = fs::remove_file(&part);
    }
    written
}

fn write_part(
    path: &Path,
    part: &Path,
    begin: &mut dyn FnMut(&mut File) -> Result<(), Failure>,
    writer: ExportWriter<'_>,
) -> Result<Exported, Failure> {
    let trouble = |error| unwritten(path, error);
    let mut options = OpenOptions::new();
    let opened = options.create(true).truncate(true).write(true).mode(0o600).open(part);
    let mut file = opened.map_err(trouble)?;
    begin(&mut file)?;
    let mut out = BufWriter::new(file);
    let exported = writer(&mut out)?;
    let file = out.into_inner().map_err(|error| trouble(error.into_error()))?;
    file.sync_all().map_err(trouble)?;
    fs::rename(part, path).map_err(trouble)?;
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    let directory = File::open(directory.unwrap_or_else(|| Path::new(".")));
    directory.and_then(|directory| directory.sync_all()).map_err(trouble)?;
    Ok(exported)
}

fn part(path: &Path) -> PathBuf {
    let mut name: OsString = path.into();
    name.push(".part");
    name.into()
}

fn unwritten(path: &Path, error: io::Error) -> Failure {
    Failure::fault(format!("could not write {}", path.display())).because(error)
}
