//! Rows and what they mean.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row, params};
use stopgate_core::{FORMAT, LoopId, SessionId, State, Timestamp};

use super::schema::refuse;
use crate::StoreError;
use crate::journal::{Appended, Cursor, Entry, Filter, Recorded, Revision, Standing, Stored};

/// What can go wrong with a row.
pub(super) enum RowError {
    Engine(rusqlite::Error),
    Decode { id: String, source: serde_json::Error },
    Encode { id: String, source: serde_json::Error },
    Newer { found: u32 },
}

impl From<rusqlite::Error> for RowError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Engine(error)
    }
}

impl RowError {
    pub(super) fn at(self, doing: &'static str, path: PathBuf) -> StoreError {
        match self {
            Self::Engine(source) => refuse(doing, &path, source),
            Self::Decode { id, source } => StoreError::Record { id, source },
            Self::Encode { id, source } => StoreError::Encode { id, source },
            Self::Newer { found } => StoreError::Newer { path, found, known: FORMAT },
        }
    }
}

const COLUMNS: &str = "SELECT id, revision, state FROM loop";

pub(super) fn load(connection: &Connection, id: &LoopId) -> Result<Option<Found>, RowError> {
    one(
        connection,
        "SELECT id, revision, state, number, newest, session, running FROM loop WHERE id = ?1",
        params![id.as_str()],
    )
}

pub(super) fn load_held(
    connection: &Connection,
    session: &SessionId,
) -> Result<Option<Found>, RowError> {
    one(
        connection,
        "SELECT id, revision, state, number, newest, session, running FROM loop \
         WHERE session = ?1 AND running = 1",
        params![session.as_str()],
    )
}

pub(super) fn pending(connection: &Connection, project: &str) -> Result<Vec<Stored>, RowError> {
    let wanted = "WHERE session IS NULL AND running = 1 AND project = ?1 ORDER BY number";
    many(connection, &format!("{COLUMNS} {wanted}"), params![project])
}

pub(super) fn find(connection: &Connection, prefix: &str) -> Result<Vec<LoopId>, RowError> {
    let mut found = connection.prepare(
        "SELECT id FROM loop WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 3",
    )?;
    let names = found.query_map(params![prefix], |row| row.get::<_, String>(0))?;
    names.map(|name| Ok(LoopId::new(&name?))).collect()
}

pub(super) fn list(connection: &Connection, filter: &Filter<'_>) -> Result<Vec<Stored>, RowError> {
    let limit = if filter.limit == 0 { i64::MAX } else { as_i64(filter.limit as u64) };
    let running = match filter.standing {
        Standing::Any => "",
        Standing::Running => "AND running = 1",
    };
    let wanted = format!("WHERE (?1 IS NULL OR project = ?1) {running}");
    let sql = format!("{COLUMNS} {wanted} ORDER BY number DESC LIMIT ?2");
    many(connection, &sql, params![filter.project, limit])
}

pub(super) fn history(connection: &Connection, id: &LoopId) -> Result<Vec<Entry>, RowError> {
    let newest = "SELECT newest FROM loop WHERE id = ?1";
    let found = connection.query_row(newest, params![id.as_str()], |row| row.get::<_, i64>(0));
    let mut cursor = found.optional()?.unwrap_or(0);
    let mut step = connection.prepare(
        "SELECT cursor, revision, format, at, body, previous FROM event WHERE cursor = ?1",
    )?;
    let mut entries = Vec::new();
    while cursor > 0 {
        let found = step.query_row(params![cursor], |row| Ok((event_row(row)?, row.get(5)?)));
        let (row, previous): (EventRow, i64) = found?;
        entries.push(row.entry(id.clone())?);
        cursor = previous;
    }
    entries.reverse();
    Ok(entries)
}

pub(super) fn tail(
    connection: &Connection,
    cursor: Cursor,
    limit: usize,
) -> Result<Vec<Entry>, RowError> {
    let mut next = connection.prepare(
        "SELECT cursor, event.revision, format, at, body, loop.id FROM event \
         JOIN loop ON loop.number = event.loop WHERE cursor > ?1 ORDER BY cursor LIMIT ?2",
    )?;
    let wanted = params![as_i64(cursor.0), as_i64(limit as u64)];
    let rows = next.query_map(wanted, |row| Ok((event_row(row)?, row.get::<_, String>(5)?)))?;
    rows.map(|row| {
        let (row, id) = row?;
        row.entry(LoopId::new(&id))
    })
    .collect()
}

