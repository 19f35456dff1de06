//! What the database looks like, and how it came to look so.
//!
//! Migrations only go forward, under a lock that holds for one transaction. Statements
//! name the schema, so that no search path and no session state matters.

use tokio_postgres::{Client, Error};

/// The version of the tables that this program knows.
pub(crate) const VERSION: i32 = 2;

/// The unique index that lets a session hold one running loop.
pub(crate) const HELD: &str = "loop_held";

/// The migrating process holds this lock: "stopgate" in ASCII.
const LOCK: i64 = 0x7374_6f70_6761_7465;

/// Which migrations were made, and when.
const RECORD: &str = "\
CREATE TABLE stopgate.migration (
    version integer PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now()
)";

/// Migration n leads from version n to n + 1.
///
/// Ids sort by bytes, as everywhere. Bodies are text, not jsonb: what was written is what
/// is read, and JSON may hold what jsonb can't. `loop` keeps room for updates in place,
/// and no update of a running loop touches an index.
///
/// Version 2 has a seal beside each event and state. A program that knows no seals must not
/// write any more: what it appended would not fit its seal.
const MIGRATIONS: [&str; VERSION as usize] = [TABLES, SEALS];

const SEALS: &str = "\
ALTER TABLE stopgate.loop ADD COLUMN seal bytea;
ALTER TABLE stopgate.event ADD COLUMN seal bytea;
";

const TABLES: &str = "\
CREATE TABLE stopgate.loop (
    tenant text COLLATE \"C\" NOT NULL,
    id text COLLATE \"C\" NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    session text COLLATE \"C\",
    project text COLLATE \"C\" NOT NULL,
    running boolean NOT NULL,
    revision bigint NOT NULL,
    format integer NOT NULL,
    state text NOT NULL,
    PRIMARY KEY (tenant, id)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX loop_held ON stopgate.loop (tenant, session)
    WHERE running AND session IS NOT NULL;
CREATE INDEX loop_pending ON stopgate.loop (tenant, project, number)
    WHERE running AND session IS NULL;
CREATE INDEX loop_newest ON stopgate.loop (tenant, number);
CREATE SEQUENCE stopgate.event_cursor AS bigint CACHE 1;
CREATE TABLE stopgate.event (
    tenant text COLLATE \"C\" NOT NULL,
    cursor bigint NOT NULL DEFAULT nextval('stopgate.event_cursor'),
    loop text COLLATE \"C\" NOT NULL,
    revision bigint NOT NULL,
    format integer NOT NULL,
    at bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (tenant, loop, revision)
);
CREATE UNIQUE INDEX event_tail ON stopgate.event (tenant, cursor);
ALTER SEQUENCE stopgate.event_cursor OWNED BY stopgate.event.cursor;
";

/// Brings the tables to [`VERSION`], unless they are newer; gives the version that was found.
pub(crate) async fn migrate(client: &Client) -> Result<i32, Error> {
    let begin = "BEGIN ISOLATION LEVEL READ COMMITTED";
    client.batch_execute(&format!("{begin}; SELECT pg_advisory_xact_lock({LOCK})")).await?;
    let migrated = in_turn(client).await;
    let end = if migrated.is_ok() { "COMMIT" } else { "ROLLBACK" };
    let ended = client.batch_execute(end).await;
    migrated.and_then(|version| ended.map(|()| version))
}

/// Looks again inside the lock: the first process has done the work.
async fn in_turn(client: &Client) -> Result<i32, Error> {
    let there = "SELECT to_regnamespace('stopgate') IS NOT NULL, \
                 to_regclass('stopgate.migration') IS NOT NULL";
    let row = client.query_typed_one(there, &[]).await?;
    let (schema, table): (bool, bool) = (row.try_get(0)?, row.try_get(1)?);
    if !schema {
        // Asked for only where it is missing: an owner of the schema need not own the database.
        client.batch_execute("CREATE SCHEMA stopgate").await?;
    }
    let found = if table { version(client).await? } else { 0 };
    if !table {
        client.batch_execute(RECORD).await?;
    }
    for (at, migration) in (0_i32..).zip(MIGRATIONS) {
        if at >= found {
            let done = format!("INSERT INTO stopgate.migration (version) VALUES ({})", at + 1);
            client.batch_execute(&format!("{migration}{done}")).await?;
        }
    }
    Ok(found)
}

async fn version(client: &Client) -> Result<i32, Error> {
    let newest = "SELECT coalesce(max(version), 0) FROM stopgate.migration";
    client.query_typed_one(newest, &[]).await?.try_get(0)
}
