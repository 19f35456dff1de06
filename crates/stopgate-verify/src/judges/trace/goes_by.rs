//! What a judging script goes by that it does not name by its whole path: settings and what they
//! name, rules in a directory that it puts before their names, parts of itself.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::super::files::{below, directory_of, extension_of, inner, name_of};
use super::super::imports::quoted;
use super::super::names::{directories, is_data, is_foreign, says_rules, says_settings, words};
use super::super::role::Why;
use super::super::shell::{UNKNOWN, assignment};
use super::{Rank, Stand, Tracer};

/// How many sourced files are read for the variables that they set.
const SOURCED_MAX: usize = 10;
/// How many scripts in one directory are followed.
const PARTS_MAX: usize = 100;
/// How many files that may be rules are told apart by their names.
const RULES_MAX: usize = 500;
/// How many words of settings are tried.
const SETTINGS_WORDS_MAX: usize = 200;

/// `ci/steps/$step`: the parts of a judging script that are in a directory.
pub(super) fn follow_parts(tracer: &mut Tracer<'_>, program: &str, stand: &Stand) {
    let place = program.split_once(UNKNOWN).map_or("", |(place, _)| place);
    let place = place.strip_suffix('/').filter(|place| !place.is_empty());
    let place = place.and_then(|place| inner(tracer.root, &stand.directory, place));
    let Some(place) = place.filter(|_| stand.rank == Rank::Judge) else { return };
    let is_part = |path: &&PathBuf| path.parent() == Some(place.as_path()) && !is_foreign(path);
    let parts = below(tracer.files, &place).filter(is_part).take(PARTS_MAX);
    for part in parts.cloned().collect::<Vec<_>>() {
        tracer.follow(&part, Why::UsedByScript, stand);
    }
}

/// The text of a judging script behind the variables that a sourced file sets for it.
pub(super) fn with_settings(tracer: &Tracer<'_>, text: String, stand: &Stand) -> String {
    let sourced = text
        .lines()
        .map(str::trim)
        .filter_map(|line| line.strip_prefix(". ").or_else(|| line.strip_prefix("source ")));
    let name = |rest: &str| rest.trim_matches('"').rsplit('/').next().map(str::to_string);
    let own = stand.script.as_deref().map(directory_of).unwrap_or_default();
    let places = [own, stand.directory.clone()];
    let file = |name: String| {
        let mut paths = places.iter().map(|place| place.join(&name));
        paths.find(|path| tracer.files.paths().contains(path))
    };
    let settings = sourced.filter_map(name).filter_map(file);
    let texts = settings.filter_map(|path| tracer.files.text(&path)).filter(|text| only_sets(text));
    let set: String = texts.take(SOURCED_MAX).collect();
    if stand.rank == Rank::Judge && !set.is_empty() { format!("{set}\n{text}") } else { text }
}

/// Files that a judging script goes by and that only its settings name: `known-dead = tools/dead`.
pub(super) fn named_by_settings(tracer: &mut Tracer<'_>, settings: &Path, stand: &Stand) {
    if !says_settings(settings) || !tracer.seen.insert(format!("settings {}", settings.display())) {
        return;
    }
    let text = tracer.files.text(settings).unwrap_or_default();
    let is_sign = |letter: char| letter.is_whitespace() || "=:,\"'[]{}".contains(letter);
    let words = text.split(is_sign).filter(|word| word.contains('/')).take(SETTINGS_WORDS_MAX);
    let found: Vec<PathBuf> = words.filter_map(|word| tracer.file(stand, word)).collect();
    for file in found {
        if tracer.is_data_of_judge(&file, stand) {
            tracer.judge(file, Why::UsedByScript);
        }
    }
}

/// Rules and settings by their names alone, whose directory the script puts before them:
/// `at('.specrc')`.
pub(super) fn rules_named(tracer: &mut Tracer<'_>, text: &str, stand: &Stand) {
    let names: BTreeSet<&str> = quoted(text).filter(|word| is_file_name(word)).collect();
    if names.is_empty() {
        return;
    }
    let is_named = |path: &&PathBuf| {
        let is_rule = says_rules(path) || says_settings(path);
        is_rule && names.contains(name_of(path)) && !is_foreign(path)
    };
    let found = tracer.scanned().filter(is_named).take(RULES_MAX);
    let found: Vec<PathBuf> = found.cloned().collect();
    let is_only = |path: &&PathBuf| {
        found.iter().filter(|own| own.file_name() == path.file_name()).count() == 1
    };
    for path in found.iter().filter(is_only) {
        if tracer.is_data_of_judge(path, stand) {
            tracer.judge(path.clone(), Why::UsedByScript);
        }
    }
}

/// Whether a text for a shell does nothing but set variables.
pub(super) fn only_sets(text: &str) -> bool {
    text.lines().all(|line| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        line.is_empty() || line.starts_with('#') || assignment(line).is_some()
    })
}

/// The path of a script, with the ending of its language where only its first line says which.
pub(super) fn with_language(path: &Path, text: &str) -> PathBuf {
    const LANGUAGES: [(&str, &str); 4] =
        [("python", "py"), ("node", "js"), ("perl", "pl"), ("ruby", "rb")];
    let first = text.lines().next().filter(|line| line.starts_with("#!")).unwrap_or_default();
    let language = LANGUAGES.iter().find(|(name, _)| first.contains(name));
    match language.filter(|_| extension_of(path).is_empty()) {
        Some((_, end)) => path.with_extension(end),
        None => path.into(),
    }
}

/// Whether a word may be the name of a file, without its directory.
fn is_file_name(word: &str) -> bool {
    let is_sign = |letter: char| letter.is_alphanumeric() || ".-_".contains(letter);
    (3..100).contains(&word.len()) && word.chars().all(is_sign)
}

/// Whether a file without an ending is a program: `bin/count`.
pub(super) fn is_program(tracer: &Tracer<'_>, path: &Path) -> bool {
    let begins = |text: String| text.starts_with("#!") || text.contains('\0');
    extension_of(path).is_empty() && tracer.files.text(path).is_none_or(begins)
}

/// Whether a file is called like what a program is tried with: `data/seed.sql`.
pub(super) fn is_sample(path: &Path) -> bool {
    const WORDS: [&str; 8] =
        ["seed", "seeds", "sample", "samples", "fixture", "fixtures", "input", "inputs"];
    let says = |part: &str| words(part).iter().any(|word| WORDS.contains(&word.as_str()));
    let is_rows = is_data(path) || extension_of(path) == "sql";
    is_rows && !is_foreign(path) && (says(name_of(path)) || directories(path).any(says))
}
