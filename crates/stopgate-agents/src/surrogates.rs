//! Halves of characters, made harmless.
//!
//! A client written in JavaScript may cut a text in the middle of a character
//! and then send one half of it (`\ud83d`) as JSON. That is not Unicode text, so
//! a strict reader refuses the whole payload for the sake of one emoji. Here
//! such halves become the replacement character; nothing else changes.

#[cfg(test)]
mod tests;

const REPLACEMENT: &[u8] = b"fffd";

/// The same JSON without lone surrogates, or nothing if it holds none.
pub(crate) fn replace_lone_surrogates(json: &str) -> Option<String> {
    let mut repaired = json.as_bytes().to_vec();
    let mut changed = false;
    let mut at = 0;
    while let Some(&byte) = repaired.get(at) {
        at += match escape(&repaired[at..]) {
            Escape::Lone => {
                repaired[at + 2..at + 6].copy_from_slice(REPLACEMENT);
                changed = true;
                6
            }
            Escape::Pair => 12,
            Escape::Plain => 1 + usize::from(byte == b'\\'),
        };
    }
    if changed { String::from_utf8(repaired).ok() } else { None }
}

enum Escape {
    Lone,
    Pair,
    Plain,
}

fn escape(bytes: &[u8]) -> Escape {
    match unit(bytes) {
        Some(0xd800..=0xdbff) => match bytes.get(6..).and_then(unit) {
            Some(0xdc00..=0xdfff) => Escape::Pair,
            _ => Escape::Lone,
        },
        Some(0xdc00..=0xdfff) => Escape::Lone,
        _ => Escape::Plain,
    }
}

/// The value of a `\uXXXX` that stands at the beginning.
fn unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    digits.iter().try_fold(0, |value, &digit| {
        let digit = char::from(digit).to_digit(16)?;
        Some(value << 4 | u16::try_from(digit).ok()?)
    })
}
