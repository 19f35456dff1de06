//! JSON values, written as their surroundings are.

use serde_json::Value;

/// A list or an object of plain values that fits is kept on one line.
const LINE_CHARS_MAX: usize = 80;

/// How a value is laid out.
#[derive(Clone, Debug)]
pub(super) enum Layout {
    /// All on one line.
    Line,
    /// An item a line.
    Lines {
        newline: &'static str,
        /// One step of indentation.
        unit: String,
        /// The indentation of the line it begins on.
        indent: String,
    },
}

impl Layout {
    /// The layout one level further in.
    pub(super) fn deeper(&self) -> Self {
        match self {
            Self::Line => Self::Line,
            Self::Lines { newline, unit, indent } => {
                Self::Lines { newline, unit: unit.clone(), indent: format!("{indent}{unit}") }
            }
        }
    }

    /// What stands before an item at this level.
    pub(super) fn lead(&self) -> String {
        match self {
            Self::Line => String::new(),
            Self::Lines { newline, indent, .. } => format!("{newline}{indent}"),
        }
    }
}

/// The text of a value.
pub(super) fn print(value: &Value, layout: &Layout) -> String {
    let layout = if fits_line(value) { &Layout::Line } else { layout };
    let inner = layout.deeper();
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
        Value::Array(items) => {
            enclose(['[', ']'], items.iter().map(|item| print(item, &inner)), layout)
        }
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| print_as(key, value, &inner));
            enclose(['{', '}'], members, layout)
        }
    }
}

/// The text of a value as a member of an object.
pub(super) fn print_as(key: &str, value: &Value, layout: &Layout) -> String {
    format!("{}: {}", Value::from(key), print(value, layout))
}

fn fits_line(value: &Value) -> bool {
    let plain = |value: &Value| !value.is_array() && !value.is_object();
    match value {
        Value::Array(items) => items.iter().all(plain) && is_short(value),
        Value::Object(members) => members.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn is_short(value: &Value) -> bool {
    value.to_string().chars().count() <= LINE_CHARS_MAX
}

fn enclose(
    [open, close]: [char; 2],
    items: impl Iterator<Item = String>,
    layout: &Layout,
) -> String {
    let (before, separator, after) = match layout {
        Layout::Line => (String::new(), ", ".into(), String::new()),
        Layout::Lines { .. } => {
            let lead = layout.deeper().lead();
            (lead.clone(), format!(",{lead}"), layout.lead())
        }
    };
    let items: Vec<_> = items.collect();
    if items.is_empty() {
        return format!("{open}{close}");
    }
    format!("{open}{before}{}{after}{close}", items.join(&separator))
}
