use proptest::prelude::*;

use super::{MarkerPlace, read};

/// What hostile and honest messages are made of.
const PIECES: [&str; 52] = [
    "<promise>COMPLETE</promise>",
    "\n<promise>COMPLETE</promise>\n",
    "<promise> COMPLETE\t</promise>",
    "<loop-complete>",
    "\n<loop-complete>\n",
    "</loop-complete>",
    "<loop-complete/>",
    "<grind-done>MAX_ISSUES</grind-done>",
    "<promise>",
    "COMPLETE",
    "</promise>",
    "<",
    ">",
    "> ",
    "`",
    "``",
    "```",
    "\n```\n",
    "~~~",
    "\n~~~~\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    " ",
    "    ",
    "\t",
    "<!--",
    "-->",
    "<!-->",
    "<![CDATA[",
    "]]>",
    "<?",
    "?>",
    "<div>",
    "\n</details>\n",
    "<pre>",
    "</pre>",
    "\n<blockquote>\n",
    "</code>",
    "<a b=\"",
    "\"",
    "%",
    "\\",
    "- ",
    "1. ",
    "# ",
    "---",
    "[a]: ",
    "](",
    "\u{2028}é",
    "\0",
];

fn message() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES.as_slice()), 0..24)
        .prop_map(|pieces| pieces.concat())
}

/// Paragraphs that mean nothing to Markdown.
fn prose() -> impl Strategy<Value = String> {
    "([A-Za-z][a-z ,.;:'()é]{0,30}\n){1,4}(\n([A-Za-z][a-z ,.]{0,30}\n){1,3}){0,3}"
}

fn longest_run(message: &str, mark: char) -> usize {
    message.split(|other| other != mark).map(str::len).max().unwrap_or(0)
}

/// Puts `> ` before every line, whatever ends it.
fn quoted(message: &str) -> String {
    let unix = message.replace("\r\n", "\n").replace('\r', "\n");
    format!("> {}\n", unix.replace('\n', "\n> "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_message_in_a_longer_fence_says_nothing(message in message(), mark in prop::sample::select(&['`', '~'][..])) {
        let fence = mark.to_string().repeat(longest_run(&message, mark).max(2) + 1);
        let unclosed = format!("{fence}\n{message}");
        prop_assert_eq!(read(&unclosed), vec![]);
        prop_assert_eq!(read(&format!("{unclosed}\n{fence}\n")), vec![]);
    }

    #[test]
    fn a_quoted_message_says_nothing(message in message()) {
        prop_assert_eq!(read(&quoted(&message)), vec![]);
    }

    #[test]
    fn a_message_in_a_comment_says_nothing(message in message()) {
        let inner = message.replace("-->", "");
        prop_assume!(!inner.contains("-->"));
        let unclosed = format!("<!--\n{inner}");
        prop_assert_eq!(read(&unclosed), vec![]);
    }

    #[test]
    fn an_own_line_holds_nothing_but_the_marker(message in message()) {
        let spoken = read(&message);
        let own = spoken.iter().filter(|spoken| spoken.place == MarkerPlace::OwnLine).count();
        let begins = |line: &&str| ["<promise>", "<loop", "<grind"].iter().any(|tag| line.starts_with(tag));
        let ends = |line: &&str| line.trim_end_matches([' ', '\t']).ends_with('>');
        let lines = message.split(['\n', '\r']).filter(begins).filter(ends).count();
        prop_assert!(own <= lines, "{} of {}", own, lines);
    }

    #[test]
    fn any_text_is_read(message in "\\PC{0,200}") {
        let _ = read(&format!("{message}\n<loop-complete>{message}"));
    }

    #[test]
    fn a_marker_after_prose_is_said(prose in prose()) {
        let spoken = read(&format!("{prose}\n<promise>COMPLETE</promise>\n"));
        prop_assert_eq!(spoken.len(), 1);
        prop_assert_eq!(spoken[0].place, MarkerPlace::OwnLine);
    }
}
