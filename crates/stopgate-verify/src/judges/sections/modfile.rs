//! `go.mod`: replacements, exclusions and the toolchain; what is required is work.

use super::Judging;
use super::blocks::{TextBlock, appended, sorted_sections};

pub(super) fn judging(text: &str) -> Judging {
    Judging { sections: sorted_sections(&blocks(text)), ..Judging::default() }
}

pub(super) fn restore(original: &str, today: &str) -> String {
    appended(&blocks(original), &blocks(today))
}

/// One block a directive; those in parentheses become directives of their own.
fn blocks(text: &str) -> Vec<TextBlock> {
    let mut found = Vec::new();
    let mut group: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let plain = line.split("//").next().unwrap_or(line).trim();
        let (verb, rest) = plain.split_once([' ', '\t', '(']).unwrap_or((plain, ""));
        let opens = plain.ends_with('(') && is_judging(verb.trim());
        match group {
            Some(_) if plain == ")" => group = None,
            Some(verb) if !plain.is_empty() => found.push(directive(verb, plain)),
            Some(_) => {}
            None if opens => group = JUDGING.into_iter().find(|own| *own == verb.trim()),
            None if is_judging(verb) && !rest.trim().is_empty() => {
                found.push(directive(verb, rest.trim()));
            }
            None => found.push(TextBlock { key: None, says: String::new(), text: line.into() }),
        }
    }
    found
}

const JUDGING: [&str; 3] = ["replace", "exclude", "toolchain"];

fn is_judging(verb: &str) -> bool {
    JUDGING.contains(&verb)
}

fn directive(verb: &str, rest: &str) -> TextBlock {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let says = words.join(" ");
    let text = format!("{verb} {says}\n");
    TextBlock { key: Some(verb.into()), says, text }
}
