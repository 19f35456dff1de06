//! Tests by what they say, where neither name nor place says it: settings can give tests any name.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::files::ProjectFiles;
use super::imports::language_of;
use super::names::is_foreign;

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
            _ => false,
        }
    };
    candidates.filter(holds).cloned().collect()
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

#[cfg(test)]
mod unit_tests {
    use super::*;

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
