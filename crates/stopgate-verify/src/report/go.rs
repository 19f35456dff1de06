//! `go test`: plain, with `-v`, and with `-json`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Report;
use super::session::RunnerSession;

const RUNNER: &str = "go test";

/// What go printed, as events or as text.
pub(super) fn read(lines: &[&str]) -> Vec<RunnerSession> {
    json(lines).map_or_else(|| plain(lines), |session| vec![session])
}

/// What go prints; packages are counted where single tests are not shown.
fn plain(lines: &[&str]) -> Vec<RunnerSession> {
    let mut reading = Reading::default();
    for (at, line) in lines.iter().enumerate() {
        reading.take(at, line);
    }
    let pending = reading.count_tests();
    reading.invocation.names.extend(pending);
    reading.file_invocation();
    reading.sessions
}

/// What go shows.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Detail {
    #[default]
    Packages,
    Tests,
}

#[derive(Default)]
struct Reading {
    /// Tests of the package that is under way: announced, and with a result.
    announced: BTreeSet<String>,
    finished: BTreeMap<String, GoResult>,
    begin: Option<usize>,
    invocation: Invocation,
    sessions: Vec<RunnerSession>,
}

/// What one invocation of go said so far.
#[derive(Default)]
struct Invocation {
    detail: Detail,
    packages: Report,
    tests: Report,
    /// Packages that failed without a failing test.
    broken: u32,
    names: Vec<String>,
    skipped: Vec<String>,
    reported: BTreeSet<String>,
    /// From the first line of go to the last; none where no package was reported.
    span: Option<(usize, usize)>,
}

impl Reading {
    fn take(&mut self, at: usize, line: &str) {
        if let Some(name) = line.strip_prefix("=== RUN ") {
            self.announced.insert(name.trim().into());
            self.begin.get_or_insert(at);
        } else if let Some((word, name)) = test_result(line.trim_start()) {
            self.take_test(word, name);
        } else if let Some(package) = package(line, "ok  \t").filter(|_| !self.is_under_way()) {
            self.begin_package(package);
            let runs_some = !line.ends_with("[no tests to run]");
            self.invocation.packages.add(Report::counted(u32::from(runs_some), 0, 0));
            // What looks like a failure in a package that passes was printed by a test.
            self.count_tests();
            self.end_package(at);
        } else if let Some(package) = package(line, "FAIL\t") {
            self.begin_package(package);
            self.end_failed(package);
            self.end_package(at);
        } else if let Some(package) = package(line, "?   \t")
            && line.ends_with("[no test files]")
        {
            self.begin_package(package);
            self.end_package(at);
        }
    }

    /// A result that was never announced was printed by a test. Of two results of one test the
    /// worse counts: the other may have been printed by the work.
    fn take_test(&mut self, word: GoResult, name: &str) {
        if self.announced.is_empty() || self.announced.contains(name) {
            let known = self.finished.entry(name.into()).or_insert(word);
            *known = word.max(*known);
        }
    }

    /// Counts the tests of the package that is under way; the failing ones.
    fn count_tests(&mut self) -> Vec<String> {
        let (mut failing, said) = (Vec::new(), &mut self.invocation);
        for (name, result) in std::mem::take(&mut self.finished) {
            match result {
                GoResult::Passed => said.tests.add(Report::counted(1, 0, 0)),
                GoResult::Skipped => {
                    said.tests.add(Report::counted(0, 0, 1));
                    said.skipped.push(name);
                }
                GoResult::Failed => {
                    said.tests.add_failed(1);
                    failing.push(name);
                }
            }
        }
        failing
    }

    fn end_failed(&mut self, package: &str) {
        let failing = self.count_tests();
        let said = &mut self.invocation;
        said.packages.add_failed(1);
        if failing.is_empty() {
            said.broken = said.broken.saturating_add(1);
            said.names.push(package.into());
        }
        said.names.extend(failing.iter().map(|name| format!("{package}.{name}")));
    }

    /// Whether a test has begun and has no result yet: what looks like the end is printed by it.
    fn is_under_way(&self) -> bool {
        self.announced.iter().any(|name| !self.finished.contains_key(name))
    }

    /// Go reports a package once: with the second time, go was started again.
    fn begin_package(&mut self, package: &str) {
        if self.invocation.reported.contains(package) {
            self.file_invocation();
        }
        self.invocation.reported.insert(package.into());
        if !self.announced.is_empty() {
            self.invocation.detail = Detail::Tests;
        } else if self.invocation.detail == Detail::Tests {
            self.finished.clear();
        }
    }

