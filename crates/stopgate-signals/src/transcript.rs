//! The end of a transcript: what was said last, and whether tools were used.
//!
//! A transcript is a file of JSON lines that another process is still writing. It
//! is read from its end in blocks, never beyond a bound, so its size costs
//! nothing. No vendor's JSON is known here: the caller says what a line is.

mod lines;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::io::{self, Read, Seek};

use self::lines::{LinesBackwards, TranscriptLine};

/// How much of a transcript may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The most bytes, counted from the end.
    pub bytes_max: u64,
}

impl Default for Bound {
    fn default() -> Self {
        Self { bytes_max: 4 << 20 }
    }
}

/// What one line of a transcript is, in the caller's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TranscriptRecord {
    /// A part of what the assistant said: one content block, or all of it.
    Assistant {
        /// The message it belongs to; a record without one stands alone.
        message: Option<String>,
        /// What was said, where this part is text.
        text: Option<String>,
    },
    /// Something a person or a hook said, which begins a turn.
    UserTurn,
    /// A record that does not matter here: meta, a tool's result, a subagent's.
    Other,
    /// Not a record that can be read.
    Foreign,
}

/// What was said last.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Last {
    /// The text of the last message, its parts joined by line ends.
    Text(String),
    /// Records were read, and the last turn has no assistant's text yet.
    Silent,
    /// Nothing in the bound is a record, or the bound was reached before the
    /// last message was known whole.
    Unreadable,
    /// The file holds no line.
    Empty,
}

/// Whether a tool was used in a part of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum TranscriptToolUse {
    /// At least once.
    Used,
    /// Not once.
    None,
    /// The file was replaced, or too much was added to say "not once".
    Unknown,
}

/// Small enough to be read at once, large enough for nearly every last message.
const BLOCK_BYTES: u32 = 64 << 10;

/// Reads the last assistant's message, going backwards from the end.
///
/// The last assistant record names the message; all records of that message are
/// joined in the file's order. A record of another message or a user's turn
/// before it ends the search. A line is given to `classify` without its line
/// end, a blank one not at all; a last line that is still being written counts
/// as far as `classify` can read it.
pub fn last_message<R: Read + Seek>(
    reader: R,
    bound: Bound,
    classify: impl FnMut(&[u8]) -> TranscriptRecord,
) -> io::Result<Last> {
    last_message_by(reader, bound, BLOCK_BYTES, classify)
}

/// Says whether a line added after `offset` is a tool's use, newest first.
///
/// `offset` is the file's length at an earlier time, best at the end of a line.
/// Only the last `bytes_max` of what was added are read, and a last line without
/// its line end is left for the next time.
pub fn tool_used_since<R: Read + Seek>(
    reader: R,
    offset: u64,
    bytes_max: u64,
    is_tool_use: impl FnMut(&[u8]) -> bool,
) -> io::Result<TranscriptToolUse> {
    tool_used_by(reader, offset, bytes_max, BLOCK_BYTES, is_tool_use)
}

fn last_message_by<R: Read + Seek>(
    reader: R,
    bound: Bound,
    block_bytes: u32,
    mut classify: impl FnMut(&[u8]) -> TranscriptRecord,
) -> io::Result<Last> {
    let mut lines = LinesBackwards::from_end(reader, bound.bytes_max, block_bytes)?;
    let mut search = Search::default();
    while let Some(line) = lines.previous()? {
        let (TranscriptLine::Ended(line) | TranscriptLine::Open(line)) = line else {
            return Ok(Last::Unreadable);
        };
        if search.see(classify(&line)) == Step::Stop {
            return Ok(search.end());
        }
    }
    Ok(search.end())
}

fn tool_used_by<R: Read + Seek>(
    reader: R,
    offset: u64,
    bytes_max: u64,
    block_bytes: u32,
    mut is_tool_use: impl FnMut(&[u8]) -> bool,
) -> io::Result<TranscriptToolUse> {
    let Some(mut lines) = LinesBackwards::since(reader, offset, bytes_max, block_bytes)? else {
        return Ok(TranscriptToolUse::Unknown);
    };
    while let Some(line) = lines.previous()? {
        match line {
            TranscriptLine::Ended(line) if is_tool_use(&line) => {
                return Ok(TranscriptToolUse::Used);
            }
            TranscriptLine::Ended(_) | TranscriptLine::Open(_) => {}
            TranscriptLine::Cut => return Ok(TranscriptToolUse::Unknown),
        }
    }
    Ok(TranscriptToolUse::None)
}

/// The last message as far as it is known.
#[derive(Default)]
struct Search {
    found: Found,
    /// Newest first.
    texts: Vec<String>,
}

/// What the lines read so far held.
#[derive(Default, PartialEq, Eq)]
enum Found {
    #[default]
    NoLine,
    NoRecord,
    NoAssistant,
    Message(Option<String>),
}

#[derive(PartialEq, Eq)]
enum Step {
    GoOn,
    Stop,
}

impl Search {
    fn see(&mut self, record: TranscriptRecord) -> Step {
        match record {
            TranscriptRecord::Assistant { message, text } => self.hear(message, text),
            TranscriptRecord::UserTurn => {
                self.saw(Found::NoAssistant);
                Step::Stop
            }
            TranscriptRecord::Other => {
                self.saw(Found::NoAssistant);
                Step::GoOn
            }
            TranscriptRecord::Foreign => {
                self.saw(Found::NoRecord);
                Step::GoOn
            }
        }
    }

    /// What was found only grows: a message outweighs a record, a record a line.
    fn saw(&mut self, found: Found) {
        match self.found {
            Found::NoLine | Found::NoRecord => self.found = found,
            Found::NoAssistant | Found::Message(_) => {}
        }
    }

    fn hear(&mut self, message: Option<String>, text: Option<String>) -> Step {
        if matches!(&self.found, Found::Message(known) if *known != message) {
            return Step::Stop;
        }
        self.texts.extend(text.filter(|text| !text.is_empty()));
        let step = if message.is_some() { Step::GoOn } else { Step::Stop };
        self.found = Found::Message(message);
        step
    }

    /// The answer when everything that matters was seen.
    fn end(mut self) -> Last {
        match self.found {
            Found::NoLine => Last::Empty,
            Found::NoRecord => Last::Unreadable,
            Found::NoAssistant => Last::Silent,
            Found::Message(_) if self.texts.is_empty() => Last::Silent,
            Found::Message(_) => {
                self.texts.reverse();
                Last::Text(self.texts.join("\n"))
            }
        }
    }
}
