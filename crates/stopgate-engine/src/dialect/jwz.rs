//! The `jwz` command, where a topic of its store holds the state.
//!
//! What it prints is read here and goes nowhere else.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_dialects::idle::listing;
use stopgate_verify::{ToolOutput, tool};

use crate::failure::Failure;

const PROGRAM: &str = "jwz";
const STORES: [&str; 2] = [".jwz", ".zawinski"];
/// More than this is not an answer: it would be read while an agent waits.
const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Shorter than the patience of those who wait for the lock meanwhile.
const PATIENCE: Duration = Duration::from_secs(3);

/// A message store in a directory.
#[derive(Clone, Debug)]
pub(super) struct Store {
    /// The directory that the store is in.
    pub(super) directory: PathBuf,
}

impl Store {
    /// The nearest store at or above `directory`, as the command itself would find it.
    pub(super) fn find(directory: &Path) -> Option<Self> {
        directory
            .ancestors()
            .find(|directory| Self::is_in(directory))
            .map(|directory| Self { directory: directory.into() })
    }

    /// Whether a store is kept in `directory` itself.
    pub(super) fn is_in(directory: &Path) -> bool {
        STORES.iter().any(|name| directory.join(name).is_dir())
    }

    /// The newest message of a topic; nothing where there is none, or no such command.
    pub(super) fn newest(&self, topic: &str) -> Result<Option<String>, Failure> {
        // It lists only a few unless it is asked for more, and not every version can be asked.
        let ways: [&[&str]; 3] = [&["--json", "--limit", "10000"], &["--json"], &[]];
        for way in ways {
            let arguments: Vec<&str> = ["read", topic].iter().chain(way).copied().collect();
            match self.ask(&arguments)? {
                Some(told) if told.is_fine() => {
                    return Ok(listing::newest(&String::from_utf8_lossy(&told.stdout)));
                }
                Some(_) => {}
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Whether the command is there at all.
    pub(super) fn is_usable(&self) -> bool {
        !matches!(self.ask(&["--version"]), Ok(None))
    }

    /// Adds a message to a topic.
    pub(super) fn post(&self, topic: &str, body: &str) -> Result<(), Failure> {
        match self.ask(&["post", topic, "-m", body])? {
            Some(told) if told.is_fine() => Ok(()),
            Some(_) => Err(Failure::fault(format!("could not post to {topic}: jwz refused it"))),
            None => Err(Failure::fault(format!("could not post to {topic}: there is no jwz"))),
        }
    }

    /// Runs the command; nothing where it is not installed.
    fn ask(&self, arguments: &[&str]) -> Result<Option<ToolOutput>, Failure> {
        let argv: Vec<&str> = std::iter::once(PROGRAM).chain(arguments.iter().copied()).collect();
        match tool(&argv, &self.directory, PATIENCE) {
            Ok(told) if told.stdout.len() > ANSWER_BYTES_MAX => {
                Err(Failure::fault("could not ask jwz: it said more than 8 MiB"))
            }
            Ok(told) => Ok(Some(told)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::fault("could not ask jwz").because(error)),
        }
    }
}
