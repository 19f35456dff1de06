//! Helpers outside of test directories that only judges import.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::aliases::Aliases;
use super::files::ProjectFiles;
use super::imports::{imports_of, imports_with, is_subject, language_of, uses_test_framework};
use super::loaded_code;
use super::names::{directories, is_foreign, says_helper, words};

/// How many files of each side are read.
const FILES_MAX: usize = 6_000;

/// Helpers of helpers are followed this far.
const DEPTH_MAX: usize = 4;

/// The helpers among the project's files, given its judges, and those of them that settings load.
pub(super) fn helpers(
    files: &dyn ProjectFiles,
    judges: &BTreeSet<&Path>,
    loaded: BTreeSet<PathBuf>,
) -> BTreeSet<PathBuf> {
    let mut found: BTreeSet<PathBuf> = BTreeSet::new();
    let mut search = Search { files, aliases: Aliases::of(files), loaded };
    for _ in 0..DEPTH_MAX {
        let known = judges.iter().copied().chain(found.iter().map(PathBuf::as_path)).collect();
        let more = search.direct(&known);
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    found
}

struct Search<'f> {
    files: &'f dyn ProjectFiles,
    aliases: Aliases,
    /// What settings load, with its parts as far as they are known.
    loaded: BTreeSet<PathBuf>,
}

impl Search<'_> {
    /// The helpers that the judges themselves import.
    fn direct(&mut self, judges: &BTreeSet<&Path>) -> BTreeSet<PathBuf> {
        let files = self.files;
        let mut candidates = self.imported(judges);
        let loaded = &self.loaded;
        let is_part = |path: &Path, users: &[PathBuf]| {
            users.iter().any(|user| loaded.contains(user) && loaded_code::is_part(path, user))
        };
        let parts = candidates.iter().filter(|(path, users)| is_part(path, users));
        let parts: BTreeSet<PathBuf> = parts.map(|(path, _)| path.clone()).collect();
        candidates.retain(|path, users| parts.contains(path) || is_helper(path, users, files));
        let found = self.without_imported_by_work(candidates.into_keys().collect(), judges);
        self.loaded.extend(parts.into_iter().filter(|path| found.contains(path)));
        found
    }

    /// What the judges import, each with its users.
    fn imported(&self, judges: &BTreeSet<&Path>) -> BTreeMap<PathBuf, Vec<PathBuf>> {
        let mut candidates: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        let readable = judges.iter().filter(|path| language_of(path).is_some());
        for judge in readable.take(FILES_MAX) {
            let Some(text) = self.files.text(judge) else { continue };
            let imports = imports_with(judge, &text, self.files, &self.aliases).into_iter();
            let others = imports.filter(|own| !judges.contains(own.as_path()) && !is_foreign(own));
            for import in others {
                candidates.entry(import).or_default().push((*judge).into());
            }
        }
        candidates
    }

    fn without_imported_by_work(
        &self,
        mut found: BTreeSet<PathBuf>,
        judges: &BTreeSet<&Path>,
    ) -> BTreeSet<PathBuf> {
        // What is not code is imported by JavaScript.
        let languages: BTreeSet<&str> =
            found.iter().map(|path| language_of(path).unwrap_or("javascript")).collect();
        let work = self.files.paths().iter().filter(|path| {
            language_of(path).is_some_and(|own| languages.contains(own))
                && !judges.contains(path.as_path())
                && !is_foreign(path)
        });
        for (index, path) in work.enumerate() {
            if index >= FILES_MAX {
                // Too much to be sure that no work imports them.
                return BTreeSet::new();
            }
            if found.is_empty() || found.contains(path) {
                continue;
            }
            let Some(text) = self.files.text(path) else { continue };
            for import in imports_with(path, &text, self.files, &self.aliases) {
                found.remove(&import);
            }
        }
        found
    }
}

/// Whether a file that judges import is there for them.
fn is_helper(path: &Path, users: &[PathBuf], files: &dyn ProjectFiles) -> bool {
    let is_tested = users.iter().any(|test| is_subject(test, path));
    let text = || files.text(path).unwrap_or_default();
    let asserts = || (says_helper(path) || is_vendored(path)) && asserts(&text());
    let serves = || calls_assertions(path, &text()) && is_beside_subject(path, users, files);
    !is_tested && (says_test_helper(path) || framework(files, path) || asserts() || serves())
}

/// Whether a file is a copy of another project's: `third_party/expect/__init__.py`.
fn is_vendored(path: &Path) -> bool {
    const PLACES: [&str; 5] = ["third_party", "thirdparty", "vendor", "vendored", "external"];
    directories(path).any(|own| PLACES.contains(&own))
}

/// Whether a text compares and complains, as the work itself rarely does.
fn asserts(text: &str) -> bool {
    let begins = |line: &str| {
        let line = line.trim_start();
        ["assert ", "assert(", "assert.", "expect(", "raise AssertionError", "throw new Assertion"]
            .iter()
            .any(|begin| line.starts_with(begin))
    };
    text.lines().any(begins)
}

/// Whether a text hands values on to assertions.
fn calls_assertions(path: &Path, text: &str) -> bool {
    let words: &[&str] = match language_of(path) {
        Some("javascript") => &["assert(", "assert.", "assertEquals(", "should."],
        Some("python") => &["assert ", "assert(", "self.assert", "AssertionError"],
        _ => &[],
    };
    words.iter().any(|word| text.contains(word))
}

/// Whether each of the tests imports something else that it is about, one of them by its name.
fn is_beside_subject(path: &Path, users: &[PathBuf], files: &dyn ProjectFiles) -> bool {
    let others = |test: &PathBuf| {
        let text = files.text(test).unwrap_or_default();
        let imports = imports_of(test, &text, files).into_iter();
        imports.filter(|import| import != path && !is_foreign(import)).collect::<Vec<_>>()
    };
    let named = |test: &PathBuf| others(test).iter().any(|own| is_subject(test, own));
    users.iter().all(|test| !others(test).is_empty()) && users.iter().any(named)
}

fn framework(files: &dyn ProjectFiles, path: &Path) -> bool {
    files.text(path).is_some_and(|text| uses_test_framework(path, &text))
}

/// Whether the name says that the file is there for tests.
pub(super) fn says_test_helper(path: &Path) -> bool {
    const WORDS: [&str; 33] = [
        "support",
        "double",
        "doubles",
        "test",
        "tests",
        "testing",
        "mock",
        "mocks",
        "fake",
        "fakes",
        "stub",
        "stubs",
        "fixture",
        "fixtures",
        "factory",
        "factories",
        "assert",
        "asserts",
        "assertions",
        "matchers",
        "harness",
        "helper",
        "helpers",
        "expect",
        "expected",
        "expectation",
        "expectations",
        "golden",
        "check",
        "cases",
        "testcases",
        "vectors",
        "scenarios",
    ];
    let says = |word: &String| {
        WORDS.contains(&word.as_str())
            || word.starts_with("testutil")
            || word.starts_with("testkit")
            || word.starts_with("testhelper")
    };
    path.components().any(|part| words(&part.as_os_str().to_string_lossy()).iter().any(says))
}
