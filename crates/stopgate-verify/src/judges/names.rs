//! What a path says about itself: that it is a test, test data, a helper, or a program.

mod references;

use std::path::Path;

use super::files::{extension_of, name_of};

pub(super) use self::references::{says_reference, says_rules, says_settings};

/// What a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameSays {
    /// It is a test.
    Test,
    /// It is something that tests compare with or read.
    Data,
}

/// Directories of installed or built things, in which names say nothing.
const FOREIGN: [&str; 19] = [
    ".git",
    "node_modules",
    "bower_components",
    ".venv",
    "venv",
    ".tox",
    ".nox",
    "site-packages",
    "__pycache__",
    ".direnv",
    ".yarn",
    ".pnpm-store",
    ".gradle",
    "target",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".next",
    ".eggs",
];

/// Directories whose files are made by the work itself.
pub(super) const PRODUCTS: [&str; 10] =
    ["target", "build", "dist", "out", "_build", "zig-out", "obj", ".build", "bazel-bin", "bin"];

const TEST_DIRECTORIES: [&str; 19] = [
    "test",
    "tests",
    "spec",
    "specs",
    "__tests__",
    "__test__",
    "e2e",
    "cypress",
    "testing",
    "unittests",
    "integration-tests",
    "integration_tests",
    "functional_tests",
    "step_definitions",
    "androidTest",
    "__mocks__",
    "Tests",
    "UnitTests",
    "IntegrationTests",
];

const DATA_DIRECTORIES: [&str; 12] = [
    "testdata",
    "test-data",
    "test_data",
    "fixtures",
    "__fixtures__",
    "__snapshots__",
    "snapshots",
    "__image_snapshots__",
    "goldens",
    "golden",
    "expected",
    "cassettes",
];

/// What the path says, where it says something.
pub(super) fn said(path: &Path) -> Option<NameSays> {
    let (name, extension) = (name_of(path), extension_of(path));
    if is_data_name(name, extension) {
        return Some(NameSays::Data);
    }
    if is_test_name(name, extension)
        || (directories(path).count() == 0
            && extension.is_empty()
            && TEST_DIRECTORIES.contains(&name))
    {
        return Some(NameSays::Test);
    }
    directories(path).find_map(|directory| directory_says(directory, path))
}

/// Whether the path is in a directory of what outputs are compared with.
pub(super) fn is_among_data(path: &Path) -> bool {
    directories(path).any(|own| DATA_DIRECTORIES.contains(&own))
}

fn directory_says(directory: &str, path: &Path) -> Option<NameSays> {
    let is_perl = || extension_of(path) == "t" || extension_of(path) == "bats";
    if DATA_DIRECTORIES.contains(&directory) {
        // `expected/` and `snapshots/` may well be modules of the work.
        let is_source = is_code(extension_of(path));
        let is_doubtful = ["snapshots", "golden", "expected"].contains(&directory);
        return (!is_doubtful || !is_source).then_some(NameSays::Data);
    }
    let says = TEST_DIRECTORIES.contains(&directory)
        || ["_tests", "-tests", "_test", "-test"].iter().any(|end| directory.ends_with(end))
        || directory.ends_with(".Tests")
        || (directory == "t" && is_perl())
        || (directory == "features" && is_cucumber(path));
    // In Rust a directory of this name is likely a module of the product.
    (says && !(directory == "testing" && extension_of(path) == "rs")).then_some(NameSays::Test)
}

fn is_cucumber(path: &Path) -> bool {
    extension_of(path) == "feature"
        || name_of(path) == "environment.py"
        || directories(path).any(|own| ["steps", "step_definitions", "support"].contains(&own))
}

fn is_test_name(name: &str, extension: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    let lower = stem.to_ascii_lowercase();
    let whole = ["tests.py", "test.py", "tests.rs", "test.rs", "jest.setup.js"];
    if whole.contains(&name) || ["bats", "feature", "t"].contains(&extension) {
        return true;
    }
    let is_runnable = is_code(extension) || extension.is_empty();
    if !is_runnable {
        // `app.test.snap`, `login.spec.yaml`
        return name.contains(".test.") || name.contains(".spec.") || name.contains(".e2e.");
    }
    if extension.is_empty() {
        return false;
    }
    match extension {
        "go" => lower.ends_with("_test"),
        "rs" => ["_test", "_tests"].iter().any(|end| lower.ends_with(end)),
        _ => {
            ["test_", "test-"].iter().any(|begin| lower.starts_with(begin))
                || ["_test", "-test", "_tests", "-tests", "_unittest"]
                    .iter()
                    .any(|end| lower.ends_with(end))
                || [".test.", ".tests.", ".spec.", ".e2e.", ".cy."]
                    .iter()
                    .any(|own| name.contains(own))
                || ["test", "tests"].contains(&stem)
                || (["js", "jsx", "ts", "tsx", "mjs", "cjs"].contains(&extension) && stem == "spec")
                || is_named_by_habit(stem, extension)
        }
    }
}

