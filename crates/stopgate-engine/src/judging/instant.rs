//! A time as people write it.

use jiff::civil::{DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{ToSpan, Zoned};
use stopgate_core::Timestamp;

use crate::span::span_ms;

/// The moment that `text` means: RFC 3339, `2026-11-16 03:00`, `03:00` (the next one), or a span
/// from now such as `90m`; dates without a zone are in the machine's own.
pub(crate) fn moment(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(ms) = span_ms(text.strip_prefix('+').unwrap_or(text)) {
        return Some(now.plus(i64::try_from(ms).ok()?));
    }
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Some(Timestamp::from_unix_millis(at.as_millisecond()));
    }
    let zone = TimeZone::system();
    if let Ok(time) = text.parse::<Time>().or_else(|_| Time::strptime("%H:%M", text)) {
        let here = jiff::Timestamp::from_millisecond(now.unix_millis()).ok()?.to_zoned(zone);
        return next(&here, time).as_ref().map(millis);
    }
    let at = text.parse::<DateTime>().or_else(|_| DateTime::strptime("%Y-%m-%d %H:%M", text));
    zone.to_zoned(at.ok()?).ok().as_ref().map(millis)
}

/// The next moment at which the clock shows `time`.
fn next(here: &Zoned, time: Time) -> Option<Zoned> {
    let today = here.with().time(time).build().ok()?;
    if today > *here { Some(today) } else { today.checked_add(1.day()).ok() }
}

fn millis(at: &Zoned) -> Timestamp {
    Timestamp::from_unix_millis(at.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-16 00:20:00 UTC.
    const NOW: Timestamp = Timestamp::from_unix_millis(1_794_788_400_000);

    #[track_caller]
    fn check(text: &str, seconds_later: Option<i64>) {
        let later = moment(text, NOW).map(|at| at.since(NOW) / 1000);
        assert_eq!(later, seconds_later, "{text}");
    }

    #[test]
    fn times_are_read_as_people_write_them() {
        check("90s", Some(90));
        check("+2h", Some(7200));
        check("2026-11-16T00:21:00Z", Some(60));
        check("2026-11-16T02:21:00+02:00", Some(60));
        check("soon", None);
        check("", None);
    }

    #[test]
    fn a_clock_time_is_the_next_one() {
        let local = |text: &str| moment(text, NOW).map(|at| at.since(NOW));
        let ahead = local("03:00").expect("a time");
        assert!((1..=86_400_000).contains(&ahead), "{ahead}");
        let same = local("03:00").zip(local("3:00"));
        assert!(same.is_some_and(|(one, other)| one == other), "{same:?}");
    }
}
