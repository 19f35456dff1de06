//! Another tool's JSON file, read leniently and edited in place.
//!
//! Comments and trailing commas are accepted, for people write them. An edit touches the
//! value it names, its comma and its line: key order, comments, layout, line ends and
//! fields that nobody here knows stay byte for byte. Nothing is reformatted, ever.

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};
use serde_json::{Map, Value};
use stopgate_json::{COMMENTED_JSON, JsonBracket, JsonItem};

/// One step on the way to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStep<'a> {
    /// The member of an object with this name; the last one, where several have it.
    Key(&'a str),
    /// The element of a list at this index.
    At(usize),
}

/// Why a JSON text could not be read or edited.
#[derive(Debug, thiserror::Error)]
pub enum JsonTextError {
    /// It is not JSON.
    #[error("read it as JSON")]
    NotJson(#[source] jsonc_parser::errors::ParseError),
    /// It holds no value at all.
    #[error("read it as JSON: there is nothing in it")]
    Empty,
    /// An edit names an element that can't be there.
    #[error("find the {index}. element: the list has {count}")]
    NoElement {
        /// The index that was asked for.
        index: usize,
        /// How many elements there are.
        count: usize,
    },
    /// An edit names an element of something that is not a list.
    #[error("change an element of something that is not a list")]
    NoList,
}

/// A JSON text that was read.
#[derive(Debug)]
pub struct Document<'a> {
    root: ast::Value<'a>,
}

/// A value in a document.
#[derive(Clone, Copy, Debug)]
pub struct Node<'d>(&'d ast::Value<'d>);

impl<'a> Document<'a> {
    /// Reads a text.
    pub fn read(text: &'a str) -> Result<Self, JsonTextError> {
        Self::read_bare(without_bom(text).1)
    }

    /// The outermost value.
    pub fn root(&self) -> Node<'_> {
        Node(&self.root)
    }

    fn read_bare(text: &'a str) -> Result<Self, JsonTextError> {
        let parsed = parse_to_ast(text, &CollectOptions::default(), &COMMENTED_JSON);
        let parsed = parsed.map_err(JsonTextError::NotJson)?;
        parsed.value.map(|root| Self { root }).ok_or(JsonTextError::Empty)
    }
}

impl<'d> Node<'d> {
    /// The member of this name; the last one, where several have it.
    pub fn key(self, name: &str) -> Option<Self> {
        member(self.0, name)
    }

    /// The element at this index.
    pub fn at(self, index: usize) -> Option<Self> {
        self.0.as_array()?.elements.get(index).map(Node)
    }

    /// The elements of a list; none of anything else.
    pub fn elements(self) -> impl Iterator<Item = Self> {
        self.0.as_array().into_iter().flat_map(|list| list.elements.iter()).map(Node)
    }

    /// The members of an object in the file's order; none of anything else.
    pub fn members(self) -> impl Iterator<Item = (&'d str, Self)> {
        let members = self.0.as_object().into_iter().flat_map(|object| object.properties.iter());
        members.map(|member| (member.name.as_str(), Node(&member.value)))
    }

    /// A text's content.
    pub fn text(self) -> Option<&'d str> {
        self.0.as_string_lit().map(|text| &*text.value)
    }

    /// A truth value.
    pub fn flag(self) -> Option<bool> {
        self.0.as_boolean_lit().map(|flag| flag.value)
    }

    /// A number as it was written.
    pub fn number(self) -> Option<&'d str> {
        self.0.as_number_lit().map(|number| number.value)
    }

    /// A number that counts something: whole and not negative.
    pub fn count(self) -> Option<u64> {
        self.number()?.parse().ok()
    }

    /// A text's content or a number, for names that may be either.
    pub fn plain(self) -> Option<&'d str> {
        self.text().or_else(|| self.number())
    }

    /// Whether it is a list.
    pub fn is_list(self) -> bool {
        self.0.as_array().is_some()
    }

    /// Whether it is an object.
    pub fn is_object(self) -> bool {
        self.0.as_object().is_some()
    }

    /// The value without its place and layout.
    pub fn value(self) -> Value {
        value_of(self.0)
    }
}

