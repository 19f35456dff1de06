//! Points in time as files write them: ISO 8601 with an offset, and nothing looser.

use jiff::Timestamp as Instant;
use stopgate_core::Timestamp;

/// The instant that `text` names; `Z`, any offset and fractions are understood.
pub fn instant(text: &str) -> Option<Timestamp> {
    let read: Instant = text.trim().parse().ok()?;
    Some(Timestamp::from_unix_millis(read.as_millisecond()))
}

/// An instant as files write it: UTC, whole seconds, `Z`.
pub fn instant_text(at: Timestamp) -> String {
    let whole = at.unix_millis().div_euclid(1000);
    Instant::from_second(whole).map_or_else(|_| "1970-01-01T00:00:00Z".into(), |at| at.to_string())
}

#[cfg(test)]
mod tests;
