//! Rows and what they mean.

use std::collections::BTreeSet;
use std::path::PathBuf;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Params, Row, params};
use stopgate_core::{FORMAT, LoopId, SessionId, State, Timestamp};

use super::schema::refuse;
use crate::StoreError;
use crate::chain::{
    ChainBase, ChainLink, EventRecord, EventSeal, KeySource, StateRecord, look_at_state,
};
use crate::journal::{
    Appended, Cursor, EndedFilter, Filter, JournalEntry, Recorded, Revision, Stored,
};

/// What can go wrong with a row.
pub(super) enum SqliteRowError {
    Engine(rusqlite::Error),
    Decode { id: String, source: serde_json::Error },
    Encode { id: String, source: serde_json::Error },
    Newer { found: u32 },
}

impl From<rusqlite::Error> for SqliteRowError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Engine(error)
    }
}

impl SqliteRowError {
    pub(super) fn at(self, doing: &'static str, path: PathBuf) -> StoreError {
        match self {
            Self::Engine(source) => refuse(doing, &path, source),
            Self::Decode { id, source } => StoreError::Record { id, source },
            Self::Encode { id, source } => StoreError::Encode { id, source },
            Self::Newer { found } => StoreError::Newer { path, found, known: FORMAT },
        }
    }
}

const COLUMNS: &str = "SELECT id, revision, state, seal FROM loop";

pub(super) fn load(
    connection: &Connection,
    writer: &KeySource,
    id: &LoopId,
) -> Result<Option<FoundLoop>, SqliteRowError> {
    one(
        connection,
        writer,
        "SELECT id, revision, state, seal, number, newest, session, running FROM loop \
         WHERE id = ?1",
        params![id.as_str()],
    )
}

pub(super) fn load_held(
    connection: &Connection,
    writer: &KeySource,
    session: &SessionId,
) -> Result<Option<FoundLoop>, SqliteRowError> {
    one(
        connection,
        writer,
        "SELECT id, revision, state, seal, number, newest, session, running FROM loop \
         WHERE session = ?1 AND running = 1",
        params![session.as_str()],
    )
}

pub(super) fn pending(
    connection: &Connection,
    writer: &KeySource,
    project: &str,
) -> Result<Vec<Stored>, SqliteRowError> {
    let wanted = "WHERE session IS NULL AND running = 1 AND project = ?1 ORDER BY number";
    many(connection, writer, &format!("{COLUMNS} {wanted}"), params![project])
}

pub(super) fn find(connection: &Connection, prefix: &str) -> Result<Vec<LoopId>, SqliteRowError> {
    let mut found = connection.prepare(
        "SELECT id FROM loop WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 3",
    )?;
    let names = found.query_map(params![prefix], |row| row.get::<_, String>(0))?;
    names.map(|name| Ok(LoopId::new(&name?))).collect()
}

pub(super) fn each(
    connection: &Connection,
    writer: &KeySource,
    filter: &Filter<'_>,
    look: &mut dyn FnMut(Stored),
) -> Result<(), SqliteRowError> {
    let limit = if filter.limit == 0 { i64::MAX } else { as_i64(filter.limit as u64) };
    let running = match filter.standing {
        EndedFilter::Any => "",
        EndedFilter::Running => "AND running = 1",
    };
    let wanted = format!("WHERE (?1 IS NULL OR project = ?1) {running}");
    let sql = format!("{COLUMNS} {wanted} ORDER BY number DESC LIMIT ?2");
    follow(connection, writer, &sql, params![filter.project, limit], look)
}

