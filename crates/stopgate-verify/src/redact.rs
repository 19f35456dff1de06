//! Masks what looks like a key, a token or a password.
//!
//! What a check prints goes to a model, into the journal and into logs. A text is scanned once,
//! in one pass: known beginnings of keys, private keys, passwords in addresses, and values
//! without any order after a name that announces a secret.

use std::borrow::Cow;

const MASK: &str = "[masked]";
/// No word before `PRIVATE KEY` is longer.
const HEADER_BYTES_MAX: usize = 64;
/// No marked key is shorter, its mark included.
const KEY_BYTES_MIN: usize = 15;
/// No word or value is looked at further than this at once.
const RUN_BYTES_MAX: usize = 4096;
/// A value is judged by no more than this of it.
const VALUE_BYTES_MAX: usize = 128;
/// A value of fewer different letters is a word, not a secret.
const DISTINCT_MIN: usize = 6;

/// How a key that its maker marked begins, and how many letters follow at least.
const PREFIXES: [(&str, usize); 28] = [
    ("sk-", 16),
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("gldt-", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxe-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 30),
    ("dop_v1_", 30),
    ("SG.", 30),
    ("AGE-SECRET-KEY-", 20),
];

/// What the name of a secret has in it, and how many letters a value has at least.
const NAMES: [(&str, usize); 9] = [
    ("password", 6),
    ("passwd", 6),
    ("passphrase", 6),
    ("secret", 8),
    ("credential", 8),
    ("token", 12),
    ("api_key", 12),
    ("apikey", 12),
    ("key", 16),
];

/// The text with what looks like a secret masked.
pub fn redact(text: &str) -> Cow<'_, str> {
    let mut spans = Vec::new();
    private_keys(text, &mut spans);
    marked_keys(text, &mut spans);
    addresses(text, &mut spans);
    assignments(text, &mut spans);
    spans.retain(|(begin, end)| begin < end);
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    spans.sort_unstable();
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for (begin, end) in spans {
        if begin < done {
            // Two reasons for one place: the longer one counts.
            done = done.max(end);
            continue;
        }
        masked.push_str(&text[done..begin]);
        masked.push_str(MASK);
        done = end;
    }
    masked.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(masked)
}

/// `-----BEGIN … PRIVATE KEY-----` and all up to its end, also where the beginning was cut off.
fn private_keys(text: &str, spans: &mut Vec<(usize, usize)>) {
    const END: &str = "PRIVATE KEY-----";
    let mut from = 0;
    while let Some(at) = text[from..].find(END).map(|at| from + at) {
        let after = at + END.len();
        if let Some(line) = begin_of_end(text, at) {
            spans.push((key_lines_before(text, line), line));
            from = after;
        } else {
            let end = text[after..].find("-----END").map_or(text.len(), |end| after + end);
            spans.push((after, end));
            let rest = text[end..].find(END).map_or(text.len(), |rest| end + rest + END.len());
            from = rest.max(after);
        }
    }
}

/// Where `-----END RSA ` begins, if that is what stands before `at`.
fn begin_of_end(text: &str, at: usize) -> Option<usize> {
    let mut from = at.saturating_sub(HEADER_BYTES_MAX);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let dashes = from + text[from..at].rfind("-----")?;
    text[dashes..at].starts_with("-----END").then_some(dashes)
}

/// Where the lines of a key begin that end at `end`.
fn key_lines_before(text: &str, end: usize) -> usize {
    let mut begin = end;
    while begin > 0 {
        let line = text[..begin - 1].rfind('\n').map_or(0, |end| end + 1);
        let own = text[line..begin].trim();
        let is_key = !own.is_empty() && own.bytes().all(is_base64);
        if !is_key {
            break;
        }
        begin = line;
    }
    begin
}

/// Keys that their makers marked, and JSON web tokens.
fn marked_keys(text: &str, spans: &mut Vec<(usize, usize)>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let length = run(bytes, at, is_key_letter);
        if length == 0 {
            at += 1;
            continue;
        }
        let word = &text[at..at + length];
        let begin = if length < KEY_BYTES_MIN { None } else { marked(word) };
        if let Some(begin) = begin {
            spans.push((at + begin, at + length));
        }
        at += length;
    }
}

