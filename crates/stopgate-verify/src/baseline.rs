//! What failed before the work began, so that only new failures count.
//!
//! A failure is a test's name where a runner gives names, else a line of the output
//! without what changes from run to run. It fails closed: what can't be told apart from
//! a new failure is one.

mod passing;
mod stable;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use stopgate_core::{Baseline, Digest};

use self::stable::LineKind;
use crate::report::{self, own_lines, without_ansi};

/// With more failures than these a baseline could tell nothing.
const FAILURES_MAX: usize = 4000;
/// How many a baseline keeps by name, for people.
const NAMES_MAX: usize = 16;
/// Longer names are cut for people; their fingerprints are of the whole.
const NAME_CHARS_MAX: usize = 160;

/// Whether a check's command said that it passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandExit {
    /// It did: nothing failed, whatever it printed.
    Passed,
    /// It did not.
    Failed,
}

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFailure {
    /// Its fingerprint, the same from run to run.
    pub id: u64,
    /// What people call it.
    pub name: String,
}

/// There were too many failures for a baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// How many there were at least.
    pub count: usize,
}

/// Failures, told apart by whether they were there before the work began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Those that count.
    pub new: Vec<String>,
    /// Those that do not.
    pub known: Vec<String>,
}

/// The failures in the output of a check that ran in `place`.
///
/// Paths are taken from there, so that a run in a copy of the project fails alike.
pub fn failures(output: &str, exit: CommandExit, place: &Path) -> Vec<TestFailure> {
    if exit == CommandExit::Passed {
        return Vec::new();
    }
    let output = without_ansi(output);
    let output = stable::without_place(&output, place);
    let mut found = Found::default();
    match report::read(&output) {
        Some(report) if report.tests.failed > 0 => found.take_report(&report, &output),
        // A runner that counts no failure failed for another reason.
        Some(_) | None => found.take_lines(&output),
    }
    if found.failures.is_empty() {
        found.take("silent", "failed without a word");
    }
    found.failures
}

/// The baseline that an output gives.
pub fn take(output: &str, exit: CommandExit, place: &Path) -> Result<Baseline, TooMany> {
    let found = failures(output, exit, place);
    if found.len() > FAILURES_MAX {
        return Err(TooMany { count: found.len() });
    }
    let mut ids: Vec<u64> = found.iter().map(|failure| failure.id).collect();
    ids.sort_unstable();
    ids.dedup();
    let names = found.into_iter().take(NAMES_MAX).map(|failure| failure.name).collect();
    Ok(Baseline { failures: ids, names })
}

/// Holds an output against a baseline.
pub fn compare(baseline: &Baseline, output: &str, exit: CommandExit, place: &Path) -> Compared {
    let before: BTreeSet<u64> = baseline.failures.iter().copied().collect();
    let mut compared = Compared::default();
    for failure in failures(output, exit, place) {
        let known = before.contains(&failure.id);
        let side = if known { &mut compared.known } else { &mut compared.new };
        side.push(failure.name);
    }
    compared
}

/// Failures as they are found.
#[derive(Default)]
struct Found {
    failures: Vec<TestFailure>,
    /// How often each was met: a second one like it is another one.
    times: BTreeMap<u64, u64>,
}

impl Found {
    fn take(&mut self, stable: &str, name: &str) {
        // One more than a baseline can hold is new in any case: the rest need not be told.
        if self.failures.len() > FAILURES_MAX {
            return;
        }
        let digest = Digest::new().part(stable.as_bytes());
        let times = self.times.entry(digest.value()).or_default();
        *times += 1;
        let id = digest.part(&times.to_le_bytes()).value();
        let name = name.trim().chars().take(NAME_CHARS_MAX).collect();
        self.failures.push(TestFailure { id, name });
    }

    fn take_report(&mut self, report: &report::Report, output: &str) {
        for name in &report.failures {
            self.take(name, name);
        }
        let count = u32::try_from(report.failures.len()).unwrap_or(u32::MAX);
        let nameless = report.tests.failed.saturating_sub(count);
        if nameless > 0 {
            let text = format!("failures without a name: {nameless}");
            self.take(&text, &text);
        }
        // Beside the tests, another tool may have found something.
        let named: BTreeSet<&str> = report.failures.iter().map(String::as_str).collect();
        for line in own_lines(output) {
            let is_heading = line.strip_prefix("ERROR: ").is_some_and(|name| named.contains(name));
            if let (LineKind::Error(stable), false) = (stable::line(line), is_heading) {
                self.take(&stable, line);
            }
        }
    }

    fn take_lines(&mut self, output: &str) {
        for line in output.lines().filter(|line| !passing::is_pass(line)) {
            match stable::line(line) {
                LineKind::Error(stable) => self.take(&stable, line),
                LineKind::Other(stable) => self.take(&passing::without_counts(&stable), line),
                LineKind::Noise => {}
            }
        }
    }
}

impl fmt::Display for TooMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {FAILURES_MAX} failures are too many for a baseline")
    }
}

impl std::error::Error for TooMany {}

#[cfg(test)]
mod tests;
