//! Tests by what they say, where neither name nor place says it: settings can give tests any name.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::files::ProjectFiles;
use super::imports::language_of;
use super::names::{NameSays, is_foreign, said, says_judge, words};

/// How many files are read.
const FILES_MAX: usize = 6_000;

/// Files that hold tests and nothing that the work could use.
pub(super) fn tests(
    files: &dyn ProjectFiles,
    languages: &[&str],
    is_work: &dyn Fn(&Path) -> bool,
) -> BTreeSet<PathBuf> {
    let is_own = |path: &&PathBuf| {
        language_of(path).is_some_and(|own| languages.contains(&own)) && !is_foreign(path)
    };
    let candidates = files.paths().iter().filter(is_own).filter(|path| is_work(path));
    let candidates = candidates.take(FILES_MAX);
    let holds = |path: &&PathBuf| {
        let text = files.text(path).unwrap_or_default();
        match language_of(path) {
            Some("python") => is_python_test(&text),
            Some("javascript") => is_javascript_test(&text),
            Some("c") => is_c_test(path, &text),
            _ => false,
        }
    };
    let mut found: BTreeSet<PathBuf> = candidates.filter(holds).cloned().collect();
    found.extend(below_target(files, languages));
    found
}

/// Tests that git counts in a directory that only by its name looks like one of built things.
fn below_target(files: &dyn ProjectFiles, languages: &[&str]) -> Vec<PathBuf> {
    let is_own = |path: &&PathBuf| language_of(path).is_some_and(|own| languages.contains(&own));
    let is_test = |path: &&PathBuf| {
        let mut parts = path.components().map(Component::as_os_str);
        parts.any(|part| part == "target") && said(path) == Some(NameSays::Test)
    };
    files.paths().iter().filter(is_own).filter(is_test).take(FILES_MAX).cloned().collect()
}

/// Test cases of unittest or functions of pytest, and no other class or function.
fn is_python_test(text: &str) -> bool {
    let mut tests = 0;
    for line in text.lines() {
        let Some((word, rest)) = line.split_once(' ') else { continue };
        let name = rest.split(['(', ':', ' ']).next().unwrap_or_default();
        match word {
            "class" if rest.contains("TestCase") || name.starts_with("Test") => tests += 1,
            "def" | "async" if rest.trim_start_matches("def ").starts_with("test_") => tests += 1,
            "def" if name.starts_with(['_']) || is_set_up(name) => {}
            "class" | "def" | "async" => return false,
            _ => {}
        }
    }
    let uses = ["import unittest", "from unittest", "import pytest", "from pytest"];
    tests > 0 && uses.iter().any(|own| text.contains(own))
}

fn is_set_up(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    ["setup", "teardown", "load_tests", "suite", "main"].iter().any(|own| lower.starts_with(own))
}

/// Calls of a test runner at the outermost level, and nothing that others could import.
fn is_javascript_test(text: &str) -> bool {
    const CALLS: [&str; 6] = ["test", "it", "describe", "suite", "context", "specify"];
    let is_call = |line: &str| {
        let name = line.split(['(', '.']).next().unwrap_or_default();
        let rest = line.get(name.len()..).unwrap_or_default();
        let after = rest.split_once('(').map_or("", |(_, after)| after.trim_start());
        let is_named = after.starts_with(['\'', '"', '`']) || rest.contains(".each");
        CALLS.contains(&name) && is_named
    };
    let gives = |line: &str| {
        line.starts_with("export ")
            || line.starts_with("module.exports")
            || line.starts_with("exports.")
    };
    text.lines().any(is_call) && !text.lines().any(gives)
}

/// A program of assertions in a place that says so, or cases of a C++ test library.
fn is_c_test(path: &Path, text: &str) -> bool {
    const PLACES: [&str; 10] = [
        "unit",
        "units",
        "regress",
        "regression",
        "acceptance",
        "suite",
        "suites",
        "smoke",
        "integration",
        "functional",
    ];
    let begins = |line: &str, own: &[&str]| own.iter().any(|own| line.starts_with(own));
    let lines = || text.lines().map(str::trim_start);
    if lines().any(|line| begins(line, &["TEST(", "TEST_F(", "TEST_P(", "TEST_CASE("])) {
        return true;
    }
    let is_placed = || {
        let mut parts = path.components().filter_map(|part| part.as_os_str().to_str());
        parts.any(|part| words(part).iter().any(|word| PLACES.contains(&word.as_str())))
    };
    let asserts = |line: &str| {
        begins(line, &["assert(", "ASSERT", "CHECK", "EXPECT", "REQUIRE", "must(", "check("])
    };
    text.contains(" main(") && lines().any(asserts) && (says_judge(path) || is_placed())
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn a_test_program_in_c_is_known_by_its_place_and_its_assertions() {
        let text = "#include <assert.h>\nint main(void) {\n    assert(1);\n}\n";
        for path in ["src/selfcheck.c", "checks/a.c", "Tests/a.c", "regress/a.c", "src/unit.cc"] {
            assert!(is_c_test(Path::new(path), text), "{path}");
        }
        for path in ["src/main.c", "src/checksum.c", "tools/stack.c"] {
            assert!(!is_c_test(Path::new(path), text), "{path}");
        }
        assert!(!is_c_test(Path::new("checks/a.c"), "int main(void) { return 0; }\n"));
        assert!(is_c_test(Path::new("src/a.cc"), "TEST(Stack, Pops) {\n}\n"));
    }

    #[test]
    fn what_a_test_file_may_hold_beside_its_tests() {
        let with = |line: &str| format!("import unittest\n{line}\nclass A(unittest.TestCase):\n");
        for line in ["def setUp():", "def load_tests(a):", "def main():", "def _own():", "x = 1"] {
            assert!(is_python_test(&with(line)), "{line}");
        }
        for line in ["class B(A):", "def add(a):", "async def fetch():", "class Config:"] {
            assert!(!is_python_test(&with(line)), "{line}");
        }
        let pytest = |line: &str| format!("from pytest import mark\n{line}\n");
        for line in ["class TestA:", "def test_a():", "async def test_a():"] {
            assert!(is_python_test(&pytest(line)), "{line}");
        }
        assert!(!is_python_test(&pytest("class Thing:")), "no test");
        assert!(!is_python_test("class TestA:\n    pass\n"), "of no runner");
    }

    #[test]
    fn tests_are_told_from_the_work_by_what_they_say() {
        for text in [
            "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        pass\n",
            "import pytest\n\n@pytest.fixture\ndef _one():\n    return 1\n\ndef test_a(_one):\n    pass\n",
        ] {
            assert!(is_python_test(text), "{text}");
        }
        for text in [
            "import unittest\n\ndef add(a, b):\n    return a + b\n\nclass A(unittest.TestCase):\n    pass\n",
            "def test_connection():\n    return True\n",
            "import unittest.mock\n",
        ] {
            assert!(!is_python_test(text), "{text}");
        }
        for text in [
            "const test = require('node:test');\ntest('a', () => {});\n",
            "describe(\"a\", () => {\n  it('b', () => {});\n});\n",
            "test.each([1])('%i', () => {});\n",
            "it.only('x', () => {})\n",
        ] {
            assert!(is_javascript_test(text), "{text}");
        }
        for text in [
            "export const a = 1;\ntest('a', () => {});\n",
            "test(value);\n",
            "const ok = /a/.test('a');\n",
            "module.exports = { it };\n",
        ] {
            assert!(!is_javascript_test(text), "{text}");
        }
    }
}
