//! Instants and spans as people read them, without a clock and without a time zone.

use stopgate_core::Timestamp;

const DAY_MS: i64 = 86_400_000;

/// `2026-11-15 20:57`, in UTC.
pub fn utc_minute(at: Timestamp) -> String {
    let (year, month, day) = date(at);
    let minutes = at.unix_millis().rem_euclid(DAY_MS) / 60_000;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", minutes / 60, minutes % 60)
}

/// `20:57:03`, in UTC.
pub fn utc_clock(at: Timestamp) -> String {
    let seconds = at.unix_millis().rem_euclid(DAY_MS) / 1000;
    format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// The ISO week: `2026-W46`.
pub fn iso_week(at: Timestamp) -> String {
    let days = at.unix_millis().div_euclid(DAY_MS);
    // The week's Thursday says which year it belongs to.
    let thursday = days - (days + 3).rem_euclid(7) + 3;
    let (year, _, _) = civil(thursday);
    let first = days_of(year, 1, 1);
    format!("{year:04}-W{:02}", (thursday - first) / 7 + 1)
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

fn date(at: Timestamp) -> (i64, i64, i64) {
    civil(at.unix_millis().div_euclid(DAY_MS))
}

/// Year, month and day of a number of days since 1970-01-01, in the proleptic Gregorian calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    // Counted from 0000-03-01, a year ends with its leap day.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    era * 146_097 + of_era - 719_468
}

#[cfg(test)]
mod tests {
    use stopgate_core::Timestamp;

    use super::{civil, days_of, iso_week, short_span, span, utc_clock, utc_minute};

    #[test]
    fn instants_are_read_in_utc() {
        let at = Timestamp::from_unix_millis(1_794_776_223_000);
        assert_eq!(utc_minute(at), "2026-11-15 20:57");
        assert_eq!(utc_clock(at), "20:57:03");
        assert_eq!(utc_minute(Timestamp::from_unix_millis(0)), "1970-01-01 00:00");
        assert_eq!(utc_minute(Timestamp::from_unix_millis(-60_000)), "1969-12-31 23:59");
    }

    #[test]
    fn every_day_of_eight_centuries_is_its_own_date() {
        for days in -146_097..146_097 {
            let (year, month, day) = civil(days);
            assert_eq!(days_of(year, month, day), days);
        }
    }

    #[test]
    fn a_week_belongs_to_the_year_of_its_thursday() {
        for (year, month, day, week) in [
            (2026, 11, 15, "2026-W46"),
            (2026, 1, 1, "2026-W01"),
            (2027, 1, 1, "2026-W53"),
            (2024, 12, 30, "2025-W01"),
        ] {
            let at = Timestamp::from_unix_millis(days_of(year, month, day) * super::DAY_MS);
            assert_eq!(iso_week(at), week);
        }
    }

    #[test]
    fn spans_are_said_as_people_say_them() {
        assert_eq!((span(42_000), short_span(42_000)), ("42 s".into(), "42s".into()));
        assert_eq!((span(3_900_000), short_span(3_900_000)), ("1 h 05 min".into(), "1h05".into()));
        assert_eq!((span(-5), short_span(1_000_000_000)), ("0 s".into(), "11d".into()));
    }
}
