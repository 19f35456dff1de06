//! Halves of characters.

use super::replace_lone_surrogates;

#[test]
fn only_lone_surrogates_are_replaced() {
    check(r#""\ud83d""#, r#""\ufffd""#);
    check(r#""\uDE00 x""#, r#""\ufffd x""#);
    check(r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#);
    check(r#""\ud83d\n""#, r#""\ufffd\n""#);
    check(r#""é\ud83d""#, r#""é\ufffd""#);
    check(r#""\\\ud83d""#, r#""\\\ufffd""#);
}

#[test]
fn whole_text_is_left_alone() {
    for text in [
        "",
        "{}",
        r#""\ud83d\ude00""#,
        r#""\\ud83d""#,
        r#""\u00e9""#,
        r#""\ud8"#,
        r#""\uzzzz""#,
        r"\",
        r"\u",
    ] {
        assert_eq!(replace_lone_surrogates(text), None, "{text}");
    }
}

#[track_caller]
fn check(json: &str, expected: &str) {
    assert_eq!(replace_lone_surrogates(json).as_deref(), Some(expected), "{json}");
}
