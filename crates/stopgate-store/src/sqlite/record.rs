//! The walk along a loop's chain, from its first event to its state.

use rusqlite::{Connection, OptionalExtension, params};
use stopgate_core::{LoopId, Soundness};

use super::rows::{SqliteRowError, as_u64, base_of, event_row};
use crate::chain::{ChainWalk, EventRecord, KeySource};

/// Whether everything about a loop is what its writers wrote.
///
/// Needs a transaction around it: the state and its events must be of one moment.
pub(super) fn soundness(
    connection: &Connection,
    writer: &KeySource,
    id: &LoopId,
) -> Result<Soundness, SqliteRowError> {
    let mut found =
        connection.prepare("SELECT id, revision, state, seal, newest FROM loop WHERE id = ?1")?;
    let mut rows = found.query(params![id.as_str()])?;
    let Some(row) = rows.next()? else { return Ok(Soundness::Unchained) };
    let base = base_of(row, writer)?;
    let (revision, mut cursor): (i64, i64) = (row.get(1)?, row.get(4)?);
    let mut step = connection.prepare(
        "SELECT cursor, revision, format, at, body, seal, previous FROM event WHERE cursor = ?1",
    )?;
    let mut events = Vec::new();
    while cursor > 0 {
        let next = step.query_row(params![cursor], |row| Ok((event_row(row)?, row.get(6)?)));
        // An event follows older ones only; a ring would be walked for ever.
        let next = next.optional()?.filter(|(_, previous)| *previous < cursor);
        let Some((event, previous)) = next else {
            return Ok(ChainWalk::new(writer).broken(&base));
        };
        events.push(event);
        cursor = previous;
    }
    let mut walk = ChainWalk::new(writer);
    for event in events.iter().rev() {
        let record = EventRecord {
            id: id.as_str(),
            revision: as_u64(event.revision),
            format: event.format,
            at: event.at,
            body: &event.body,
        };
        walk.event(event.seal.as_deref(), &record);
    }
    Ok(walk.finish(&base, as_u64(revision)))
}