pub(super) fn names(
    connection: &Connection,
    after: &LoopId,
    limit: usize,
) -> Result<Vec<LoopId>, RowError> {
    let mut found = connection.prepare("SELECT id FROM loop WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let wanted = params![after.as_str(), as_i64(limit as u64)];
    let names = found.query_map(wanted, |row| row.get::<_, String>(0))?;
    names.map(|name| Ok(LoopId::new(&name?))).collect()
}

/// Where a loop's row lies, as it was read in the running transaction.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    id: String,
    pub(super) number: i64,
    pub(super) revision: i64,
    pub(super) newest: i64,
    session: Option<String>,
    pub(super) running: bool,
}

/// When a loop begins to hold its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// With the append.
    Now,
    /// When all that is gathered is delivered.
    Later,
}

impl Hold {
    fn running(self, state: &State) -> bool {
        self == Self::Now && state.outcome().is_none()
    }
}

impl Spot {
    pub(super) fn is_of(&self, id: &LoopId) -> bool {
        self.id == id.as_str()
    }

    /// Whether the columns that an index covers stay as they are.
    fn holds_as(&self, state: &State, hold: Hold) -> bool {
        self.session.as_deref() == session(state) && self.running == hold.running(state)
    }
}

/// Looks for a loop's row.
pub(super) fn spot(connection: &Connection, id: &LoopId) -> Result<Option<Spot>, RowError> {
    let place = "SELECT id, number, revision, newest, session, running FROM loop WHERE id = ?1";
    let found = connection.query_row(place, params![id.as_str()], |row| {
        Ok(Spot {
            id: row.get(0)?,
            number: row.get(1)?,
            revision: row.get(2)?,
            newest: row.get(3)?,
            session: row.get(4)?,
            running: row.get(5)?,
        })
    });
    Ok(found.optional()?)
}

pub(super) fn append(
    connection: &Connection,
    spot: Option<Spot>,
    expected: Revision,
    events: &[Recorded],
    state: &State,
    hold: Hold,
) -> Result<Appended, RowError> {
    let known = spot.as_ref().map_or(0, |spot| spot.revision);
    if known != as_i64(expected.0) {
        return Ok(Appended::Conflict);
    }
    let spot = match spot {
        Some(spot) => spot,
        None => match insert_loop(connection, state, hold)? {
            Some(spot) => spot,
            None => return Ok(Appended::SessionTaken),
        },
    };
    let newest = insert_events(connection, state, &spot, events)?;
    let revision = spot.revision + as_i64(events.len() as u64);
    if update_loop(connection, state, &spot, hold, (revision, newest))? {
        Ok(Appended::Stored(Revision(as_u64(revision))))
    } else {
        Ok(Appended::SessionTaken)
    }
}

fn insert_loop(
    connection: &Connection,
    state: &State,
    hold: Hold,
) -> Result<Option<Spot>, RowError> {
    let running = hold.running(state);
    let inserted = connection.execute(
        "INSERT INTO loop (id, session, project, running, revision, newest, state) \
         VALUES (?1, ?2, ?3, ?4, 0, 0, '')",
        params![state.id.as_str(), session(state), state.project, running],
    );
    Ok(not_taken(inserted)?.then(|| Spot {
        id: state.id.as_str().into(),
        number: connection.last_insert_rowid(),
        revision: 0,
        newest: 0,
        session: session(state).map(String::from),
        running,
    }))
}

/// Writes the columns that an index covers only where they change: one page less a stop.
fn update_loop(
    connection: &Connection,
    state: &State,
    spot: &Spot,
    hold: Hold,
    (revision, newest): (i64, i64),
) -> Result<bool, RowError> {
    let body = encode(&state.id, state)?;
    let updated = if spot.holds_as(state, hold) {
        connection.execute(
            "UPDATE loop SET revision = ?2, newest = ?3, state = ?4 WHERE number = ?1",
            params![spot.number, revision, newest, body],
        )
    } else {
        connection.execute(
            "UPDATE loop SET revision = ?2, newest = ?3, state = ?4, session = ?5, running = ?6 \
             WHERE number = ?1",
            params![spot.number, revision, newest, body, session(state), hold.running(state)],
        )
    };
    not_taken(updated)
}