pub(super) fn history(
    connection: &Connection,
    id: &LoopId,
) -> Result<Vec<JournalEntry>, SqliteRowError> {
    let newest = "SELECT newest FROM loop WHERE id = ?1";
    let found = connection.query_row(newest, params![id.as_str()], |row| row.get::<_, i64>(0));
    let mut cursor = found.optional()?.unwrap_or(0);
    let mut step = connection.prepare(
        "SELECT cursor, revision, format, at, body, seal, previous FROM event WHERE cursor = ?1",
    )?;
    let mut entries = Vec::new();
    while cursor > 0 {
        let found = step.query_row(params![cursor], |row| Ok((event_row(row)?, row.get(6)?)));
        let (row, previous): (EventRow, i64) = found?;
        if previous >= cursor {
            // An event follows older ones only; a ring would be walked for ever.
            return Err(rusqlite::Error::QueryReturnedNoRows.into());
        }
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
) -> Result<Vec<JournalEntry>, SqliteRowError> {
    let mut next = connection.prepare(
        "SELECT cursor, event.revision, format, at, body, event.seal, loop.id FROM event \
         JOIN loop ON loop.number = event.loop WHERE cursor > ?1 ORDER BY cursor LIMIT ?2",
    )?;
    let wanted = params![as_i64(cursor.0), as_i64(limit as u64)];
    let rows = next.query_map(wanted, |row| Ok((event_row(row)?, row.get::<_, String>(6)?)))?;
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
) -> Result<Vec<LoopId>, SqliteRowError> {
    let mut found = connection.prepare("SELECT id FROM loop WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let wanted = params![after.as_str(), as_i64(limit as u64)];
    let names = found.query_map(wanted, |row| row.get::<_, String>(0))?;
    names.map(|name| Ok(LoopId::new(&name?))).collect()
}

/// Where a loop's row lies, as it was read in the running transaction.
#[derive(Clone, Debug)]
pub(super) struct RowSpot {
    id: String,
    pub(super) number: i64,
    pub(super) revision: i64,
    pub(super) newest: i64,
    session: Option<String>,
    pub(super) running: bool,
    seal: Option<Vec<u8>>,
    base: ChainBase,
}

/// When a loop begins to hold its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SqliteHold {
    /// With the append.
    Now,
    /// When all that is gathered is delivered.
    Later,
}

impl SqliteHold {
    fn running(self, state: &State) -> bool {
        self == Self::Now && state.outcome().is_none()
    }
}

impl RowSpot {
    pub(super) fn is_of(&self, id: &LoopId) -> bool {
        self.id == id.as_str()
    }

    /// Whether the columns that an index covers stay as they are.
    fn holds_as(&self, state: &State, hold: SqliteHold) -> bool {
        self.session.as_deref() == session(state) && self.running == hold.running(state)
    }
}

/// Looks for a loop's row.
pub(super) fn spot(
    connection: &Connection,
    writer: &KeySource,
    id: &LoopId,
) -> Result<Option<RowSpot>, SqliteRowError> {
    let mut place = connection.prepare(
        "SELECT id, revision, state, seal, number, newest, session, running FROM loop \
         WHERE id = ?1",
    )?;
    let mut rows = place.query(params![id.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some(spot_of(row, base_of(row, writer)?)?))
}

fn spot_of(row: &Row<'_>, base: ChainBase) -> Result<RowSpot, rusqlite::Error> {
    Ok(RowSpot {
        id: row.get(0)?,
        revision: row.get(1)?,
        seal: seal(row, 3)?.map(Vec::from),
        number: row.get(4)?,
        newest: row.get(5)?,
        session: row.get(6)?,
        running: row.get(7)?,
        base,
    })
}

/// What is appended, and by whom.
pub(super) struct SqliteAppend<'a> {
    pub(super) writer: &'a KeySource,
    pub(super) expected: Revision,
    pub(super) events: &'a [Recorded],
    /// The seals that the events had elsewhere, where they come from elsewhere.
    pub(super) kept: Option<&'a [Option<EventSeal>]>,
    pub(super) state: &'a State,
    pub(super) hold: SqliteHold,
}

pub(super) fn append(
    connection: &Connection,
    spot: Option<RowSpot>,
    news: &SqliteAppend<'_>,
) -> Result<Appended, SqliteRowError> {
    let SqliteAppend { expected, state, hold, .. } = *news;
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
    let mut chain = ChainLink::new(news.writer, spot.base);
    let newest = insert_events(connection, news, &spot, &mut chain)?;
    let revision = spot.revision + as_i64(news.events.len() as u64);
    if update_loop(connection, news, &spot, &chain, (revision, newest))? {
        Ok(Appended::Stored(Revision(as_u64(revision))))
    } else {
        Ok(Appended::SessionTaken)
    }
}

fn insert_loop(
    connection: &Connection,
    state: &State,
    hold: SqliteHold,
) -> Result<Option<RowSpot>, SqliteRowError> {
    let running = hold.running(state);
    let inserted = connection.execute(
        "INSERT INTO loop (id, session, project, running, revision, newest, state) \
         VALUES (?1, ?2, ?3, ?4, 0, 0, '')",
        params![state.id.as_str(), session(state), state.project, running],
    );
    Ok(not_taken(inserted)?.then(|| RowSpot {
        id: state.id.as_str().into(),
        number: connection.last_insert_rowid(),
        revision: 0,
        newest: 0,
        session: session(state).map(String::from),
        running,
        seal: None,
        base: ChainBase::FIRST,
    }))
}

/// Writes the columns that an index covers only where they change: one page less a stop.
fn update_loop(
    connection: &Connection,
    news: &SqliteAppend<'_>,
    spot: &RowSpot,
    chain: &ChainLink<'_>,
    (revision, newest): (i64, i64),
) -> Result<bool, SqliteRowError> {
    let SqliteAppend { state, hold, .. } = *news;
    let body = encode(&state.id, state)?;
    let record = StateRecord { id: &spot.id, revision: as_u64(revision), body: &body };
    let seal = chain.state(spot.seal.as_deref(), &record);
    let updated = if spot.holds_as(state, hold) {
        connection.execute(
            "UPDATE loop SET revision = ?2, newest = ?3, state = ?4, seal = ?5 WHERE number = ?1",
            params![spot.number, revision, newest, body, seal],
        )
    } else {
        connection.execute(
            "UPDATE loop SET revision = ?2, newest = ?3, state = ?4, seal = ?5, session = ?6, \
             running = ?7 WHERE number = ?1",
            params![spot.number, revision, newest, body, seal, session(state), hold.running(state)],
        )
    };
    not_taken(updated)
}

/// Lets the loops hold their sessions; the first one whose session is taken, if there is one.
pub(super) fn hold(
    connection: &Connection,
    running: &BTreeSet<LoopId>,
) -> Result<Option<LoopId>, SqliteRowError> {
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
    news: &SqliteAppend<'_>,
    spot: &RowSpot,
    chain: &mut ChainLink<'_>,
) -> Result<i64, SqliteRowError> {
    let (mut revision, mut newest) = (spot.revision, spot.newest);
    let mut insert = connection.prepare(
        "INSERT INTO event (previous, loop, revision, format, at, body, seal) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (place, recorded) in news.events.iter().enumerate() {
        revision += 1;
        let body = encode(&news.state.id, &recorded.event)?;
        let at = recorded.at.unix_millis();
        let record = EventRecord {
            id: &spot.id,
            revision: as_u64(revision),
            format: FORMAT,
            at,
            body: &body,
        };
        let seal = match news.kept {
            Some(kept) => chain.keep(kept.get(place).copied().flatten()),
            None => chain.event(&record),
        };
        let seal = seal.as_ref().map(EventSeal::as_bytes);
        newest = insert.insert(params![newest, spot.number, revision, FORMAT, at, body, seal])?;
    }
    Ok(newest)
}

/// A broken uniqueness of the held session is an answer, not an error.
fn not_taken(written: Result<usize, rusqlite::Error>) -> Result<bool, SqliteRowError> {
    match written {
        Ok(_) => Ok(true),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Ok(false)
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) struct EventRow {
    cursor: i64,
    pub(super) revision: i64,
    pub(super) format: u32,
    pub(super) at: i64,
    pub(super) body: String,
    pub(super) seal: Option<Vec<u8>>,
}

impl EventRow {
    fn entry(self, id: LoopId) -> Result<JournalEntry, SqliteRowError> {
        if self.format > FORMAT {
            return Err(SqliteRowError::Newer { found: self.format });
        }
        let event = decode(id.as_str(), &self.body)?;
        let recorded = Recorded { event, at: Timestamp::from_unix_millis(self.at) };
        let cursor = Cursor(as_u64(self.cursor));
        let seal = self.seal.as_deref().and_then(EventSeal::from_bytes);
        Ok(JournalEntry { cursor, id, revision: Revision(as_u64(self.revision)), recorded, seal })
    }
}

pub(super) fn event_row(row: &Row<'_>) -> Result<EventRow, rusqlite::Error> {
    Ok(EventRow {
        cursor: row.get(0)?,
        revision: row.get(1)?,
        format: row.get(2)?,
        at: row.get(3)?,
        body: row.get(4)?,
        seal: seal(row, 5)?.map(Vec::from),
    })
}

/// A loop and where its row lies.
pub(super) type FoundLoop = (Stored, RowSpot);

fn one(
    connection: &Connection,
    writer: &KeySource,
    sql: &str,
    wanted: impl Params,
) -> Result<Option<FoundLoop>, SqliteRowError> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(wanted)?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let base = base_of(row, writer)?;
    Ok(Some((stored(row, base)?, spot_of(row, base)?)))
}

fn many(
    connection: &Connection,
    writer: &KeySource,
    sql: &str,
    wanted: impl Params,
) -> Result<Vec<Stored>, SqliteRowError> {
    let mut found = Vec::new();
    follow(connection, writer, sql, wanted, &mut |stored| found.push(stored))?;
    Ok(found)
}

fn follow(
    connection: &Connection,
    writer: &KeySource,
    sql: &str,
    wanted: impl Params,
    look: &mut dyn FnMut(Stored),
) -> Result<(), SqliteRowError> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(wanted)?;
    while let Some(row) = rows.next()? {
        look(stored(row, base_of(row, writer)?)?);
    }
    Ok(())
}

