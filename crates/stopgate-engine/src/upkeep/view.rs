//! What was done to the store, ready to be shown.

use serde::Serialize;
use stopgate_store::Audit;
use stopgate_store::transfer::{Exported, Imported};

/// Whether the journal keeps its promises.
#[derive(Clone, Debug, Serialize)]
pub struct CheckView {
    /// Where the journal is.
    pub address: String,
    /// Whether nothing is wrong.
    pub ok: bool,
    /// What was counted, and what is wrong.
    #[serde(flatten)]
    pub audit: Audit,
}

/// From which stored form to which a journal was brought.
#[derive(Clone, Debug, Serialize)]
pub struct MigrateView {
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
    /// How much, and its fingerprint.
    #[serde(flatten)]
    pub exported: Exported,
    /// The file, where it is one.
    pub file: Option<String>,
}

/// What was imported.
#[derive(Clone, Debug, Serialize)]
pub struct ImportView {
    /// Where the journal is.
    pub address: String,
    /// What is new, and what was left out.
    #[serde(flatten)]
    pub imported: Imported,
    /// BLAKE3 of the export's bytes.
    pub blake3: String,
}

/// What was copied.
#[derive(Clone, Debug, Serialize)]
pub struct CopyView {
    /// Where it was.
    pub from: String,
    /// Where it is now, too.
    pub to: String,
    /// What is new there, and what was left out.
    #[serde(flatten)]
    pub imported: Imported,
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
