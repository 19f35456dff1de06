//! Parts of a TOML document by their paths: read in one form, taken out, put in.

use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

/// A path of keys.
pub(super) type Keys = Vec<String>;

/// The document of a text.
pub(super) fn document(text: &str) -> Result<DocumentMut, String> {
    text.trim_start_matches('\u{feff}').parse::<DocumentMut>().map_err(|error| {
        let message = error.to_string();
        message.lines().next().unwrap_or("it is not TOML").to_string()
    })
}

/// A path from its keys.
pub(super) fn keys(path: &[&str]) -> Keys {
    path.iter().map(|key| (*key).to_string()).collect()
}

/// What is at the path.
pub(super) fn item<'d>(document: &'d DocumentMut, path: &[String]) -> Option<&'d Item> {
    let mut at = document.as_item();
    for key in path {
        at = at.as_table_like()?.get(key)?;
    }
    Some(at)
}

/// The keys in the table at the path.
pub(super) fn keys_below(document: &DocumentMut, path: &[&str]) -> Vec<String> {
    let table = item(document, &keys(path)).and_then(Item::as_table_like);
    table.map(|table| table.iter().map(|(key, _)| key.to_string()).collect()).unwrap_or_default()
}

/// Takes out what is at the path.
pub(super) fn take(document: &mut DocumentMut, path: &[String]) {
    let Some((last, above)) = path.split_last() else { return };
    let mut at = document.as_item_mut();
    for key in above {
        let Some(next) = at.as_table_like_mut().and_then(|table| table.get_mut(key)) else {
            return;
        };
        at = next;
    }
    if let Some(table) = at.as_table_like_mut() {
        table.remove(last);
    }
}

/// Puts an item at the path; `None` where something that is not a table is in the way.
pub(super) fn put(document: &mut DocumentMut, path: &[String], item: Item) -> Option<()> {
    let (last, above) = path.split_last()?;
    let mut at: &mut dyn TableLike = document.as_table_mut();
    let mut is_inline = false;
    for key in above {
        if at.get(key).is_none() {
            let mut table = Table::new();
            table.set_implicit(true);
            let item = Item::Table(table);
            let item = if is_inline { Item::Value(item.into_value().ok()?) } else { item };
            at.insert(key, item);
        }
        let next = at.get_mut(key)?;
        is_inline |= matches!(next, Item::Value(_));
        at = next.as_table_like_mut()?;
    }
    let item = if is_inline { Item::Value(item.into_value().ok()?) } else { item };
    at.insert(last, item);
    Some(())
}

/// The item in one form, whatever its layout; empty where it holds nothing.
pub(super) fn canonical(item: &Item) -> String {
    match item {
        Item::None => String::new(),
        Item::Value(value) => canonical_value(value),
        Item::Table(table) => canonical_table(table),
        Item::ArrayOfTables(tables) => {
            let tables: Vec<String> = tables.iter().map(|table| canonical_table(table)).collect();
            format!("[{}]", tables.join(","))
        }
    }
}

fn canonical_table(table: &dyn TableLike) -> String {
    let mut members: Vec<String> = table
        .iter()
        .map(|(key, item)| (key, canonical(item)))
        .filter(|(_, text)| !text.is_empty())
        .map(|(key, text)| format!("{key:?}={text}"))
        .collect();
    members.sort_unstable();
    if members.is_empty() { String::new() } else { format!("{{{}}}", members.join(",")) }
}

fn canonical_value(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{:?}", text.value()),
        Value::Integer(number) => number.value().to_string(),
        Value::Float(number) => number.value().to_string(),
        Value::Boolean(answer) => answer.value().to_string(),
        Value::Datetime(time) => time.value().to_string(),
        Value::Array(values) => {
            let values: Vec<String> = values.iter().map(canonical_value).collect();
            format!("[{}]", values.join(","))
        }
        Value::InlineTable(table) => {
            let text = canonical_table(table);
            if text.is_empty() { "{}".into() } else { text }
        }
    }
}
