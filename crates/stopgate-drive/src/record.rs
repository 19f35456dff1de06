//! What the driver of a loop must know after it was killed: which session it had started, with
//! which process, and whether the stop of that session was judged.
//!
//! One small file a loop, replaced atomically before a session begins and after each step; a lock
//! beside it makes sure that a loop has one driver.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stopgate_engine::Failure;
use stopgate_verify::files::{
    Durable, FileLock, make_private_directory, read_text, replace_private,
};

use crate::guard::end_group;
use crate::mark::{self, began};

const BYTES_MAX: u64 = 64 * 1024;
const LOCK_PATIENCE: Duration = Duration::from_millis(300);

/// What a driver remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct DriverRecord {
    /// How many sessions were begun.
    pub(crate) sessions: u64,
    /// What the driver does.
    pub(crate) step: DriverStep,
    /// The session in hand.
    pub(crate) session: Option<String>,
    /// The client that runs it, in the word that commands use.
    pub(crate) agent: Option<String>,
    /// Its process, which is also its group.
    pub(crate) pid: i32,
    /// When that process began.
    pub(crate) began: u64,
    /// Marks everybody who belongs to the session.
    pub(crate) mark: String,
    /// Changes with every stop that is judged: as it was when the session began.
    pub(crate) judged: String,
    /// How many turns the session in hand was given.
    pub(crate) turns: u32,
    /// What the session works on, where that is one of several things.
    pub(crate) work: Option<String>,
    /// Until when the driver waits, in seconds since 1970; 0 where it does not.
    pub(crate) wait_until: u64,
    /// Whether the session in hand can be resumed.
    pub(crate) can_resume: bool,
    /// What a person said of the agent's plan before the turn in hand.
    pub(crate) plan: PlanWord,
    /// What the session before said last.
    pub(crate) said: String,
}

/// What a person said of an agent's plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PlanWord {
    /// Nothing, or that it should change.
    #[default]
    Open,
    /// That it may be carried out.
    Approved,
}

/// What a driver does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DriverStep {
    /// Between two sessions.
    #[default]
    Between,
    /// A session is about to begin: nothing of it may exist yet.
    Starting,
    /// A session runs, and has its prompt.
    Running,
    /// It waits for a limit to be over, to resume the session in hand.
    Waiting,
}

/// The files of one driver.
pub(crate) struct DriverFiles {
    directory: PathBuf,
    _lock: FileLock,
}

impl DriverFiles {
    /// Takes the loop's driver in hand; fails where another one runs.
    pub(crate) fn take(directory: PathBuf, name: &str) -> Result<Self, Failure> {
        let unusable = |error: io::Error| {
            Failure::store(format!("could not use {}", directory.display())).because(error)
        };
        make_private_directory(&directory).map_err(unusable)?;
        match FileLock::take(&directory.join("lock"), LOCK_PATIENCE) {
            Ok(lock) => Ok(Self { directory, _lock: lock }),
            Err(error)
                if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
            {
                Err(Failure::usage(format!("{name} is already driven by another stopgate run"))
                    .hint("end that one first, or wait for it"))
            }
            Err(error) => Err(unusable(error)),
        }
    }

    /// Where they are.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// A file of the driver's own.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// What was remembered; nothing where it can't be read.
    pub(crate) fn read(&self) -> DriverRecord {
        let text = read_text(&self.file("driver.json"), BYTES_MAX).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Remembers, before anything else happens.
    pub(crate) fn write(&self, record: &DriverRecord) -> Result<(), Failure> {
        let text = serde_json::to_vec(record).unwrap_or_default();
        put(&self.file("driver.json"), &text)
    }

    /// The prompt as a file of its own.
    pub(crate) fn write_prompt(&self, prompt: &str) -> Result<PathBuf, Failure> {
        let file = self.file("prompt.md");
        put(&file, prompt.as_bytes())?;
        Ok(file)
    }
}

fn put(file: &Path, content: &[u8]) -> Result<(), Failure> {
    replace_private(file, content, Durable::Synced).map_err(|error| {
        Failure::store(format!("could not write {}", file.display())).because(error)
    })
}

impl DriverRecord {
    /// Makes sure that nobody of the session in hand lives any more.
    pub(crate) fn end_left_over(&self) {
        if self.pid > 0 && began(self.pid).is_some_and(|began| began == self.began) {
            end_group(self.pid);
        }
        if !self.mark.is_empty() {
            mark::end_marked(&self.mark);
        }
    }
}
