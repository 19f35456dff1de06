//! What the file looks like. Few objects, because every cold process reads them all.

use std::path::Path;

use rusqlite::Connection;

use super::{Missing, is_busy, is_corrupt};
use crate::StoreError;

/// The version of the tables that this program writes. Version 2 has seals; the form of events
/// and states has a version of its own.
pub(super) const FORMAT: u32 = 2;

/// Bare columns, for a cold process parses this text at every stop; the types are kept
/// by the one module that writes. `previous` chains a loop's events and saves an index.
const TABLES: &str = "\
CREATE TABLE loop(number INTEGER PRIMARY KEY,id UNIQUE,session,project,running,revision,newest,state,seal);\
CREATE UNIQUE INDEX loop_held ON loop(session) WHERE running=1;\
CREATE TABLE event(cursor INTEGER PRIMARY KEY,previous,loop,revision,format,at,body,seal);";

/// From version 1 to 2. A program that knows no seals must not write any more: what it
/// appended would not fit its seal.
const SEALS: &str = "ALTER TABLE loop ADD COLUMN seal; ALTER TABLE event ADD COLUMN seal;";

/// Writes what is written already: a commit that changes nothing.
pub(super) const SAME_FORMAT: &str = "PRAGMA user_version = 2";

/// Makes sure that the file is a journal of a format that this program knows; says which
/// format it found, 0 where there was nothing.
pub(super) fn prepare(
    connection: &Connection,
    path: &Path,
    missing: Missing,
) -> Result<u32, StoreError> {
    let found = format(connection).map_err(|source| refuse("find the format", path, source))?;
    match (found, missing) {
        (FORMAT, _) => Ok(found),
        (0, Missing::Make) => {
            let trouble = |source| refuse("make the tables", path, source);
            connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).map_err(trouble)?;
            bring(connection, path).map(|()| found)
        }
        (1, _) => bring(connection, path).map(|()| found),
        (0, Missing::Refuse) => Err(StoreError::Empty { path: path.into() }),
        (found, _) => Err(StoreError::Newer { path: path.into(), found, known: FORMAT }),
    }
}

fn format(connection: &Connection) -> Result<u32, rusqlite::Error> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// Makes the tables or brings them to the present version, unless another process was faster;
/// looks again inside the lock.
fn bring(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let trouble = |source| refuse("make the tables", path, source);
    connection.execute_batch("BEGIN IMMEDIATE").map_err(trouble)?;
    let made = format(connection).and_then(|found| match found {
        0 => connection.execute_batch(&format!("{TABLES} {SAME_FORMAT};")),
        1 => connection.execute_batch(&format!("{SEALS} {SAME_FORMAT};")),
        _made => Ok(()),
    });
    let end = if made.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = connection.execute_batch(end);
    made.and(ended).map_err(trouble)
}

/// Names the trouble: in use, damaged, or simply refused.
pub(super) fn refuse(doing: &'static str, path: &Path, source: rusqlite::Error) -> StoreError {
    let path = path.to_path_buf();
    if is_busy(&source) {
        StoreError::Busy { path }
    } else if is_corrupt(&source) {
        StoreError::Corrupt { path, source }
    } else {
        StoreError::Engine { doing, path, source }
    }
}

#[cfg(test)]
mod tests {
    use super::{FORMAT, SAME_FORMAT};

    #[test]
    fn the_commit_that_changes_nothing_names_the_present_format() {
        assert_eq!(SAME_FORMAT, format!("PRAGMA user_version = {FORMAT}"));
    }
}
