//! Why the journal could not do what was asked.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// What a server's client library said, whichever library that is.
pub type Cause = Box<dyn Error + Send + Sync>;

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
    /// Something other than a file is in its place, or in the place of a file beside it.
    #[error("open the journal: {} is not a regular file", path.display())]
    NotAFile {
        /// What was found.
        path: PathBuf,
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
    #[error("read loop {id} from the journal: {}", record_trouble(source))]
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
    /// The server's address makes no sense.
    #[error("read the store's address {address}: {why}")]
    Address {
        /// The address, without its password.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nobody answers at the address.
    #[error(
        "reach the journal at {address}; check that the server runs, its name, its port and \
         the way to it"
    )]
    Unreachable {
        /// The address, without its password.
        address: String,
        /// What was tried last.
        source: Cause,
    },
    /// No answer came in time.
    #[error(
        "get an answer from the journal at {address} within {} ms; check the server's load and \
         the network, or allow it more time", deadline.as_millis()
    )]
    Late {
        /// The address, without its password.
        address: String,
        /// How long was waited.
        deadline: Duration,
    },
    /// The server does not let us in.
    #[error(
        "log in to the journal at {address}; check the user, the password and the server's \
         pg_hba.conf"
    )]
    Login {
        /// The address, without its password.
        address: String,
        /// What the server said.
        source: Cause,
    },
    /// The connection can't be made as safe as it was asked for.
    #[error(
        "make a safe connection to the journal at {address}; check sslmode, sslrootcert and \
         the server's certificate"
    )]
    Tls {
        /// The address, without its password.
        address: String,
        /// What is wrong with it.
        source: Cause,
    },
    /// The server has no such database.
    #[error("find the database of the journal at {address}; create it, or correct its name")]
    Database {
        /// The address, without its password.
        address: String,
        /// What the server said.
        source: Cause,
    },
    /// The server is starting, stopping or recovering.
    #[error(
        "use the journal at {address} yet: its server is starting, stopping or in recovery; \
         try again in a moment"
    )]
    NotReady {
        /// The address, without its password.
        address: String,
        /// What the server said.
        source: Cause,
    },
    /// The server has no connection left.
    #[error(
        "get a connection to the journal at {address}: all are in use; put a pooler before the \
         server, or raise its max_connections"
    )]
    Full {
        /// The address, without its password.
        address: String,
        /// What the server said.
        source: Cause,
    },
    /// The server only reads.
    #[error(
        "write to the journal at {address}: that server is a standby, in recovery, or read-only; \
         name the primary too and add target_session_attrs=read-write"
    )]
    ReadOnly {
        /// The address, without its password.
        address: String,
    },
    /// The role lacks a right.
    #[error(
        "{doing} in the journal at {address}: the role may not; grant it what docs/postgres.md \
         lists, or run `stopgate store migrate` as the owner"
    )]
    Privilege {
        /// What was being done.
        doing: &'static str,
        /// The address, without its password.
        address: String,
        /// What the server said.
        source: Cause,
    },
    /// The connection broke while an answer was awaited.
    #[error(
        "{doing} in the journal at {address}: the connection was lost, and whether it was done \
         is not known; try again"
    )]
    Lost {
        /// What was being done.
        doing: &'static str,
        /// The address, without its password.
        address: String,
        /// How it was noticed.
        source: Cause,
    },
    /// The server refused what was asked.
    #[error("{doing} in the journal at {address}")]
    Server {
        /// What was being done.
        doing: &'static str,
        /// The address, without its password.
        address: String,
        /// What the server said.
        source: Cause,
    },
    /// The database was set up, or written to, by a newer program.
    #[error(
        "use the journal at {address}: its format is {found}, this program knows {known}; \
         install a newer stopgate"
    )]
    NewerServer {
        /// The address, without its password.
        address: String,
        /// The format found.
        found: u32,
        /// The newest format that this program knows.
        known: u32,
    },
}

/// Why a record can't be read: a word that this version does not know is a newer one's.
fn record_trouble(source: &serde_json::Error) -> &'static str {
    if source.to_string().starts_with("unknown variant") {
        "it holds what this version does not know; install a newer stopgate"
    } else {
        "its record is damaged"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_a_newer_version_says_what_to_install() {
        let said = |text: &str| {
            let source = serde_json::from_str::<stopgate_core::Outcome>(text).unwrap_err();
            StoreError::Record { id: "x1".into(), source }.to_string()
        };
        assert!(said("\"of tomorrow\"").ends_with("install a newer stopgate"));
        assert!(said("\"do").ends_with("its record is damaged"));
    }
}
