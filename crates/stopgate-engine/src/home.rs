//! Where things lie.

use std::ffi::OsString;
use std::io;
use std::path::{MAIN_SEPARATOR_STR, Path, PathBuf};

use stopgate_core::LoopId;
use stopgate_system::fs::MetadataExt;
pub(crate) use stopgate_verify::file_name;
use stopgate_verify::files::make_private_directory;

use crate::failure::Failure;

/// The directory that stopgate owns, outside every work tree.
#[derive(Clone, Debug)]
pub struct Home {
    directory: PathBuf,
}

impl Home {
    /// The home at `directory`; nothing is made yet.
    pub const fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The directory itself.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Makes the directory, for its owner alone.
    pub fn create(&self) -> io::Result<()> {
        make_private_directory(&self.directory)
    }

    /// Refuses a directory that another user may read from or write to.
    ///
    /// What is not there yet is fine: it is made for its owner alone.
    pub fn check(&self) -> Result<(), Failure> {
        let Ok(found) = std::fs::symlink_metadata(&self.directory) else { return Ok(()) };
        let directory = self.directory.display();
        let (what, hint) = if found.is_symlink() {
            ("it is a symbolic link", "set STOPGATE_HOME to the directory itself".to_string())
        } else if !found.is_dir() {
            ("it is not a directory", "set STOPGATE_HOME to a directory of your own".to_string())
        } else if found.uid() != stopgate_system::own_user() {
            (
                "it belongs to another user",
                "set STOPGATE_HOME to a directory of your own".to_string(),
            )
        } else if found.mode() & 0o022 != 0 {
            ("other users may write to it", format!("run: chmod 700 {directory}"))
        } else {
            return Ok(());
        };
        Err(Failure::fault(format!("could not use {directory}: {what}")).hint(hint))
    }

    /// Whether somebody threw the switch that lies here.
    pub fn is_stopped(&self) -> bool {
        below(&self.directory, ["STOP"]).exists()
    }

    /// When a session of this agent last began, as the time of a file.
    pub(crate) fn fired(&self, agent: &str) -> PathBuf {
        self.directory.join("fired").join(agent)
    }

    /// The embedded journal.
    pub fn journal(&self) -> PathBuf {
        below(&self.directory, ["journal.db"])
    }

    /// The signs beside the embedded journal.
    pub(crate) fn signs(&self) -> PathBuf {
        below(&self.directory, ["journal.signs"])
    }

    /// What is noted about sessions whose journal is on a server.
    pub(crate) fn server_notes(&self) -> PathBuf {
        self.directory.join("server.signs")
    }

    /// Says that `session` was held back once because the store could not be asked.
    pub(crate) fn held_back(&self, session: &str) -> PathBuf {
        self.directory.join("held-back").join(&*file_name(session))
    }

    /// Says that the person at `session` was told why the store can't be used.
    pub(crate) fn told_of_store(&self, session: &str, why: &str) -> PathBuf {
        let digest = stopgate_core::Digest::new().part(why.as_bytes()).value();
        self.directory.join("told").join(format!("{}-{digest:016x}", file_name(session)))
    }

    /// What the status line of `session` was told about quota and context.
    pub(crate) fn usage_hint(&self, session: &str) -> PathBuf {
        self.directory.join("usage").join(&*file_name(session))
    }

    /// Notes about checks that run now, a directory for each loop.
    pub(crate) fn all_running(&self) -> PathBuf {
        self.directory.join("running")
    }

    /// Notes about the checks of a loop that run now.
    pub(crate) fn running(&self, id: &LoopId) -> PathBuf {
        self.all_running().join(id.as_str())
    }

    /// What is known of the checks of a loop that run in the background.
    pub(crate) fn background(&self, id: &LoopId) -> PathBuf {
        self.directory.join("background").join(id.as_str())
    }

    /// A notice, until the process that sends it has read it.
    pub(crate) fn outbox(&self, notice: &str) -> PathBuf {
        self.directory.join("outbox").join(format!("{}.json", file_name(notice)))
    }

    /// Where loops go that are over for long.
    pub(crate) fn archive(&self, day: &str) -> PathBuf {
        self.directory.join("archive").join(format!("{day}.jsonl"))
    }

    /// Held by the process that moves loops to an archive.
    pub(crate) fn archive_lock(&self) -> PathBuf {
        self.directory.join("archive.lock")
    }

    /// What clients print that were woken for a loop.
    pub(crate) fn wake_log(&self, id: &LoopId) -> PathBuf {
        self.directory.join("wakes").join(format!("{}.log", id.as_str()))
    }

    /// The log of faults.
    pub fn log(&self) -> PathBuf {
        self.directory.join("stopgate.log")
    }

    /// Where the output of checks goes that run before a loop begins, or without one.
    pub(crate) fn start_logs(&self) -> PathBuf {
        self.directory.join("checks").join("start")
    }

    /// Where the whole output of a loop's checks goes.
    pub fn check_logs(&self, id: &LoopId) -> PathBuf {
        self.directory.join("checks").join(id.as_str())
    }
}

/// The path of `names`, each below the one before it, in `directory`.
///
/// Every stop makes a few of these. [`Path::join`] looks at each name for a root and a prefix;
/// these names have none.
pub(crate) fn below<const N: usize>(directory: &Path, names: [&str; N]) -> PathBuf {
    let bytes: usize = names.iter().map(|name| name.len() + 1).sum();
    let directory = directory.as_os_str();
    let mut path = OsString::with_capacity(directory.len() + bytes);
    path.push(directory);
    for name in names {
        path.push(MAIN_SEPARATOR_STR);
        path.push(name);
    }
    path.into()
}
