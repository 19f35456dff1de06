//! The lines of a growing file, last line first, block by block.
//!
//! Holds no more than one line and one block, and never reads before its floor.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

/// One line, without its line end.
#[derive(Debug)]
pub(super) enum TranscriptLine {
    /// A whole line.
    Ended(Vec<u8>),
    /// The file's last line, which has no line end yet.
    Open(Vec<u8>),
    /// What lies before here is out of bounds, or gone.
    Cut,
}

/// Reads lines backwards and passes over blank ones.
#[derive(Debug)]
pub(super) struct LinesBackwards<R> {
    reader: R,
    block_bytes: u32,
    floor: Floor,
    /// Where the part that was read begins.
    start: u64,
    /// The block at `start`, without the lines that were given.
    block: Vec<u8>,
    /// What follows the block up to a line's end, last piece first.
    pieces: Vec<Vec<u8>>,
    next: Next,
}

/// Where reading stops.
#[derive(Clone, Copy, Debug)]
enum Floor {
    /// A line begins here.
    LineStart(u64),
    /// More lies before this, unread.
    MidFile(u64),
}

/// What the next line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Open,
    Ended,
    /// There is none.
    Nothing,
}

impl<R: Read + Seek> LinesBackwards<R> {
    /// The lines in the last `bytes_max` of the file; the first block is read at
    /// once, with a single seek where the file is long enough.
    pub(super) fn from_end(mut reader: R, bytes_max: u64, block_bytes: u32) -> io::Result<Self> {
        let first = u32::try_from(bytes_max).map_or(block_bytes, |max| max.min(block_bytes));
        if let Ok(start) = reader.seek(SeekFrom::End(-i64::from(first))) {
            let floor = Floor::within(0, start + u64::from(first), bytes_max);
            let mut lines = Self::at(reader, floor, start, block_bytes);
            lines.fill(first)?;
            return Ok(lines);
        }
        let len = reader.seek(SeekFrom::End(0))?;
        Ok(Self::at(reader, Floor::within(0, len, bytes_max), len, block_bytes))
    }

    /// The lines after `offset`, in the last `bytes_max` of the file; none where
    /// the file is shorter than that.
    pub(super) fn since(
        mut reader: R,
        offset: u64,
        bytes_max: u64,
        block_bytes: u32,
    ) -> io::Result<Option<Self>> {
        let len = reader.seek(SeekFrom::End(0))?;
        let floor = Floor::within(offset, len, bytes_max);
        Ok((len >= offset).then(|| Self::at(reader, floor, len, block_bytes)))
    }

    /// The line before the one given last.
    pub(super) fn previous(&mut self) -> io::Result<Option<TranscriptLine>> {
        while self.next != Next::Nothing {
            let line = self.step()?;
            if line.is_some() {
                return Ok(line);
            }
        }
        Ok(None)
    }

    /// One step towards the floor, which may not complete a line.
    fn step(&mut self) -> io::Result<Option<TranscriptLine>> {
        match self.block.iter().rposition(|byte| *byte == b'\n') {
            Some(end) => Ok(self.line_after(end)),
            None if self.start > self.floor.at() => self.step_back().map(|()| None),
            None => Ok(self.first_line()),
        }
    }

    fn at(reader: R, floor: Floor, start: u64, block_bytes: u32) -> Self {
        let (block, pieces) = (Vec::new(), Vec::new());
        Self { reader, block_bytes, floor, start, block, pieces, next: Next::Open }
    }

    /// Takes the line behind the line end at `end`.
    fn line_after(&mut self, end: usize) -> Option<TranscriptLine> {
        let line = self.take_line(end + 1);
        self.block.truncate(end);
        std::mem::replace(&mut self.next, Next::Ended).line(line)
    }

    /// Ends the walk with the line at the floor.
    fn first_line(&mut self) -> Option<TranscriptLine> {
        let next = std::mem::replace(&mut self.next, Next::Nothing);
        match self.floor {
            Floor::LineStart(_) => next.line(self.take_line(0)),
            Floor::MidFile(_) => Some(TranscriptLine::Cut),
        }
    }

    /// The block from `from` on, and all pieces after it.
    fn take_line(&mut self, from: usize) -> Vec<u8> {
        let mut line = self.block.split_off(from);
        for piece in self.pieces.drain(..).rev() {
            line.extend_from_slice(&piece);
        }
        line
    }

    fn step_back(&mut self) -> io::Result<()> {
        let left = self.start - self.floor.at();
        let size = u32::try_from(left).map_or(self.block_bytes, |left| left.min(self.block_bytes));
        self.pieces.push(std::mem::take(&mut self.block));
        self.start = self.reader.seek(SeekFrom::Start(self.start - u64::from(size)))?;
        self.fill(size)
    }

    /// Reads the block at the reader's place. A file that shrank meanwhile is
    /// another file: nothing before what was read belongs to it.
    fn fill(&mut self, size: u32) -> io::Result<()> {
        self.block.resize(size as usize, 0);
        match self.reader.read_exact(&mut self.block) {
            Err(fault) if fault.kind() == ErrorKind::UnexpectedEof => {
                self.block.clear();
                self.floor = Floor::MidFile(self.start);
                Ok(())
            }
            result => result,
        }
    }
}

impl Floor {
    fn within(offset: u64, len: u64, bytes_max: u64) -> Self {
        let bound = len.saturating_sub(bytes_max);
        if bound > offset { Self::MidFile(bound) } else { Self::LineStart(offset) }
    }

    fn at(self) -> u64 {
        match self {
            Self::LineStart(at) | Self::MidFile(at) => at,
        }
    }
}

impl Next {
    /// `line` as what it was said to be; none when it is blank.
    fn line(self, mut line: Vec<u8>) -> Option<TranscriptLine> {
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        match self {
            Self::Open => Some(TranscriptLine::Open(line)),
            Self::Ended => Some(TranscriptLine::Ended(line)),
            Self::Nothing => None,
        }
    }
}
