//! A journal as lines.

use std::io::Write;

use serde::Serialize;
use stopgate_core::FORMAT;

use super::TransferError;
use super::form::{EndWire, EventWire, FooterWire, HeaderWire, JOURNAL, VERSION};
use crate::chain::EventSeal;
use crate::journal::{Cursor, Journal, JournalEntry};

const PAGE: usize = 1000;

/// What was exported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Loops that begin in it.
    pub loops: u64,
    /// Events.
    pub events: u64,
    /// Bytes.
    pub bytes: u64,
    /// BLAKE3 of all bytes.
    #[serde(rename = "blake3")]
    pub hash: String,
}

/// Writes the whole journal to `out`, as it was when its end was reached.
pub fn export(journal: &mut dyn Journal, out: &mut dyn Write) -> Result<Exported, TransferError> {
    let mut exporter = Exporter::begin(out)?;
    let mut cursor = Cursor(0);
    loop {
        let page = journal.tail(cursor, PAGE)?;
        for entry in &page {
            exporter.entry(entry)?;
        }
        match page.last() {
            Some(last) if page.len() == PAGE => cursor = last.cursor,
            Some(_) | None => return exporter.finish(),
        }
    }
}

/// Writes events in the export's form.
pub struct Exporter<'a> {
    out: &'a mut dyn Write,
    text: Vec<u8>,
    hash: blake3::Hasher,
    loops: u64,
    events: u64,
    bytes: u64,
}

impl<'a> Exporter<'a> {
    /// Begins with the first line.
    pub fn begin(out: &'a mut dyn Write) -> Result<Self, TransferError> {
        let (text, hash) = (Vec::new(), blake3::Hasher::new());
        let mut exporter = Self { out, text, hash, loops: 0, events: 0, bytes: 0 };
        exporter.line("", &HeaderWire { journal: JOURNAL.into(), version: VERSION })?;
        Ok(exporter)
    }

    /// Writes one event.
    pub fn entry(&mut self, entry: &JournalEntry) -> Result<(), TransferError> {
        let id = entry.id.as_str();
        let (revision, at) = (entry.revision.0, entry.recorded.at.unix_millis());
        let event = &entry.recorded.event;
        let seal = entry.seal.map(EventSeal::to_hex);
        self.line(id, &EventWire { id, revision, at, format: FORMAT, event, seal })?;
        self.events += 1;
        self.loops += u64::from(revision == 1);
        Ok(())
    }

    /// Ends with the last line.
    pub fn finish(mut self) -> Result<Exported, TransferError> {
        let blake3 = self.hash.finalize().to_hex().to_string();
        self.line("", &FooterWire { end: EndWire { events: self.events, blake3 } })?;
        self.out.flush().map_err(TransferError::Write)?;
        let hash = self.hash.finalize().to_hex().to_string();
        Ok(Exported { loops: self.loops, events: self.events, bytes: self.bytes, hash })
    }

    fn line(&mut self, id: &str, value: &impl Serialize) -> Result<(), TransferError> {
        self.text.clear();
        serde_json::to_writer(&mut self.text, value)
            .map_err(|source| TransferError::Encode { id: id.into(), source })?;
        self.text.push(b'\n');
        self.hash.update(&self.text);
        self.bytes += self.text.len() as u64;
        self.out.write_all(&self.text).map_err(TransferError::Write)
    }
}
