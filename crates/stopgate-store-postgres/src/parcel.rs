//! The one write: events and the state they lead to, as one statement.

use serde::Serialize;
use stopgate_core::{FORMAT, LoopId, State};
use stopgate_store::{Recorded, Revision, StoreError};
use tokio_postgres::types::Type;

use crate::rows::{Query, Value, as_i64, as_u64, text};

/// When a running loop takes hold of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// At once.
    Now,
    /// When all that is gathered is delivered.
    Later,
    /// The same, and this is not the first that is gathered.
    LaterAgain,
}

/// Every append holds, until it is committed, a lock that tells how far the cursors had
/// come before it took its own: `sg` in the upper 16 bits, a cursor in the rest. That is how
/// whoever reads the tail knows where something may still come in.
const FLOOR: &str = "SELECT pg_advisory_xact_lock_shared(x'7367000000000000'::bigint + \
    CASE WHEN is_called THEN last_value ELSE 0 END)::text AS locked FROM stopgate.event_cursor";

/// What an append sends, in the server's types.
pub(crate) struct Parcel {
    id: String,
    session: Option<String>,
    project: String,
    running: bool,
    expected: i64,
    format: i32,
    version: i32,
    state: String,
    times: Vec<i64>,
    bodies: Vec<String>,
}

impl Parcel {
    /// The revision that the loop has afterwards.
    pub(crate) fn leads_to(&self) -> Revision {
        Revision(as_u64(self.expected) + self.bodies.len() as u64)
    }

    pub(crate) fn new(
        expected: Revision,
        events: &[Recorded],
        state: &State,
    ) -> Result<Self, StoreError> {
        let bodies = events.iter().map(|recorded| encode(&state.id, &recorded.event));
        Ok(Self {
            id: state.id.as_str().into(),
            session: state.session.as_ref().map(|session| session.as_str().into()),
            project: state.project.clone(),
            running: state.outcome().is_none(),
            expected: as_i64(expected.0),
            format: i32::try_from(FORMAT).unwrap_or(i32::MAX),
            version: crate::schema::VERSION,
            state: encode(&state.id, state)?,
            times: events.iter().map(|recorded| recorded.at.unix_millis()).collect(),
            bodies: bodies.collect::<Result<_, _>>()?,
        })
    }

    /// The one write: the loop moves on if it is where it was, and only then are events added.
    pub(crate) fn query<'a>(&'a self, tenant: &'a String, hold: Hold) -> Query<'a> {
        let floor = match hold {
            Hold::Now | Hold::Later => FLOOR,
            // One is enough for a transaction, and the room for locks is small.
            Hold::LaterAgain => "SELECT '' AS locked",
        };
        let moved = if self.expected == 0 {
            "INSERT INTO stopgate.loop \
                 (tenant, id, session, project, running, revision, format, state) \
             SELECT $1, $2, $4, $5, $6, $3 + cardinality($10), $7, $8 FROM floor, known \
             WHERE locked IS NOT NULL AND version = $11 \
             ON CONFLICT (tenant, id) DO NOTHING RETURNING id"
        } else {
            "UPDATE stopgate.loop \
             SET session = $4, project = $5, running = $6, \
                 revision = revision + cardinality($10), format = $7, state = $8 \
             FROM floor, known WHERE locked IS NOT NULL AND version = $11 \
                 AND tenant = $1 AND id = $2 AND revision = $3 RETURNING id"
        };
        let sql = format!(
            "WITH known AS MATERIALIZED (SELECT max(version) AS version FROM stopgate.migration), \
             floor AS MATERIALIZED ({floor}), moved AS ({moved}), added AS ( \
                 INSERT INTO stopgate.event (tenant, loop, revision, format, at, body) \
                 SELECT $1, $2, $3 + place, $7, at, body \
                 FROM moved, unnest($9, $10) WITH ORDINALITY AS event (at, body, place) \
                 ORDER BY place \
             ) SELECT version, (SELECT count(*) FROM moved) FROM known"
        );
        Query { doing: "append", sql, values: self.values(tenant, hold) }
    }

    fn values<'a>(&'a self, tenant: &'a String, hold: Hold) -> Vec<Value<'a>> {
        let running = match hold {
            Hold::Now => &self.running,
            Hold::Later | Hold::LaterAgain => &false,
        };
        vec![
            text(tenant),
            text(&self.id),
            (&self.expected, Type::INT8),
            (&self.session, Type::TEXT),
            text(&self.project),
            (running, Type::BOOL),
            (&self.format, Type::INT4),
            text(&self.state),
            (&self.times, Type::INT8_ARRAY),
            (&self.bodies, Type::TEXT_ARRAY),
            (&self.version, Type::INT4),
        ]
    }
}

fn encode<T: Serialize>(id: &LoopId, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value)
        .map_err(|source| StoreError::Encode { id: id.as_str().into(), source })
}
