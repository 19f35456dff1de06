//! Statements and what their rows mean.
//!
//! Each is one round trip, and each tells the version of the tables first, so that
//! nobody need ask for it.

use serde::de::DeserializeOwned;
use stopgate_core::{FORMAT, LoopId, Timestamp};
use stopgate_store::{
    ChainBase, ChainWalk, Cursor, EndedFilter, EventRecord, EventSeal, Filter, JournalEntry,
    KeySource, Recorded, Revision, Soundness, StateRecord, Stored, look_at_state,
};
use tokio_postgres::types::{FromSql, ToSql, Type};
use tokio_postgres::{Client, Error, Row};

/// A statement with its values and their types: no server is asked for those.
pub(crate) struct Query<'a> {
    /// What it does, for people.
    pub(crate) doing: &'static str,
    pub(crate) sql: String,
    pub(crate) values: Vec<Value<'a>>,
}

/// A value and its type.
pub(crate) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

/// Whatever can be wrong with rows.
pub(crate) enum PostgresRowError {
    Column(Error),
    Damaged { id: String, source: serde_json::Error },
    Newer { found: u32 },
}

impl From<Error> for PostgresRowError {
    fn from(error: Error) -> Self {
        Self::Column(error)
    }
}

const LOOP: &str = "SELECT version, id, revision, format, state, seal \
    FROM (SELECT max(version) AS version FROM stopgate.migration) AS known \
    LEFT JOIN (SELECT number, id, revision, format, state, seal FROM stopgate.loop WHERE tenant = $1";

const EVENT: &str = "SELECT version, loop, revision, format, cursor, at, body, seal \
    FROM (SELECT max(version) AS version FROM stopgate.migration) AS known \
    LEFT JOIN (SELECT * FROM stopgate.event WHERE tenant = $1";

pub(crate) fn load<'a>(tenant: &'a String, id: &'a &'a str) -> Query<'a> {
    let sql = format!("{LOOP} AND id = $2) AS found ON true");
    Query { doing: "load a loop", sql, values: vec![text(tenant), text(id)] }
}

pub(crate) fn load_held<'a>(tenant: &'a String, session: &'a &'a str) -> Query<'a> {
    let sql = format!("{LOOP} AND running AND session = $2) AS found ON true");
    Query { doing: "load a session's loop", sql, values: vec![text(tenant), text(session)] }
}

pub(crate) fn pending<'a>(tenant: &'a String, project: &'a &'a str) -> Query<'a> {
    let which = "AND running AND session IS NULL AND project = $2";
    let sql = format!("{LOOP} {which}) AS found ON true ORDER BY number");
    Query { doing: "look for pending loops", sql, values: vec![text(tenant), text(project)] }
}

pub(crate) fn list<'a>(tenant: &'a String, filter: &'a Filter<'_>, limit: &'a i64) -> Query<'a> {
    let running = match filter.standing {
        EndedFilter::Any => "",
        EndedFilter::Running => "AND running",
    };
    let which = format!("AND ($2 IS NULL OR project = $2) {running} ORDER BY number DESC LIMIT $3");
    let sql = format!("{LOOP} {which}) AS found ON true ORDER BY number DESC");
    let values = vec![text(tenant), text(&filter.project), (limit, Type::INT8)];
    Query { doing: "list loops", sql, values }
}

pub(crate) fn find<'a>(tenant: &'a String, prefix: &'a &'a str, end: &'a String) -> Query<'a> {
    let which = "AND id >= $2 AND id < $3 ORDER BY id LIMIT 3";
    let sql = format!(
        "SELECT version, id FROM (SELECT max(version) AS version FROM stopgate.migration) AS known \
         LEFT JOIN (SELECT id FROM stopgate.loop WHERE tenant = $1 {which}) AS found ON true \
         ORDER BY id"
    );
    Query { doing: "look for a loop", sql, values: vec![text(tenant), text(prefix), text(end)] }
}

pub(crate) fn history<'a>(tenant: &'a String, id: &'a &'a str) -> Query<'a> {
    let sql = format!("{EVENT} AND loop = $2) AS found ON true ORDER BY revision");
    Query { doing: "read a loop's history", sql, values: vec![text(tenant), text(id)] }
}

