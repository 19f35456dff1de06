//! Where in a long record a time begins, without reading it all.

use std::io::{self, Read, Seek, SeekFrom};

use memchr::memchr;
use stopgate_core::Timestamp;

use crate::instant::StampWire;

/// How much is looked at for a line with a time.
const WINDOW_BYTES: u64 = 64 * 1024;
/// Where reading from the beginning is as cheap.
const SMALL_BYTES: u64 = 512 * 1024;
const PROBES_MAX: u32 = 40;

/// The beginning of a line before which every line is older than `since`; the beginning of the
/// record where that can't be told. Lines are in the order of time, more or less.
pub fn first_line_since(
    mut source: impl Read + Seek,
    length: u64,
    since: Timestamp,
) -> io::Result<u64> {
    let (mut low, mut high) = (0, length);
    for _ in 0..PROBES_MAX {
        if high.saturating_sub(low) <= SMALL_BYTES {
            break;
        }
        let middle = low + (high - low) / 2;
        match probe(&mut source, middle)? {
            Some((line, at)) if at < since => low = line.max(low + 1),
            // What can't be told counts as late, so that nothing is missed.
            Some(_) | None => high = middle,
        }
    }
    Ok(low)
}

/// The first whole line after `from` that has a time, and that time.
fn probe(source: &mut (impl Read + Seek), from: u64) -> io::Result<Option<(u64, Timestamp)>> {
    source.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    source.by_ref().take(WINDOW_BYTES).read_to_end(&mut bytes)?;
    let Some(first) = memchr(b'\n', &bytes) else { return Ok(None) };
    let mut begin = first + 1;
    while let Some(length) = memchr(b'\n', &bytes[begin..]) {
        let stamp = serde_json::from_slice::<StampWire>(&bytes[begin..begin + length]);
        if let Some(at) = stamp.ok().and_then(|stamp| stamp.at()) {
            return Ok(Some((from + begin as u64, at)));
        }
        begin += length + 1;
    }
    Ok(None)
}
