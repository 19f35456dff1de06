//! Justfiles: the recipes that the check reaches, what they interpolate, and settings.

use super::blocks::{TextBlock, replaced, sections};
use super::{Judging, SectionReach};
use crate::judges::steering::steers;

/// What a run of lines is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::judges) enum JustItem {
    /// A recipe: what it needs and what it runs.
    Recipe { name: String, head: String, body: Vec<String> },
    /// A variable.
    Variable { name: String, value: String, is_exported: bool },
    /// Another name for a recipe.
    Alias { name: String, of: String },
    /// `set …`
    Setting(String),
    /// Another justfile.
    Import(String),
    /// Comments and blank lines.
    Other,
}

/// Lines of a justfile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::judges) struct JustLines {
    pub(in crate::judges) item: JustItem,
    attributes: String,
    text: String,
}

pub(super) fn judging(text: &str, reach: &SectionReach) -> Judging {
    let mut sections = sections(&blocks(text, reach));
    // Just reads all of a file before it runs anything.
    sections.sort_unstable();
    Judging { sections, ..Judging::default() }
}

pub(super) fn restore(original: &str, today: &str, reach: &SectionReach) -> String {
    replaced(&blocks(original, reach), &blocks(today, reach))
}

fn blocks(text: &str, reach: &SectionReach) -> Vec<TextBlock> {
    let block = |lines: JustLines| {
        let (key, says) = match &lines.item {
            JustItem::Recipe { name, head, body } if reach.names.contains(name) => {
                let body: Vec<&str> = body.iter().map(|line| line.trim()).collect();
                (Some(format!("recipe {name}")), format!("{} {head} {body:?}", lines.attributes))
            }
            JustItem::Variable { name, value, is_exported } if judges(name, reach) => {
                let sign = if *is_exported { "export " } else { "" };
                (Some(format!("variable {name}")), format!("{sign}{value}"))
            }
            JustItem::Alias { name, of } if reach.names.contains(name) => {
                (Some(format!("alias {name}")), of.clone())
            }
            JustItem::Setting(text) => (Some("set".into()), text.clone()),
            JustItem::Recipe { .. }
            | JustItem::Variable { .. }
            | JustItem::Alias { .. }
            | JustItem::Import(_)
            | JustItem::Other => (None, String::new()),
        };
        TextBlock { key, says, text: lines.text }
    };
    parse(text).into_iter().map(block).collect()
}

/// Whether recipes that the check reaches interpolate the variable, or it steers what they run: also
/// without `export` in its line, `set export` has every recipe see it.
fn judges(name: &str, reach: &SectionReach) -> bool {
    name == "PATH" || steers(name) || reach.names.contains(&format!("${name}"))
}

/// A justfile as items, in order.
pub(in crate::judges) fn parse(text: &str) -> Vec<JustLines> {
    let mut found: Vec<JustLines> = Vec::new();
    let (mut waiting, mut attributes) = (String::new(), String::new());
    for line in text.split_inclusive('\n') {
        if line.starts_with([' ', '\t']) || line.trim().is_empty() {
            add_to_body(&mut found, line);
            continue;
        }
        if line.starts_with('[') && line.trim_end().ends_with(']') {
            waiting.push_str(line);
            attributes.push_str(line.trim());
            continue;
        }
        let text = std::mem::take(&mut waiting) + line;
        let attributes = std::mem::take(&mut attributes);
        found.push(JustLines { item: item(line.trim_end()), attributes, text });
    }
    if !waiting.is_empty() {
        found.push(JustLines { item: JustItem::Other, attributes, text: waiting });
    }
    found
}

fn add_to_body(found: &mut Vec<JustLines>, line: &str) {
    match found.last_mut() {
        Some(last) => {
            last.text.push_str(line);
            if let JustItem::Recipe { body, .. } = &mut last.item
                && !line.trim().is_empty()
            {
                body.push(line.trim_end().into());
            }
        }
        None => found.push(JustLines {
            item: JustItem::Other,
            attributes: String::new(),
            text: line.into(),
        }),
    }
}

fn item(line: &str) -> JustItem {
    let word = line.split_whitespace().next().unwrap_or_default();
    let after = line.trim_start().strip_prefix(word).unwrap_or_default().trim();
    if line.starts_with('#') {
        return JustItem::Other;
    }
    match word {
        "set" => return JustItem::Setting(after.split_whitespace().collect::<Vec<_>>().join(" ")),
        "import" | "import?" | "mod" | "mod?" => {
            return JustItem::Import(after.trim_matches(['"', '\'']).into());
        }
        _ => {}
    }
    let assigned = line.split_once(":=").map(|(name, value)| (name.trim(), value.trim()));
    match assigned {
        Some((name, value)) if name.starts_with("alias ") => {
            return JustItem::Alias { name: name[6..].trim().into(), of: value.into() };
        }
        Some((name, value)) if !name.contains([':', '(']) && is_variable(name) => {
            let is_exported = name.starts_with("export ");
            let name = name.trim_start_matches("export ").trim();
            return JustItem::Variable { name: name.into(), value: value.into(), is_exported };
        }
        _ => {}
    }
    let name = word.trim_start_matches('@').split(':').next().unwrap_or_default();
    if name.is_empty() || !line.contains(':') {
        return JustItem::Other;
    }
    let head = line.split(" #").next().unwrap_or(line);
    let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
    JustItem::Recipe { name: name.into(), head, body: Vec::new() }
}

fn is_variable(name: &str) -> bool {
    let name = name.trim_start_matches("export ").trim();
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
}