/// Lets the loops hold their sessions; the first one whose session is taken, if there is one.
pub(super) fn hold(
    connection: &Connection,
    running: &BTreeSet<LoopId>,
) -> Result<Option<LoopId>, RowError> {
    let mut update = connection.prepare("UPDATE loop SET running = 1 WHERE id = ?1")?;
    for id in running {
        if !not_taken(update.execute(params![id.as_str()]))? {
            return Ok(Some(id.clone()));
        }
    }
    Ok(None)
}

fn insert_events(
    connection: &Connection,
    state: &State,
    spot: &Spot,
    events: &[Recorded],
) -> Result<i64, RowError> {
    let (mut revision, mut newest) = (spot.revision, spot.newest);
    let mut insert = connection.prepare(
        "INSERT INTO event (previous, loop, revision, format, at, body) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for recorded in events {
        revision += 1;
        let body = encode(&state.id, &recorded.event)?;
        let at = recorded.at.unix_millis();
        newest = insert.insert(params![newest, spot.number, revision, FORMAT, at, body])?;
    }
    Ok(newest)
}

/// A broken uniqueness of the held session is an answer, not an error.
fn not_taken(written: Result<usize, rusqlite::Error>) -> Result<bool, RowError> {
    match written {
        Ok(_) => Ok(true),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

struct EventRow {
    cursor: i64,
    revision: i64,
    format: u32,
    at: i64,
    body: String,
}

impl EventRow {
    fn entry(self, id: LoopId) -> Result<Entry, RowError> {
        if self.format > FORMAT {
            return Err(RowError::Newer { found: self.format });
        }
        let event = decode(id.as_str(), &self.body)?;
        let recorded = Recorded { event, at: Timestamp::from_unix_millis(self.at) };
        let cursor = Cursor(as_u64(self.cursor));
        Ok(Entry { cursor, id, revision: Revision(as_u64(self.revision)), recorded })
    }
}

fn event_row(row: &Row<'_>) -> Result<EventRow, rusqlite::Error> {
    Ok(EventRow {
        cursor: row.get(0)?,
        revision: row.get(1)?,
        format: row.get(2)?,
        at: row.get(3)?,
        body: row.get(4)?,
    })
}

/// A loop and where its row lies.
pub(super) type Found = (Stored, Spot);

fn one(connection: &Connection, sql: &str, wanted: impl Params) -> Result<Option<Found>, RowError> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(wanted)?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let spot = Spot {
        id: row.get(0)?,
        number: row.get(3)?,
        revision: row.get(1)?,
        newest: row.get(4)?,
        session: row.get(5)?,
        running: row.get(6)?,
    };
    Ok(Some((stored(row)?, spot)))
}

fn many(connection: &Connection, sql: &str, wanted: impl Params) -> Result<Vec<Stored>, RowError> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(wanted)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(stored(row)?);
    }
    Ok(found)
}

fn stored(row: &Row<'_>) -> Result<Stored, RowError> {
    let id = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
    let revision: i64 = row.get(1)?;
    let body = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
    Ok(Stored { state: decode(id, body)?, revision: Revision(as_u64(revision)) })
}

pub(super) fn decode<'a, T: serde::Deserialize<'a>>(
    id: &str,
    body: &'a str,
) -> Result<T, RowError> {
    serde_json::from_str(body).map_err(|source| RowError::Decode { id: id.into(), source })
}

fn encode<T: serde::Serialize>(id: &LoopId, value: &T) -> Result<String, RowError> {
    serde_json::to_string(value)
        .map_err(|source| RowError::Encode { id: id.as_str().into(), source })
}

pub(super) fn session(state: &State) -> Option<&str> {
    state.session.as_ref().map(SessionId::as_str)
}

pub(super) fn as_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn as_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