/// Habits of single languages, in which others name ordinary source.
fn is_named_by_habit(stem: &str, extension: &str) -> bool {
    let ends = |ends: &[&str]| ends.iter().any(|end| stem.ends_with(end) && stem.len() > end.len());
    let is_jvm = ["java", "kt", "groovy", "scala", "cs", "php", "swift"].contains(&extension);
    let begins = stem.strip_prefix("Test").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    let specs = ["rb", "js", "ts", "jsx", "tsx", "mjs", "lua", "php"].contains(&extension);
    ends(&["Test", "Tests", "TestCase"])
        || (is_jvm && (begins || ends(&["IT"])))
        || (["groovy", "scala", "kt", "js"].contains(&extension) && ends(&["Spec"]))
        || (specs && ends(&["_spec", "-spec"]))
}

/// A file whose name alone tells a script to leave something out.
fn is_mark(name: &str) -> bool {
    const MARKS: [&str; 10] = [
        "skip",
        "skipped",
        "skiptest",
        "skiptests",
        "notest",
        "notests",
        "disabled",
        "quarantine",
        "quarantined",
        "donttest",
    ];
    MARKS.contains(&name.trim_start_matches('.').to_ascii_lowercase().as_str())
}

fn is_data_name(name: &str, extension: &str) -> bool {
    if is_mark(name) {
        return true;
    }
    if ["snap", "golden", "approved", "ambr"].contains(&extension) || name == ".env.test" {
        return true;
    }
    let says = || words(name).iter().any(|word| word == "expected" || word == "golden");
    !is_code(extension) && !extension.is_empty() && says()
}

/// Whether the file is one of variables, which many tools load on their own.
pub(super) fn is_environment(path: &Path) -> bool {
    let name = name_of(path);
    [".envrc", ".env"].contains(&name) || name.starts_with(".env.") || extension_of(path) == "env"
}

