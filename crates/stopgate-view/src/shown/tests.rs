//! What is shown is never obeyed.

use super::{ascii, shown, shown_lines, shown_short};
use crate::hostile::PAYLOADS;

#[test]
fn sequences_and_control_characters_are_shown() {
    assert_eq!(shown("a\u{1b}[2Jb"), "a␛[2Jb");
    assert_eq!(shown("bell\u{7} null\0 del\u{7f}"), "bell␇ null␀ del␡");
    assert_eq!(shown("c1\u{9b}31m"), "c1⟨U+009B⟩31m");
    assert_eq!(shown("abc\u{202e}fdp"), "abc⟨U+202E⟩fdp");
    assert_eq!(shown("zero\u{200b}width"), "zero⟨U+200B⟩width");
}

#[test]
fn line_breaks_are_kept_or_shown() {
    assert_eq!(shown("one\ntwo\r\nthree\rfour\n"), "one↵two↵three␍four");
    assert_eq!(shown_lines("one\ntwo\r\n\tthree"), "one\ntwo\n    three");
}

#[test]
fn honest_text_of_any_script_stays() {
    for text in ["größe", "日本語", "مرحبا", "👍🏽", "naïve café", "ไม้เอก", "e\u{301}"]
    {
        assert_eq!(shown(text), text);
    }
}

#[test]
fn marks_are_not_piled_up() {
    let pile = format!("a{}b", "\u{336}".repeat(40));
    assert_eq!(shown(&pile), format!("a{}b", "\u{336}".repeat(4)));
}

#[test]
fn no_payload_comes_through_alive() {
    for payload in PAYLOADS {
        let text = shown(payload);
        let alive = text.chars().find(|c| c.is_control() || super::is_deceptive(*c));
        assert_eq!(alive, None, "{payload:?} became {text:?}");
        assert!(ascii(&text).bytes().all(|b| (b' '..=b'~').contains(&b)), "{payload:?}");
    }
}

#[test]
fn what_is_cut_says_so() {
    assert_eq!(shown_short("abcdef", 4), "abc…");
    assert_eq!(shown_short("abcd", 4), "abcd");
}
