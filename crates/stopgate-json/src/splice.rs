//! Putting one item into a JSON text, and taking it out again.
//!
//! Only the item, its comma and its line change: comments, order, blank lines
//! and indentation of everything else stay byte for byte, and taking out what
//! was put in gives the text from before.

use jsonc_parser::ast::{Array, Object};
use jsonc_parser::common::{Range, Ranged};

use crate::layout::{JsonLayout, PrintJson};

#[cfg(test)]
mod tests;

type Span = std::ops::Range<usize>;

/// An object or a list as a place for items.
#[derive(Clone, Debug)]
pub struct JsonBracket {
    /// Where its opening bracket stands.
    open: usize,
    /// Where its closing bracket stands.
    close: usize,
    /// Its members or elements.
    pub items: Vec<Range>,
}

impl From<&Object<'_>> for JsonBracket {
    fn from(object: &Object<'_>) -> Self {
        let items = object.properties.iter().map(Ranged::range).collect();
        Self::new(object.range, items)
    }
}

impl From<&Array<'_>> for JsonBracket {
    fn from(list: &Array<'_>) -> Self {
        let items = list.elements.iter().map(Ranged::range).collect();
        Self::new(list.range, items)
    }
}

impl JsonBracket {
    fn new(range: Range, items: Vec<Range>) -> Self {
        Self { open: range.start, close: range.end - 1, items }
    }
}

/// What is put into a bracket.
#[derive(Debug)]
pub enum JsonItem<'a, V> {
    /// An element of a list.
    Element(&'a V),
    /// A member of an object.
    Member(&'a str, &'a V),
}

impl<V: PrintJson> JsonItem<'_, V> {
    fn print(&self, layout: &JsonLayout) -> String {
        match self {
            Self::Element(value) => value.print(layout),
            Self::Member(key, value) => value.print_as(key, layout),
        }
    }
}

/// Puts an item behind the last one.
pub fn append(text: &str, bracket: &JsonBracket, item: &JsonItem<'_, impl PrintJson>) -> String {
    match bracket.items.last() {
        Some(last) => append_after(text, bracket, *last, item),
        None => fill(text, bracket, item),
    }
}

/// Takes an item out, with its comma and its line.
pub fn remove(text: &str, bracket: &JsonBracket, index: usize) -> String {
    let Some(item) = bracket.items.get(index) else {
        return text.into();
    };
    let before = index.checked_sub(1).and_then(|index| bracket.items.get(index));
    let next = bracket.items.get(index + 1);
    let own_comma = comma(text, item.end, next.map_or(bracket.close, |next| next.start));
    let last_comma = before.and_then(|before| comma(text, before.end, item.start));
    let floor = last_comma.unwrap_or(bracket.open) + 1;
    let lead = lead(text, floor, item.start);
    let end = own_comma.map_or(item.end, |comma| comma + 1);
    let blanks = end..end + blanks(&text[end..bracket.close]);
    match (own_comma, last_comma) {
        (Some(own), _) if next.is_some() && stays(text, lead..item.start, blanks.end) => {
            without(text, &[item.start..item.end, own..blanks.end])
        }
        (Some(own), _) => {
            // A comment between the item and its comma stays, too.
            let is_bare = text[item.end..own].trim().is_empty();
            let rest = if is_bare { end } else { item.end };
            let start = if swallows(text, floor..lead, rest) { item.start } else { lead };
            without(text, &[start..item.end, own..own + 1])
        }
        (None, last) => {
            let last = last.map_or(floor..floor, |comma| comma..comma + 1);
            let own = if swallows(text, floor..lead, end) {
                item.start..blanks.end
            } else {
                lead..item.end
            };
            without_lonely(text, bracket, &[last, own])
        }
    }
}

/// Writes another value in the place of this one, in the same layout.
pub fn replace(text: &str, old: Range, new: &impl PrintJson) -> String {
    let layout = if text[old.start..old.end].contains('\n') {
        lines(text, line_indent(text, old.start).into())
    } else {
        JsonLayout::Line
    };
    format!("{}{}{}", &text[..old.start], new.print(&layout), &text[old.end..])
}

fn append_after(
    text: &str,
    bracket: &JsonBracket,
    last: Range,
    item: &JsonItem<'_, impl PrintJson>,
) -> String {
    let trailing = comma(text, last.end, bracket.close);
    let after = trailing.map_or(last.end, |comma| comma + 1);
    let (between, behind) = if trailing.is_some() { ("", ",") } else { (",", "") };
    if text[bracket.open..bracket.close].contains('\n') {
        let layout = lines(text, item_indent(text, bracket, last));
        let tail = after + line_tail(&text[after..bracket.close]);
        let item = format!("{}{}", layout.lead(), item.print(&layout));
        let (head, rest) = (&text[..last.end], &text[tail..]);
        return format!("{head}{between}{}{item}{behind}{rest}", &text[last.end..tail]);
    }
    let end = bracket.open + text[bracket.open..bracket.close].trim_end().len();
    let item = item.print(&JsonLayout::Line);
    format!("{}{between} {item}{behind}{}", &text[..end], &text[end..])
}

