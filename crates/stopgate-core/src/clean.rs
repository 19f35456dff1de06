//! Makes foreign text fit to be shown: to a model, in a terminal, in a log.

use alloc::string::String;
use core::iter::Peekable;
use core::str::Chars;

type Rest<'a> = Peekable<Chars<'a>>;

/// Strips terminal sequences, control characters and bidi overrides; keeps newlines and tabs.
pub fn clean(text: &str) -> String {
    if text.bytes().all(is_plain) {
        return text.into();
    }
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

/// Most text has nothing to strip, and is copied as a whole.
const fn is_plain(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\t' | b' '..=b'~')
}

/// The beginning of `text`, at most `bytes_max` long, with a mark where it was cut.
pub fn clip(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.into();
    }
    let Some(mut end) = bytes_max.checked_sub('…'.len_utf8()) else {
        return String::new();
    };
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

/// Skips what follows an escape; what does not belong to the sequence stays.
fn skip_sequence(rest: &mut Rest<'_>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_while(rest, |c| (' '..='?').contains(&c));
            rest.next_if(|c| ('@'..='~').contains(c));
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            // A string ends with a bell or a terminator; one that never does, with its line.
            skip_while(rest, |c| !matches!(c, '\u{7}' | '\u{9c}' | '\u{1b}' | '\n' | '\r'));
            rest.next_if(|c| matches!(c, '\u{7}' | '\u{9c}'));
        }
        Some(' '..='/') => {
            skip_while(rest, |c| (' '..='/').contains(&c));
            rest.next_if(|c| ('0'..='~').contains(c));
        }
        Some('0'..='~') => {
            rest.next();
        }
        Some(_) | None => {}
    }
}

fn skip_while(rest: &mut Rest<'_>, belongs: impl Fn(char) -> bool) {
    while rest.next_if(|c| belongs(*c)).is_some() {}
}

fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
pub(crate) mod tests;
