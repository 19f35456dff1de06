//! Names of people's things as names of files.

use std::borrow::Cow;

use stopgate_core::Digest;

/// A name that is safe as a file's name, and still the same name to a reader where it can be.
pub fn file_name(name: &str) -> Cow<'_, str> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if !name.is_empty() && name.len() <= 80 && name.bytes().all(plain) {
        return Cow::Borrowed(name);
    }
    let letter = |c: char| if c.is_ascii() && plain(c as u8) { c } else { '-' };
    let kept: String = name.chars().map(letter).take(40).collect();
    Cow::Owned(format!("{kept}.{:016x}", Digest::new().part(name.as_bytes()).value()))
}
