//! Texts whose examples a judging script tries out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::files::extension_of;
use super::super::names::is_foreign;
use super::super::role::Why;
use super::super::shell::is_open;
use super::{Stand, Tracer};

/// How many pages a script may go through.
const PAGES_MAX: usize = 1_000;

/// How many words of a script are tried as the name of a place.
const WORDS_MAX: usize = 2_000;

/// How many patterns of a script are looked for among all files.
const PATTERNS_MAX: usize = 8;

/// Languages of examples, as the first word behind a fence says them.
const LANGUAGES: [&str; 24] = [
    "python",
    "py",
    "pycon",
    "js",
    "javascript",
    "mjs",
    "jsx",
    "ts",
    "typescript",
    "tsx",
    "sh",
    "bash",
    "shell",
    "console",
    "ruby",
    "rb",
    "go",
    "rust",
    "php",
    "json",
    "yaml",
    "toml",
    "sql",
    "java",
];

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

/// Whether all that a script is given are pages, in which it looks for fenced blocks.
pub(super) fn are_tried(tracer: &Tracer<'_>, script: &Path, rest: &[&str], stand: &Stand) -> bool {
    let is_page = |word: &&str| tracer.file(stand, word).is_some_and(|path| has_examples(&path));
    !rest.is_empty()
        && rest.iter().all(is_page)
        && tracer.files.text(script).is_some_and(|text| text.contains("```"))
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

/// `pathlib.Path("docs").rglob("*.md")` in a script that looks for fences of Python: of every page
/// there, the examples in the languages that it looks for.
pub(super) fn examples_in_pages(tracer: &mut Tracer<'_>, text: &str, stand: &Stand) {
    let languages = languages_of(text);
    if languages.is_empty() {
        return;
    }
    let is_sign = |letter: char| letter.is_whitespace() || "\"'`(){},;|&<>=".contains(letter);
    let words: BTreeSet<&str> = text.split(is_sign).take(WORDS_MAX).collect();
    let is_name = |word: &&&str| {
        word.starts_with(|first: char| first.is_alphanumeric() || "._*".contains(first))
            && !is_open(word)
    };
    let (patterns, places): (Vec<&str>, Vec<&str>) =
        words.iter().filter(is_name).copied().partition(|word| word.contains(['*', '?', '[']));
    let pages = |words: Vec<&str>| -> BTreeSet<PathBuf> {
        let is_page = |path: &PathBuf| has_examples(path) && !is_foreign(path);
        let found = words.into_iter().flat_map(|word| tracer.files_of(stand, word));
        found.filter(is_page).take(PAGES_MAX).collect()
    };
    let mut found = pages(places);
    // The pattern of `Path("docs").rglob("*.md")` is about that directory.
    let is_whole = |word: &&str| word.contains('/') || found.is_empty();
    let patterns = patterns.into_iter().filter(|word| has_examples(Path::new(word)));
    let patterns: Vec<&str> = patterns.filter(is_whole).take(PATTERNS_MAX).collect();
    found.extend(pages(patterns));
    for page in found {
        tracer.trace.pages.entry(page).or_default().extend(languages.iter().cloned());
    }
}

/// The languages that a script looks for behind a fence: "```python", "```(?:js|ts)"; where it says
/// them elsewhere, all that it says in quotes.
fn languages_of(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut is_any = false;
    for rest in text.split("```").skip(1) {
        let group = rest.trim_start_matches(['(', '?', ':', '{', '.']);
        let end = group.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '|');
        let names = group[..end.unwrap_or(group.len())].split('|').filter(|name| !name.is_empty());
        found.extend(names.filter(|name| LANGUAGES.contains(name)).map(String::from));
        is_any |= rest.starts_with("(\\w") || rest.starts_with("([");
    }
    if found.is_empty() && is_any {
        let is_said = |name: &&&str| {
            ["\"", "'"].iter().any(|sign| text.contains(&format!("{sign}{name}{sign}")))
        };
        found.extend(LANGUAGES.iter().filter(is_said).map(ToString::to_string));
    }
    found
}

/// Whether a text for people may have examples that are tried out.
pub(super) fn has_examples(path: &Path) -> bool {
    ["md", "rst", "adoc"].contains(&extension_of(path))
}
