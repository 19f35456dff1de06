//! Settings that a project's own judging scripts read from a manifest: `[cover]` in `setup.cfg` for
//! `tools/cover.py`, `"budget"` in `package.json` for `scripts/size.mjs`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::files::{ProjectFiles, extension_of};
use super::imports::quoted;
use super::names::{is_code, is_foreign, words};

/// Manifests in which a project keeps settings of its own scripts.
const MANIFESTS: [&str; 4] = ["package.json", "pyproject.toml", "setup.cfg", "tox.ini"];
/// More words than this are not the names of settings.
const WORDS_MAX: usize = 500;
/// How many files of each side are read.
const FILES_MAX: usize = 6_000;

/// The words in the scripts that read a manifest: what they look up is among them.
pub(super) fn words_of<'p>(
    scripts: impl Iterator<Item = &'p Path>,
    files: &dyn ProjectFiles,
) -> BTreeSet<String> {
    let reads = |text: &String| MANIFESTS.iter().any(|name| text.contains(name));
    let texts = scripts.filter_map(|path| files.text(path)).filter(reads);
    let mut found = BTreeSet::new();
    for text in texts {
        found.extend(quoted(&text).filter(|word| is_name(word)).map(str::to_string));
        found.extend(members(&text).map(str::to_string));
        // `const { limits } = require('./package.json')`
        let beside = text.lines().filter(|line| MANIFESTS.iter().any(|name| line.contains(name)));
        let is_sign = |letter: char| !(letter.is_alphanumeric() || "_-".contains(letter));
        let named = beside.flat_map(|line| line.split(is_sign)).filter(|word| is_name(word));
        found.extend(named.map(str::to_string));
        if found.len() > WORDS_MAX {
            return BTreeSet::new();
        }
    }
    found
}

/// The words by which tests find settings of their own in a manifest that no work reads, as such and,
/// for tables below another, with a dot before it: `.test` of `[tool.span.test]`.
pub(super) fn words_of_tests(
    judges: &BTreeSet<PathBuf>,
    files: &dyn ProjectFiles,
) -> BTreeSet<String> {
    let code = |path: &&PathBuf| is_code(extension_of(path)) && !is_foreign(path);
    let tests = judges.iter().filter(code).take(FILES_MAX).map(PathBuf::as_path);
    let mut found = words_of(tests, files);
    found.retain(|word| says_tests(word));
    if found.is_empty() {
        return found;
    }
    let reads = |path: &PathBuf| {
        let text = files.text(path).unwrap_or_default();
        MANIFESTS.iter().any(|name| text.contains(name))
    };
    let mut work = files.paths().iter().filter(code).filter(|path| !judges.contains(*path));
    if work.by_ref().take(FILES_MAX).any(reads) || work.next().is_some() {
        return BTreeSet::new();
    }
    let below: Vec<String> = found.iter().map(|word| format!(".{word}")).collect();
    found.extend(below);
    found
}

/// Whether the name of a setting says that it is about tests.
fn says_tests(word: &str) -> bool {
    const WORDS: [&str; 13] = [
        "test",
        "tests",
        "testing",
        "slack",
        "limit",
        "limits",
        "threshold",
        "thresholds",
        "tolerance",
        "tolerances",
        "strict",
        "quarantine",
        "xfail",
    ];
    words(word).iter().any(|own| WORDS.contains(&own.as_str()))
}

/// `a.budget`, `a?.budget`: names behind a dot that are not called.
fn members(text: &str) -> impl Iterator<Item = &str> {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices('.').filter_map(move |(at, _)| {
        let rest = &text[at + 1..];
        let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        (is_name(name) && !after.starts_with('(')).then_some(name)
    })
}

fn is_name(word: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || "_-:.".contains(letter);
    (2..40).contains(&word.len())
        && word.starts_with(char::is_alphabetic)
        && word.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judges::tests::Scene;

    #[test]
    fn what_a_script_looks_up_in_a_manifest_is_noted() {
        let scene = Scene::new(
            "a.py = config.read(\"setup.cfg\")\\nomit = config.get(\"cover\", \"omit\")
             b.mjs = JSON.parse(read('package.json')).limits.map(f)
             d.js = const { sizeLimit } = require('../package.json');
             c.py = print('nothing')",
        );
        let of = |path: &str| words_of([Path::new(path)].into_iter(), &scene.files());
        assert!(["cover", "omit"].iter().all(|own| of("a.py").contains(*own)), "{:?}", of("a.py"));
        assert!(of("b.mjs").contains("limits"));
        assert!(of("d.js").contains("sizeLimit"));
        assert_eq!(of("c.py"), BTreeSet::new());
    }

    #[test]
    fn of_what_tests_look_up_only_settings_of_tests_count() {
        let test =
            "tests/a.py = load(\"pyproject.toml\")[\"tool\"][\"span\"][\"test\"][\"version\"]";
        let scene = Scene::new(&format!("{test}\nspan.py = print('nothing')"));
        let judges = BTreeSet::from(["tests/a.py".into()]);
        let found = words_of_tests(&judges, &scene.files());
        assert_eq!(found, [".test", "test"].map(String::from).into());
        scene.add("span.py = load(\"pyproject.toml\")");
        assert_eq!(words_of_tests(&judges, &scene.files()), BTreeSet::new());
    }
}
