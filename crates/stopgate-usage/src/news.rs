//! What is new in a file, within a bound.

use std::io::{self, Read, Seek, SeekFrom};

use crate::reader::{UsageNews, UsageReader};

/// Reads what follows the place where `reader` was left, at most `budget` bytes, and takes what
/// was read off the budget. Says whether there is more.
pub fn read_news(
    mut source: impl Read + Seek,
    reader: &mut UsageReader,
    budget: &mut u64,
    news: &mut UsageNews,
) -> io::Result<MoreToRead> {
    let begin = reader.offset();
    source.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    let bound = *budget;
    source.take(bound).read_to_end(&mut bytes)?;
    let got = bytes.len() as u64;
    *budget = budget.saturating_sub(got);
    reader.read(&bytes, news);
    let read = reader.offset().saturating_sub(begin);
    if got < bound || bound == 0 {
        return Ok(if bound == 0 { MoreToRead::Perhaps } else { MoreToRead::Nothing });
    }
    if read == 0 && bound >= LINE_BYTES_MIN {
        // No end of a line within all that may be read: nothing that counts is so long.
        reader.pass_over(bytes.len());
        return Ok(MoreToRead::Skipped);
    }
    Ok(MoreToRead::Perhaps)
}

/// A line that is shorter is never passed over because others used up the bound.
const LINE_BYTES_MIN: u64 = 2 * 1024 * 1024;

/// What is left of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoreToRead {
    /// Everything was read.
    Nothing,
    /// The bound was reached.
    Perhaps,
    /// The bound was reached within one line, which is passed over.
    Skipped,
}
