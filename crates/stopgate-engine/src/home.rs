//! Where things lie.

use std::borrow::Cow;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use stopgate_core::{Digest, LoopId};

/// The folder that stopgate owns, outside every work tree.
#[derive(Clone, Debug)]
pub struct Home {
    folder: PathBuf,
}

impl Home {
    /// The home at `folder`; nothing is made yet.
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the folder, for its owner alone.
    pub fn create(&self) -> io::Result<()> {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)
    }

    /// Whether somebody threw the switch that lies here.
    pub fn is_stopped(&self) -> bool {
        self.folder.join("STOP").exists()
    }

    /// The embedded journal.
    pub fn journal(&self) -> PathBuf {
        self.folder.join("journal.db")
    }

    /// The signs beside the embedded journal.
    pub(crate) fn signs(&self) -> PathBuf {
        self.folder.join("journal.signs")
    }

    /// What is noted about sessions whose journal is on a server.
    pub(crate) fn server_notes(&self) -> PathBuf {
        self.folder.join("server.signs")
    }

    /// Says that `session` was held back once because the store could not be asked.
    pub(crate) fn held_back(&self, session: &str) -> PathBuf {
        self.folder.join("held-back").join(&*file_name(session))
    }

    /// Where loops go that are over for long.
    pub(crate) fn archive(&self, day: &str) -> PathBuf {
        self.folder.join("archive").join(format!("{day}.jsonl"))
    }

    /// Held by whoever moves loops to an archive.
    pub(crate) fn archive_lock(&self) -> PathBuf {
        self.folder.join("archive.lock")
    }

    /// The log of faults.
    pub fn log(&self) -> PathBuf {
        self.folder.join("stopgate.log")
    }

    /// The whole output of a check.
    pub fn check_log(&self, id: &LoopId, criterion: &str) -> PathBuf {
        self.folder.join("checks").join(id.as_str()).join(format!("{}.log", file_name(criterion)))
    }
}

/// A name that is safe as a file's name, and still the same name to a reader where it can be.
pub(crate) fn file_name(name: &str) -> Cow<'_, str> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if !name.is_empty() && name.len() <= 80 && name.bytes().all(plain) {
        return Cow::Borrowed(name);
    }
    let letter = |c: char| if c.is_ascii() && plain(c as u8) { c } else { '-' };
    let kept: String = name.chars().map(letter).take(40).collect();
    Cow::Owned(format!("{kept}.{:016x}", Digest::new().part(name.as_bytes()).value()))
}