/// Puts the first item into a bracket without any.
fn fill<V: PrintJson>(text: &str, bracket: &JsonBracket, item: &JsonItem<'_, V>) -> String {
    let inner = &text[bracket.open + 1..bracket.close];
    let comments = inner.trim_end();
    let end = bracket.open + 1 + comments.len();
    let is_inline = !inner.contains('\n');
    let is_annotated = is_inline && !comments.is_empty();
    let stays = is_inline && !V::OPENS || !text.trim().contains('\n');
    if is_annotated || bracket.open > 0 && stays {
        let space = if comments.is_empty() { "" } else { " " };
        let item = item.print(&JsonLayout::Line);
        return format!("{}{space}{item}{}", &text[..end], &text[end..]);
    }
    let outer = lines(text, line_indent(text, bracket.open).into());
    let layout = outer.deeper();
    let item = format!("{}{}", layout.lead(), item.print(&layout));
    if comments.is_empty() {
        return format!("{}{item}{}{}", &text[..end], outer.lead(), &text[bracket.close..]);
    }
    format!("{}{item}{}", &text[..end], &text[end..])
}

/// Whether the next item takes the place of one that began like this: it was the
/// first one on its line, or in its bracket, and the line goes on behind it.
fn stays(text: &str, lead: Span, rest: usize) -> bool {
    let first = text[lead.clone()].contains('\n') || text[..lead.start].ends_with(['{', '[']);
    first && !is_line_end(&text[rest..])
}

/// Whether a comment before the item would swallow what follows it, without the
/// line break between them.
fn swallows(text: &str, before: Span, rest: usize) -> bool {
    ends_in_line_comment(&text[before]) && !is_line_end(&text[rest..])
}

/// Whether what stands between two items ends within a line comment.
fn ends_in_line_comment(between: &str) -> bool {
    let mut at = 0;
    while let Some(letter) = between[at..].chars().next() {
        let length = comment(&between[at..]);
        if between[at..].starts_with("//") && length == Some(between.len() - at) {
            return true;
        }
        at += length.unwrap_or(letter.len_utf8());
    }
    false
}

fn is_line_end(text: &str) -> bool {
    let rest = &text[blanks(text)..];
    rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n")
}

/// Takes out these parts; white space that is left alone in its bracket goes too.
fn without_lonely(text: &str, bracket: &JsonBracket, parts: &[Span; 2]) -> String {
    let inner = bracket.open + 1..bracket.close;
    let [first, second] = parts;
    let left = [inner.start..first.start, first.end..second.start, second.end..inner.end];
    if left.into_iter().all(|part| text[part].trim().is_empty()) {
        return without(text, &[inner]);
    }
    without(text, parts)
}

/// The text without these parts, which must be in order and apart.
fn without(text: &str, parts: &[Span]) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut from = 0;
    for part in parts {
        kept.push_str(&text[from..part.start]);
        from = part.end;
    }
    kept.push_str(&text[from..]);
    kept
}

/// Where the comma stands in what separates two items, comments aside.
fn comma(text: &str, from: usize, to: usize) -> Option<usize> {
    let mut at = from;
    while at < to {
        let rest = &text[at..to];
        if rest.starts_with(',') {
            return Some(at);
        }
        at += comment(rest).or_else(|| rest.chars().next().map(char::len_utf8))?;
    }
    None
}

/// The length of the comment that a text begins with.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let body = text.strip_prefix("/*")?;
    Some(body.find("*/").map_or(text.len(), |end| end + 4))
}

/// How far the comments go that stand behind an item on its line.
fn line_tail(text: &str) -> usize {
    let mut tail = 0;
    loop {
        let start = tail + blanks(&text[tail..]);
        match comment(&text[start..]) {
            Some(length) if !text[start..start + length].contains('\n') => tail = start + length,
            _ => return without_return(&text[..tail]),
        }
    }
}

/// A line comment ends before the carriage return of its line.
fn without_return(text: &str) -> usize {
    text.strip_suffix('\r').unwrap_or(text).len()
}

/// Where the white space begins that belongs to the item at `start`: its own
/// line's break and indentation, or the blanks in front of it.
fn lead(text: &str, floor: usize, start: usize) -> usize {
    let before = &text[floor..start];
    let trimmed = before.trim_end_matches([' ', '\t']);
    match trimmed.strip_suffix('\n') {
        Some(line) => floor + without_return(line),
        None => floor + trimmed.len(),
    }
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

fn lines(text: &str, indent: String) -> JsonLayout {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    JsonLayout::Lines { newline, unit: unit(text), indent }
}

/// One step of indentation: that of the first line that has any.
fn unit(text: &str) -> String {
    let indents = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let indent = indents.map(|line| &line[..blanks(line)]).find(|indent| !indent.is_empty());
    indent.unwrap_or("  ").into()
}

/// The indentation of a bracket's items, after its last one.
fn item_indent(text: &str, bracket: &JsonBracket, last: Range) -> String {
    let line_start = text[..last.start].rfind('\n').map_or(0, |newline| newline + 1);
    if text[line_start..last.start].trim().is_empty() {
        return text[line_start..last.start].into();
    }
    format!("{}{}", line_indent(text, bracket.open), unit(text))
}

fn line_indent(text: &str, at: usize) -> &str {
    let line_start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[line_start..at];
    &line[..blanks(line)]
}
