//! The times in clients' records.

use serde::Deserialize;
use stopgate_core::Timestamp;

/// When a record was written, under either of the names in use.
#[derive(Deserialize)]
pub(crate) struct StampWire {
    timestamp: Option<serde_json::Value>,
    time: Option<serde_json::Value>,
}

impl StampWire {
    pub(crate) fn at(&self) -> Option<Timestamp> {
        self.timestamp.as_ref().or(self.time.as_ref()).and_then(instant)
    }
}

/// RFC 3339 in UTC, or milliseconds since 1970.
pub(crate) fn instant(value: &serde_json::Value) -> Option<Timestamp> {
    match value {
        serde_json::Value::String(text) => rfc3339(text),
        other => other.as_i64().map(Timestamp::from_unix_millis),
    }
}

/// `2026-11-15T14:49:28.340Z`
pub(crate) fn rfc3339(text: &str) -> Option<Timestamp> {
    let at: jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp::from_unix_millis(at.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn times_are_read_as_they_are_written() {
        let read = |text| rfc3339(text).map(stopgate_core::Timestamp::unix_millis);
        assert_eq!(read("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(read("2026-11-15T14:49:28.340Z"), Some(1_794_754_168_340));
        assert_eq!(read("2024-02-29T12:00:00.5+00:00"), Some(1_709_208_000_500));
        for text in ["", "T", "2026-11-15", "2026-13-15T00:00:00Z", "2026-11-15T14:49:28"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
