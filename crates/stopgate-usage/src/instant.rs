//! The times in clients' records.

use serde::Deserialize;
use stopgate_core::Timestamp;

/// When a record was written, under either of the names in use.
#[derive(Deserialize)]
pub(crate) struct StampWire {
    #[serde(default)]
    timestamp: Option<serde_json::Value>,
    #[serde(default)]
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
    let (date, time) = text.split_once('T')?;
    let mut date = date.splitn(3, '-').map(number);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let time = time.strip_suffix('Z').or_else(|| time.strip_suffix("+00:00"))?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let mut time = time.splitn(3, ':').map(number);
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    let fraction: String = fraction.chars().chain("000".chars()).take(3).collect();
    let sane = (1970..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && (hour < 24 && minute < 60 && second < 61);
    if !sane {
        return None;
    }
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some(Timestamp::from_unix_millis(seconds * 1000 + number(&fraction)?))
}

fn number(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Days since 1970 of a date of the Gregorian calendar; years begin in March, so that the leap
/// day is the last one.
const fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let month = (month + 9) % 12;
    let era = year / 400;
    let of_era = year - era * 400;
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
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