    fn end_package(&mut self, at: usize) {
        let first = self.begin.take().unwrap_or(at);
        let first = self.invocation.span.map_or(first, |(known, _)| known);
        self.invocation.span = Some((first, at));
        self.announced.clear();
        self.finished.clear();
    }

    fn file_invocation(&mut self) {
        self.sessions.extend(std::mem::take(&mut self.invocation).session());
    }
}

impl Invocation {
    fn session(self) -> Option<RunnerSession> {
        let mut tests = self.tests;
        tests.add_failed(self.broken);
        let report = match self.detail {
            Detail::Packages => self.packages,
            Detail::Tests => tests,
        };
        let report = Report { failures: self.names, skipped: self.skipped, ..report };
        Some(RunnerSession::new(RUNNER, report, self.span?))
    }
}

/// What came of a test, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum GoResult {
    Passed,
    Skipped,
    Failed,
}

impl GoResult {
    /// The result that a word of `go test` stands for.
    fn of(word: &str) -> Option<Self> {
        match word {
            "PASS" | "pass" => Some(Self::Passed),
            "SKIP" | "skip" => Some(Self::Skipped),
            "FAIL" | "fail" => Some(Self::Failed),
            _ => None,
        }
    }
}

/// The result and the test: `--- FAIL: TestX (0.00s)`.
fn test_result(text: &str) -> Option<(GoResult, &str)> {
    let (word, name) = text.strip_prefix("--- ")?.split_once(": ")?;
    let name = name.rsplit_once(" (").map_or(name, |(name, _)| name);
    Some((GoResult::of(word)?, name))
}

/// `example.com/a` of `FAIL\texample.com/a\t0.003s` and of `FAIL\texample.com/a [build failed]`.
fn package<'a>(line: &'a str, begin: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(begin)?;
    let name = rest.split(['\t', ' ']).next()?;
    (rest.len() > name.len()).then_some(name)
}

/// One event a line, with the test's name and package.
fn json(lines: &[&str]) -> Option<RunnerSession> {
    let mut events = Events::default();
    for (at, line) in lines.iter().enumerate() {
        if !line.starts_with('{') || !line.contains("\"Action\"") {
            continue;
        }
        let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
        let word = |key: &str| event[key].as_str();
        if let (Some(action), Some(package)) = (word("Action"), word("Package")) {
            events.take(action, package, word("Test"));
            let first = events.span.map_or(at, |(first, _)| first);
            events.span = Some((first, at));
        }
    }
    events.session()
}

#[derive(Default)]
struct Events {
    report: Report,
    begun: BTreeSet<(String, String)>,
    finished: BTreeMap<(String, String), GoResult>,
    failed_packages: Vec<String>,
    /// Packages with a failing test that has a name.
    explained: BTreeSet<String>,
    span: Option<(usize, usize)>,
}

impl Events {
    fn take(&mut self, action: &str, package: &str, test: Option<&str>) {
        let Some(test) = test else {
            if action == "fail" {
                self.failed_packages.push(package.into());
            }
            return;
        };
        let id = (package.to_owned(), test.to_owned());
        if action == "run" {
            self.begun.insert(id);
        } else if let Some(result) = GoResult::of(action).filter(|_| self.begun.remove(&id)) {
            // Text that a test prints can make go report a result, but not a beginning.
            let known = self.finished.entry(id).or_insert(result);
            *known = result.max(*known);
        }
    }

    fn count(&mut self, (package, test): (String, String), result: GoResult) {
        let name = format!("{package}.{test}");
        match result {
            GoResult::Failed => {
                self.report.add_failed(1);
                self.report.failures.push(name);
                self.explained.insert(package);
            }
            GoResult::Skipped => {
                self.report.add(Report::counted(0, 0, 1));
                self.report.skipped.push(name);
            }
            GoResult::Passed => self.report.add(Report::counted(1, 0, 0)),
        }
    }

    fn session(mut self) -> Option<RunnerSession> {
        let span = self.span?;
        for (id, result) in std::mem::take(&mut self.finished) {
            self.count(id, result);
        }
        for package in self.failed_packages {
            if !self.explained.contains(&package) {
                self.report.add_failed(1);
                self.report.failures.push(package);
            }
        }
        Some(RunnerSession::new(RUNNER, self.report, span))
    }
}
