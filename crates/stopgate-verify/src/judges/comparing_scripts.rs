//! Scripts that tests start to compare for them: `sh scripts/compare.sh PROGRAM WANTED`.
//!
//! Most scripts that tests start are what the tests are about. One is a helper where its name says
//! that it compares, no test has its name, and nothing but tests mentions it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::files::{ProjectFiles, directory_of, extension_of, name_of, normal};
use super::imports::{is_subject, quoted_paths};
use super::names::{is_code, is_foreign, words};

/// How many files are read.
const FILES_MAX: usize = 6_000;
/// Files that say what a project's own programs are.
const MANIFESTS: [&str; 8] = [
    "package.json",
    "Cargo.toml",
    "pyproject.toml",
    "setup.cfg",
    "Makefile",
    "CMakeLists.txt",
    "README.md",
    "Dockerfile",
];

/// Such scripts, given the files that judge as a whole.
pub(super) fn scripts(files: &dyn ProjectFiles, judges: &BTreeSet<&Path>) -> BTreeSet<PathBuf> {
    let says = |path: &&PathBuf| {
        is_script(path) && compares(path) && !judges.contains(path.as_path()) && !is_foreign(path)
    };
    let named: Vec<&PathBuf> = files.paths().iter().filter(says).collect();
    if named.is_empty() {
        return BTreeSet::new();
    }
    let (mut called, mut mentioned) = (BTreeSet::new(), BTreeSet::new());
    let is_read = |path: &&PathBuf| {
        let is_known = is_code(extension_of(path)) || MANIFESTS.contains(&name_of(path));
        is_known && !is_foreign(path)
    };
    for (index, path) in files.paths().iter().filter(is_read).enumerate() {
        if index >= FILES_MAX {
            // Too much to be sure that nothing else uses them.
            return BTreeSet::new();
        }
        let text = files.text(path).unwrap_or_default();
        if judges.contains(path.as_path()) {
            let own = directory_of(path);
            let places = |word: &str| [normal(&own.join(word)), normal(Path::new(word))];
            let found = quoted_paths(&text).flat_map(places).flatten();
            called.extend(found.filter(|file| named.contains(&file) && !is_subject(path, file)));
            mentioned.extend(named.iter().filter(|file| is_subject(path, file)).copied().cloned());
        } else {
            let others = named.iter().copied().filter(|file| *file != path);
            mentioned.extend(others.filter(|file| text.contains(name_of(file))).cloned());
        }
    }
    called.difference(&mentioned).cloned().collect()
}

fn is_script(path: &Path) -> bool {
    ["", "sh", "bash", "py", "js", "mjs", "cjs", "rb", "pl"].contains(&extension_of(path))
}

fn compares(path: &Path) -> bool {
    const WORDS: [&str; 9] =
        ["compare", "same", "equal", "equals", "expect", "expects", "assert", "asserts", "ensure"];
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    words(stem).iter().any(|word| WORDS.contains(&word.as_str()))
}
