//! What is done to a journal as a whole: names are paged, loops removed, tables checked.

use stopgate_core::State;
use stopgate_store::StoreError;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use crate::desk::PostgresClient;
use crate::rows::{self, PostgresRowError, Query, text};

const FINDINGS_MAX: usize = 100;
const PAGE: i64 = 500;

const KNOWN: &str = "(SELECT max(version) AS version FROM stopgate.migration) AS known";

/// The names of all loops, a page at a time.
pub(crate) fn names<'a>(tenant: &'a String, after: &'a &'a str, limit: &'a i64) -> Query<'a> {
    let sql = format!(
        "SELECT version, id FROM {KNOWN} LEFT JOIN (SELECT id FROM stopgate.loop \
         WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT $3) AS found ON true ORDER BY id"
    );
    let values = vec![text(tenant), text(after), (limit as _, Type::INT8)];
    Query { doing: "list names", sql, values }
}

/// The first of the gathered loops whose session another running loop holds.
pub(crate) fn taken<'a>(tenant: &'a String, names: &'a &'a [&'a str]) -> Query<'a> {
    let sql = format!(
        "WITH gathered AS ( \
             SELECT id, session, row_number() OVER (PARTITION BY session ORDER BY id) AS place \
             FROM stopgate.loop WHERE tenant = $1 AND id = ANY($2) AND session IS NOT NULL \
         ) SELECT version, id FROM {KNOWN} LEFT JOIN ( \
             SELECT id FROM gathered WHERE place > 1 OR EXISTS ( \
                 SELECT FROM stopgate.loop AS other WHERE other.tenant = $1 AND other.running \
                 AND other.session = gathered.session AND other.id <> gathered.id \
             ) ORDER BY id LIMIT 1 \
         ) AS found ON true"
    );
    let values = vec![text(tenant), (names as _, Type::TEXT_ARRAY)];
    Query { doing: "deliver", sql, values }
}

/// Lets the gathered loops run.
pub(crate) fn hold<'a>(tenant: &'a String, names: &'a &'a [&'a str]) -> Query<'a> {
    let sql = format!(
        "WITH held AS (UPDATE stopgate.loop SET running = true \
         WHERE tenant = $1 AND id = ANY($2)) SELECT version FROM {KNOWN}"
    );
    Query { doing: "deliver", sql, values: vec![text(tenant), (names as _, Type::TEXT_ARRAY)] }
}

/// Removes loops that have ended and are still where they were.
pub(crate) fn remove<'a>(
    tenant: &'a String,
    names: &'a &'a [&'a str],
    revisions: &'a &'a [i64],
) -> Query<'a> {
    let sql = format!(
        "WITH gone AS ( \
             DELETE FROM stopgate.loop USING unnest($2, $3) AS wanted (name, at) \
             WHERE tenant = $1 AND id = name AND revision = at AND NOT running RETURNING id \
         ), emptied AS ( \
             DELETE FROM stopgate.event USING gone WHERE tenant = $1 AND loop = gone.id \
         ) SELECT version, (SELECT count(*) FROM gone) FROM {KNOWN}"
    );
    let values =
        vec![text(tenant), (names as _, Type::TEXT_ARRAY), (revisions as _, Type::INT8_ARRAY)];
    Query { doing: "remove loops", sql, values }
}

/// What is wrong with the rows: strays, miscounts, and columns that contradict the state.
pub(crate) fn check(desk: &mut PostgresClient, tenant: &String) -> Result<Vec<String>, StoreError> {
    let mut found = desk.read(&strays(tenant), sentences)?;
    let mut last = String::new();
    while found.len() < FINDINGS_MAX {
        let (contradictions, end) = desk.read(&page(tenant, &last), contradictions)?;
        found.extend(contradictions);
        match end {
            Some(end) => last = end,
            None => break,
        }
    }
    found.truncate(FINDINGS_MAX);
    Ok(found)
}

/// Events without a loop, and loops that have more or fewer events than they count.
fn strays(tenant: &String) -> Query<'_> {
    let sql = format!(
        "WITH counted AS ( \
             SELECT loop, count(*) AS events FROM stopgate.event WHERE tenant = $1 GROUP BY loop \
         ), kept AS (SELECT id, revision FROM stopgate.loop WHERE tenant = $1) \
         SELECT version, sentence FROM {KNOWN} LEFT JOIN ( \
             SELECT CASE WHEN id IS NULL \
                 THEN format('%s events belong to no loop: %s', events, loop) \
                 ELSE format('loop %s: %s events are kept, %s are counted', \
                             id, coalesce(events, 0), revision) END AS sentence \
             FROM counted FULL JOIN kept ON id = loop \
             WHERE events IS DISTINCT FROM revision LIMIT {FINDINGS_MAX} \
         ) AS found ON true"
    );
    Query { doing: "check the tables", sql, values: vec![text(tenant)] }
}

fn sentences(rows: &[Row]) -> Result<Vec<String>, PostgresRowError> {
    let sentence = |row: &Row| row.try_get::<_, Option<String>>(1);
    let sentences = rows.iter().filter_map(|row| sentence(row).transpose());
    Ok(sentences.collect::<Result<_, _>>()?)
}

fn page<'a>(tenant: &'a String, after: &'a String) -> Query<'a> {
    let sql = format!(
        "SELECT version, id, state, session, project, running FROM {KNOWN} LEFT JOIN ( \
             SELECT * FROM stopgate.loop WHERE tenant = $1 AND id > $2 ORDER BY id LIMIT {PAGE} \
         ) AS found ON true ORDER BY id"
    );
    Query { doing: "check the tables", sql, values: vec![text(tenant), text(after)] }
}

/// Columns that say something else than the state beside them, and the last name looked at.
fn contradictions(rows: &[Row]) -> Result<(Vec<String>, Option<String>), PostgresRowError> {
    let mut found = Vec::new();
    let mut last = None;
    for row in rows::found(rows)? {
        let (id, body): (&str, &str) = (row.try_get(1)?, row.try_get(2)?);
        last = Some(id.to_string());
        // A state that can't be read is found when the loop is loaded.
        let Ok(state) = serde_json::from_str::<State>(body) else { continue };
        let session: Option<&str> = row.try_get(3)?;
        let (project, running): (&str, bool) = (row.try_get(4)?, row.try_get(5)?);
        let agrees = state.id.as_str() == id
            && state.session.as_ref().map(stopgate_core::SessionId::as_str) == session
            && state.project == project
            && state.outcome().is_none() == running;
        if !agrees {
            found.push(format!("loop {id}: its columns say something else than its state"));
        }
    }
    Ok((found, last))
}
