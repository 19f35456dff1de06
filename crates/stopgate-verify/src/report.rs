//! What a test runner printed, as numbers and names.
//!
//! Runners are recognised by what they print, never by the command. A summary at the
//! end must do: the beginning of a long output may be gone. Whatever a test itself
//! printed is not the runner's word, so captured output is left out before anybody reads.

mod cargo;

mod go;

mod javascript;

mod junit;

mod others;

mod outline;

mod python;

mod tap;

use std::collections::BTreeSet;

use stopgate_core::Tests;

pub use self::junit::read_junit;
pub(crate) use self::outline::{lines as own_lines, without_ansi};

/// What a test runner said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many tests there were, and what came of them.
    pub tests: Tests,
    /// The failing ones by name, the same from run to run.
    pub failures: Vec<String>,
}

/// One way to read an output that has been split into lines.
type Reader = fn(&[&str]) -> Option<Report>;

/// In each group the first that recognises the output is believed; groups are added up,
/// because one command may run several tools.
const GROUPS: [&[Reader]; 10] = [
    &[cargo::nextest, cargo::test],
    &[python::pytest],
    &[python::unittest],
    &[javascript::vitest, javascript::jest],
    &[tap::counted, tap::spec, tap::plain],
    &[javascript::mocha],
    &[go::json, go::plain],
    &[others::phpunit, others::rspec],
    &[others::dotnet],
    &[others::surefire, others::gradle],
];

/// Reads the output of test runners; nothing where none is recognised.
pub fn read(output: &str) -> Option<Report> {
    if looks_like_xml(output) {
        return read_junit(output);
    }
    let output = without_ansi(output);
    let lines = own_lines(&output);
    let mut found = None;
    for group in GROUPS {
        if let Some(report) = group.iter().find_map(|reader| reader(&lines)) {
            found.get_or_insert_with(Report::default).add(report);
        }
    }
    found.map(Report::distinct)
}

fn looks_like_xml(output: &str) -> bool {
    let start = output.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    ["<?xml", "<testsuite"].iter().any(|begin| start.starts_with(begin))
}

impl Report {
    /// A report of counts, whose failures are named later.
    fn counted(passed: u32, failed: u32, skipped: u32) -> Self {
        let collected = passed.saturating_add(failed).saturating_add(skipped);
        Self { tests: Tests { collected, failed, skipped }, failures: Vec::new() }
    }

    fn add(&mut self, other: Self) {
        let tests = &mut self.tests;
        tests.collected = tests.collected.saturating_add(other.tests.collected);
        tests.failed = tests.failed.saturating_add(other.tests.failed);
        tests.skipped = tests.skipped.saturating_add(other.tests.skipped);
        self.failures.extend(other.failures);
    }

    /// One more that was found and failed.
    fn add_failed(&mut self, count: u32) {
        self.tests.collected = self.tests.collected.saturating_add(count);
        self.tests.failed = self.tests.failed.saturating_add(count);
    }

    /// Every name once, in the order in which they came.
    fn distinct(mut self) -> Self {
        let mut seen = BTreeSet::new();
        self.failures.retain(|name| seen.insert(name.clone()));
        self
    }
}

/// The number before `word` in `text`: `3` in `3 failed, 2 passed`.
///
/// Words that only end in it are others: `2 subtests passed` is not `passed`.
fn count(text: &str, word: &str) -> Option<u32> {
    let parts = text.split([',', ';', '|', '.']).map(str::trim);
    parts.into_iter().find_map(|part| {
        let (number, rest) = part.split_once(' ')?;
        let said = rest.split(" (").next()?.trim();
        (said == word).then(|| number.parse().ok())?
    })
}

/// The number after `word`: `3` in `Failures: 3, Errors: 1` and in `failures=3`.
fn count_after(text: &str, word: &str) -> Option<u32> {
    let at = text.find(word)?;
    let before = text[..at].chars().next_back();
    if before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let rest = text[at + word.len()..].trim_start_matches([':', '=', ' ', '\t']);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests;