/// A loop's state and its events, as they are at one moment: the state comes first.
pub(crate) fn chain<'a>(tenant: &'a String, id: &'a &'a str) -> Query<'a> {
    let sql = "SELECT version, kind, revision, format, at, body, seal \
         FROM (SELECT max(version) AS version FROM stopgate.migration) AS known LEFT JOIN ( \
             SELECT 0 AS kind, revision, 0 AS format, 0::bigint AS at, state AS body, seal \
             FROM stopgate.loop WHERE tenant = $1 AND id = $2 \
             UNION ALL SELECT 1, revision, format, at, body, seal \
             FROM stopgate.event WHERE tenant = $1 AND loop = $2 \
         ) AS found ON true ORDER BY kind, revision";
    Query { doing: "follow a loop's chain", sql: sql.into(), values: vec![text(tenant), text(id)] }
}

pub(crate) fn tail<'a>(
    tenant: &'a String,
    after: &'a i64,
    horizon: &'a i64,
    limit: &'a i64,
) -> Query<'a> {
    let which = "AND cursor > $2 AND cursor <= $3 ORDER BY cursor LIMIT $4";
    let sql = format!("{EVENT} {which}) AS found ON true ORDER BY cursor");
    let number = |number: &'a i64| (number as &(dyn ToSql + Sync), Type::INT8);
    let values = vec![text(tenant), number(after), number(horizon), number(limit)];
    Query { doing: "read the tail", sql, values }
}

/// The cursor up to which nothing can come in any more.
///
/// First the newest cursor, then the floors of the processes still writing (the correlated
/// subquery can't be asked before the row it hangs on). A writer that is in neither takes
/// a newer cursor; one that has gone is seen by the statement that comes next.
pub(crate) fn horizon() -> Query<'static> {
    let sql = "WITH newest AS MATERIALIZED ( \
             SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS cursor \
             FROM stopgate.event_cursor \
         ) SELECT (SELECT max(version) FROM stopgate.migration), pg_is_in_recovery(), least( \
             cursor, \
             (SELECT min(((classid::bigint & 65535) << 32) | objid::bigint) FROM pg_locks \
              WHERE locktype = 'advisory' AND objsubid = 1 AND classid::bigint >> 16 = 29543 \
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
                AND newest.cursor >= 0) \
         ) FROM newest";
    Query { doing: "read the tail", sql: sql.into(), values: Vec::new() }
}

/// Waits in the fair queue for a loop, until the transaction ends.
///
/// Only makes conflicts rare: a writer that does not queue is not kept from writing.
pub(crate) async fn queue(client: &Client, tenant: &String, id: &LoopId) -> Result<(), Error> {
    let wait = "SELECT pg_advisory_xact_lock(hashtext($1), hashtext($2))";
    client.query_typed(wait, &[text(tenant), text(&id.as_str())]).await.map(drop)
}

/// The version that the first row tells.
pub(crate) fn version(rows: &[Row]) -> Result<i32, Error> {
    let version: Option<i32> = rows.first().map_or(Ok(None), |row| row.try_get(0))?;
    Ok(version.unwrap_or(0))
}

/// A loop as it was read, and what the next event follows.
pub(crate) struct FoundRow {
    pub(crate) stored: Stored,
    pub(crate) seal: Option<Vec<u8>>,
    pub(crate) base: ChainBase,
}

/// The loops in `rows`.
pub(crate) fn loops(rows: &[Row], writer: &KeySource) -> Result<Vec<FoundRow>, PostgresRowError> {
    found(rows)?.into_iter().map(|row| stored(row, writer)).collect()
}

