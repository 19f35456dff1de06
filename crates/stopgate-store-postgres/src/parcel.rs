//! The one write: events and the state they lead to, as one statement.

use serde::Serialize;
use stopgate_core::{FORMAT, LoopId, State};
use stopgate_store::{
    ChainBase, ChainLink, EventRecord, EventSeal, KeySource, Recorded, Revision, StateRecord,
    StoreError,
};
use tokio_postgres::types::Type;

use crate::rows::{Query, Value, as_i64, as_u64, text};

/// When a running loop takes hold of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PostgresHold {
    /// At once.
    Now,
    /// When all that is gathered is delivered.
    Later,
    /// The same, and this is not the first that is gathered.
    LaterAgain,
}

/// Every append holds, until it is committed, a lock that tells how far the cursors had
/// come before it took its own: `sg` in the upper 16 bits, a cursor in the rest. That is how
/// a reader of the tail knows where something may still come in.
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
    seals: Vec<Option<Vec<u8>>>,
    seal: Option<Vec<u8>>,
}

/// What is appended, to what, and by whom.
pub(crate) struct PostgresAppend<'a> {
    pub(crate) writer: &'a KeySource,
    pub(crate) base: ChainBase,
    /// The seal under the state as it is stored now.
    pub(crate) before: Option<&'a [u8]>,
    pub(crate) expected: Revision,
    pub(crate) events: &'a [Recorded],
    /// The seals that the events had elsewhere, where they come from elsewhere.
    pub(crate) kept: Option<&'a [Option<EventSeal>]>,
    pub(crate) state: &'a State,
}

impl Parcel {
    /// The revision that the loop has afterwards.
    pub(crate) fn leads_to(&self) -> Revision {
        Revision(as_u64(self.expected) + self.bodies.len() as u64)
    }

    pub(crate) fn new(news: &PostgresAppend<'_>) -> Result<Self, StoreError> {
        let PostgresAppend { expected, events, state, .. } = *news;
        let bodies = events.iter().map(|recorded| encode(&state.id, &recorded.event));
        let mut parcel = Self {
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
            seals: Vec::new(),
            seal: None,
        };
        parcel.sign(news);
        Ok(parcel)
    }

    /// Seals the events, one after the other, and the state that they lead to.
    fn sign(&mut self, news: &PostgresAppend<'_>) {
        let mut chain = ChainLink::new(news.writer, news.base);
        let mut revision = news.expected.0;
        for (place, (body, at)) in self.bodies.iter().zip(&self.times).enumerate() {
            revision += 1;
            let record = EventRecord { id: &self.id, revision, format: FORMAT, at: *at, body };
            let seal = match news.kept {
                Some(kept) => chain.keep(kept.get(place).copied().flatten()),
                None => chain.event(&record),
            };
            self.seals.push(seal.map(|seal| seal.as_bytes().to_vec()));
        }
        let record = StateRecord { id: &self.id, revision, body: &self.state };
        self.seal = chain.state(news.before, &record).map(Vec::from);
    }

    /// The seal that the state has afterwards.
    pub(crate) fn seal(&self) -> Option<Vec<u8>> {
        self.seal.clone()
    }

    /// What is said about the state afterwards.
    pub(crate) fn base(&self, writer: &KeySource) -> ChainBase {
        let revision = self.leads_to().0;
        let record = StateRecord { id: &self.id, revision, body: &self.state };
        stopgate_store::look_at_state(writer, self.seal.as_deref(), &record)
    }

    /// The one write: the loop moves on if it is where it was, and only then are events added.
    pub(crate) fn query<'a>(&'a self, tenant: &'a String, hold: PostgresHold) -> Query<'a> {
        let floor = match hold {
            PostgresHold::Now | PostgresHold::Later => FLOOR,
            // One is enough for a transaction, and the room for locks is small.
            PostgresHold::LaterAgain => "SELECT '' AS locked",
        };
        let moved = if self.expected == 0 {
            "INSERT INTO stopgate.loop \
                 (tenant, id, session, project, running, revision, format, state, seal) \
             SELECT $1, $2, $4, $5, $6, $3 + cardinality($10), $7, $8, $13 FROM floor, known \
             WHERE locked IS NOT NULL AND version = $11 \
             ON CONFLICT (tenant, id) DO NOTHING RETURNING id"
        } else {
            "UPDATE stopgate.loop \
             SET session = $4, project = $5, running = $6, \
                 revision = revision + cardinality($10), format = $7, state = $8, seal = $13 \
             FROM floor, known WHERE locked IS NOT NULL AND version = $11 \
                 AND tenant = $1 AND id = $2 AND revision = $3 RETURNING id"
        };
        let sql = format!(
            "WITH known AS MATERIALIZED (SELECT max(version) AS version FROM stopgate.migration), \
             floor AS MATERIALIZED ({floor}), moved AS ({moved}), added AS ( \
                 INSERT INTO stopgate.event (tenant, loop, revision, format, at, body, seal) \
                 SELECT $1, $2, $3 + place, $7, at, body, mark \
                 FROM moved, unnest($9, $10, $12) WITH ORDINALITY \
                     AS event (at, body, mark, place) \
                 ORDER BY place \
             ) SELECT version, (SELECT count(*) FROM moved) FROM known"
        );
        Query { doing: "append", sql, values: self.values(tenant, hold) }
    }

    fn values<'a>(&'a self, tenant: &'a String, hold: PostgresHold) -> Vec<Value<'a>> {
        let running = match hold {
            PostgresHold::Now => &self.running,
            PostgresHold::Later | PostgresHold::LaterAgain => &false,
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
            (&self.seals, Type::BYTEA_ARRAY),
            (&self.seal, Type::BYTEA),
        ]
    }
}

fn encode<T: Serialize>(id: &LoopId, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value)
        .map_err(|source| StoreError::Encode { id: id.as_str().into(), source })
}
