//! `PHPUnit`, `RSpec`, `dotnet test`, Maven's Surefire and Gradle.
//!
//! Each of them prints a line above its summary that nothing else prints; a summary without
//! it stands alone.

use super::session::{RunnerSession, SummaryFrame};
use super::{Report, count, count_after};

/// Summaries and names, as they are found.
struct Found {
    runner: &'static str,
    sessions: Vec<RunnerSession>,
    names: Vec<String>,
}

impl Found {
    const fn new(runner: &'static str) -> Self {
        Self { runner, sessions: Vec::new(), names: Vec::new() }
    }

    fn take(&mut self, at: usize, report: Report, frame: SummaryFrame) {
        self.sessions
            .push(RunnerSession { frame, ..RunnerSession::new(self.runner, report, (at, at)) });
    }

    /// Where nothing is drawn as it should be, only the last one counts.
    fn finish(mut self) -> Vec<RunnerSession> {
        let is_drawn = |session: &RunnerSession| session.frame == SummaryFrame::Whole;
        if self.sessions.iter().any(is_drawn) {
            self.sessions.retain(is_drawn);
        } else {
            self.sessions = self.sessions.pop().into_iter().collect();
        }
        if let Some(last) = self.sessions.last_mut() {
            last.report.failures = self.names;
        }
        self.sessions
    }
}

/// How a summary is drawn that one of the few lines above belongs to.
fn below(lines: &[&str], at: usize, begin: &str) -> SummaryFrame {
    const ABOVE_MAX: usize = 8;
    let from = at.saturating_sub(ABOVE_MAX);
    let begins = |line: &&str| without_level(line).starts_with(begin);
    if lines[from..at].iter().any(begins) { SummaryFrame::Whole } else { SummaryFrame::Bare }
}

/// `PHPUnit` and `RSpec`.
pub(super) fn php_and_ruby(lines: &[&str]) -> Vec<RunnerSession> {
    let mut sessions = phpunit(lines);
    sessions.extend(rspec(lines));
    sessions
}

/// `OK (5 tests, 10 assertions)`, `Tests: 5, Assertions: 10, Failures: 1, Skipped: 1.`
fn phpunit(lines: &[&str]) -> Vec<RunnerSession> {
    let mut found = Found::new("PHPUnit");
    for (at, line) in lines.iter().enumerate() {
        if let Some(report) = phpunit_summary(line) {
            found.take(at, report, below_time(lines, at));
        } else {
            found.names.extend(phpunit_failure(line));
        }
    }
    found.finish()
}

/// The list of failures may stand between the time and the summary.
fn below_time(lines: &[&str], at: usize) -> SummaryFrame {
    let is_time = |line: &&str| line.starts_with("Time: ") && line.contains("Memory: ");
    if lines[..at].iter().any(is_time) { SummaryFrame::Whole } else { SummaryFrame::Bare }
}

fn phpunit_summary(line: &str) -> Option<Report> {
    if let Some(counts) = line.strip_prefix("OK (").and_then(|rest| rest.strip_suffix(')')) {
        let passed = count(counts, "tests").or_else(|| count(counts, "test"))?;
        return counts.contains("assertion").then(|| Report::counted(passed, 0, 0));
    }
    if !line.starts_with("Tests: ") || !line.contains("Assertions: ") {
        return None;
    }
    let of = |word| count_after(line, word).unwrap_or(0);
    let failed = of("Failures:").saturating_add(of("Errors:"));
    let skipped = of("Skipped:").saturating_add(of("Incomplete:"));
    Some(Report::totalled(count_after(line, "Tests:")?, failed, skipped))
}

/// `1) App\CalcTest::testAdds`
fn phpunit_failure(line: &str) -> Option<String> {
    let (number, name) = line.split_once(") ")?;
    let is_item = number.parse::<u32>().is_ok() && name.contains("::");
    is_item.then(|| name.into())
}

/// `5 examples, 1 failure, 1 pending`, and `rspec ./spec/a_spec.rb:3 # Calc adds`.
fn rspec(lines: &[&str]) -> Vec<RunnerSession> {
    let mut found = Found::new("RSpec");
    for (at, line) in lines.iter().enumerate() {
        if let Some(report) = rspec_summary(line) {
            found.take(at, report, below(lines, at, "Finished in "));
        } else if let Some((place, title)) =
            line.strip_prefix("rspec ").and_then(|text| text.split_once(" # "))
        {
            let file = place.split([':', '[']).next().unwrap_or(place);
            found.names.push(format!("{} › {title}", file.trim_matches(['\'', '"'])));
        }
    }
    found.finish()
}

