//! What test runners printed, as numbers and names.
//!
//! Runners are recognised by what they print, never by the command. A summary at the
//! end must do: the beginning of a long output may be gone. What a test itself printed is
//! not the runner's word: captured output is left out, and a summary counts only where a
//! runner would print it.

mod cargo;
mod ctest;
mod go;
mod go_failures;
mod javascript;
mod junit;
mod mocha;
mod nextest;
mod others;
mod outline;
mod own_words;
mod pytest;
mod session;
mod tap;
mod uncaught;
mod unittest;

use std::collections::BTreeSet;
use std::fmt;

use stopgate_core::Tests;

pub(crate) use self::go_failures::without_passing_go_tests;
pub use self::junit::read_junit;
pub(crate) use self::outline::{lines as own_lines, without_ansi};
pub(crate) use self::own_words::{tells_pass, told_by_lines};
use self::session::{RunnerSession, together};
pub(crate) use self::uncaught::uncaught_at_end;

/// How many names are given for people to read.
const NAMES_MAX: usize = 100;
/// A longer name is cut.
const NAME_CHARS_MAX: usize = 240;

/// What the test runners in an output said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many tests there were, and what came of them.
    pub tests: Tests,
    /// The failing ones by name, the same from run to run.
    pub failures: Vec<String>,
    /// The ones that were left out, where they are named.
    pub skipped: Vec<String>,
    /// How the last session of each runner ended.
    pub last: Vec<LastSummary>,
    /// Earlier sessions that failed, and that none repeated.
    pub earlier: Vec<LastSummary>,
    /// Failing tests that the summary itself counts; `tests.failed` may have more, such as
    /// errors outside of tests that the runner was told to ignore.
    settled: u32,
}

/// How the last session of a runner ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastSummary {
    /// It printed a summary.
    Reported {
        /// The runner, as people call it.
        runner: &'static str,
        /// How many tests it says failed.
        failed: u32,
    },
    /// It began, and ended without one.
    Missing {
        /// The runner, as people call it.
        runner: &'static str,
        /// How many tests it had announced, at least one.
        tests: u32,
    },
}

/// One way to find sessions in an output that has been split into lines.
type Reader = fn(&[&str]) -> Vec<RunnerSession>;

const READERS: [Reader; 16] = [
    nextest::read,
    cargo::read,
    pytest::read,
    unittest::read,
    javascript::vitest,
    javascript::jest,
    javascript::json,
    tap::spec,
    tap::prove,
    tap::read,
    mocha::read,
    go::read,
    others::php_and_ruby,
    others::dotnet,
    others::java,
    ctest::read,
];

/// Reads the output of test runners; nothing where none is recognised.
///
/// Several invocations are added up, whether of one runner or of several.
pub fn read(output: &str) -> Option<Report> {
    if looks_like_xml(output) {
        return read_junit(output);
    }
    let output = without_ansi(output);
    let lines = own_lines(&output);
    together(READERS.iter().flat_map(|reader| reader(&lines)).collect())
}

/// The tests that failed, by name, for people and agents to read.
pub fn failed_names(output: &str) -> Vec<String> {
    let names = read(output).map(|report| report.failures).unwrap_or_default();
    let names = names.into_iter().take(NAMES_MAX);
    names.map(|name| name.chars().take(NAME_CHARS_MAX).collect()).collect()
}

/// Why tests that all "passed" prove nothing: none of them ran.
pub fn nothing_ran(tests: Tests) -> Option<String> {
    match (tests.ran(), tests.collected) {
        (0, 0) => Some("no test ran: the runner found none".into()),
        (0, 1) => Some("no test ran: the only one was skipped".into()),
        (0, count) => Some(format!("no test ran: all {count} were skipped")),
        _ => None,
    }
}

fn looks_like_xml(output: &str) -> bool {
    let start = output.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    ["<?xml", "<testsuite"].iter().any(|begin| start.starts_with(begin))
}

impl LastSummary {
    /// Whether it says that something failed, or says nothing at all.
    pub const fn is_bad(&self) -> bool {
        match self {
            Self::Reported { failed, .. } => *failed > 0,
            Self::Missing { .. } => true,
        }
    }
}

impl fmt::Display for LastSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reported { runner, failed } => write!(f, "{runner} reports {failed} failed"),
            Self::Missing { runner, tests: 1 } => {
                write!(f, "{runner} began 1 test and never reported a result")
            }
            Self::Missing { runner, tests } => {
                write!(f, "{runner} began {tests} tests and never reported a result")
            }
        }
    }
}

impl Report {
    /// A report of counts, whose failures are named later.
    fn counted(passed: u32, failed: u32, skipped: u32) -> Self {
        let collected = passed.saturating_add(failed).saturating_add(skipped);
        Self::of(Tests { collected, failed, skipped })
    }

    /// A report of a total, among which some failed and some were left out.
    fn totalled(collected: u32, failed: u32, skipped: u32) -> Self {
        Self::of(Tests { collected, failed, skipped })
    }

    fn of(tests: Tests) -> Self {
        Self { tests, settled: tests.failed, ..Self::default() }
    }

    fn add(&mut self, other: Self) {
        let tests = &mut self.tests;
        tests.collected = tests.collected.saturating_add(other.tests.collected);
        tests.failed = tests.failed.saturating_add(other.tests.failed);
        tests.skipped = tests.skipped.saturating_add(other.tests.skipped);
        self.settled = self.settled.saturating_add(other.settled);
        self.failures.extend(other.failures);
        self.skipped.extend(other.skipped);
    }

    /// Some more that were found and failed.
    fn add_failed(&mut self, count: u32) {
        self.tests.collected = self.tests.collected.saturating_add(count);
        self.add_broken(count);
    }

    /// Hooks that failed after the tests and the like: no tests, so where all is well the
    /// runner counts no more than it does now.
    fn add_broken(&mut self, count: u32) {
        self.add_error(count);
        self.settled = self.settled.saturating_add(count);
    }

    /// Of the failures that are counted, so many are not tests, but hooks after them.
    fn less_broken(&mut self, count: usize) {
        let count = u32::try_from(count).unwrap_or(u32::MAX).min(self.tests.failed);
        self.tests.collected = self.tests.collected.saturating_sub(count);
    }

    /// Failures that the runner does not count as tests, and that it may have been told to ignore.
    fn add_error(&mut self, count: u32) {
        self.tests.failed = self.tests.failed.saturating_add(count);
    }

    /// Every name once, in the order in which they came.
    fn distinct(mut self) -> Self {
        for names in [&mut self.failures, &mut self.skipped] {
            let mut seen = BTreeSet::new();
            names.retain(|name| seen.insert(name.clone()));
        }
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
mod after_tests;

#[cfg(test)]
mod printed_tests;

#[cfg(test)]
mod tests;