/// What the seal under a loop's state says. The first columns are id, revision, state, seal.
pub(super) fn base_of(row: &Row<'_>, writer: &KeySource) -> Result<ChainBase, SqliteRowError> {
    let (id, revision) = (row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?, row.get(1)?);
    let body = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
    let record = StateRecord { id, revision: as_u64(revision), body };
    Ok(look_at_state(writer, seal(row, 3)?, &record))
}

/// A seal as it is stored; what is not a blob is an empty one, which fits nothing.
fn seal<'a>(row: &'a Row<'_>, column: usize) -> Result<Option<&'a [u8]>, rusqlite::Error> {
    Ok(match row.get_ref(column)? {
        ValueRef::Null => None,
        other => Some(other.as_blob().unwrap_or_default()),
    })
}

fn stored(row: &Row<'_>, base: ChainBase) -> Result<Stored, SqliteRowError> {
    let id = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
    let revision: i64 = row.get(1)?;
    let body = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
    let revision = Revision(as_u64(revision));
    Ok(Stored { state: decode(id, body)?, revision, soundness: base.soundness })
}

pub(super) fn decode<'a, T: serde::Deserialize<'a>>(
    id: &str,
    body: &'a str,
) -> Result<T, SqliteRowError> {
    serde_json::from_str(body).map_err(|source| SqliteRowError::Decode { id: id.into(), source })
}

fn encode<T: serde::Serialize>(id: &LoopId, value: &T) -> Result<String, SqliteRowError> {
    serde_json::to_string(value)
        .map_err(|source| SqliteRowError::Encode { id: id.as_str().into(), source })
}

pub(super) fn session(state: &State) -> Option<&str> {
    state.session.as_ref().map(SessionId::as_str)
}

pub(super) fn as_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn as_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