/// Where what is to be masked begins in a word.
fn marked(word: &str) -> Option<usize> {
    for (prefix, least) in PREFIXES {
        let begins = |at: usize| at == 0 || !word.as_bytes()[at - 1].is_ascii_alphanumeric();
        let found = word.match_indices(prefix).map(|(at, _)| at).find(|at| begins(*at));
        let rest = found.map(|at| at + prefix.len());
        if let Some(rest) = rest.filter(|rest| word.len() - rest >= least) {
            return Some(rest);
        }
    }
    let at = word.find("eyJ")?;
    let parts: Vec<&str> = word[at..].splitn(3, '.').collect();
    let is_token = parts.len() == 3 && parts.iter().all(|part| part.len() >= 8);
    is_token.then_some(at + 3)
}

/// `scheme://name:password@host`.
fn addresses(text: &str, spans: &mut Vec<(usize, usize)>) {
    for (at, _) in text.match_indices("://") {
        let begin = at + 3;
        let rest = &text[begin..];
        let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '"' | '\'' | '<' | '>');
        let host = rest.find(ends).map_or(rest, |end| &rest[..end]);
        let Some((person, _)) = host.rsplit_once('@') else { continue };
        if let Some((name, password)) = person.split_once(':').filter(|(_, p)| !p.is_empty()) {
            let from = begin + name.len() + 1;
            spans.push((from, from + password.len()));
        }
    }
}

/// `name=value` and `name: value`, where the name announces a secret and the value looks like one.
fn assignments(text: &str, spans: &mut Vec<(usize, usize)>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(sign) = bytes[at..].iter().position(|byte| matches!(byte, b'=' | b':')) {
        let sign = at + sign;
        at = sign + 1;
        let Some(least) = announced(text, sign) else { continue };
        let begin = value_after(text, sign + 1);
        let seen = run_up_to(bytes, begin, VALUE_BYTES_MAX, is_value_letter);
        if looks_secret(&bytes[begin..begin + seen], least) {
            at = begin + run_up_to(bytes, begin, usize::MAX, is_value_letter);
            spans.push((begin, at));
        }
    }
}

/// How long a secret is at least that the name before `sign` announces, if it does.
fn announced(text: &str, sign: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let end = sign - run_back(bytes, sign, |b| matches!(b, b' ' | b'"' | b'\''));
    let length = run_back(bytes, end, |b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
    if length == 0 {
        return None;
    }
    let name = text[end - length..end].to_ascii_lowercase().replace('-', "_");
    if name.ends_with("authorization") {
        return Some(16);
    }
    NAMES.iter().find(|(part, _)| name.contains(part)).map(|(_, least)| *least)
}

/// Where the value begins that follows at `from`.
fn value_after(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut begin = from + run(bytes, from, |b| matches!(b, b' ' | b'"' | b'\'' | b'='));
    for word in ["Bearer ", "Basic ", "bearer ", "basic "] {
        begin += if text[begin..].starts_with(word) { word.len() } else { 0 };
    }
    begin
}

fn is_value_letter(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"',;)(<>{}[]`&".contains(&byte)
}

/// Whether a value has too little order for a word.
fn looks_secret(value: &[u8], least: usize) -> bool {
    let mut seen = [false; 128];
    for byte in value {
        seen[usize::from(*byte) & 127] = true;
    }
    let distinct = seen.iter().filter(|is_there| **is_there).count();
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    // Short values are passwords that people chose: those have a digit or a sign in them.
    let is_odd = mixed || (has(u8::is_ascii_punctuation) && least <= 8);
    value.len() >= least && distinct >= DISTINCT_MIN.min(least) && is_odd
}

fn is_key_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

const fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// How many bytes from `at` on are such.
fn run(bytes: &[u8], at: usize, is: impl Fn(u8) -> bool) -> usize {
    run_up_to(bytes, at, RUN_BYTES_MAX, is)
}

fn run_up_to(bytes: &[u8], at: usize, max: usize, is: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take(max).take_while(|byte| is(**byte)).count()
}

/// How many bytes before `at` are such.
fn run_back(bytes: &[u8], at: usize, is: impl Fn(u8) -> bool) -> usize {
    bytes[..at].iter().rev().take(RUN_BYTES_MAX).take_while(|byte| is(**byte)).count()
}

#[cfg(test)]
mod tests;
