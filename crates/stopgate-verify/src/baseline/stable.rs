//! A line of output without what changes from run to run.
//!
//! Times, addresses, the directory that the check ran in, temporary paths, process ids and
//! the numbers of lines go; every other digit stays, because `2 errors` are not `3 errors`.

use std::borrow::Cow;
use std::path::Path;

/// What a line is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A compiler's or linter's error, without what changes.
    Error(String),
    /// Anything else that says something.
    Other(String),
    /// What says nothing about failures.
    Noise,
}

/// What build tools say about their own progress.
const PROGRESS: [&str; 23] = [
    "Compiling ",
    "Checking ",
    "Finished ",
    "Running ",
    "Downloading ",
    "Downloaded ",
    "Updating ",
    "Locking ",
    "Blocking ",
    "Fresh ",
    "Dirty ",
    "Building ",
    "Documenting ",
    "Doc-tests ",
    "Adding ",
    "Fetching ",
    "Resolving ",
    "Nextest run ID ",
    "Starting ",
    "npm warn ",
    "npm notice ",
    "PASS [",
    // A share: more code without findings raises it, and less lowers it.
    "Your code has been rated at ",
];

/// What cargo says after tests have failed: their names say it better.
const ECHOES: [&str; 3] = ["error: test failed", "error: doctest failed", "error: test run failed"];

/// Reads one line.
pub(super) fn line(line: &str) -> LineKind {
    let text = line.trim();
    let says_something = text.chars().any(char::is_alphanumeric);
    if !says_something || is_progress(text) {
        return LineKind::Noise;
    }
    let stable = stable(text);
    if !stable.chars().any(|c| c.is_alphanumeric() || c == '#') {
        return LineKind::Noise;
    }
    if is_error(line) { LineKind::Error(stable) } else { LineKind::Other(stable) }
}

fn is_progress(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_bad = ["fail", "error"].iter().any(|word| lower.contains(word));
    !is_bad && PROGRESS.iter().any(|begin| text.starts_with(begin))
}

/// The forms in which compilers and linters say `error`; tests print what they like, indented.
fn is_error(line: &str) -> bool {
    let text = line.trim();
    if ECHOES.iter().any(|echo| text.starts_with(echo)) || is_target_count(text) {
        return false;
    }
    let begins =
        ["error: ", "error[", "ERROR in ", "ERROR: ", "fatal error", "fatal: ", "FAIL Required "];
    let contains = [": error:", "error TS", "): error ", "coverage threshold"];
    begins.iter().any(|begin| line.starts_with(begin))
        || contains.iter().any(|part| text.contains(part))
        || is_finding(line)
        || is_eslint_error(text)
}

/// `error: 3 targets failed:`
fn is_target_count(text: &str) -> bool {
    text.starts_with("error: ")
        && (text.contains(" targets failed") || text.contains(" target failed"))
}

/// `src/a.py:3:5: E302 expected 2 blank lines`, at the line's beginning.
fn is_finding(line: &str) -> bool {
    let word = line.split(' ').next().unwrap_or_default();
    let place = word.strip_suffix(':').unwrap_or_default();
    let file = without_position(place);
    file.len() < place.len() && file.contains(['.', '/'])
}

/// `3:5  error  'x' is not defined  no-undef`
fn is_eslint_error(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let place = words.next().and_then(|place| place.split_once(':'));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    place.is_some_and(|(line, column)| is_number(line) && is_number(column))
        && words.next() == Some("error")
}