fn rspec_summary(line: &str) -> Option<Report> {
    let examples = count(line, "examples").or_else(|| count(line, "example"))?;
    let failed = count(line, "failures").or_else(|| count(line, "failure"))?;
    let outside = ["error occurred outside of examples", "errors occurred outside of examples"];
    let outside = outside.iter().find_map(|word| count(line, word)).unwrap_or(0);
    let mut report = Report::totalled(examples, failed, count(line, "pending").unwrap_or(0));
    report.add_failed(outside);
    Some(report)
}

/// `Failed!  - Failed:     1, Passed:     2, Skipped:     1, Total:     4, Duration: 12 ms`
pub(super) fn dotnet(lines: &[&str]) -> Vec<RunnerSession> {
    let mut found = Found::new("dotnet test");
    for (at, line) in lines.iter().enumerate() {
        if let Some(report) = dotnet_summary(line) {
            let is_drawn = line.contains("uration: ");
            found.take(at, report, if is_drawn { SummaryFrame::Whole } else { SummaryFrame::Bare });
        } else if let Some(name) = line.strip_prefix("  Failed ") {
            let name = name.rsplit_once(" [").map_or(name, |(name, _)| name);
            found.names.push(name.to_owned());
        }
    }
    found.finish()
}

fn dotnet_summary(line: &str) -> Option<Report> {
    if let Some(counts) = line.strip_prefix("Test summary: ") {
        let of = |word| count_after(counts, word);
        let skipped = of("skipped:").unwrap_or(0);
        return Some(Report::counted(of("succeeded:")?, of("failed:")?, skipped));
    }
    let (word, counts) = line.split_once("! ")?;
    if !["Passed", "Failed", "Skipped"].contains(&word) {
        return None;
    }
    let of = |word| count_after(counts, word);
    Some(Report::counted(of("Passed:")?, of("Failed:")?, of("Skipped:").unwrap_or(0)))
}

/// Maven and Gradle.
pub(super) fn java(lines: &[&str]) -> Vec<RunnerSession> {
    let mut sessions = surefire(lines);
    sessions.extend(gradle(lines));
    sessions
}

/// `[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 1`, once a module.
fn surefire(lines: &[&str]) -> Vec<RunnerSession> {
    let mut found = Found::new("Maven");
    let mut in_list = false;
    for (at, line) in lines.iter().enumerate() {
        let text = without_level(line);
        if let Some(report) = surefire_summary(text) {
            let is_drawn = text.len() < line.len();
            found.take(at, report, if is_drawn { SummaryFrame::Whole } else { SummaryFrame::Bare });
            in_list = false;
        } else if text == "Failures:" || text == "Errors:" {
            in_list = true;
        } else if let Some(name) = text.strip_prefix("  ").filter(|_| in_list) {
            let end = name.find([':', ' ']).unwrap_or(name.len());
            found.names.extend((end > 0).then(|| name[..end].to_owned()));
        }
    }
    found.finish()
}

fn surefire_summary(text: &str) -> Option<Report> {
    if !text.starts_with("Tests run: ") || text.contains("Time elapsed") {
        return None;
    }
    let failed = count_after(text, "Failures:")?.saturating_add(count_after(text, "Errors:")?);
    let skipped = count_after(text, "Skipped:").unwrap_or(0);
    Some(Report::totalled(count_after(text, "Tests run:")?, failed, skipped))
}

fn without_level(line: &str) -> &str {
    ["[ERROR] ", "[WARNING] ", "[INFO] "]
        .iter()
        .find_map(|level| line.strip_prefix(level))
        .unwrap_or(line)
}

/// `5 tests completed, 1 failed, 1 skipped`, and `CalcTest > adds() FAILED`.
fn gradle(lines: &[&str]) -> Vec<RunnerSession> {
    let mut found = Found::new("Gradle");
    for (at, line) in lines.iter().enumerate() {
        let total = count(line, "tests completed").or_else(|| count(line, "test completed"));
        if let Some(total) = total {
            let of = |word| count(line, word).unwrap_or(0);
            let report = Report::totalled(total, of("failed"), of("skipped"));
            found.take(at, report, SummaryFrame::Whole);
        } else if let Some(name) = line.strip_suffix(" FAILED").filter(|n| n.contains(" > ")) {
            found.names.push(name.into());
        }
    }
    found.finish()
}
