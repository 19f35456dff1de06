//! Makes foreign text fit to be shown: to a model, in a terminal, in a log.

use alloc::string::String;

/// Strips terminal sequences, control characters and bidi overrides; keeps newlines and tabs.
pub fn clean(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => skip_sequence(&mut rest),
            '\r' => {
                // A lone carriage return rewrites a line in a terminal; here it begins one.
                if rest.peek() != Some(&'\n') {
                    kept.push('\n');
                }
            }
            '\n' | '\t' => kept.push(c),
            c if c.is_control() || is_invisible(c) => {}
            c => kept.push(c),
        }
    }
    kept
}

/// The beginning of `text`, at most `bytes_max` long, with a mark where it was cut.
pub fn clip(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.into();
    }
    let mut end = bytes_max.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut clipped = String::from(&text[..end]);
    clipped.push('…');
    clipped
}

/// The end of `text`, at most `bytes_max` long, from a line's beginning where there is one.
pub fn clip_end(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let mut start = text.len() - bytes_max;
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let tail = &text[start..];
    match tail.find('\n') {
        Some(line) if line + 1 < tail.len() => &tail[line + 1..],
        Some(_) | None => tail,
    }
}

fn skip_sequence(rest: &mut core::iter::Peekable<core::str::Chars<'_>>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_past(rest, |c| ('@'..='~').contains(&c));
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.next();
            skip_past(rest, |c| c == '\u{7}' || c == '\u{1b}' || c == '\u{9c}');
            // ESC \ closes a string; its backslash goes with it.
            if rest.peek() == Some(&'\\') {
                rest.next();
            }
        }
        Some(_) => {
            rest.next();
        }
        None => {}
    }
}

fn skip_past(rest: &mut impl Iterator<Item = char>, last: impl Fn(char) -> bool) {
    for c in rest {
        if last(c) {
            break;
        }
    }
}

fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests;
