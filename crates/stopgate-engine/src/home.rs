//! Where things lie.

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use stopgate_core::LoopId;
pub(crate) use stopgate_verify::file_name;

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

    /// Says that the person at `session` was told why the store can't be used.
    pub(crate) fn told_of_store(&self, session: &str, why: &str) -> PathBuf {
        let digest = stopgate_core::Digest::new().part(why.as_bytes()).value();
        self.folder.join("told").join(format!("{}-{digest:016x}", file_name(session)))
    }

    /// Notes about the checks of a loop that run now.
    pub(crate) fn running(&self, id: &LoopId) -> PathBuf {
        self.folder.join("running").join(id.as_str())
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

    /// Where the output of checks goes that run before a loop begins, or without one.
    pub(crate) fn start_logs(&self) -> PathBuf {
        self.folder.join("checks").join("start")
    }

    /// Where the whole output of a loop's checks goes.
    pub fn check_logs(&self, id: &LoopId) -> PathBuf {
        self.folder.join("checks").join(id.as_str())
    }
}
