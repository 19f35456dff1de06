//! Putting one item into a JSON text, and taking one out.
//!
//! Only the item, its comma and its line change. A comment is never lost, and never comes
//! to swallow what stands behind it.

use jsonc_parser::ast::{Array, Object};
use jsonc_parser::common::{Range, Ranged};
use serde_json::Value;

use super::print::{Layout, print, print_as};

/// An object or a list as a place for items.
pub(super) struct Bracket {
    open: usize,
    close: usize,
    items: Vec<Range>,
}

impl From<&Object<'_>> for Bracket {
    fn from(object: &Object<'_>) -> Self {
        Self::new(object.range, object.properties.iter().map(Ranged::range).collect())
    }
}

impl From<&Array<'_>> for Bracket {
    fn from(list: &Array<'_>) -> Self {
        Self::new(list.range, list.elements.iter().map(Ranged::range).collect())
    }
}

impl Bracket {
    fn new(range: Range, items: Vec<Range>) -> Self {
        Self { open: range.start, close: range.end - 1, items }
    }
}

/// What is put into a bracket.
pub(super) enum Item<'a> {
    Element(&'a Value),
    Member(&'a str, &'a Value),
}

impl Item<'_> {
    fn print(&self, layout: &Layout) -> String {
        match self {
            Self::Element(value) => print(value, layout),
            Self::Member(key, value) => print_as(key, value, layout),
        }
    }
}

/// Writes another value in the place of this one, in the same layout.
pub(super) fn replace(text: &str, old: Range, new: &Value) -> String {
    let layout = if text[old.start..old.end].contains('\n') {
        lines(text, line_indent(text, old.start).into())
    } else {
        Layout::Line
    };
    format!("{}{}{}", &text[..old.start], print(new, &layout), &text[old.end..])
}

/// Puts an item behind the last one.
pub(super) fn append(text: &str, bracket: &Bracket, item: &Item<'_>) -> String {
    match bracket.items.last() {
        Some(last) => append_after(text, bracket, *last, item),
        None => fill(text, bracket, item),
    }
}

fn append_after(text: &str, bracket: &Bracket, last: Range, item: &Item<'_>) -> String {
    let trailing = comma(text, last.end, bracket.close);
    let after = trailing.map_or(last.end, |comma| comma + 1);
    let (between, behind) = if trailing.is_some() { ("", ",") } else { (",", "") };
    let head = &text[..last.end];
    if !text[bracket.open..bracket.close].contains('\n') {
        let item = item.print(&Layout::Line);
        let rest = &text[after..];
        return format!("{head}{between}{} {item}{behind}{rest}", &text[last.end..after]);
    }
    let layout = lines(text, item_indent(text, bracket, last));
    let tail = after + line_tail(&text[after..bracket.close]);
    let (kept, rest) = (&text[last.end..tail], &text[tail..]);
    format!("{head}{between}{kept}{}{}{behind}{rest}", layout.lead(), item.print(&layout))
}

/// Puts the first item into a bracket without any.
fn fill(text: &str, bracket: &Bracket, item: &Item<'_>) -> String {
    let inner = &text[bracket.open + 1..bracket.close];
    let end = bracket.open + 1 + inner.trim_end().len();
    if bracket.open > 0 && !inner.contains('\n') {
        let space = if inner.trim().is_empty() { "" } else { " " };
        return format!("{}{space}{}{}", &text[..end], item.print(&Layout::Line), &text[end..]);
    }
    let outer = lines(text, line_indent(text, bracket.open).into());
    let layout = outer.deeper();
    let item = format!("{}{}", layout.lead(), item.print(&layout));
    format!("{}{item}{}{}", &text[..end], outer.lead(), &text[bracket.close..])
}

/// Takes an item out, with its comma, and its line where nothing else stands on it.
pub(super) fn remove(text: &str, bracket: &Bracket, index: usize) -> String {
    let Some(item) = bracket.items.get(index) else {
        return text.into();
    };
    let next = bracket.items.get(index + 1);
    let before = index.checked_sub(1).and_then(|before| bracket.items.get(before));
    let own_comma = comma(text, item.end, next.map_or(bracket.close, |next| next.start));
    // The last of several without a comma of its own takes the one before it along.
    let lost_comma = match (own_comma, before) {
        (None, Some(before)) => comma(text, before.end, item.start),
        (Some(_), _) | (None, None) => None,
    };
    let head = match lost_comma {
        Some(comma) => format!("{}{}", &text[..comma], &text[comma + 1..item.start]),
        None => text[..item.start].into(),
    };
    let rest = match own_comma {
        Some(comma) => format!("{}{}", &text[item.end..comma], &text[comma + 1..]),
        None => text[item.end..].into(),
    };
    join(&head, &rest)
}

/// Joins what stood before and behind an item, without the white space that was its own.
fn join(head: &str, rest: &str) -> String {
    let lead = head.trim_end_matches([' ', '\t']);
    let tail = rest.trim_start_matches([' ', '\t']);
    let alone = lead.ends_with('\n') && (tail.starts_with('\n') || tail.starts_with("\r\n"));
    if alone {
        let lead = lead.strip_suffix('\n').unwrap_or(lead);
        return format!("{}{tail}", lead.strip_suffix('\r').unwrap_or(lead));
    }
    let closes = tail.starts_with([']', '}']);
    if closes && !lead.ends_with('\n') {
        return format!("{lead}{}", if lead.ends_with(['[', '{']) { tail } else { rest });
    }
    format!("{head}{tail}")
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
            _ => return text[..tail].strip_suffix('\r').map_or(tail, str::len),
        }
    }
}

fn lines(text: &str, indent: String) -> Layout {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    Layout::Lines { newline, unit: unit(text), indent }
}

/// One step of indentation: that of the first line that has any.
fn unit(text: &str) -> String {
    let indents = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let indent = indents.map(|line| &line[..blanks(line)]).find(|indent| !indent.is_empty());
    indent.unwrap_or("  ").into()
}

/// The indentation of a bracket's items, after its last one.
fn item_indent(text: &str, bracket: &Bracket, last: Range) -> String {
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

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}
