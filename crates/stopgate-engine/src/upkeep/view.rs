//! What was done to the store, ready to be shown.

use serde::Serialize;
use stopgate_store::transfer::{Exported, Imported};

use crate::view::SCHEMA_VERSION;

/// Whether the journal keeps its promises.
#[derive(Clone, Debug, Serialize)]
pub struct CheckView {
    /// [`SCHEMA_VERSION`]
    pub schema_version: u32,
    /// Where the journal is.
    pub address: String,
    /// Whether nothing is wrong.
    pub ok: bool,
    /// Loops.
    pub loops: u64,
    /// Those of them that have not ended.
    pub running: u64,
    /// Events.
    pub events: u64,
    /// Loops of which some part has no seal: older programs wrote it.
    pub unchained: u64,
    /// Loops of which some part was sealed by a writer whose key is not here.
    pub unknown: u64,
    /// What is wrong, a sentence each.
    pub findings: Vec<String>,
}

/// From which stored form to which a journal was brought.
#[derive(Clone, Debug, Serialize)]
pub struct MigrateView {
    /// [`SCHEMA_VERSION`]
    pub schema_version: u32,
    /// Where the journal is.
    pub address: String,
    /// The form that was found; 0 is an empty place.
    pub from: u32,
    /// The form now.
    pub to: u32,
}

/// What was exported.
#[derive(Clone, Debug, Serialize)]
pub struct ExportView {
    /// [`SCHEMA_VERSION`]
    pub schema_version: u32,
    /// Loops.
    pub loops: u64,
    /// Events.
    pub events: u64,
    /// Bytes.
    pub bytes: u64,
    /// BLAKE3 of all bytes.
    pub blake3: String,
    /// The file, where it is one.
    pub file: Option<String>,
}

/// What was imported.
#[derive(Clone, Debug, Serialize)]
pub struct ImportView {
    /// [`SCHEMA_VERSION`]
    pub schema_version: u32,
    /// Where the journal is.
    pub address: String,
    /// Loops that are new.
    pub loops: u64,
    /// Events that are new.
    pub events: u64,
    /// Events that were left out, because they or their loop were there already.
    pub skipped: u64,
    /// BLAKE3 of the export's bytes.
    pub blake3: String,
}

/// What was copied.
#[derive(Clone, Debug, Serialize)]
pub struct CopyView {
    /// [`SCHEMA_VERSION`]
    pub schema_version: u32,
    /// Where it was.
    pub from: String,
    /// Where it is now, too.
    pub to: String,
    /// Loops that are new there.
    pub loops: u64,
    /// Events that are new there.
    pub events: u64,
    /// Events that were left out, because their loop was there already.
    pub skipped: u64,
    /// BLAKE3 of an export of the one.
    pub from_blake3: String,
    /// BLAKE3 of an export of the other.
    pub to_blake3: String,
    /// Whether the two are the same.
    pub same: bool,
}

/// What was archived.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CompactView {
    /// [`SCHEMA_VERSION`]
    pub schema_version: u32,
    /// Loops that ended before this were moved.
    pub ended_before: String,
    /// Loops in the archive's new part.
    pub archived: u64,
    /// Events in the archive's new part.
    pub events: u64,
    /// Loops that left the journal.
    pub removed: u64,
    /// Files that were left behind by loops that are gone, and went.
    pub swept: u64,
    /// The archive, where there was something to move.
    pub archive: Option<String>,
}

impl ExportView {
    pub(super) fn of(exported: Exported) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            loops: exported.loops,
            events: exported.events,
            bytes: exported.bytes,
            blake3: exported.hash,
            file: None,
        }
    }
}

impl ImportView {
    pub(super) fn of(imported: Imported, blake3: String, address: String) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            address,
            loops: imported.loops,
            events: imported.events,
            skipped: imported.skipped,
            blake3,
        }
    }
}
