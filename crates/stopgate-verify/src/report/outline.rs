//! An output without colours, and without what tests printed themselves.

use std::borrow::Cow;

/// A text without terminal sequences, and with what a carriage return wrote over taken out.
pub(crate) fn without_ansi(text: &str) -> Cow<'_, str> {
    if !text.contains(['\u{1b}', '\u{9b}', '\r', '\u{8}']) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => plain.extend(skip_sequence(&mut characters)),
            '\u{9b}' => plain.extend(skip_control(&mut characters)),
            '\r' if characters.peek() != Some(&'\n') => plain.push('\n'),
            '\r' | '\u{8}' => {}
            _ => plain.push(character),
        }
    }
    Cow::Owned(plain)
}

type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Skips what follows an escape; a line break where it led back to the line's beginning.
fn skip_sequence(characters: &mut Characters<'_>) -> Option<char> {
    match characters.next_if(|c| *c != '\n') {
        Some('[') => return skip_control(characters),
        Some(']') => {
            // A title or a link: up to the bell, or to an escaped backslash.
            while let Some(character) = characters.next_if(|c| *c != '\n') {
                if character == '\u{1b}' {
                    characters.next_if_eq(&'\\');
                }
                if matches!(character, '\u{7}' | '\u{1b}') {
                    return None;
                }
            }
        }
        Some('(' | ')') => {
            characters.next_if(|c| *c != '\n');
        }
        Some(_) | None => {}
    }
    None
}

fn skip_control(characters: &mut Characters<'_>) -> Option<char> {
    let mut column = String::new();
    while let Some(character) = characters.next_if(|c| *c != '\n') {
        if character == 'G' && (column.is_empty() || column == "1") {
            return Some('\n');
        }
        if ('@'..='~').contains(&character) {
            return None;
        }
        column.push(character);
    }
    None
}

/// The lines of an output that are a runner's own.
pub(crate) fn lines(output: &str) -> Vec<&str> {
    let mut inside = Inside::Nothing;
    let mut kept = Vec::new();
    let mut last = None;
    for line in output.lines().map(str::trim_end) {
        if inside.keeps(line) {
            kept.push(line);
            last = None;
        } else if inside == Inside::Tracebacks && !line.is_empty() {
            last = Some(line);
        }
    }
    // A quiet pytest draws no rule before its last line.
    kept.extend(last);
    kept
}

/// What a line stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Nothing,
    /// `---- name stdout ----` of Rust's test harness.
    Captured,
    /// The tracebacks and warnings of pytest.
    Tracebacks,
}

impl Inside {
    fn keeps(&mut self, line: &str) -> bool {
        *self = match *self {
            Self::Captured if line == "failures:" => Self::Nothing,
            Self::Captured => return false,
            Self::Nothing if is_captured(line) => Self::Captured,
            Self::Nothing | Self::Tracebacks if is_rule(line, '=') => {
                let title = line.trim_matches(['=', ' ']);
                let titles = ["FAILURES", "ERRORS", "PASSES", "warnings summary"];
                let tracebacks = titles.contains(&title);
                if tracebacks { Self::Tracebacks } else { Self::Nothing }
            }
            Self::Tracebacks => return is_rule(line, '_'),
            Self::Nothing => Self::Nothing,
        };
        *self != Self::Captured
    }
}

fn is_captured(line: &str) -> bool {
    line.starts_with("---- ")
        && [" stdout ----", " stderr ----"].iter().any(|end| line.ends_with(end))
}

/// Whether a line is a heading between rules, as pytest draws them.
fn is_rule(line: &str, with: char) -> bool {
    let inside = line.trim_matches(with);
    line.len() >= inside.len() + 2
        && line.starts_with(with)
        && line.ends_with(with)
        && inside.len() > 2
        && inside.starts_with(' ')
        && inside.ends_with(' ')
}
