//! What is done to a journal as a whole: loops are removed, room is given back, the file is
//! checked.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};
use stopgate_core::{LoopId, State};

use super::rows::{RowSpot, SqliteRowError, as_i64, decode, session, spot};
use crate::chain::KeySource;
use crate::journal::Revision;

const FINDINGS_MAX: usize = 100;

/// Removes the loops that have ended and are still at their revision; how many those were.
pub(super) fn remove(
    connection: &Connection,
    loops: &[(LoopId, Revision)],
) -> Result<u64, SqliteRowError> {
    let newest = connection
        .query_row("SELECT max(cursor) FROM event", [], |row| row.get::<_, Option<i64>>(0))?;
    let mut removed = 0;
    for (id, revision) in loops {
        let ended = |spot: &RowSpot| !spot.running && spot.revision == as_i64(revision.0);
        if let Some(spot) = spot(connection, &KeySource::default(), id)?.filter(ended) {
            remove_events(connection, spot.newest, newest.unwrap_or(0))?;
            connection.execute("DELETE FROM loop WHERE number = ?1", params![spot.number])?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Removes a loop's events from its newest on. The journal's newest one is only emptied: its
/// cursor would be given to the next event, and a follower of the tail would miss that.
fn remove_events(
    connection: &Connection,
    mut cursor: i64,
    newest: i64,
) -> Result<(), SqliteRowError> {
    let mut previous = connection.prepare("SELECT previous FROM event WHERE cursor = ?1")?;
    let mut delete = connection.prepare("DELETE FROM event WHERE cursor = ?1")?;
    while cursor > 0 {
        let next = previous.query_row(params![cursor], |row| row.get(0))?;
        if cursor == newest {
            let empty = "UPDATE event SET previous = 0, loop = 0, revision = 0, body = '' \
                         WHERE cursor = ?1";
            connection.execute(empty, params![cursor])?;
        } else {
            delete.execute(params![cursor])?;
        }
        cursor = next;
    }
    Ok(())
}

/// Writes the file anew without its holes.
pub(super) fn reclaim(connection: &Connection) -> Result<(), SqliteRowError> {
    connection.execute_batch("VACUUM")?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

/// What is wrong with the file, its rows and its chains.
pub(super) fn check(connection: &Connection) -> Result<Vec<String>, SqliteRowError> {
    let mut found = integrity(connection)?;
    // A file that is damaged can't be asked anything else.
    if found.is_empty() {
        found.extend(strays(connection)?);
        found.extend(columns(connection)?);
    }
    found.truncate(FINDINGS_MAX);
    Ok(found)
}

fn integrity(connection: &Connection) -> Result<Vec<String>, SqliteRowError> {
    let mut check = connection.prepare("PRAGMA integrity_check(100)")?;
    let lines = check.query_map([], |row| row.get::<_, String>(0))?;
    let lines = lines.collect::<Result<Vec<String>, _>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

/// Events without a loop, and loops that have more or fewer events than they count.
fn strays(connection: &Connection) -> Result<Vec<String>, SqliteRowError> {
    let mut found = Vec::new();
    let lost =
        "SELECT count(*) FROM event WHERE loop <> 0 AND loop NOT IN (SELECT number FROM loop)";
    let lost: i64 = connection.query_row(lost, [], |row| row.get(0))?;
    if lost > 0 {
        found.push(format!("{lost} events belong to no loop"));
    }
    let kept = kept(connection)?;
    let mut loops = connection.prepare("SELECT id, revision, number FROM loop")?;
    let mut rows = loops.query([])?;
    while let Some(row) = rows.next()? {
        let (id, revision, number): (String, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let count = kept.get(&number).copied().unwrap_or(0);
        if count != revision {
            found.push(format!("loop {id}: {count} events are kept, {revision} are counted"));
        }
    }
    Ok(found)
}

/// How many events each loop has. Counted in one pass: no index leads from a loop to them.
fn kept(connection: &Connection) -> Result<BTreeMap<i64, i64>, SqliteRowError> {
    let mut counts = connection.prepare("SELECT loop, count(*) FROM event GROUP BY loop")?;
    let counts = counts.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(counts.collect::<Result<_, _>>()?)
}

/// Columns that say something else than the state beside them.
fn columns(connection: &Connection) -> Result<Vec<String>, SqliteRowError> {
    let mut found = Vec::new();
    let mut all = connection.prepare("SELECT id, state, session, project, running FROM loop")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        let (id, body): (String, String) = (row.get(0)?, row.get(1)?);
        // A state that can't be read is found when the loop is loaded.
        let Ok(state) = decode::<State>(&id, &body) else { continue };
        let held: Option<String> = row.get(2)?;
        let (project, running): (String, bool) = (row.get(3)?, row.get(4)?);
        let agrees = state.id.as_str() == id
            && session(&state) == held.as_deref()
            && state.project == project
            && state.outcome().is_none() == running;
        if !agrees {
            found.push(format!("loop {id}: its columns say something else than its state"));
        }
    }
    Ok(found)
}
