//! Data that tests read, beyond what its name says.
//!
//! Most data belongs to the work, also where a test reads it. Cases and samples that tests name
//! and the work does not are different: what they say is what the tests ask for.

mod told;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::files::{ProjectFiles, directory_of, extension_of, name_of, normal};
use super::names::{is_code, is_foreign, said, words};
use super::trace::is_of_tools;
use crate::glob::Globs;

/// How many files of each side are read.
const FILES_MAX: usize = 6_000;

/// Words for data that somebody is tried out with.
const WORDS: [&str; 40] = [
    "contract",
    "contracts",
    "example",
    "examples",
    "allowlist",
    "budget",
    "budgets",
    "failures",
    "known",
    "quarantine",
    "skiplist",
    "skips",
    "suppressions",
    "xfail",
    "case",
    "cases",
    "testcases",
    "sample",
    "samples",
    "scenario",
    "scenarios",
    "vector",
    "vectors",
    "corpus",
    "corpora",
    "reference",
    "references",
    "baseline",
    "baselines",
    "recordings",
    "answer",
    "answers",
    "truth",
    "oracle",
    "oracles",
    "expectation",
    "expectations",
    "acceptance",
    "conformance",
    "wanted",
];

/// Words for what a script or a command judges by; where a test reads such data, it may well be
/// the work's.
const RULES: [&str; 18] = [
    "allowed",
    "coverage",
    "exceptions",
    "exclusions",
    "gate",
    "gates",
    "limit",
    "limits",
    "policy",
    "quality",
    "rules",
    "schema",
    "schemas",
    "style",
    "threshold",
    "thresholds",
    "tolerance",
    "tolerances",
];

/// Words for what tests measure by, where nothing else reads it.
const MEASURES: [&str; 6] =
    ["limit", "limits", "threshold", "thresholds", "tolerance", "tolerances"];

/// Data that the judges read, given the command and the files that judge as a whole.
pub(super) fn data(
    command: &str,
    files: &dyn ProjectFiles,
    judges: &BTreeSet<&Path>,
) -> BTreeSet<PathBuf> {
    let mut found = embedded(files, judges);
    found.extend(included(files, judges));
    found.extend(told::told(files, judges));
    let is_open = |path: &&PathBuf| !judges.contains(path.as_path()) && !is_foreign(path);
    let is_data =
        |path: &&PathBuf| !is_code(extension_of(path)) && (says_cases(path) || says_rules(path));
    let candidates: Vec<&PathBuf> =
        files.paths().iter().filter(is_open).filter(is_data).take(FILES_MAX).collect();
    if candidates.is_empty() {
        return found;
    }
    let cases: Vec<&PathBuf> = candidates.iter().copied().filter(|path| says_cases(path)).collect();
    let measures = candidates.iter().copied().filter(|path| says_measures(path));
    let own_cases: Vec<&PathBuf> = cases.iter().copied().chain(measures).collect();
    let mut named = BTreeSet::new();
    note(command, &candidates, &mut named);
    for judge in judges.iter().filter(|path| is_readable(path)).take(FILES_MAX) {
        let own = if said(judge).is_some() { &own_cases } else { &candidates };
        note(&files.text(judge).unwrap_or_default(), own, &mut named);
    }
    let work = files.paths().iter().filter(is_open).filter(|path| is_code(extension_of(path)));
    let mut used = BTreeSet::new();
    for (index, path) in work.enumerate() {
        if named.is_empty() || index >= FILES_MAX {
            // Too much to be sure that the work does not read them.
            return if named.is_empty() { found } else { BTreeSet::new() };
        }
        let text = files.text(path).unwrap_or_default();
        note(&text, &candidates, &mut used);
        // Work that goes through a directory reads what is in it.
        let measures = candidates.iter().copied().filter(|path| says_measures(path));
        used.extend(measures.filter(|path| names_directory(&text, path)));
    }
    found.extend(named.difference(&used).map(|path| (*path).clone()));
    found
}

/// The data that a text names, by file or by directory.
fn note<'c>(text: &str, candidates: &[&'c PathBuf], named: &mut BTreeSet<&'c PathBuf>) {
    let is_told = |path: &Path| {
        let directory = path.components().rev().skip(1).find_map(|part| {
            let part = part.as_os_str().to_str()?;
            words(part).iter().any(|word| WORDS.contains(&word.as_str())).then_some(part)
        });
        let is_path = |directory: &str| {
            [format!("{directory}/"), format!("\"{directory}\""), format!("'{directory}'")]
                .iter()
                .any(|form| text.contains(form.as_str()))
        };
        let name = name_of(path);
        (name.contains('.') && text.contains(name)) || directory.is_some_and(is_path)
    };
    named.extend(candidates.iter().copied().filter(|path| is_told(path)));
}

fn says_measures(path: &Path) -> bool {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    says_rules(path) && words(stem).iter().any(|word| MEASURES.contains(&word.as_str()))
}

