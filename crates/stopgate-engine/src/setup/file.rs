//! One file of another tool, changed whole or not at all.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use stopgate_system::fs::PermissionsExt;
use stopgate_verify::files::Durable;

use crate::failure::Failure;
pub(super) use crate::text_file::read;
use crate::text_file::{self, permissions, write_new};

/// One file before and after.
#[derive(Clone, Debug)]
pub struct FileChange {
    /// Where it is.
    pub path: PathBuf,
    /// What was read; nothing where there was no file.
    pub before: Option<String>,
    /// What it becomes; nothing where it goes.
    pub after: Option<String>,
    pub(super) keep: BackupPlace,
    /// The directory that stays, however empty it is.
    pub(super) floor: PathBuf,
}

/// Where the file as it was is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BackupPlace {
    /// In the one backup beside it.
    Beside,
    /// Nowhere: it was ours, or only our own entries go.
    Nowhere,
}

impl FileChange {
    /// Changes the file, unless another process just did. Says where the earlier one is kept.
    pub(super) fn carry_out(&self) -> Result<Option<PathBuf>, Failure> {
        if read(&self.path)? != self.before {
            return Err(Failure::fault(format!(
                "could not change {}: another process just changed it",
                self.path.display()
            ))
            .hint("try again"));
        }
        let kept = self.back_up().map_err(|error| self.trouble("back up", error))?;
        match &self.after {
            Some(text) => {
                let mark = std::process::id().to_string();
                text_file::replace(&self.path, text, &mark, Durable::Synced)
                    .map_err(|error| self.trouble("write", error))?;
            }
            None => {
                remove(&self.path, &self.floor).map_err(|error| self.trouble("remove", error))?;
            }
        }
        Ok(kept)
    }

    fn back_up(&self) -> io::Result<Option<PathBuf>> {
        match (&self.before, self.keep) {
            (Some(before), BackupPlace::Beside) => back_up(&self.path, before).map(Some),
            (None, _) | (_, BackupPlace::Nowhere) => Ok(None),
        }
    }

    fn trouble(&self, doing: &str, error: io::Error) -> Failure {
        Failure::fault(format!("could not {doing} {}", self.path.display()))
            .hint("see that its directory is yours and may be written to")
            .because(error)
    }
}

/// Whether this is a program that may be started.
pub(super) fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Where a file is kept as it was before stopgate first changed it.
pub(super) fn backup_of(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.stopgate-backup", path.display()))
}

/// Keeps a file's earlier text beside it; an older backup gives way.
fn back_up(path: &Path, text: &str) -> io::Result<PathBuf> {
    let backup = backup_of(path);
    match fs::remove_file(&backup) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    write_new(&backup, text, permissions(path), Durable::Synced).map(|()| backup)
}

/// Removes a file of ours and the directories that it leaves empty, down to `floor`.
fn remove(path: &Path, floor: &Path) -> io::Result<()> {
    fs::remove_file(path)?;
    for directory in path.ancestors().skip(1).take_while(|directory| *directory != floor) {
        // A directory with anything in it stays, and so does everything above it.
        if !directory.starts_with(floor) || fs::remove_dir(directory).is_err() {
            break;
        }
    }
    Ok(())
}