/// A text with paths as they are from `place`: `/home/me/demo/src/a.py` is `src/a.py`.
pub(super) fn without_place<'a>(text: &'a str, place: &Path) -> Cow<'a, str> {
    let Some(place) = place.to_str().map(|place| place.trim_end_matches('/')) else {
        return Cow::Borrowed(text);
    };
    if place.is_empty() || !text.contains(place) {
        return Cow::Borrowed(text);
    }
    let is_part = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(place) {
        let (before, after) = (&rest[..at], &rest[at + place.len()..]);
        plain.push_str(before);
        let goes_on = after.starts_with(is_part) || before.ends_with(is_part);
        if goes_on {
            plain.push_str(place);
            rest = after;
        } else if let Some(inside) = after.strip_prefix('/') {
            rest = inside;
        } else {
            plain.push('.');
            rest = after;
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// A line with `#` for each part that changes.
fn stable(text: &str) -> String {
    let text = without_number(without_gutter(text));
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let follows = words.last().is_some_and(|before| is_line_word(before));
        words.push(if follows { without_digits(word) } else { stable_word(word) });
    }
    let joined = without_durations(&words);
    joined.join(" ")
}

/// `line 12, in main`, `at line 3.`, `Ln 5, column 7`.
fn is_line_word(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    ["line", "lines", "column", "col"].iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// `#,` of `12,`; what is more than a number stays.
fn without_digits(word: &str) -> String {
    let core = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let is_number = !core.is_empty() && core.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if is_number { word.replacen(core, "#", 1) } else { stable_word(word) }
}

/// The number that `grep -n` puts before a line: `12:TODO`, and `src/a.py:12:TODO`.
fn without_number(text: &str) -> Cow<'_, str> {
    let mut from = 0;
    // A name may hold colons of its own; what stands behind a blank is the line's text.
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    while let Some(colon) = text[from..end].find(':').map(|at| from + at) {
        let field = &text[from..colon];
        if !field.is_empty() && field.bytes().all(|b| b.is_ascii_digit()) {
            // A second number is a clock's, a column or part of the text: words are read later.
            let after = text[colon + 1..].starts_with(|c: char| c.is_ascii_digit());
            if after {
                return Cow::Borrowed(text);
            }
            let name = &text[..from];
            return Cow::Owned(format!("{name}#:{}", &text[colon + 1..]));
        }
        if !field.contains(['.', '/']) && from > 0 {
            break;
        }
        from = colon + 1;
    }
    Cow::Borrowed(text)
}

/// `12 | let x = 1;`, and `12 + let x = 1;` of a suggestion, is a line of a source: its number moves.
fn without_gutter(text: &str) -> &str {
    let text = text.strip_prefix("> ").unwrap_or(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text[digits..].trim_start();
    let is_gutter = ["|", "- ", "+ ", "~ "].iter().any(|mark| rest.starts_with(mark));
    if digits > 0 && is_gutter { rest } else { text }
}

/// `1.5 s`, `12 ms`, `3 seconds` are two words.
fn without_durations(words: &[String]) -> Vec<&str> {
    const UNITS: [&str; 9] =
        ["s", "ms", "sec", "secs", "second", "seconds", "min", "minutes", "µs"];
    let mut kept: Vec<&str> = Vec::with_capacity(words.len());
    for word in words {
        let bare = word.trim_matches(['(', ')', '[', ']', ',', '.', ';']);
        let follows_number = kept.last().is_some_and(|before| {
            let before = before.trim_start_matches(['(', '[']);
            !before.is_empty() && before.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        });
        if UNITS.contains(&bare) && follows_number {
            kept.pop();
            kept.push("#");
        } else {
            kept.push(word);
        }
    }
    kept
}

fn stable_word(word: &str) -> String {
    let outer =
        |c: char| matches!(c, '(' | ')' | '[' | ']' | ',' | ';' | '"' | '\'' | '`' | '<' | '>');
    let core = word.trim_matches(outer);
    let start = word.find(core).unwrap_or(0);
    let (before, after) = (&word[..start], &word[start + core.len()..]);
    let core = if is_duration(core) || is_time(core) || is_address(core) {
        "#".into()
    } else {
        without_position(&without_temporary(core))
    };
    // rustc writes the thread's number: thread 'main' (17018) panicked at …
    let is_thread = before.ends_with('(') && after.starts_with(')');
    if is_thread && core.len() > 2 && core.bytes().all(|b| b.is_ascii_digit()) {
        return format!("{before}#{after}");
    }
    format!("{before}{core}{after}")
}

/// `0.12s`, `15ms`, `1m30s`, `1.5µs`.
fn is_duration(word: &str) -> bool {
    let word = word.strip_prefix('~').unwrap_or(word).trim_end_matches('.');
    let units = ["ms", "µs", "us", "ns", "s", "m", "h"];
    let mut rest = word;
    let mut seen = false;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let Some(unit) = units.iter().find(|unit| rest[digits..].starts_with(**unit)) else {
            return false;
        };
        if digits == 0 {
            return false;
        }
        rest = &rest[digits + unit.len()..];
        seen = true;
    }
    seen
}

/// `12:30:59`, `2026-01-05`, `2026-01-05T10:00:00Z`.
fn is_time(word: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_digit() || b"-:T.Z+,".contains(&b);
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_date = word.len() >= 10 && word.matches('-').count() >= 2;
    let is_clock = word.matches(':').count() == 2 && digits >= 5;
    digits >= 5 && word.bytes().all(allowed) && (is_date || is_clock)
}

/// `0x7ff385ac11d0`, and long hashes.
fn is_address(word: &str) -> bool {
    let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    if let Some(digits) = word.strip_prefix("0x") {
        return digits.len() >= 4 && hex(digits);
    }
    let plain = word.replace('-', "");
    plain.len() >= 16 && hex(&plain) && plain.bytes().any(|b| b.is_ascii_digit())
}

/// `/tmp/rustdoctestGbjToe/a.rs` is `/tmp/#/a.rs`, and so are numbered directories below.
fn without_temporary(word: &str) -> String {
    // The last is macOS's own name.
    let roots = ["/tmp/", "/var/tmp/", "/private/tmp/", "/dev/shm/", concat!("/var/fold", "ers/")];
    for root in roots {
        let Some(at) = word.find(root) else { continue };
        let is_start = at == 0 || !word[..at].ends_with(|c: char| c.is_alphanumeric() || c == '/');
        if is_start {
            let inside = &word[at + root.len()..];
            let end = inside.find('/').unwrap_or_else(|| end_of_name(inside));
            return format!("{}{root}#{}", &word[..at], without_numbered(&inside[end..]));
        }
    }
    word.into()
}

/// `/pytest-12/test_a0/x.log` is `/#/#/x.log`.
fn without_numbered(path: &str) -> String {
    let Some((directories, file)) = path.rsplit_once('/') else { return path.into() };
    let is_numbered = |part: &str| part.bytes().any(|b| b.is_ascii_digit());
    let parts = directories.split('/').map(|part| if is_numbered(part) { "#" } else { part });
    let parts: Vec<&str> = parts.collect();
    format!("{}/{file}", parts.join("/"))
}

fn end_of_name(text: &str) -> usize {
    text.find([':', ',', ')', '\'', '"']).unwrap_or(text.len())
}

/// `src/a.rs:5:9:` is `src/a.rs:`, `a.ts(3,5):` is `a.ts:`, and a bare `5:9` is `#`.
fn without_position(word: &str) -> String {
    let colon = word.ends_with(':');
    let mut rest = word.trim_end_matches(':');
    if let Some((name, place)) = rest.strip_suffix(')').and_then(|open| open.rsplit_once('(')) {
        let numbers = !place.is_empty() && place.bytes().all(|b| b.is_ascii_digit() || b == b',');
        if numbers && name.contains('.') {
            rest = name;
        }
    }
    let mut cut = false;
    while let Some((name, number)) = rest.rsplit_once(':') {
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit() || b == b'-') {
            break;
        }
        rest = name;
        cut = true;
    }
    if cut && rest.bytes().all(|b| b.is_ascii_digit()) {
        rest = "#";
    }
    if colon { format!("{rest}:") } else { rest.into() }
}

#[cfg(test)]
mod tests;
