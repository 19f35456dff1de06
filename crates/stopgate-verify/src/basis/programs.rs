//! The programs that a check runs, as they were found at the start.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::text::{path_text, text_path};
use crate::files::open_regular;
use crate::program::find;
use crate::tree::{Stat, hex};

/// A program, as it was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FoundProgram {
    pub(crate) name: String,
    pub(crate) path: String,
    pub(crate) content: String,
    pub(crate) size: u64,
    pub(crate) mtime: i64,
    pub(crate) ctime: i64,
    pub(crate) inode: u64,
}

/// A program that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramChange {
    pub(crate) name: String,
    /// Where it is found now; nothing where it is gone.
    pub(crate) now: Option<PathBuf>,
    /// Where it was found at the start.
    pub(crate) then: PathBuf,
}

impl FoundProgram {
    /// Notes the program that a name leads to; nothing where there is none.
    pub(crate) fn note(name: &str, path: Option<&OsStr>) -> Option<Self> {
        let found = find(name, path)?;
        let Stat { mtime, ctime, size, inode, .. } = Stat::of_metadata(&fs::metadata(&found).ok()?);
        let (path, content) = (path_text(&found), fingerprint(&found));
        Some(Self { name: name.into(), path, content, size, mtime, ctime, inode })
    }

    /// Whether the name leads elsewhere now, or the file is another one.
    ///
    /// `since` is when the loop began: a file whose times are older was not touched since.
    pub(crate) fn change(&self, path: Option<&OsStr>, since: Option<i64>) -> Option<ProgramChange> {
        let then = text_path(&self.path);
        let now = find(&self.name, path);
        let is_same = now.as_deref() == Some(&*then)
            && (self.is_untouched(&then, since) || fingerprint(&then) == self.content);
        (!is_same).then(|| ProgramChange { name: self.name.clone(), now, then })
    }
}

impl FoundProgram {
    /// Whether its times say that nothing wrote to it.
    fn is_untouched(&self, path: &Path, since: Option<i64>) -> bool {
        let Some(now) = fs::metadata(path).ok().map(|found| Stat::of_metadata(&found)) else {
            return false;
        };
        let same = now.mtime == self.mtime && now.ctime == self.ctime;
        let same = same && now.size == self.size && now.inode == self.inode;
        same && since.is_some_and(|since| !now.is_racy(since))
    }
}

/// The fingerprint of a program; a word where it may be run but not read.
pub(super) fn fingerprint(path: &Path) -> String {
    let mut hasher = blake3::Hasher::new();
    let read = open_regular(path).and_then(|file| hasher.update_reader(file).map(|_| ()));
    match read {
        Ok(()) => hex(&hasher.finalize().as_bytes()[..16]),
        Err(_) => "unreadable".into(),
    }
}
