//! Texts whose examples a judging script tries out.

use std::path::{Path, PathBuf};

use super::super::files::extension_of;
use super::super::role::Why;
use super::{Stand, Tracer};

/// `run_examples.py README.md`: texts whose examples a judging script tries out.
pub(super) fn examples_for(tracer: &mut Tracer<'_>, script: &Path, rest: &[&str], stand: &Stand) {
    let texts = rest.iter().filter_map(|word| tracer.file(stand, word));
    let texts: Vec<PathBuf> = texts.filter(|path| has_examples(path)).collect();
    if texts.is_empty() || !tracer.files.text(script).is_some_and(|text| text.contains("```")) {
        return;
    }
    for path in texts {
        tracer.judge(path, Why::UsedByScript);
    }
}

/// The same for texts that a script of the shell names, and whose fenced blocks it looks for.
pub(super) fn examples_named(tracer: &mut Tracer<'_>, text: &str, stand: &Stand) {
    if !text.contains("```") {
        return;
    }
    let is_sign = |letter: char| letter.is_whitespace() || "\"'`$(){};|&<>".contains(letter);
    let words = text.split(is_sign).filter(|word| has_examples(Path::new(word)));
    let found: Vec<PathBuf> = words.filter_map(|word| tracer.file(stand, word)).collect();
    for path in found {
        tracer.judge(path, Why::UsedByScript);
    }
}

/// Whether a text for people may have examples that are tried out.
pub(super) fn has_examples(path: &Path) -> bool {
    ["md", "rst", "adoc"].contains(&extension_of(path))
}
