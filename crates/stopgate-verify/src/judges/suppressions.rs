//! Directives by which a source switches a linter, a type checker or a compiler's warnings off for
//! the whole of itself.
//!
//! One rule, or one line, is left alone: that is everyday work. Texts in, texts out.

mod comments;
mod pragmas;
mod rust_attributes;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::JudgeSet;
use super::files::{ProjectFiles, directory_of, extension_of};
use super::names::is_foreign;
use super::stored_path::StoredPath;

/// How many sources are read for directives that are there at the start.
const SOURCES_MAX: usize = 20_000;

/// How many of them may have some; a project with more is not asked about new ones.
const SILENCED_MAX: usize = 2_000;

/// New directives of one file count from this weight on.
const WEIGHT_MIN: usize = 3;

/// The first lines, in which a file says that nobody wrote it.
const HEAD_LINES: usize = 15;

/// Sources with such directives at the start, and which they were.
pub(super) type SilencedSources = BTreeMap<StoredPath, BTreeSet<String>>;

/// One directive.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Directive {
    /// What it says, in one form.
    form: String,
    /// Its lines.
    lines: Range<usize>,
    /// What is in these lines besides.
    rest: Option<String>,
    /// How much it switches off: of those for one rule, many count.
    weight: usize,
}

impl Directive {
    fn new(form: &str, lines: Range<usize>, weight: usize) -> Self {
        Self { form: form.into(), lines, rest: None, weight }
    }
}

/// A text without directives that are new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unsilenced {
    /// What the directives say.
    pub(crate) said: Vec<String>,
    pub(crate) text: String,
}

/// Which of the directives in a source were there, also under another name or in a file beside it.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownDirectives {
    forms: BTreeSet<String>,
}

/// Notes which sources are silenced at the start, so that only what is new counts.
pub(super) fn note_silenced(set: &mut JudgeSet, files: &dyn ProjectFiles) {
    let mut sources = files.paths().iter().filter(|path| may_be_silenced(set, path));
    let mut found = SilencedSources::new();
    for path in sources.by_ref().take(SOURCES_MAX) {
        let text = files.text(path).unwrap_or_default();
        let forms: BTreeSet<String> =
            directives(set, path, &text).into_iter().map(|own| own.form).collect();
        if !forms.is_empty() {
            found.insert(StoredPath(path.clone()), forms);
        }
    }
    let is_whole = sources.next().is_none() && found.len() <= SILENCED_MAX;
    set.silenced = is_whole.then_some(found);
}

/// Whether a tool of the check reads directives in a file of this name.
pub(crate) fn may_be_silenced(set: &JudgeSet, path: &Path) -> bool {
    let end = extension_of(path);
    let uses = |tools: &str| uses_one_of(set, tools);
    !is_foreign(path)
        && (comments::are_read(end, &uses)
            || pragmas::ENDS.contains(&end) && uses(pragmas::TOOLS)
            || end == "rs" && uses(rust_attributes::TOOLS))
}

/// The directives that a source may have by now, because they were there at the start: in it,
/// in one beside it, or in one that `is_gone`.
pub(crate) fn known_directives(
    set: &JudgeSet,
    path: &Path,
    is_gone: &dyn Fn(&Path) -> bool,
) -> Option<KnownDirectives> {
    let place = directory_of(path);
    let is_near = |own: &PathBuf| {
        own == path
            || extension_of(own) == extension_of(path) && directory_of(own) == place
            || is_gone(own)
    };
    let near = set.silenced.as_ref()?.iter().filter(|(own, _)| is_near(&own.0));
    Some(KnownDirectives { forms: near.flat_map(|(_, forms)| forms.clone()).collect() })
}

/// A source without the directives that are new and silence all of it, where it has some.
pub(crate) fn unsilenced(
    set: &JudgeSet,
    path: &Path,
    text: &str,
    known: &KnownDirectives,
) -> Option<Unsilenced> {
    let mut fresh = directives(set, path, text);
    fresh.retain(|own| !known.forms.contains(&own.form));
    if fresh.iter().map(|own| own.weight).sum::<usize>() < WEIGHT_MIN {
        return None;
    }
    let said = fresh.iter().map(|own| own.form.clone()).collect();
    Some(Unsilenced { said, text: without(text, &fresh) })
}

fn directives(set: &JudgeSet, path: &Path, text: &str) -> Vec<Directive> {
    let end = extension_of(path);
    let uses = |tools: &str| uses_one_of(set, tools);
    let mut found = comments::directives(end, text, &uses);
    if pragmas::ENDS.contains(&end) && uses(pragmas::TOOLS) {
        found.extend(pragmas::directives(text));
    }
    if end == "rs" && uses(rust_attributes::TOOLS) {
        found.extend(rust_attributes::directives(text));
    }
    found.sort_by_key(|own| own.lines.start);
    found
}

fn uses_one_of(set: &JudgeSet, tools: &str) -> bool {
    tools.split_whitespace().any(|tool| set.reach.tools.contains(tool))
}

/// Whether a source says that a tool made it: such files are silenced by what makes them.
pub(crate) fn says_made(text: &str) -> bool {
    const WORDS: [&str; 7] = [
        "@generated",
        "do not edit",
        "do not modify",
        "generated by",
        "auto-generated",
        "autogenerated",
        "automatically generated",
    ];
    let head: Vec<&str> = text.lines().take(HEAD_LINES).collect();
    let head = head.join("\n").to_lowercase();
    WORDS.iter().any(|word| head.contains(word))
}

/// The text without the lines of these directives; no empty line takes their place.
fn without(text: &str, gone: &[Directive]) -> String {
    let mut kept = String::new();
    let mut was_blank = true;
    let mut closes_up = false;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        match gone.iter().find(|own| own.lines.contains(&at)) {
            Some(own) => {
                if let Some(rest) = own.rest.as_ref().filter(|_| own.lines.start == at) {
                    kept.push_str(rest);
                    kept.push('\n');
                    was_blank = false;
                } else {
                    closes_up = was_blank;
                }
            }
            None if closes_up && line.trim().is_empty() => closes_up = false,
            None => {
                closes_up = false;
                was_blank = line.trim().is_empty();
                kept.push_str(line);
            }
        }
    }
    kept
}

#[cfg(test)]
mod tests;
