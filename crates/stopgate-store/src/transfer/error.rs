//! Why a journal could not be moved.

use std::io;

use crate::StoreError;

/// Why a journal could not be moved.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The journal could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is read can't be read.
    #[error("read the export")]
    Read(#[source] io::Error),
    /// What is written can't be written.
    #[error("write the export")]
    Write(#[source] io::Error),
    /// It is something else.
    #[error("read line {line}: this is not an export of a stopgate journal")]
    Foreign {
        /// Where.
        line: u64,
    },
    /// It was written by a newer program.
    #[error(
        "read line {line}: its format is {found}, this program knows {known}; \
         install a newer stopgate"
    )]
    Newer {
        /// Where.
        line: u64,
        /// The format found.
        found: u32,
        /// The newest format that this program knows.
        known: u32,
    },
    /// A line makes no sense.
    #[error("read line {line} of the export: it is damaged")]
    Damaged {
        /// Where.
        line: u64,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The end is missing.
    #[error("read the export to its end: it is cut off after line {line}")]
    CutOff {
        /// The last line that is there.
        line: u64,
    },
    /// Its hash is another one.
    #[error("trust the export: the lines before line {line} are not those that were exported")]
    Altered {
        /// Where the hash stands.
        line: u64,
    },
    /// Events of a loop are missing or doubled.
    #[error("follow loop {id}: after event {after} comes event {found}")]
    Gap {
        /// Which loop.
        id: String,
        /// The event before.
        after: u64,
        /// The event found.
        found: u64,
    },
    /// A loop does not begin with its own start.
    #[error("follow loop {id}: it does not begin with its start")]
    NoStart {
        /// Which loop.
        id: String,
    },
    /// Loops of that name are there already.
    #[error("import: {count} of the loops are in the journal already: {names}")]
    Exists {
        /// How many.
        count: usize,
        /// The first of them.
        names: String,
    },
    /// Another process wrote to the same loop meanwhile.
    #[error("import loop {id}: another process wrote to it")]
    Conflict {
        /// Which loop.
        id: String,
    },
    /// A running loop would hold a session that another one holds.
    #[error("import loop {id}: it runs and holds a session that another running loop holds")]
    SessionTaken {
        /// Which loop.
        id: String,
    },
    /// An event can't be written.
    #[error("put loop {id} into the export's form")]
    Encode {
        /// Which loop.
        id: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}
