//! Python source: examples in docstrings and tests beside the code.
//!
//! The examples of one docstring belong together. They see the names of their module, so those of
//! the start that today's text lacks are put behind it, in a function of their own.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Judging, python_tests};

pub(super) fn judging(text: &str) -> Judging {
    Judging { sections: python_tests::tests(text), members: examples(text) }
}

pub(super) fn restore(original: &str, today: &str) -> String {
    let mut text = if python_tests::tests(original) == python_tests::tests(today) {
        today.to_string()
    } else {
        python_tests::restore(original, today)
    };
    let now = examples(&text);
    text = without_added(original, &text).unwrap_or(text);
    for (number, lost) in examples(original).difference(&now).enumerate() {
        let (quote, body) = lost.split_once('\n').unwrap_or(("\"\"\"", lost));
        let end = quote.trim_start_matches(|letter: char| letter.is_ascii_alphabetic());
        let head = format!("\n\ndef _examples_of_the_start_{number}():\n    {quote}\n");
        text.push_str(&head);
        for line in body.lines() {
            text.push_str(format!("    {line}").trim_end());
            text.push('\n');
        }
        text.extend(["    ", end, "\n"]);
    }
    text
}

/// Today's text in which docstrings whose examples are new show them, and don't ask for them to be
/// tried: they may need fixtures that are new as well. Nothing where there are none.
pub(super) fn without_added(original: &str, today: &str) -> Option<String> {
    let then = examples(original);
    let mut text = today.to_string();
    for (quote, span) in long_strings(today) {
        let inner = &today[span.clone()];
        let lines = example_lines(inner);
        let is_added = !lines.is_empty() && !then.contains(&said(&quote, &lines));
        if is_added && is_docstring(&today[..span.start - quote.len()]) {
            // As long as before: what comes later keeps its place.
            text.replace_range(span, &inner.replace(">>>", "..."));
        }
    }
    (text != today).then_some(text)
}

/// Whether a string that comes after this text is the first statement of a block or of the file.
fn is_docstring(before: &str) -> bool {
    let (above, line) = before.rsplit_once('\n').unwrap_or(("", before));
    let mut above = above.lines().rev().map(str::trim);
    let last = above.find(|line| !line.is_empty() && !line.starts_with('#'));
    line.trim().is_empty() && last.is_none_or(|line| line.ends_with(':'))
}

fn said(quote: &str, lines: &[String]) -> String {
    format!("{quote}\n{}", lines.join("\n"))
}

/// The examples of each docstring: how its quotes open it, then its lines.
fn examples(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (quote, span) in long_strings(text) {
        let lines = example_lines(&text[span]);
        if !lines.is_empty() {
            found.insert(said(&quote, &lines));
        }
    }
    found
}

/// Lines from each prompt to the next empty line, without what they are indented by.
fn example_lines(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut indent: Option<usize> = None;
    for line in text.lines() {
        let bare = line.trim_start();
        if bare.is_empty() {
            if indent.take().is_some() {
                found.push(String::new());
            }
            continue;
        }
        if bare.starts_with(">>>") && indent.is_none() {
            indent = Some(line.len() - bare.len());
        }
        if let Some(indent) = indent {
            found.push(line.get(indent..).unwrap_or(bare).trim_end().into());
        }
    }
    while found.last().is_some_and(String::is_empty) {
        found.pop();
    }
    found
}

/// Where strings in three quotes are, with how they open.
fn long_strings(text: &str) -> Vec<(String, Range<usize>)> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'#' => at += text[at..].find('\n').unwrap_or(text.len() - at),
            b'"' | b'\'' => {
                let mark = &text[at..=at];
                let long = mark.repeat(3);
                let opening = if text[at..].starts_with(&long) { long } else { mark.to_string() };
                let from = at + opening.len();
                let end = end_of(text, from, &opening);
                if opening.len() == 3 {
                    let prefix = text[..at].ends_with(['r', 'R']).then_some("r");
                    let prefix = prefix.unwrap_or_default();
                    found.push((format!("{prefix}{opening}"), from..end));
                }
                at = (end + opening.len()).min(text.len());
            }
            _ => at += 1,
        }
    }
    found
}

/// Where the string that begins at `from` is closed.
fn end_of(text: &str, from: usize, mark: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        if text[at..].starts_with(mark) || (mark.len() == 1 && bytes[at] == b'\n') {
            return at;
        }
        at += if bytes[at] == b'\\' { 2 } else { 1 };
        while at < bytes.len() && !text.is_char_boundary(at) {
            at += 1;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "def one():\n    \"\"\"Says one.\n\n    >>> one()\n    1\n\n    And more:\n\n    \
        >>> for i in (1,):\n    ...     one()\n    1\n    \"\"\"\n    return 1  # it's \"one\"\n";

    #[test]
    fn examples_of_a_docstring_belong_together() {
        let found: Vec<String> = examples(TEXT).into_iter().collect();
        assert_eq!(found, ["\"\"\"\n>>> one()\n1\n\n>>> for i in (1,):\n...     one()\n1"]);
        assert!(examples("x = '>>> no'\n# \"\"\"\n# >>> no\n").is_empty());
    }

    #[test]
    fn an_example_that_was_changed_is_put_back_and_one_that_was_added_is_left() {
        let weaker = TEXT.replace("    1\n\n    And", "    2\n\n    And");
        let restored = restore(TEXT, &weaker);
        assert!(restored.starts_with(&weaker.replace(">>>", "...")), "{restored}");
        assert!(examples(&restored).is_superset(&examples(TEXT)), "{restored}");
        let more = format!("{TEXT}\n\ndef two():\n    '''\n    >>> two()\n    2\n    '''\n");
        assert_eq!(restore(TEXT, &more), more.replace(">>> two", "... two"));
    }

    #[test]
    fn examples_that_were_added_are_shown_and_not_tried() {
        let more =
            TEXT.replace("    1\n    \"\"\"", "    1\n\n    >>> shown(one())\n    '1'\n    \"\"\"");
        let restored = restore(TEXT, &more);
        assert!(restored.contains("... shown(one())"), "{restored}");
        assert_eq!(restored.matches(">>> one()").count(), 1, "{restored}");
        let page = format!("{TEXT}\nPAGE = \"\"\"\n>>> data\n\"\"\"\n");
        assert_eq!(without_added(TEXT, &page), None);
        assert_eq!(without_added(TEXT, TEXT), None);
        let new = "def two():\n    r\"\"\"\n    >>> two()\n    2\n    \"\"\"\n";
        let without = new.replace(">>>", "...");
        assert_eq!(without_added("", new), Some(without));
    }
}
