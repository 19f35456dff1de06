//! What must be remembered between stops, and has no place in another tool's file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use stopgate_core::Tally;
use stopgate_verify::files::read_text;

const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A side file in stopgate's home, one a state file. Losing it costs an audit trail's
/// continuity and what a format notes in it, never a count of the file's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Memory {
    /// Which loop of the file this is about; another one begins with a blank memory.
    pub(crate) run: String,
    /// The loop's name in the journal.
    pub(crate) trail: Option<String>,
    /// When it was first seen, in milliseconds since the epoch.
    pub(crate) since: Option<i64>,
    /// What is counted, background tasks included.
    pub(crate) tally: Tally,
    /// The files that were backed up since the loop was first seen.
    pub(crate) backups: Vec<String>,
    /// What a format wants to remember.
    pub(crate) notes: BTreeMap<String, serde_json::Value>,
}

/// The note that the end of a loop was recorded.
const OVER: &str = "over";

impl Memory {
    /// All that is remembered of a loop that is over.
    pub(super) fn over(run: String) -> Self {
        let notes = BTreeMap::from([(OVER.to_string(), serde_json::Value::Bool(true))]);
        Self { run, notes, ..Self::default() }
    }

    /// Whether the end of this loop was recorded; a file may go on saying that it is over.
    pub(crate) fn is_over(&self) -> bool {
        self.notes.contains_key(OVER)
    }

    /// The loop goes on after all.
    pub(crate) fn revive(&mut self) {
        self.notes.remove(OVER);
    }

    /// What was remembered; nothing where it can't be read.
    pub(super) fn read(path: &Path) -> Self {
        let text = read_text(path, BYTES_MAX).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }
}