fn names_directory(text: &str, path: &Path) -> bool {
    let own = directory_of(path);
    let name = name_of(&own);
    !name.is_empty()
        && [format!("{name}/"), format!("\"{name}\""), format!("'{name}'")]
            .iter()
            .any(|form| text.contains(form.as_str()))
}

/// Settings of a script, in a form for data.
fn says_rules(path: &Path) -> bool {
    let is_data = ["json", "yaml", "yml", "toml", "txt", "ini", "conf", "min", "max", ""]
        .contains(&extension_of(path));
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let place = directory_of(path);
    let is_rule = |word: &String| RULES.contains(&word.as_str());
    is_data && (words(stem).iter().any(is_rule) || words(name_of(&place)).iter().any(is_rule))
}

fn says_cases(path: &Path) -> bool {
    let parts = path.components().filter_map(|part| part.as_os_str().to_str());
    parts.flat_map(words).any(|word| WORDS.contains(&word.as_str()))
}

fn is_readable(path: &Path) -> bool {
    is_code(extension_of(path)) || ["", "bats", "mk", "just"].contains(&extension_of(path))
}

/// Files that Rust's tests include, and JSON that tests import, where the work does neither.
fn included(files: &dyn ProjectFiles, judges: &BTreeSet<&Path>) -> BTreeSet<PathBuf> {
    let is_source = |path: &&PathBuf| {
        ["rs", "js", "mjs", "cjs", "ts", "mts"].contains(&extension_of(path)) && !is_foreign(path)
    };
    let (mut by_tests, mut by_work) = (BTreeSet::new(), BTreeSet::new());
    for path in files.paths().iter().filter(is_source).take(FILES_MAX) {
        let Some(text) = files.text(path) else { continue };
        let own = directory_of(path);
        let named = text.lines().flat_map(|line| data_of(path, line));
        let named = named.filter_map(|word| normal(&own.join(word)));
        let named = named.filter(|path| files.paths().contains(path));
        if !judges.contains(path.as_path()) {
            by_work.extend(named);
            continue;
        }
        // What a script looks at is elsewhere; what it goes by is beside it or says so.
        let is_test = said(path).is_some() && !is_of_tools(path);
        let is_beside = |data: &PathBuf| {
            directory_of(data) == own || (data.starts_with(&own) && own != Path::new(""))
        };
        let is_own = |data: &PathBuf| is_beside(data) || says_rules(data) || says_cases(data);
        by_tests.extend(named.filter(|data| is_test || is_own(data)));
    }
    let is_open = |path: &PathBuf| {
        let in_root = path.parent().is_none_or(|place| place.as_os_str().is_empty());
        let is_manifest = in_root && extension_of(path) == "json";
        !is_manifest && !is_code(extension_of(path))
    };
    by_tests.difference(&by_work).filter(|path| is_open(path)).cloned().collect()
}

/// The data that a line of source has or imports.
fn data_of<'l>(path: &Path, line: &'l str) -> Vec<&'l str> {
    if extension_of(path) == "rs" {
        let forms = ["include_str!(\"", "include_bytes!(\"", "include!(\""];
        let after = forms.iter().filter_map(|form| line.split_once(form));
        return after.filter_map(|(_, rest)| rest.split('"').next()).collect();
    }
    let is_import = ["require(", "import ", "from "].iter().any(|word| line.contains(word));
    let words = line.split(['"', '\'', '`']).filter(|word| word.starts_with('.'));
    words.filter(|word| is_import && extension_of(Path::new(word)) == "json").collect()
}

/// Files that Go's tests have in them, and its other files do not.
fn embedded(files: &dyn ProjectFiles, judges: &BTreeSet<&Path>) -> BTreeSet<PathBuf> {
    let is_go = |path: &&PathBuf| extension_of(path) == "go" && !is_foreign(path);
    let mut patterns = (Vec::new(), Vec::new());
    for path in files.paths().iter().filter(is_go).take(FILES_MAX) {
        let Some(text) = files.text(path).filter(|text| text.contains("//go:embed ")) else {
            continue;
        };
        let own = directory_of(path);
        let lines = text.lines().filter_map(|line| line.strip_prefix("//go:embed "));
        let paths = lines
            .flat_map(str::split_whitespace)
            .map(|word| own.join(word.trim_matches(['"', '`']).trim_start_matches("all:")));
        let paths = paths.map(|path| path.to_string_lossy().into_owned());
        let is_judge = judges.contains(path.as_path());
        if is_judge { patterns.0.extend(paths) } else { patterns.1.extend(paths) }
    }
    let read = |own: &[String]| Globs::new(own).unwrap_or_default();
    let (tests, work) = (read(&patterns.0), read(&patterns.1));
    if patterns.0.is_empty() {
        return BTreeSet::new();
    }
    let fits = |path: &&PathBuf| {
        let bytes = path.as_os_str().as_encoded_bytes();
        tests.takes(bytes) && !work.takes(bytes)
    };
    files.paths().iter().filter(fits).cloned().collect()
}
