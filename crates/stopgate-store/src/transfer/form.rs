//! The lines of an export.

use std::borrow::Cow;
use std::io::{BufRead, Read as _};

use serde::{Deserialize, Serialize};
use stopgate_core::{Event, FORMAT, LoopId, Timestamp};

use super::TransferError;
use crate::chain::EventSeal;
use crate::journal::{Recorded, Revision};

/// The version of the export's form; events have a version of their own.
pub const VERSION: u32 = 1;

pub(super) const JOURNAL: &str = "stopgate";
const LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// An event on its way from one journal to another: an entry without its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The loop it belongs to.
    pub id: LoopId,
    /// Its number within the loop, from 1.
    pub revision: Revision,
    /// What happened, and when.
    pub recorded: Recorded,
    /// Who sealed it, where somebody did.
    pub seal: Option<EventSeal>,
}

/// The first line.
#[derive(Serialize, Deserialize)]
pub(super) struct HeaderWire<'a> {
    #[serde(borrow)]
    pub(super) journal: Cow<'a, str>,
    pub(super) version: u32,
}

/// One event.
#[derive(Serialize)]
pub(super) struct EventWire<'a> {
    #[serde(rename = "loop")]
    pub(super) id: &'a str,
    pub(super) revision: u64,
    pub(super) at: i64,
    pub(super) format: u32,
    pub(super) event: &'a Event,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seal: Option<String>,
}

#[derive(Deserialize)]
struct ReadEventWire<'a> {
    #[serde(rename = "loop", borrow)]
    id: Cow<'a, str>,
    revision: u64,
    at: i64,
    format: u32,
    event: Event,
    seal: Option<String>,
}

/// As much of an event as a newer program's has, too.
#[derive(Deserialize)]
struct FormatWire {
    format: u32,
}

/// The last line.
#[derive(Serialize, Deserialize)]
pub(super) struct FooterWire {
    pub(super) end: EndWire,
}

#[derive(Serialize, Deserialize)]
pub(super) struct EndWire {
    pub(super) events: u64,
    pub(super) blake3: String,
}

/// Reads an export line by line, and refuses what is not one.
pub struct Reader<R> {
    input: R,
    text: Vec<u8>,
    line: u64,
    section: Option<Section>,
    sections: u64,
    whole: blake3::Hasher,
}

/// What was read between a first line and its last one.
struct Section {
    events: u64,
    hash: blake3::Hasher,
}

impl<R: BufRead> Reader<R> {
    /// Reads from `input`.
    pub fn new(input: R) -> Self {
        Self {
            input,
            text: Vec::new(),
            line: 0,
            section: None,
            sections: 0,
            whole: blake3::Hasher::new(),
        }
    }

    /// The next event; nothing at the end.
    pub fn read(&mut self) -> Result<Option<Moved>, TransferError> {
        loop {
            if !self.read_line()? {
                let whole = self.section.is_none() && self.sections > 0;
                return match whole {
                    true => Ok(None),
                    false if self.line == 0 => Err(TransferError::Foreign { line: 1 }),
                    false => Err(TransferError::CutOff { line: self.line }),
                };
            }
            match self.section.take() {
                None => self.section = Some(self.header()?),
                Some(section) if self.text.starts_with(b"{\"end\":") => self.footer(&section)?,
                Some(mut section) => {
                    section.hash.update(&self.text);
                    section.events += 1;
                    self.section = Some(section);
                    return self.event().map(Some);
                }
            }
        }
    }

    /// The hash of everything that was read.
    pub fn hash(&self) -> String {
        self.whole.finalize().to_hex().to_string()
    }

    /// Reads one whole line with its end; false where there is none any more.
    fn read_line(&mut self) -> Result<bool, TransferError> {
        self.text.clear();
        let mut input = self.input.by_ref().take(LINE_BYTES_MAX);
        let read = input.read_until(b'\n', &mut self.text).map_err(TransferError::Read)?;
        if read == 0 {
            return Ok(false);
        }
        self.whole.update(&self.text);
        if !self.text.ends_with(b"\n") {
            return Err(TransferError::CutOff { line: self.line });
        }
        self.line += 1;
        Ok(true)
    }

    fn header(&mut self) -> Result<Section, TransferError> {
        let line = self.line;
        let header: Result<HeaderWire<'_>, _> = serde_json::from_slice(&self.text);
        let header = header.ok().filter(|header| header.journal == JOURNAL);
        let Some(HeaderWire { version, .. }) = header else {
            return Err(TransferError::Foreign { line });
        };
        if version > VERSION {
            return Err(TransferError::Newer { line, found: version, known: VERSION });
        }
        let mut hash = blake3::Hasher::new();
        hash.update(&self.text);
        Ok(Section { events: 0, hash })
    }

    fn footer(&mut self, section: &Section) -> Result<(), TransferError> {
        let line = self.line;
        let footer: FooterWire = serde_json::from_slice(&self.text)
            .map_err(|source| TransferError::Damaged { line, source })?;
        let hash = section.hash.finalize().to_hex();
        if footer.end.events != section.events || footer.end.blake3 != hash.as_str() {
            return Err(TransferError::Altered { line });
        }
        self.sections += 1;
        Ok(())
    }

    fn event(&self) -> Result<Moved, TransferError> {
        let line = self.line;
        let newer = |found| TransferError::Newer { line, found, known: FORMAT };
        let read: ReadEventWire<'_> = serde_json::from_slice(&self.text).map_err(|source| {
            match serde_json::from_slice::<FormatWire>(&self.text) {
                Ok(FormatWire { format }) if format > FORMAT => newer(format),
                Ok(_) | Err(_) => TransferError::Damaged { line, source },
            }
        })?;
        if read.format > FORMAT {
            return Err(newer(read.format));
        }
        let at = Timestamp::from_unix_millis(read.at);
        Ok(Moved {
            id: LoopId::new(&read.id),
            revision: Revision(read.revision),
            recorded: Recorded { event: read.event, at },
            seal: read.seal.as_deref().and_then(EventSeal::from_hex),
        })
    }
}
