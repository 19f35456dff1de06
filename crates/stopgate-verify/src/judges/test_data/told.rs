//! Data that only tests read, by what it says: its keys, or the columns of a table.
//!
//! `examples/discounts.csv` with a column for the result, `settings/limits.json` with a tolerance:
//! nothing in such names speaks of tests. Where the work names the file or its directory, it may
//! well be the work's.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::super::files::{ProjectFiles, extension_of, file_names, name_of};
use super::super::names::{is_code, is_foreign, said, words};

/// How many files of each side are read.
const FILES_MAX: usize = 6_000;
/// More data than this is not read.
const TOLD_MAX: usize = 500;
/// So much of a file is read.
const TEXT_MAX: usize = 64 * 1024;

/// Forms of data that tests read.
const DATA: [&str; 11] =
    ["csv", "tsv", "json", "jsonl", "yaml", "yml", "toml", "ini", "cfg", "conf", "env"];

/// Columns and keys for what has to come out.
const ANSWERS: [&str; 8] =
    ["expect", "expected", "want", "wanted", "result", "answer", "correct", "expectation"];

/// Keys for how strictly tests look, and which of them are left out.
const KEYS: [&str; 12] = [
    "expect",
    "expected",
    "want",
    "wanted",
    "tolerance",
    "tolerances",
    "epsilon",
    "strict",
    "xfail",
    "quarantine",
    "quarantined",
    "skipped",
];

/// Settings of tools, which their own rules are about.
const MANIFESTS: [&str; 8] = [
    "package.json",
    "package-lock.json",
    "pyproject.toml",
    "Cargo.toml",
    "setup.cfg",
    "tox.ini",
    "composer.json",
    "deno.json",
];

/// The data, given the files that judge as a whole.
pub(super) fn told(files: &dyn ProjectFiles, judges: &BTreeSet<&Path>) -> BTreeSet<PathBuf> {
    let is_data = |path: &&PathBuf| {
        !judges.contains(path.as_path())
            && DATA.contains(&extension_of(path))
            && !is_foreign(path)
            && !is_tool_file(path)
    };
    let mut by_name: BTreeMap<&str, Vec<&PathBuf>> = BTreeMap::new();
    for path in files.paths().iter().filter(is_data) {
        by_name.entry(name_of(path)).or_default().push(path);
    }
    if by_name.is_empty() {
        return BTreeSet::new();
    }
    let mut named: BTreeSet<&PathBuf> = BTreeSet::new();
    let mut own: BTreeSet<&PathBuf> = BTreeSet::new();
    for judge in judges.iter().filter(|path| is_readable(path)).take(FILES_MAX) {
        let text = files.text(judge).unwrap_or_default();
        for path in file_names(&text).filter_map(|name| by_name.get(name)).flatten() {
            named.insert(path);
            // `measure.py` with `measure.json`: settings of the script itself.
            if said(judge).is_none() && path.file_stem() == judge.file_stem() {
                own.insert(path);
            }
        }
    }
    let says = |path: &&PathBuf| {
        own.contains(path) || files.text(path).is_some_and(|text| speaks_of_tests(path, &text))
    };
    let mut found: BTreeSet<&PathBuf> = named.into_iter().take(TOLD_MAX).filter(says).collect();
    let is_work = |path: &&PathBuf| {
        !judges.contains(path.as_path())
            && !is_foreign(path)
            && (is_code(extension_of(path)) || ["", "mk", "just"].contains(&extension_of(path)))
    };
    for (index, path) in files.paths().iter().filter(is_work).enumerate() {
        if found.is_empty() || index >= FILES_MAX {
            // Too much to be sure that the work does not read them.
            return BTreeSet::new();
        }
        let text = files.text(path).unwrap_or_default();
        found.retain(|own| !is_named(own, &text));
    }
    found.into_iter().cloned().collect()
}

fn is_tool_file(path: &Path) -> bool {
    let name = name_of(path);
    MANIFESTS.contains(&name)
        || name.starts_with('.')
        || ["tsconfig", "jsconfig", "docker-compose", "compose."]
            .iter()
            .any(|begin| name.starts_with(begin))
}

fn is_readable(path: &Path) -> bool {
    is_code(extension_of(path)) || ["", "bats", "t"].contains(&extension_of(path))
}

/// Whether a text of the work names the file, or the directory that it is in.
fn is_named(path: &Path, text: &str) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let place = path.parent().map(name_of).unwrap_or_default();
    let forms = |word: &str| {
        [format!("{word}/"), format!("\"{word}\""), format!("'{word}'"), format!("/{word}")]
    };
    let has = |word: &str| {
        !word.is_empty() && forms(word).iter().any(|form| text.contains(form.as_str()))
    };
    text.contains(name_of(path)) || has(stem) || has(place)
}

fn speaks_of_tests(path: &Path, text: &str) -> bool {
    let end = (0..=TEXT_MAX.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    let text = &text[..end.unwrap_or_default()];
    if ["csv", "tsv"].contains(&extension_of(path)) {
        let columns = text.lines().next().unwrap_or_default().split([',', ';', '\t']);
        return columns.flat_map(words).any(|word| ANSWERS.contains(&word.as_str()));
    }
    // A key is the word before `:` or `=`; the part after the last sign is a value.
    let mut keys = text.split([':', '=']).map(|part| {
        let part = part.trim_end().trim_end_matches(['"', '\'']);
        let is_end = |letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-';
        part.rsplit(is_end).next().unwrap_or_default()
    });
    keys.next_back();
    keys.flat_map(words).any(|word| KEYS.contains(&word.as_str()))
}
