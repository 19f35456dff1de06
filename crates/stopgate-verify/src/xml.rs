//! The tags of an XML document, one after the other.
//!
//! Knows elements and attributes, which is all that reports need: no namespaces, no
//! entities beyond the usual five and numbers, no document types. Never fails: what is
//! not well-formed ends the list early, and [`Tags::is_sound`] says so.

use std::borrow::Cow;

/// `&#x10ffff;` is the longest that says something.
const ENTITY_BYTES_MAX: usize = 12;

/// One tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct XmlTag<'a> {
    /// The element's name, without a namespace.
    pub(crate) name: &'a str,
    /// What the tag does.
    pub(crate) role: Role,
    attributes: &'a str,
}

/// What a tag does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It begins an element.
    Open,
    /// It ends one.
    Close,
    /// It is a whole one.
    Empty,
}

/// The tags of a document, in order.
#[derive(Clone, Debug)]
pub(crate) struct Tags<'a> {
    rest: &'a str,
    depth: usize,
    broken: bool,
}

impl<'a> Tags<'a> {
    /// Begins to read a document.
    pub(crate) const fn new(document: &'a str) -> Self {
        Self { rest: document, depth: 0, broken: false }
    }

    /// Whether the document, now read to its end, had an end for every beginning.
    pub(crate) const fn is_sound(&self) -> bool {
        !self.broken && self.depth == 0
    }

    /// Skips up to and past `end`; a document without it is broken.
    fn skip_past(&mut self, end: &str) -> bool {
        if let Some(at) = self.rest.find(end) {
            self.rest = &self.rest[at + end.len()..];
            true
        } else {
            self.rest = "";
            self.broken = true;
            false
        }
    }

    /// Skips what stands before the next tag; comments and the like are not tags.
    fn skip_to_tag(&mut self) -> Option<()> {
        loop {
            let at = self.rest.find('<')?;
            self.rest = &self.rest[at + 1..];
            let found = if self.rest.starts_with("!--") {
                self.skip_past("-->")
            } else if self.rest.starts_with("![CDATA[") {
                self.skip_past("]]>")
            } else if self.rest.starts_with(['!', '?']) {
                self.skip_past(">")
            } else {
                return Some(());
            };
            if !found {
                return None;
            }
        }
    }
}

impl<'a> Iterator for Tags<'a> {
    type Item = XmlTag<'a>;

    fn next(&mut self) -> Option<XmlTag<'a>> {
        self.skip_to_tag()?;
        let Some(end) = end_of_tag(self.rest) else {
            self.broken = true;
            self.rest = "";
            return None;
        };
        let inside = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        let (role, inside) = match (inside.strip_prefix('/'), inside.strip_suffix('/')) {
            (Some(name), _) => (Role::Close, name),
            (None, Some(whole)) => (Role::Empty, whole),
            (None, None) => (Role::Open, inside),
        };
        match role {
            Role::Open => self.depth += 1,
            Role::Close if self.depth == 0 => self.broken = true,
            Role::Close => self.depth -= 1,
            Role::Empty => {}
        }
        let split = inside.find(char::is_whitespace).unwrap_or(inside.len());
        let (name, attributes) = inside.split_at(split);
        let name = name.rsplit(':').next().unwrap_or(name);
        Some(XmlTag { name, role, attributes })
    }
}

impl<'a> XmlTag<'a> {
    /// The value of one attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<Cow<'a, str>> {
        let mut rest = self.attributes.trim_start();
        while let Some((key, after)) = rest.split_once('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let (value, after) = after[1..].split_once(quote)?;
            if key.trim() == name {
                return Some(decoded(value));
            }
            rest = after.trim_start();
        }
        None
    }

    /// The value of one attribute that is a whole number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.attribute(name)?.trim().parse().ok()
    }
}

/// Where a tag ends: at the first `>` outside of quotes.
fn end_of_tag(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// A value with its entities replaced; unknown ones stay as they are.
fn decoded(value: &str) -> Cow<'_, str> {
    if !value.contains('&') {
        return Cow::Borrowed(value);
    }
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('&') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(ENTITY_BYTES_MAX).position(|byte| byte == b';');
        let known = end.and_then(|end| Some((entity(&rest[1..end])?, end)));
        let (character, end) = known.unwrap_or(('&', 0));
        text.push(character);
        rest = &rest[end + 1..];
    }
    text.push_str(rest);
    Cow::Owned(text)
}

fn entity(name: &str) -> Option<char> {
    let code = match name {
        "lt" => return Some('<'),
        "gt" => return Some('>'),
        "amp" => return Some('&'),
        "quot" => return Some('"'),
        "apos" => return Some('\''),
        _ => name.strip_prefix('#')?,
    };
    let number = match code.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => code.parse().ok()?,
    };
    char::from_u32(number)
}

#[cfg(test)]
mod tests;
