use alloc::string::String;

use proptest::prelude::*;

use super::*;

#[test]
fn terminal_sequences_are_stripped() {
    check("\u{1b}[31mred\u{1b}[0m", "red");
    check("\u{1b}[1;38;5;196mred\u{1b}[K", "red");
    check("\u{1b}]0;a title\u{7}text", "text");
    check("\u{1b}]8;;https://e.xy\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link");
    check("\u{1b}Pdata\u{9c}text", "text");
    check("\u{1b}7saved\u{1b}8", "saved");
    check("the end\u{1b}", "the end");
    check("the end\u{1b}[", "the end");
    check("\u{9b}31mred", "31mred");
}

#[test]
fn sequences_that_choose_a_character_set_are_stripped_whole() {
    // What `tput sgr0` prints.
    check("\u{1b}(B\u{1b}[mplain", "plain");
    check("\u{1b}#8 and \u{1b}%Gutf", " and utf");
}

#[test]
fn a_broken_sequence_takes_no_text_with_it() {
    check("\u{1b}[31\nerror: here", "\nerror: here");
    check("\u{1b}]0;never closed\nerror: here", "\nerror: here");
    check("\u{1b}]0;title\u{1b}[31merror\u{1b}[0m: here", "error: here");
    check("\u{1b}[ää", "ää");
    check("\u{1b}\u{1b}[31mred", "red");
    check("\u{1b}\nline", "\nline");
}

#[test]
fn control_characters_are_stripped_but_lines_and_tabs_stay() {
    check("a\u{0}b\u{8}c\u{7f}d\u{85}e", "abcde");
    check("one\ntwo\tthree\r\nfour", "one\ntwo\tthree\nfour");
    check("10%\r20%\r100%\n", "10%\n20%\n100%\n");
}

#[test]
fn what_reorders_or_hides_text_is_stripped() {
    check("a\u{202e}b\u{2066}c\u{2069}d\u{200f}e\u{61c}f", "abcdef");
    check("zero\u{200b}width\u{feff}\u{2060}", "zerowidth");
    check("tag\u{e0041}\u{e007f}", "tag");
    check("Grüße 🦀 日本", "Grüße 🦀 日本");
}

#[test]
fn clipping_says_where_it_cut() {
    assert_eq!(clip("short", 5), "short");
    assert_eq!(clip("longer", 5), "lo…");
    assert_eq!(clip("äöü", 5), "ä…");
    assert_eq!(clip("äöü", 4), "…");
    assert_eq!(clip("äöü", 2), "");
    assert_eq!(clip("", 0), "");
}

#[test]
fn the_end_of_a_text_begins_with_a_line() {
    assert_eq!(clip_end("one\ntwo\nthree", 99), "one\ntwo\nthree");
    assert_eq!(clip_end("one\ntwo\nthree", 10), "two\nthree");
    assert_eq!(clip_end("one\ntwo\nthree", 9), "three");
    assert_eq!(clip_end("one long line", 4), "line");
    assert_eq!(clip_end("ends in a newline\n", 8), "newline\n");
    assert_eq!(clip_end("äöü", 3), "ü");
    assert_eq!(clip_end("äöü", 0), "");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_foreign_survives_and_nothing_is_cleaned_twice(text in foreign(400)) {
        let cleaned = clean(&text);
        prop_assert!(is_clean(&cleaned), "{cleaned:?}");
        prop_assert_eq!(clean(&cleaned), cleaned);
    }

    #[test]
    fn a_clipped_text_fits(text in foreign(60), bytes_max in 0_usize..200) {
        prop_assert!(clip(&text, bytes_max).len() <= bytes_max);
        let end = clip_end(&text, bytes_max);
        prop_assert!(end.len() <= bytes_max && text.ends_with(end));
    }
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(clean(text), expected, "{text:?}");
}

/// No control character but newlines and tabs, and nothing that turns text around.
pub(crate) fn is_clean(text: &str) -> bool {
    let foreign = |c: char| {
        let bidi = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}');
        let turned = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        (c.is_control() && c != '\n' && c != '\t') || bidi || turned
    };
    !text.chars().any(foreign)
}

/// Text that nobody would want in a prompt, of up to `pieces` pieces.
pub(crate) fn foreign(pieces: usize) -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(alloc::vec![
        "a",
        " ",
        "\n",
        "\r",
        "\t",
        "\u{0}",
        "\u{1b}",
        "\u{1b}[31m",
        "\u{1b}[",
        "\u{1b}]0;t",
        "\u{7}",
        "\u{1b}\\",
        "\u{1b}(B",
        "\u{9b}",
        "\u{202e}",
        "\u{2066}",
        "\u{61c}",
        "\u{200b}",
        "`",
        "```",
        "```\n",
        "\n``````\n",
        "~~~",
        "é",
        "🦀",
        "日本語",
        "error: it broke",
        "1",
        "a rather long line that has nothing in it to cut it short, and goes on, and on",
    ]);
    proptest::collection::vec(piece, 0..pieces).prop_map(|pieces| pieces.concat())
}
