//! What the words of a judging script lead to: lists of what it does not look at, and its data.

use std::path::{Path, PathBuf};

use super::super::files::{directory_of, inner, name_of};
use super::super::names::{is_foreign, is_in_judging_place, says_reference, words};
use super::super::role::Why;
use super::super::shell::is_open;
use super::{Stand, Tracer};

/// `[ -f docs/.linkignore ]`: a list of what is not looked at, also one that is not there yet.
pub(super) fn listed_exceptions(tracer: &mut Tracer<'_>, words: &[&str], stand: &Stand) {
    let is_path = |word: &&&str| !word.starts_with('-') && word.contains(['/', '.']);
    let named = words.iter().filter(is_path).filter(|word| !is_open(word));
    let lists = named.filter(|word| says_exceptions(Path::new(word)));
    let found = lists.filter_map(|word| inner(tracer.root, &stand.directory, word));
    for path in found.filter(|path| !is_foreign(path)).collect::<Vec<_>>() {
        tracer.judge(path, Why::UsedByScript);
    }
}

/// `cat checks/*.sql | sqlite3`: data in a place that is called after what checks.
pub(super) fn data_in_judging_places(tracer: &mut Tracer<'_>, words: &[&str], stand: &Stand) {
    let is_path = |word: &&&str| word.contains('/') && !word.starts_with('-') && !is_open(word);
    for word in words.iter().filter(is_path) {
        let found = tracer.files_of(stand, word).into_iter();
        let judges = |path: &PathBuf| is_in_judging_place(path) || says_reference(path);
        let own: Vec<PathBuf> = found.filter(judges).collect();
        let pattern = inner(tracer.root, &stand.directory, word)
            .filter(|_| word.contains('*') && !own.is_empty());
        let pattern = pattern.and_then(|pattern| pattern.to_str().map(str::to_string));
        tracer.trace.test_patterns.extend(pattern);
        for path in own {
            tracer.judge(path, Why::TestData);
        }
    }
}

/// `cat ci/order 2>/dev/null || ls`: a file beside a judging script that it reads if it is there.
pub(super) fn optional_files(tracer: &mut Tracer<'_>, words: &[&str], stand: &Stand) {
    let own = stand.script.as_deref().map(directory_of).unwrap_or_default();
    let named = words.iter().filter(|word| !word.starts_with('-') && !is_open(word));
    let found = named.filter_map(|word| inner(tracer.root, &stand.directory, word));
    let is_beside = |path: &PathBuf| !own.as_os_str().is_empty() && path.starts_with(&own);
    let is_new = |path: &PathBuf| is_beside(path) && !tracer.files.exists(path);
    for path in found.filter(is_new).collect::<Vec<_>>() {
        tracer.judge(path, Why::UsedByScript);
    }
}

/// A list of what is not looked at, whose directory the script puts before its name, or which
/// somebody may add later.
pub(super) fn exceptions(tracer: &mut Tracer<'_>, word: &str, places: Vec<PathBuf>) {
    let name = name_of(Path::new(word));
    let known = tracer.scanned().filter(|path| name_of(path) == name && !is_foreign(path));
    let mut found: Vec<PathBuf> = known.cloned().collect();
    if found.is_empty() {
        found.extend(places.into_iter().next_back());
    }
    for file in found {
        tracer.judge(file, Why::UsedByScript);
    }
}

/// Whether a name says that a file lists what is not looked at: `.fmtignore`, `lint-allow.txt`.
pub(super) fn says_exceptions(path: &Path) -> bool {
    const WORDS: [&str; 10] = [
        "ignore",
        "allow",
        "allowed",
        "allowlist",
        "skip",
        "skips",
        "exclude",
        "excludes",
        "baseline",
        "suppressions",
    ];
    let name = name_of(path);
    let is_hidden = name.starts_with('.') && name.ends_with("ignore") && name != ".gitignore";
    is_hidden || words(name).iter().any(|word| WORDS.contains(&word.as_str()))
}
