//! A list of features that must all pass.

use std::path::Path;

use serde_json::Value;

use super::places::{self, Content};
use super::{KindFinding, PathRule, few};

const LIST_BYTES_MAX: u64 = 8 * 1024 * 1024;
const SHOWN_MAX: usize = 10;
const NAME_CHARS_MAX: usize = 100;
const DONE: [&str; 7] = ["passing", "passed", "pass", "done", "complete", "completed", "finished"];

/// Every feature of the JSON list must say that it passes, which is the word of its author.
pub fn features(root: &Path, list: &str, rule: PathRule) -> KindFinding {
    look(root, list, rule).into_word()
}

fn look(root: &Path, list: &str, rule: PathRule) -> KindFinding {
    let path = match places::one(root, list, rule) {
        Ok(path) => path,
        Err(trouble) => return KindFinding::error(trouble),
    };
    let content = match places::read(&path, LIST_BYTES_MAX) {
        Content::Whole(content) => content,
        Content::Missing => return KindFinding::error(format!("no such list: {list}")),
        Content::TooLarge => return KindFinding::error(format!("{list} is too large for a list")),
        Content::Unreadable(why) => return KindFinding::error(format!("{list}: {why}")),
    };
    match unfinished(&content) {
        Err(trouble) => KindFinding::error(format!("{list}: {trouble}")),
        Ok((count, open)) if open.is_empty() => {
            KindFinding::pass(format!("all {count} features pass"))
        }
        Ok((count, open)) => {
            let first = few(&open, SHOWN_MAX);
            KindFinding::fail(format!(
                "{} of {count} features do not pass yet: {first}",
                open.len()
            ))
        }
    }
}

/// How many features there are, and the names of those that do not pass.
fn unfinished(content: &[u8]) -> Result<(usize, Vec<String>), String> {
    let list: Value =
        serde_json::from_slice(content).map_err(|error| format!("not JSON: {error}"))?;
    let features = list.as_array().or_else(|| list.get("features")?.as_array());
    let features = features.ok_or("neither a list nor an object with a list `features`")?;
    if features.is_empty() {
        return Err("the list is empty, which proves nothing".into());
    }
    let mut open = Vec::new();
    for (at, feature) in features.iter().enumerate() {
        if !feature.is_object() {
            return Err(format!("entry {} is not an object", at + 1));
        }
        if !passes(feature) {
            open.push(name(feature, at + 1));
        }
    }
    Ok((features.len(), open))
}

/// Whatever it says about its state must say that it passes, and it must say something.
fn passes(feature: &Value) -> bool {
    let flags = ["passes", "passed"].iter().filter_map(|key| feature.get(key));
    let flags = flags.map(|flag| flag.as_bool() == Some(true));
    let words = feature.get("status").into_iter().map(|status| {
        status.as_str().is_some_and(|word| DONE.iter().any(|done| word.eq_ignore_ascii_case(done)))
    });
    let said: Vec<bool> = flags.chain(words).collect();
    !said.is_empty() && said.iter().all(|passes| *passes)
}

fn name(feature: &Value, number: usize) -> String {
    let text =
        ["name", "title", "description", "id"].iter().find_map(|key| match feature.get(key) {
            Some(Value::String(text)) if !text.trim().is_empty() => Some(text.trim().to_owned()),
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(_) | None => None,
        });
    let text = text.unwrap_or_else(|| format!("number {number}"));
    text.chars().take(NAME_CHARS_MAX).collect()
}
