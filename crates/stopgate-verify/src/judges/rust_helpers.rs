//! Rust that serves tests only, outside of their directories: modules of a library that assert for
//! them, and build scripts that write them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::files::{ProjectFiles, below, directory_of, extension_of, name_of};
use super::names::{is_foreign, words};

/// How many files are read.
const FILES_MAX: usize = 6_000;

/// A build script with more switches is about more than tests.
const SWITCHES_MAX: usize = 20;

/// Such files, given those that judge as a whole.
pub(super) fn helpers(files: &dyn ProjectFiles, judges: &BTreeSet<&Path>) -> BTreeSet<PathBuf> {
    let is_rust = |path: &&PathBuf| extension_of(path) == "rs" && !is_foreign(path);
    let sources: Vec<&PathBuf> = files.paths().iter().filter(is_rust).collect();
    let is_open = |path: &&&PathBuf| !judges.contains(path.as_path());
    let named = sources.iter().filter(is_open).filter(|path| module_of(path).is_some());
    let scripts = sources.iter().filter(is_open).filter(|path| is_build_script(path));
    let (named, scripts): (Vec<_>, Vec<_>) = (named.collect(), scripts.collect());
    // Too much to be sure that no work uses them.
    if sources.len() > FILES_MAX {
        return BTreeSet::new();
    }
    let texts = RustTexts { files, judges, sources: &sources };
    let modules = named.into_iter().filter(|path| texts.is_helper(path));
    let serves = |path: &&&&PathBuf| texts.writes_tests(path) || texts.switches_tests(path);
    let generators = scripts.into_iter().filter(|path| serves(&path));
    modules.chain(generators).map(|path| (*path).clone()).collect()
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

    /// A build script whose files only tests include.
    fn writes_tests(&self, script: &Path) -> bool {
        let place = directory_of(script);
        let own: Vec<&PathBuf> = below(self.files, &place)
            .filter(|path| extension_of(path) == "rs" && !is_build_script(path))
            .collect();
        let includes = |path: &&&PathBuf| without_tests(&self.text(path)).contains("OUT_DIR");
        let (tests, work): (Vec<_>, Vec<_>) =
            own.into_iter().partition(|path| self.judges.contains(path.as_path()));
        let text = self.text(script);
        let tells_work = ["rustc-env", "rustc-cfg", "rustc-link"];
        text.contains("OUT_DIR")
            && !tells_work.iter().any(|word| text.contains(word))
            && tests.iter().any(|path| includes(&path))
            && !work.iter().any(|path| includes(&path))
    }

    /// A build script that sets nothing but what tests ask for: `#[cfg_attr(offline, ignore)]`.
    fn switches_tests(&self, script: &Path) -> bool {
        let text = self.text(script);
        let switches: BTreeSet<&str> = text.split("rustc-cfg=").skip(1).map(first_word).collect();
        let tells_work = ["rustc-env", "rustc-link", "OUT_DIR"];
        if switches.is_empty()
            || switches.len() > SWITCHES_MAX
            || tells_work.iter().any(|word| text.contains(word))
        {
            return false;
        }
        let place = directory_of(script);
        let own = below(self.files, &place)
            .filter(|path| extension_of(path) == "rs" && !is_build_script(path));
        let mut by_tests = BTreeSet::new();
        for path in own {
            let text = self.text(path);
            let judges = self.judges.contains(path.as_path());
            let work = if judges { "" } else { without_tests(&text) };
            let asked = |text: &str| switches.iter().filter(|own| mentions(text, own)).count();
            if asked(work) > 0 {
                return false;
            }
            by_tests.extend(switches.iter().filter(|own| mentions(&text, own)));
        }
        by_tests == switches
    }
}

/// The name at the beginning of a text.
fn first_word(text: &str) -> &str {
    let is_end = |letter: char| !letter.is_alphanumeric() && letter != '_';
    text.split(is_end).next().unwrap_or_default()
}

fn is_build_script(path: &Path) -> bool {
    name_of(path) == "build.rs"
        && !path.components().any(|part| part.as_os_str() == "src" || part.as_os_str() == "tests")
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
fn without_tests(text: &str) -> &str {
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
