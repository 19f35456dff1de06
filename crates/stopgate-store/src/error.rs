//! Why the journal could not do what was asked.

use std::io;
use std::path::PathBuf;

/// Why the journal could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file could not be opened.
    #[error("open the journal at {}", path.display())]
    Open {
        /// Where it was looked for.
        path: PathBuf,
        /// What the engine said.
        source: rusqlite::Error,
    },
    /// Its lock file could not be used.
    #[error("take the journal's lock at {}", path.display())]
    Lock {
        /// Where the lock is.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process held the journal for too long.
    #[error("get a turn at the journal at {}: another process holds it", path.display())]
    Busy {
        /// Where it is.
        path: PathBuf,
    },
    /// The file is damaged or no journal at all. It is kept as it is.
    #[error(
        "read the journal at {}: it is damaged, or not a journal; it is kept as evidence \
         (move it away to begin anew)", path.display()
    )]
    Corrupt {
        /// Where it is.
        path: PathBuf,
        /// What the engine said.
        source: rusqlite::Error,
    },
    /// The file has lost its content.
    #[error("find a journal at {}: the file is empty or cut short; it is kept as evidence", path.display())]
    Empty {
        /// Where it is.
        path: PathBuf,
    },
    /// The file was written by a newer program.
    #[error(
        "use the journal at {}: its format is {found}, this program knows {known}; \
         install a newer stopgate", path.display()
    )]
    Newer {
        /// Where it is.
        path: PathBuf,
        /// The format found.
        found: u32,
        /// The newest format that this program knows.
        known: u32,
    },
    /// A stored state or event can't be read.
    #[error("read loop {id} from the journal: its record is damaged")]
    Record {
        /// Which loop.
        id: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// A state or event can't be written.
    #[error("put loop {id} into the journal's form")]
    Encode {
        /// Which loop.
        id: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The engine refused.
    #[error("{doing} in the journal at {}", path.display())]
    Engine {
        /// What was being done.
        doing: &'static str,
        /// Where it is.
        path: PathBuf,
        /// What the engine said.
        source: rusqlite::Error,
    },
}
