//! The little JSON that we add.

use stopgate_json::{JsonLayout, PrintJson, enclose, quote};

#[cfg(test)]
mod tests;

/// JSON that we write; members keep their order.
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

impl PrintJson for Json {
    const OPENS: bool = true;

    fn print(&self, layout: &JsonLayout) -> String {
        let inner = layout.deeper();
        match self {
            Self::Text(text) => quote(text),
            Self::Number(number) => number.to_string(),
            Self::Null => "null".into(),
            Self::Words(words) => {
                enclose(['[', ']'], words.iter().map(|word| quote(word)), &JsonLayout::Line)
            }
            Self::List(items) => {
                enclose(['[', ']'], items.iter().map(|item| item.print(&inner)), layout)
            }
            Self::Object(members) => {
                let members = members.iter().map(|(key, value)| value.print_as(key, &inner));
                enclose(['{', '}'], members, layout)
            }
        }
    }
}
