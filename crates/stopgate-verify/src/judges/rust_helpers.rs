//! Modules of a library in Rust that assert for tests, and serve nothing else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::files::{ProjectFiles, extension_of};
use super::names::{is_foreign, words};

/// How many files are read.
const FILES_MAX: usize = 6_000;

/// Such files, given those that judge as a whole.
pub(super) fn helpers(files: &dyn ProjectFiles, judges: &BTreeSet<&Path>) -> BTreeSet<PathBuf> {
    let is_rust = |path: &&PathBuf| extension_of(path) == "rs" && !is_foreign(path);
    let sources: Vec<&PathBuf> = files.paths().iter().filter(is_rust).collect();
    let is_open = |path: &&&PathBuf| !judges.contains(path.as_path());
    let named = sources.iter().filter(is_open).filter(|path| module_of(path).is_some());
    // Too much to be sure that no work uses them.
    if sources.len() > FILES_MAX {
        return BTreeSet::new();
    }
    let texts = RustTexts { files, judges, sources: &sources };
    named.filter(|path| texts.is_helper(path)).map(|path| (*path).clone()).collect()
}

struct RustTexts<'a> {
    files: &'a dyn ProjectFiles,
    judges: &'a BTreeSet<&'a Path>,
    sources: &'a [&'a PathBuf],
}

impl RustTexts<'_> {
    fn text(&self, path: &Path) -> String {
        self.files.text(path).unwrap_or_default()
    }

    /// A module that asserts something about the library, and that only tests use.
    fn is_helper(&self, path: &Path) -> bool {
        let Some(module) = module_of(path) else { return false };
        let text = self.text(path);
        let own = without_tests(&text);
        let asserts = ["assert!(", "assert_eq!(", "assert_ne!(", "panic!("];
        let is_about = own.contains("crate::") || own.contains("super::");
        if !is_about || !asserts.iter().any(|word| own.contains(word)) {
            return false;
        }
        let mut is_used = false;
        for other in self.sources.iter().filter(|other| other.as_path() != path) {
            let text = self.text(other);
            let is_part = module_of(other) == Some(module);
            let is_work = !self.judges.contains(other.as_path()) && !is_part;
            if is_work && mentions(without_tests(&text), module) {
                return false;
            }
            is_used |= !is_part && mentions(&text, module);
        }
        is_used
    }
}

/// The module below `src` whose name says that it is there for tests.
fn module_of(path: &Path) -> Option<&str> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let from = parts.iter().rposition(|part| *part == "src")? + 1;
    let mut names = parts[from..].iter().map(|part| part.strip_suffix(".rs").unwrap_or(part));
    names.find(|name| says_tests(name))
}

fn says_tests(name: &str) -> bool {
    const WORDS: [&str; 9] = [
        "test",
        "tests",
        "testing",
        "testkit",
        "assert",
        "asserts",
        "assertions",
        "expect",
        "expectations",
    ];
    let says = |word: &String| {
        WORDS.contains(&word.as_str())
            || word.starts_with("testutil")
            || word.starts_with("testhelper")
    };
    words(name).iter().any(says)
}

/// A text up to its own tests.
pub(super) fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or_default()
}

/// Whether a text names a module, beyond declaring it.
fn mentions(text: &str, module: &str) -> bool {
    let is_sign = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut words = code.flat_map(|line| line.split(is_sign)).filter(|word| !word.is_empty());
    let mut before = "";
    words.any(|word| {
        let is_named = word == module && before != "mod";
        before = word;
        is_named
    })
}
