//! `go test`: plain, with `-v`, and with `-json`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Report;

/// What go prints; packages are counted where single tests are not shown.
pub(super) fn plain(lines: &[&str]) -> Option<Report> {
    let mut reading = Reading::default();
    for line in lines {
        reading.take(line);
    }
    let Reading { detail, packages, mut tests, broken, names, pending } = reading;
    if packages.tests.collected == 0 {
        return None;
    }
    tests.add_failed(broken);
    let mut report = match detail {
        Detail::Packages => packages,
        Detail::Tests => tests,
    };
    report.failures = names;
    report.failures.extend(pending);
    Some(report)
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
    detail: Detail,
    packages: Report,
    tests: Report,
    /// Packages that failed without a failing test.
    broken: u32,
    names: Vec<String>,
    /// Failing tests of the package that is under way.
    pending: Vec<String>,
}

impl Reading {
    fn take(&mut self, line: &str) {
        let test = line.trim_start();
        if line.starts_with("=== RUN ") {
            self.detail = Detail::Tests;
        } else if let Some(name) = test.strip_prefix("--- FAIL: ") {
            self.tests.add_failed(1);
            self.pending.push(without_time(name).into());
        } else if test.starts_with("--- PASS: ") {
            self.tests.add(Report::counted(1, 0, 0));
        } else if test.starts_with("--- SKIP: ") {
            self.tests.add(Report::counted(0, 0, 1));
        } else if package(line, "ok  \t").is_some() {
            self.packages.add(Report::counted(1, 0, 0));
            self.pending.clear();
        } else if let Some(package) = package(line, "FAIL\t") {
            self.end_failed(package);
        }
    }

    fn end_failed(&mut self, package: &str) {
        self.packages.add_failed(1);
        if self.pending.is_empty() {
            self.broken = self.broken.saturating_add(1);
            self.names.push(package.into());
        }
        for name in self.pending.drain(..) {
            self.names.push(format!("{package}.{name}"));
        }
    }
}

/// `example.com/a` of `FAIL\texample.com/a\t0.003s` and of `FAIL\texample.com/a [build failed]`.
fn package<'a>(line: &'a str, begin: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(begin)?;
    let name = rest.split(['\t', ' ']).next()?;
    (rest.len() > name.len()).then_some(name)
}

/// `TestX` of `TestX (0.00s)`.
fn without_time(name: &str) -> &str {
    name.rsplit_once(" (").map_or(name, |(name, _)| name)
}

/// One event a line, with the test's name and package.
pub(super) fn json(lines: &[&str]) -> Option<Report> {
    let mut report = Report::default();
    let mut packages = Vec::new();
    // Packages with a failing test that has a name.
    let mut explained = BTreeSet::new();
    let mut is_recognised = false;
    for line in lines.iter().filter(|line| line.starts_with('{') && line.contains("\"Action\"")) {
        let Ok(event) = serde_json::from_str::<Value>(line) else { continue };
        let word = |key: &str| event[key].as_str();
        let (Some(action), Some(package)) = (word("Action"), word("Package")) else { continue };
        is_recognised = true;
        match (action, word("Test")) {
            ("pass", Some(_)) => report.add(Report::counted(1, 0, 0)),
            ("skip", Some(_)) => report.add(Report::counted(0, 0, 1)),
            ("fail", Some(test)) => {
                report.add_failed(1);
                report.failures.push(format!("{package}.{test}"));
                explained.insert(package.to_owned());
            }
            ("fail", None) => packages.push(package.to_owned()),
            _ => {}
        }
    }
    for package in packages.into_iter().filter(|package| !explained.contains(package)) {
        report.add_failed(1);
        report.failures.push(package);
    }
    is_recognised.then_some(report)
}
