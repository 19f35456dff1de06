//! `pythonpath` among the settings of pytest, in each of the files that may have it.

use std::path::Path;

use toml_edit::{Array, Item, Value};

use super::toml_tree::{document, item, keys, put};
use crate::judges::files::name_of;

const KEYS: [&str; 4] = ["tool", "pytest", "ini_options", "pythonpath"];
const KEY: &str = "pythonpath";

/// The places, as the file names them.
pub(crate) fn import_paths(file: &Path, text: &str) -> Vec<String> {
    if name_of(file) != "pyproject.toml" {
        return line_of(text).map(|line| words(&text[line..])).unwrap_or_default();
    }
    let Ok(document) = document(text) else { return Vec::new() };
    match item(&document, &keys(&KEYS)) {
        Some(Item::Value(Value::String(one))) => words_of(one.value()),
        Some(Item::Value(Value::Array(all))) => {
            all.iter().filter_map(Value::as_str).map(String::from).collect()
        }
        _other => Vec::new(),
    }
}

/// The text with these places.
pub(crate) fn with_import_paths(file: &Path, text: &str, places: &[String]) -> Option<String> {
    if name_of(file) == "pyproject.toml" {
        let mut document = document(text).ok()?;
        let all: Array = places.iter().collect();
        put(&mut document, &keys(&KEYS), Item::Value(Value::Array(all)))?;
        return Some(document.to_string());
    }
    let line = format!("{KEY} = {}\n", places.join(" "));
    if let Some(at) = line_of(text) {
        let end = at + extent(&text[at..]);
        return Some(format!("{}{line}{}", &text[..at], &text[end..]));
    }
    let (head, rest) = split_at_section(text)?;
    Some(format!("{head}{line}{rest}"))
}

/// Where the setting begins.
fn line_of(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let rest = line.strip_prefix(KEY).map(str::trim_start);
        if rest.is_some_and(|rest| rest.starts_with(['=', ':'])) {
            return Some(at);
        }
        at += line.len();
    }
    None
}

/// How long the setting is, with the lines that go on with it.
fn extent(text: &str) -> usize {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().map_or(0, str::len);
    first + lines.take_while(|line| line.starts_with([' ', '\t'])).map(str::len).sum::<usize>()
}

fn words(text: &str) -> Vec<String> {
    let own = &text[..extent(text)];
    words_of(own.split_once(['=', ':']).map_or("", |(_, value)| value))
}

fn words_of(value: &str) -> Vec<String> {
    value.split_whitespace().map(String::from).collect()
}

/// The text up to the line that names pytest's section, and what follows.
fn split_at_section(text: &str) -> Option<(&str, &str)> {
    let name = ["[pytest]", "[tool:pytest]"].into_iter().find(|name| text.contains(name))?;
    let end = text.find(name)? + name.len();
    let end = end + text[end..].find('\n')? + 1;
    Some(text.split_at(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(file: &str, text: &str) -> Vec<String> {
        import_paths(Path::new(file), text)
    }

    #[test]
    fn places_are_read_and_written_in_every_form() {
        let toml = "[tool.pytest.ini_options]\npythonpath = [\".\", \"lib\"]\naddopts = \"-q\"\n";
        let ini = "[pytest]\npythonpath =\n    .\n    lib\naddopts = -q\n";
        let short = "[tool:pytest]\naddopts = -q\n";
        assert_eq!(given("pyproject.toml", toml), [".", "lib"]);
        assert_eq!(given("pytest.ini", ini), [".", "lib"]);
        assert!(given("setup.cfg", short).is_empty());
        let places = [".", "src"].map(String::from);
        for (file, text) in [("pyproject.toml", toml), ("pytest.ini", ini), ("setup.cfg", short)] {
            let new = with_import_paths(Path::new(file), text, &places).expect("a text");
            assert_eq!(given(file, &new), places, "{new}");
            assert!(new.contains("addopts"), "{new}");
        }
        assert_eq!(with_import_paths(Path::new("tox.ini"), "[tox]\n", &places), None);
    }
}
