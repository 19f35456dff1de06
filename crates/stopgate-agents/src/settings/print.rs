//! The little JSON that we add, written as its surroundings are.

#[cfg(test)]
mod tests;

/// JSON that we write.
#[derive(Clone, Debug)]
pub(super) enum Json {
    Text(String),
    Number(u32),
    Null,
    /// A list of short texts, always on one line.
    Words(Vec<String>),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

/// How the JSON is laid out.
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

impl Json {
    /// The text of this value.
    pub(super) fn print(&self, layout: &Layout) -> String {
        match self {
            Self::Text(text) => quote(text),
            Self::Number(number) => number.to_string(),
            Self::Null => "null".into(),
            Self::Words(words) => {
                let words: Vec<_> = words.iter().map(|word| quote(word)).collect();
                format!("[{}]", words.join(", "))
            }
            Self::List(items) => {
                let inner = layout.deeper();
                enclose('[', ']', items.iter().map(|item| item.print(&inner)), layout)
            }
            Self::Object(members) => {
                let inner = layout.deeper();
                let members = members.iter().map(|(key, value)| value.print_as(key, &inner));
                enclose('{', '}', members, layout)
            }
        }
    }

    /// The text of this value as a member of an object.
    pub(super) fn print_as(&self, key: &str, layout: &Layout) -> String {
        format!("{}: {}", quote(key), self.print(layout))
    }
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

/// A JSON string.
pub(super) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn enclose(
    open: char,
    close: char,
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
    format!("{open}{before}{}{after}{close}", items.join(&separator))
}
