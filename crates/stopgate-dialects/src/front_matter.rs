//! A file that opens with fields between two `---` lines, edited in place.
//!
//! An edit touches one value: comments, other fields, quotes elsewhere, line ends and the
//! body stay byte for byte. Only plain `name: value` lines at column 0 are fields; whatever
//! else stands there belongs to another tool and is left alone.

use core::ops::Range;

/// What sets a value off from its name, and a comment from its value.
const BLANKS: [char; 2] = [' ', '\t'];

/// A file's fields and its body.
#[derive(Clone, Debug)]
pub struct FrontMatter<'a> {
    text: &'a str,
    fields: Vec<Field<'a>>,
    /// Where the closing line begins.
    closing: usize,
    body: usize,
}

#[derive(Clone, Debug)]
struct Field<'a> {
    name: &'a str,
    /// The value without blanks and comment.
    value: Range<usize>,
}

impl<'a> FrontMatter<'a> {
    /// Reads a text; nothing where it does not open with fields between two lines of dashes.
    pub fn read(text: &'a str) -> Option<Self> {
        let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut at = start + dashes(text.get(start..)?)?;
        let mut fields = Vec::new();
        while at < text.len() {
            let line = line(&text[at..]);
            if dashes(line).is_some() {
                return Some(Self { text, fields, closing: at, body: at + line.len() });
            }
            fields.extend(field(text, at, line));
            at += line.len();
        }
        None
    }

    /// A field's value as it is meant: without quotes. The first one, where several have the name.
    pub fn value(&self, name: &str) -> Option<String> {
        let field = self.fields.iter().find(|field| field.name == name)?;
        Some(unquoted(&self.text[field.value.clone()]))
    }

    /// What stands below the fields.
    pub fn body(&self) -> &'a str {
        &self.text[self.body..]
    }

    /// The text with one value changed; a field that is missing is added as the last one.
    pub fn with(&self, name: &str, value: &str) -> String {
        let (range, mut new) = match self.fields.iter().find(|field| field.name == name) {
            // A value that touches the colon would make the line no field at all.
            Some(field) if self.text[..field.value.start].ends_with(':') => {
                (field.value.clone(), format!(" {value}"))
            }
            Some(field) => (field.value.clone(), value.into()),
            None => {
                let end = if self.text[..self.closing].ends_with("\r\n") { "\r\n" } else { "\n" };
                (self.closing..self.closing, format!("{name}: {value}{end}"))
            }
        };
        let rest = &self.text[range.end..];
        // A comment may touch a closing quote; it would become part of a value without quotes.
        if rest.starts_with('#') {
            new.push(' ');
        }
        format!("{}{new}{rest}", &self.text[..range.start])
    }
}

/// A value as it is written between quotes, where it could be taken for something else.
pub fn quoted(value: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '/');
    let edges = value.starts_with([' ', '-']) || value.ends_with(' ');
    let words = ["", "null", "true", "false", "~"];
    if value.chars().all(plain) && !edges && !words.contains(&value) {
        return value.into();
    }
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

/// Changes several values, one after the other.
pub fn edited(text: &str, changes: &[(&str, String)]) -> Option<String> {
    let mut text = text.to_string();
    for (name, value) in changes {
        text = FrontMatter::read(&text)?.with(name, value);
    }
    Some(text)
}

/// The length of a line of three dashes at the beginning, its end included.
fn dashes(text: &str) -> Option<usize> {
    let line = line(text);
    let bare = line.strip_prefix("---")?;
    bare.trim_matches([' ', '\t', '\r', '\n']).is_empty().then_some(line.len())
}

/// The first line, its end included.
fn line(text: &str) -> &str {
    text.find('\n').map_or(text, |end| &text[..=end])
}

fn field<'a>(text: &'a str, at: usize, line: &'a str) -> Option<Field<'a>> {
    let (name, rest) = line.split_once(':')?;
    let is_name = !name.is_empty() && !name.starts_with([' ', '\t', '#', '-', '"', '\'']);
    // `http://…` is not a field; a value is set off by a blank or stands on no line at all.
    let is_set_off = rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']);
    if !is_name || !is_set_off {
        return None;
    }
    let after = at + name.len() + 1;
    let blanks = rest.len() - rest.trim_start_matches(BLANKS).len();
    let value = &text[after + blanks..at + line.len()];
    let length = value_length(value);
    let start = if length == 0 { after } else { after + blanks };
    Some(Field { name: name.trim_end(), value: start..start + length })
}

/// How long the value is, without trailing blanks and a comment.
fn value_length(value: &str) -> usize {
    let end = match value.chars().next() {
        // What goes on behind its closing quote is not a quoted value.
        Some(quote @ ('"' | '\'')) => closing_quote(value, quote).filter(|end| {
            let rest = &value[*end..];
            rest.trim().is_empty() || rest.trim_start_matches(BLANKS).starts_with('#')
        }),
        Some(_) | None => None,
    };
    let bare = match end {
        Some(end) => &value[..end],
        None if value.starts_with('#') => "",
        None => comment(value).map_or(value, |hash| &value[..hash]),
    };
    bare.trim_end().len()
}

/// Where the first `#` stands that a blank sets off.
fn comment(value: &str) -> Option<usize> {
    let mut hashes = value.match_indices('#').map(|(at, _)| at);
    hashes.find(|at| value[..*at].ends_with(BLANKS))
}

/// The end of a quoted value, its closing quote included.
fn closing_quote(value: &str, quote: char) -> Option<usize> {
    let mut letters = value.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        // `\"` between double quotes, and `''` between single ones, does not end it.
        let escapes =
            if quote == '"' { letter == '\\' } else { letter == quote && next == Some(quote) };
        if escapes {
            letters.next();
        } else if letter == quote {
            return Some(at + 1);
        }
    }
    None
}

fn unquoted(value: &str) -> String {
    let inner = |quote: char| {
        let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
        (value.len() >= 2).then_some(inner)
    };
    if let Some(inner) = inner('\'') {
        return inner.replace("''", "'");
    }
    let Some(inner) = inner('"') else { return value.into() };
    let mut text = String::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (_, true) => match letters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some(other) => text.push(other),
                None => text.push('\\'),
            },
            (letter, false) => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
