//! Instants and spans as people read them, without a clock and without a time zone.

use stopgate_core::Timestamp;

/// `2026-11-15 20:57`, in UTC.
pub fn utc_minute(at: Timestamp) -> String {
    utc(at, "%Y-%m-%d %H:%M")
}

/// `20:57:03`, in UTC.
pub fn utc_clock(at: Timestamp) -> String {
    utc(at, "%H:%M:%S")
}

/// The ISO week: `2026-W46`.
pub fn iso_week(at: Timestamp) -> String {
    utc(at, "%G-W%V")
}

/// A span as people say it: `42 s`, `12 min`, `3 h 05 min`, `4 days`.
pub fn span(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
        _long => format!("{} days", seconds / 86_400),
    }
}

/// A span in few letters: `42s`, `12m`, `3h05`, `4d`.
pub fn short_span(ms: i64) -> String {
    let seconds = ms.max(0) / 1000;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..172_800 => format!("{}h{:02}", seconds / 3600, seconds % 3600 / 60),
        _long => format!("{}d", seconds / 86_400),
    }
}

/// The instant in UTC as `format` has it.
fn utc(at: Timestamp, format: &str) -> String {
    jiff::Timestamp::from_millisecond(at.unix_millis())
        .map_or_else(|_| "unknown".into(), |at| at.strftime(format).to_string())
}

#[cfg(test)]
mod tests {
    use stopgate_core::Timestamp;

    use super::{iso_week, short_span, span, utc_clock, utc_minute};

    #[test]
    fn instants_are_read_in_utc() {
        let at = Timestamp::from_unix_millis(1_794_776_223_000);
        assert_eq!(utc_minute(at), "2026-11-15 20:57");
        assert_eq!(utc_clock(at), "20:57:03");
        assert_eq!(utc_minute(Timestamp::from_unix_millis(0)), "1970-01-01 00:00");
        assert_eq!(utc_minute(Timestamp::from_unix_millis(-60_000)), "1969-12-31 23:59");
    }

    #[test]
    fn a_week_belongs_to_the_year_of_its_thursday() {
        for (day, week) in [
            ("2026-11-15", "2026-W46"),
            ("2026-01-01", "2026-W01"),
            ("2027-01-01", "2026-W53"),
            ("2024-12-30", "2025-W01"),
        ] {
            let noon: jiff::Timestamp = format!("{day}T12:00:00Z").parse().unwrap();
            assert_eq!(iso_week(Timestamp::from_unix_millis(noon.as_millisecond())), week);
        }
    }

    #[test]
    fn spans_are_said_as_people_say_them() {
        assert_eq!((span(42_000), short_span(42_000)), ("42 s".into(), "42s".into()));
        assert_eq!((span(3_900_000), short_span(3_900_000)), ("1 h 05 min".into(), "1h05".into()));
        assert_eq!((span(-5), short_span(1_000_000_000)), ("0 s".into(), "11d".into()));
    }
}
