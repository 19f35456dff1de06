//! Values, written as their surroundings are.

use serde_json::Value;

/// A list of plain values that fits is kept on one line.
const LINE_CHARS_MAX: usize = 80;

/// How a value is laid out.
#[derive(Clone, Debug)]
pub enum JsonLayout {
    /// All on one line.
    Line,
    /// An item a line.
    Lines {
        /// How lines end.
        newline: &'static str,
        /// One step of indentation.
        unit: String,
        /// The indentation of the line it begins on.
        indent: String,
    },
}

/// A value that can be written.
pub trait PrintJson {
    /// Whether an empty bracket in a file of many lines is opened up for it, or stays on its line.
    const OPENS: bool;

    /// The text of this value.
    fn print(&self, layout: &JsonLayout) -> String;

    /// The text of this value as a member of an object.
    fn print_as(&self, key: &str, layout: &JsonLayout) -> String {
        format!("{}: {}", quote(key), self.print(layout))
    }
}

impl PrintJson for Value {
    const OPENS: bool = false;

    fn print(&self, layout: &JsonLayout) -> String {
        let layout = if fits_line(self) { &JsonLayout::Line } else { layout };
        let inner = layout.deeper();
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => self.to_string(),
            Self::Array(items) => {
                enclose(['[', ']'], items.iter().map(|item| item.print(&inner)), layout)
            }
            Self::Object(members) => {
                let members = members.iter().map(|(key, value)| value.print_as(key, &inner));
                enclose(['{', '}'], members, layout)
            }
        }
    }
}

impl JsonLayout {
    /// The layout one level further in.
    #[must_use]
    pub fn deeper(&self) -> Self {
        match self {
            Self::Line => Self::Line,
            Self::Lines { newline, unit, indent } => {
                Self::Lines { newline, unit: unit.clone(), indent: format!("{indent}{unit}") }
            }
        }
    }

    /// What stands before an item at this level.
    pub fn lead(&self) -> String {
        match self {
            Self::Line => String::new(),
            Self::Lines { newline, indent, .. } => format!("{newline}{indent}"),
        }
    }
}

/// A JSON string.
pub fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// Items between brackets, laid out.
pub fn enclose(
    [open, close]: [char; 2],
    items: impl Iterator<Item = String>,
    layout: &JsonLayout,
) -> String {
    let (before, separator, after) = match layout {
        JsonLayout::Line => (String::new(), ", ".into(), String::new()),
        JsonLayout::Lines { .. } => {
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