/// Writes a value at the end of a path; a text that has it there already is unchanged.
///
/// Objects that are missing on the way are made, what stands in their place and is none is
/// replaced, and the index behind a list's last element adds one.
pub fn set(text: &str, path: &[PathStep<'_>], value: &Value) -> Result<String, JsonTextError> {
    let (bom, bare) = without_bom(text);
    let document = Document::read_bare(bare)?;
    let mut here = &document.root;
    for (at, step) in path.iter().enumerate() {
        let found = match step {
            PathStep::Key(name) => member(here, name).map(|node| node.0),
            PathStep::At(index) => element(here, *index)?,
        };
        let Some(found) = found else {
            let rest = nested(&path[at + 1..], value);
            return Ok(format!("{bom}{}", add(bare, here, *step, &rest)));
        };
        here = found;
    }
    if value_of(here) == *value {
        return Ok(text.into());
    }
    Ok(format!("{bom}{}", stopgate_json::replace(bare, here.range(), value)))
}

/// Adds a value behind the last element of the list at the end of a path; a list that is
/// missing is made.
pub fn push(text: &str, path: &[PathStep<'_>], value: &Value) -> Result<String, JsonTextError> {
    let document = Document::read(text)?;
    let count = find(&document, path).filter(|node| node.is_list()).map(|n| n.elements().count());
    let Some(count) = count else {
        return set(text, path, &Value::Array(vec![value.clone()]));
    };
    let mut path = path.to_vec();
    path.push(PathStep::At(count));
    set(text, &path, value)
}

/// Takes out the value at the end of a path, with its comma and its line; a text without
/// it is unchanged.
pub fn remove(text: &str, path: &[PathStep<'_>]) -> Result<String, JsonTextError> {
    let (bom, bare) = without_bom(text);
    let document = Document::read_bare(bare)?;
    let Some((end, way)) = path.split_last() else {
        return Ok(text.into());
    };
    let Some(parent) = find(&document, way) else {
        return Ok(text.into());
    };
    let place = match (end, parent.0) {
        (PathStep::Key(name), ast::Value::Object(object)) => {
            let index = object.properties.iter().rposition(|member| member.name.as_str() == *name);
            index.map(|index| (JsonBracket::from(object), index))
        }
        (PathStep::At(index), ast::Value::Array(list)) => {
            (*index < list.elements.len()).then(|| (JsonBracket::from(list), *index))
        }
        _other_kind => None,
    };
    Ok(match place {
        Some((bracket, index)) => format!("{bom}{}", stopgate_json::remove(bare, &bracket, index)),
        None => text.into(),
    })
}

/// The value at the end of a path.
pub fn find<'d>(document: &'d Document<'_>, path: &[PathStep<'_>]) -> Option<Node<'d>> {
    path.iter().try_fold(document.root(), |node, step| match step {
        PathStep::Key(name) => node.key(name),
        PathStep::At(index) => node.at(*index),
    })
}

fn without_bom(text: &str) -> (&'static str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |bare| ("\u{feff}", bare))
}

fn member<'d>(value: &'d ast::Value<'d>, name: &str) -> Option<Node<'d>> {
    let members = &value.as_object()?.properties;
    members.iter().rev().find(|member| member.name.as_str() == name).map(|m| Node(&m.value))
}

fn element<'d>(
    value: &'d ast::Value<'d>,
    index: usize,
) -> Result<Option<&'d ast::Value<'d>>, JsonTextError> {
    let list = value.as_array().ok_or(JsonTextError::NoList)?;
    let count = list.elements.len();
    if index > count {
        return Err(JsonTextError::NoElement { index, count });
    }
    Ok(list.elements.get(index))
}

/// The value that the rest of a path and its end make.
fn nested<'v>(path: &[PathStep<'_>], value: &'v Value) -> Cow<'v, Value> {
    path.iter().rev().fold(Cow::Borrowed(value), |inner, step| {
        let inner = inner.into_owned();
        Cow::Owned(match step {
            PathStep::Key(name) => Value::Object(Map::from_iter([((*name).to_string(), inner)])),
            PathStep::At(_) => Value::Array(vec![inner]),
        })
    })
}

fn add(text: &str, parent: &ast::Value<'_>, step: PathStep<'_>, value: &Value) -> String {
    match (step, parent) {
        (PathStep::Key(name), ast::Value::Object(object)) => {
            stopgate_json::append(text, &JsonBracket::from(object), &JsonItem::Member(name, value))
        }
        (PathStep::At(_), ast::Value::Array(list)) => {
            stopgate_json::append(text, &JsonBracket::from(list), &JsonItem::Element(value))
        }
        (step, other) => stopgate_json::replace(text, other.range(), &*nested(&[step], value)),
    }
}

fn value_of(value: &ast::Value<'_>) -> Value {
    match value {
        ast::Value::StringLit(text) => Value::from(&*text.value),
        ast::Value::NumberLit(number) => number_of(number.value),
        ast::Value::BooleanLit(flag) => Value::from(flag.value),
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::Array(list) => list.elements.iter().map(value_of).collect(),
        ast::Value::Object(object) => {
            let members = object.properties.iter();
            members.map(|m| (m.name.as_str().to_string(), value_of(&m.value))).collect()
        }
    }
}

/// A number that no program can hold stays what it is: a text of digits.
fn number_of(written: &str) -> Value {
    serde_json::from_str(written).unwrap_or_else(|_| Value::from(written))
}