/// What the answer to [`chain`] says about the loop `id`.
pub(crate) fn soundness(
    rows: &[Row],
    writer: &KeySource,
    id: &str,
) -> Result<Soundness, PostgresRowError> {
    let mut walk = ChainWalk::new(writer);
    let mut state = None;
    for row in rows {
        let Some(kind) = row.try_get::<_, Option<i32>>(1)? else { continue };
        let (revision, body): (i64, &str) = (row.try_get(2)?, row.try_get(5)?);
        let (revision, seal) = (as_u64(revision), row.try_get::<_, Option<&[u8]>>(6)?);
        if kind == 0 {
            let record = StateRecord { id, revision, body };
            state = Some((look_at_state(writer, seal, &record), revision));
        } else {
            let (format, at): (i32, i64) = (row.try_get(3)?, row.try_get(4)?);
            let format = u32::try_from(format).unwrap_or(u32::MAX);
            walk.event(seal, &EventRecord { id, revision, format, at, body });
        }
    }
    Ok(state.map_or(Soundness::Unchained, |(base, revision)| walk.finish(&base, revision)))
}

/// The names in `rows`.
pub(crate) fn names(rows: &[Row]) -> Result<Vec<LoopId>, PostgresRowError> {
    let name = |row: &Row| Ok(LoopId::new(row.try_get(1)?));
    found(rows)?.into_iter().map(name).collect()
}

/// The events in `rows`.
pub(crate) fn entries(rows: &[Row]) -> Result<Vec<JournalEntry>, PostgresRowError> {
    found(rows)?.into_iter().map(entry).collect()
}

/// The number that one row tells, after its version.
pub(crate) fn number(rows: &[Row], column: usize) -> Result<i64, PostgresRowError> {
    Ok(value::<Option<i64>>(rows, column)?.flatten().unwrap_or(0))
}

/// Whether one row says so, after its version.
pub(crate) fn says(rows: &[Row], column: usize) -> Result<bool, PostgresRowError> {
    Ok(value::<bool>(rows, column)?.unwrap_or(false))
}

fn value<'a, T: FromSql<'a>>(rows: &'a [Row], column: usize) -> Result<Option<T>, Error> {
    rows.first().map(|row| row.try_get(column)).transpose()
}

/// Rows that hold more than the version.
pub(crate) fn found(rows: &[Row]) -> Result<Vec<&Row>, PostgresRowError> {
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        if row.try_get::<_, Option<&str>>(1)?.is_some() {
            found.push(row);
        }
    }
    Ok(found)
}

fn stored(row: &Row, writer: &KeySource) -> Result<FoundRow, PostgresRowError> {
    let (id, revision, format, body): (&str, i64, i32, &str) =
        (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?, row.try_get(4)?);
    let seal: Option<&[u8]> = row.try_get(5)?;
    let revision = as_u64(revision);
    let base = look_at_state(writer, seal, &StateRecord { id, revision, body });
    let (revision, soundness) = (Revision(revision), base.soundness);
    let stored = Stored { state: decode(id, format, body)?, revision, soundness };
    Ok(FoundRow { stored, seal: seal.map(Vec::from), base })
}

fn entry(row: &Row) -> Result<JournalEntry, PostgresRowError> {
    let (id, revision, format): (&str, i64, i32) =
        (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
    let (cursor, at, body): (i64, i64, &str) = (row.try_get(4)?, row.try_get(5)?, row.try_get(6)?);
    let event = decode(id, format, body)?;
    let recorded = Recorded { event, at: Timestamp::from_unix_millis(at) };
    let (cursor, revision) = (Cursor(as_u64(cursor)), Revision(as_u64(revision)));
    let seal: Option<&[u8]> = row.try_get(7)?;
    let seal = seal.and_then(EventSeal::from_bytes);
    Ok(JournalEntry { cursor, id: LoopId::new(id), revision, recorded, seal })
}

fn decode<T: DeserializeOwned>(id: &str, format: i32, body: &str) -> Result<T, PostgresRowError> {
    let found = u32::try_from(format).unwrap_or(u32::MAX);
    if found > FORMAT {
        return Err(PostgresRowError::Newer { found });
    }
    serde_json::from_str(body).map_err(|source| PostgresRowError::Damaged { id: id.into(), source })
}

/// A text among a statement's values.
pub(crate) fn text<T: ToSql + Sync>(text: &T) -> Value<'_> {
    (text, Type::TEXT)
}

/// A number as the server has them.
pub(crate) fn as_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A number as we have them.
pub(crate) fn as_u64(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
