//! Where the processes of a history keep what is not in the journal: their key.

use std::fs;
use std::io;
use std::path::Path;

use tempfile::TempDir;

/// What processes would tell each other by files, by their real numbers. All processes of a
/// history are one, so a file stands in the way of each.
const NOTES: [&str; 2] = ["running", "sessions"];

/// A directory of its own, gone when dropped.
#[derive(Debug)]
pub struct SimHome(TempDir);

impl SimHome {
    /// An empty one.
    pub fn new() -> io::Result<Self> {
        let directory = TempDir::with_prefix("stopgate-sim-")?;
        for name in NOTES {
            fs::write(directory.path().join(name), "no directory, so that nothing is noted\n")?;
        }
        Ok(Self(directory))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}