/// Whether a name says that a file holds answers, where an output is compared with it.
pub(super) fn says_answer(path: &Path) -> bool {
    const WORDS: [&str; 10] = [
        "answer", "answers", "out", "output", "outputs", "result", "results", "good", "sample",
        "samples",
    ];
    !is_code(extension_of(path))
        && words(name_of(path)).iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether the path is in a directory of installed or built things.
pub(super) fn is_foreign(path: &Path) -> bool {
    directories(path).any(|own| FOREIGN.contains(&own))
}

/// Whether a path says that what it names checks something.
pub(super) fn says_judge(path: &Path) -> bool {
    let parts = path.components().filter_map(|part| part.as_os_str().to_str());
    parts.flat_map(words).any(|word| is_judging_word(&word))
}

/// Whether a file that is not code is in a directory that is called after what checks: `ci/limit`.
pub(super) fn is_in_judging_place(path: &Path) -> bool {
    !is_code(extension_of(path)) && directories(path).any(name_says_judge) && !is_foreign(path)
}

/// Whether a criterion's name says that it checks something.
pub(super) fn name_says_judge(name: &str) -> bool {
    words(name).iter().any(|word| is_judging_word(word))
}

fn is_judging_word(word: &str) -> bool {
    const WORDS: [&str; 36] = [
        "bench",
        "benchmark",
        "benchmarks",
        "accept",
        "accepts",
        "acceptance",
        "audit",
        "conformance",
        "cover",
        "coverage",
        "covered",
        "smoke",
        "tidy",
        "test",
        "tests",
        "testing",
        "tester",
        "tested",
        "check",
        "checks",
        "checker",
        "checking",
        "verify",
        "verifies",
        "verifier",
        "verification",
        "lint",
        "lints",
        "linter",
        "linting",
        "spec",
        "specs",
        "e2e",
        "ci",
        "validate",
        "validator",
    ];
    const JOINED: [&str; 13] = [
        "doctest",
        "doctests",
        "runtests",
        "runtest",
        "unittest",
        "unittests",
        "selftest",
        "selfcheck",
        "smoketest",
        "typecheck",
        "typechecks",
        "spellcheck",
        "stylecheck",
    ];
    WORDS.contains(&word) || JOINED.contains(&word)
}

/// Whether the name of a criterion, or of a script or target that it calls, says that something
/// is held against a rule: `types`, `size`. In a path such a word may be about the work.
pub(super) fn purpose_says_judge(name: &str) -> bool {
    const PURPOSES: [&str; 47] = [
        "example",
        "examples",
        "complexity",
        "contract",
        "contracts",
        "functional",
        "golden",
        "goldens",
        "headers",
        "integration",
        "licence",
        "naming",
        "regression",
        "regressions",
        "snapshots",
        "unit",
        "whitespace",
        "type",
        "types",
        "typed",
        "typing",
        "size",
        "sizes",
        "budget",
        "budgets",
        "bench",
        "benchmark",
        "benchmarks",
        "perf",
        "performance",
        "format",
        "formatted",
        "formatting",
        "fmt",
        "style",
        "quality",
        "policy",
        "compliance",
        "security",
        "license",
        "licenses",
        "licences",
        "links",
        "spelling",
        "a11y",
        "gate",
        "gates",
    ];
    words(name).iter().any(|word| is_judging_word(word) || PURPOSES.contains(&word.as_str()))
}

/// Whether a path says that what it names helps others to check.
pub(super) fn says_helper(path: &Path) -> bool {
    const WORDS: [&str; 52] = [
        "same",
        "equal",
        "equals",
        "compare",
        "expects",
        "ensure",
        "must",
        "matches",
        "lib",
        "libs",
        "common",
        "util",
        "utils",
        "helper",
        "helpers",
        "assert",
        "asserts",
        "assertion",
        "assertions",
        "func",
        "funcs",
        "functions",
        "setup",
        "teardown",
        "env",
        "shared",
        "inner",
        "step",
        "steps",
        "stage",
        "vars",
        "rules",
        "limits",
        "config",
        "settings",
        "expected",
        "expect",
        "fixture",
        "fixtures",
        "mock",
        "mocks",
        "fake",
        "fakes",
        "stub",
        "stubs",
        "factory",
        "factories",
        "harness",
        "matchers",
        "support",
        "conf",
        "prelude",
    ];
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    words(stem).iter().any(|word| WORDS.contains(&word.as_str()) || is_judging_word(word))
        || ["testutil", "testutils", "testhelper", "testhelpers", "testlib"]
            .contains(&stem.to_ascii_lowercase().as_str())
}

/// Whether a path says that what it names is a program under test.
pub(super) fn says_program(path: &Path) -> bool {
    const NAMES: [&str; 25] = [
        "main", "__main__", "app", "index", "server", "cli", "program", "hello", "demo", "manage",
        "start", "serve", "prog", "game", "build", "compile", "generate", "gen", "install",
        "deploy", "release", "package", "bundle", "greet", "solution",
    ];
    const PLACES: [&str; 5] = ["src", "app", "cmd", "packages", "examples"];
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    NAMES.contains(&stem.to_ascii_lowercase().as_str())
        || directories(path).any(|own| PRODUCTS.contains(&own) || PLACES.contains(&own))
}

/// Whether a file holds settings, words or tables.
pub(super) fn is_data(path: &Path) -> bool {
    const FORMS: [&str; 15] = [
        "min", "max", "json", "ini", "toml", "cfg", "conf", "yaml", "yml", "txt", "csv", "tsv",
        "list", "lst", "dic",
    ];
    FORMS.contains(&extension_of(path))
}

/// Whether files of this extension are source code.
pub(crate) fn is_code(extension: &str) -> bool {
    const CODE: [&str; 44] = [
        "py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "vue", "svelte", "rb",
        "go", "rs", "java", "kt", "kts", "scala", "groovy", "c", "h", "cc", "cpp", "cxx", "hpp",
        "m", "mm", "swift", "cs", "fs", "php", "pl", "pm", "lua", "ex", "exs", "erl", "hs", "sh",
        "bash", "zsh", "dart", "zig",
    ];
    CODE.contains(&extension)
}

/// The directories that a path leads through.
pub(super) fn directories(path: &Path) -> impl Iterator<Item = &str> {
    let parent = path.parent().unwrap_or(Path::new(""));
    parent.components().filter_map(|part| part.as_os_str().to_str())
}

/// The words of a name, in lower case: `run-ciChecks.sh` has run, ci, checks and sh.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let (mut word, mut was_lower) = (String::new(), false);
    for letter in name.chars() {
        let ends = !letter.is_alphanumeric() || (letter.is_uppercase() && was_lower);
        if ends && !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase() || letter.is_ascii_digit();
    }
    if !word.is_empty() {
        found.push(word);
    }
    found
}

#[cfg(test)]
mod tests;
