//! A text as blocks in order: those that judge have a key, the rest is work.

use std::collections::{BTreeMap, BTreeSet};

/// A run of lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextBlock {
    /// What it decides, where it judges.
    pub(super) key: Option<String>,
    /// What it says, in one form.
    pub(super) says: String,
    /// Its lines, with their ends.
    pub(super) text: String,
}

/// What the judging blocks say, in order.
pub(super) fn sections(blocks: &[TextBlock]) -> Vec<String> {
    let judging = blocks.iter().filter_map(|block| block.key.as_ref().map(|key| (key, block)));
    judging.map(|(key, block)| format!("{key}: {}", block.says)).collect()
}

/// What they say where their order means nothing.
pub(super) fn sorted_sections(blocks: &[TextBlock]) -> Vec<String> {
    let mut sections = sections(blocks);
    sections.sort_unstable();
    sections
}

/// Today's blocks with the original's judging ones, each in the place of its successor.
///
/// One that has none follows the judging block it followed in the original.
pub(super) fn replaced(original: &[TextBlock], today: &[TextBlock]) -> String {
    let places = numbered(today);
    let originals = numbered(original);
    let known: BTreeSet<&(String, usize)> =
        places.keys().filter(|key| originals.contains_key(*key)).collect();
    // After which of today's blocks each original block is written; `None` is the end.
    let mut after: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    let mut at_end = Vec::new();
    let mut last = None;
    for (key, index) in in_order(original) {
        if known.contains(&key) {
            last = places.get(&key).copied();
        }
        match last {
            Some(place) => after.entry(place).or_default().push(&original[index].text),
            None => at_end.push(original[index].text.as_str()),
        }
    }
    let mut text = String::new();
    for (index, block) in today.iter().enumerate() {
        if block.key.is_none() {
            push(&mut text, &block.text);
        }
        for own in after.get(&index).into_iter().flatten() {
            push(&mut text, own);
        }
    }
    for own in at_end {
        push(&mut text, own);
    }
    text
}

/// Today's work, then the original's judging blocks: for texts whose order means nothing.
pub(super) fn appended(original: &[TextBlock], today: &[TextBlock]) -> String {
    let mut text = String::new();
    let work = today.iter().filter(|block| block.key.is_none());
    let judging = original.iter().filter(|block| block.key.is_some());
    work.chain(judging).for_each(|block| push(&mut text, &block.text));
    text
}

/// Adds lines after a whole line.
pub(super) fn push(text: &mut String, lines: &str) {
    if !text.is_empty() && !text.ends_with('\n') && !lines.is_empty() {
        text.push('\n');
    }
    text.push_str(lines);
}

/// Where each judging block is; the second of a key has the number 1.
fn numbered(blocks: &[TextBlock]) -> BTreeMap<(String, usize), usize> {
    in_order(blocks).into_iter().collect()
}

fn in_order(blocks: &[TextBlock]) -> Vec<((String, usize), usize)> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let Some(key) = &block.key else { continue };
        let number = seen.entry(key).or_default();
        found.push(((key.clone(), *number), index));
        *number += 1;
    }
    found
}
