use super::{instant, instant_text};

#[track_caller]
fn check(text: &str, expected: &str) {
    let shown = instant(text).map_or_else(|| "nothing".into(), instant_text);
    assert_eq!(shown, expected, "{text}");
}

#[test]
fn every_offset_names_the_same_instant() {
    for text in [
        "2026-03-01T10:30:00Z",
        "2026-03-01T10:30:00+00:00",
        "2026-03-01T12:30:00+02:00",
        "2026-03-01T05:00:00-05:30",
        "2026-03-01T10:30:00.999Z",
        " 2026-03-01T10:30:00z ",
        "2026-03-01 10:30:00Z",
    ] {
        check(text, "2026-03-01T10:30:00Z");
    }
}

#[test]
fn what_names_no_instant_is_none() {
    for text in ["", "garbage", "2026-03-01", "2026-03-01T10:30:00", "2026-13-01T00:00:00Z", "17"] {
        check(text, "nothing");
    }
}
