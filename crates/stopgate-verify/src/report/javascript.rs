//! jest and vitest, and the JSON that both can write.

use serde_json::Value;

use super::session::{Block, RunnerSession, by_results};
use super::{Report, count};

/// How many lines below its title an error of jest is looked for.
const EXCERPT_LINES_MAX: usize = 60;

const BROKEN_SUITE: &str = "Test suite failed to run";
const JEST: &str = "jest";
const VITEST: &str = "vitest";

/// jest: a line for each file, then `Test Suites: …` and `Tests:       1 failed, 5 total`.
pub(super) fn jest(lines: &[&str]) -> Vec<RunnerSession> {
    let mut blocks = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let empty = line.starts_with("No tests found, exiting with code ");
        let Some(report) = jest_summary(line).or_else(|| empty.then(Report::default)) else {
            continue;
        };
        let files = at.checked_sub(1).and_then(|above| jest_files(lines[above]));
        let results = files.unwrap_or(if empty { 0 } else { u32::MAX });
        blocks.push(Block { span: (at, at), results, report });
    }
    let mut sessions = by_results(JEST, lines, blocks, jest_results);
    for session in &mut sessions {
        let whole = session.span.0 < session.span.1;
        let region = lines.get(if whole { session.span.0 } else { 0 }..=session.span.1);
        // Where the beginning is gone, so is the first file's name.
        let file = if whole { None } else { Some("…") };
        jest_names(region.unwrap_or_default(), file, &mut session.report);
    }
    sessions
}

fn jest_names<'a>(lines: &[&'a str], mut file: Option<&'a str>, report: &mut Report) {
    for line in lines {
        let text = line.trim_start();
        if let Some(name) = text.strip_prefix("FAIL ") {
            file = Some(without_time(name.trim()));
        } else if text.starts_with("PASS ") {
            file = None;
        } else if let Some(name) = text.strip_prefix("○ skipped ") {
            report.skipped.push(name.into());
        } else if let (Some(file), Some(title)) = (file, jest_title(line)) {
            report.failures.push(format!("{file} › {title}"));
        }
    }
    *report = std::mem::take(report).distinct();
    // What could not even be loaded is not among the tests that are counted.
    let is_broken = |name: &&String| name.ends_with(BROKEN_SUITE);
    let broken = report.failures.iter().filter(is_broken).count();
    let after = failed_after_tests(lines).min(broken);
    report.add_failed(u32::try_from(broken - after).unwrap_or(u32::MAX));
    report.add_broken(u32::try_from(after).unwrap_or(u32::MAX));
}

/// How many suites "failed to run" because a hook failed after their tests, which are counted.
fn failed_after_tests(lines: &[&str]) -> usize {
    let is_suite = |line: &&str| jest_title(line) == Some(BROKEN_SUITE);
    let starts = lines.iter().enumerate().filter(|(_, line)| is_suite(line)).map(|(at, _)| at);
    let ends = |line: &&&str| {
        jest_title(line).is_some() || line.starts_with("PASS ") || line.starts_with("FAIL ")
    };
    let is_after = |at: &usize| {
        let own = lines[at + 1..].iter().take_while(|line| !ends(line)).take(EXCERPT_LINES_MAX);
        // The line of the test that the error points at.
        own.filter(|line| line.trim_start().starts_with("> "))
            .any(|line| line.contains("afterAll("))
    };
    starts.filter(is_after).count()
}

fn jest_results(line: &str) -> u32 {
    u32::from(line.starts_with("PASS ") || line.starts_with("FAIL "))
}

/// How many files were run: `Test Suites: 2 failed, 1 skipped, 1 passed, 3 of 4 total`.
fn jest_files(line: &str) -> Option<u32> {
    let counts = line.strip_prefix("Test Suites: ")?.trim();
    let of = |word| count(counts, word).unwrap_or(0);
    Some(of("failed").saturating_add(of("passed")))
}

fn jest_summary(line: &str) -> Option<Report> {
    let counts = line.strip_prefix("Tests: ")?;
    let total = count(counts, "total")?;
    let of = |word| count(counts, word).unwrap_or(0);
    Some(Report::totalled(total, of("failed"), of("skipped").saturating_add(of("todo"))))
}

/// `  ● math › fails`; what was written to the console has a title, too.
fn jest_title(line: &str) -> Option<&str> {
    let title = line.strip_prefix("  ● ")?.trim();
    let is_test = !["Console", "Validation Warning"].iter().any(|word| title.starts_with(word));
    is_test.then_some(title)
}

/// `a.test.js` of `a.test.js (5.2 s)`.
fn without_time(name: &str) -> &str {
    match name.rsplit_once(" (") {
        Some((name, time)) if time.ends_with("s)") => name,
        Some(_) | None => name,
    }
}

/// vitest: from ` RUN  v4.1.12 /path` to `      Tests  1 failed | 2 passed (5)`.
pub(super) fn vitest(lines: &[&str]) -> Vec<RunnerSession> {
    let mut open: Vec<usize> = Vec::new();
    let mut sessions: Vec<RunnerSession> = Vec::new();
    let mut bare = None;
    for (at, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        if text.starts_with("RUN  v") {
            open.push(at);
        } else if let Some(report) = vitest_summary(text) {
            let below_files = at > 0 && lines[at - 1].trim_start().starts_with("Test Files  ");
            match open.pop().filter(|_| below_files || report.tests.collected == 0) {
                Some(first) => sessions.push(RunnerSession::new(VITEST, report, (first, at))),
                None => bare = Some(RunnerSession::new(VITEST, report, (at, at)).bare()),
            }
        } else if let Some(session) = sessions.last_mut().filter(|_| open.is_empty()) {
            let errors = text.strip_prefix("Errors  ").and_then(vitest_errors);
            add_unhandled(&mut session.report, errors.unwrap_or(0));
        } else if let Some(RunnerSession { report, .. }) = &mut bare {
            let errors = text.strip_prefix("Errors  ").and_then(vitest_errors);
            add_unhandled(report, errors.unwrap_or(0));
        }
    }
    if sessions.is_empty() {
        sessions.extend(bare);
    }
    for session in &mut sessions {
        let first = if session.span.0 < session.span.1 { session.span.0 } else { 0 };
        vitest_names(lines.get(first..=session.span.1).unwrap_or_default(), &mut session.report);
    }
    sessions
}

/// Errors outside of tests fail a run, unless vitest was told to ignore them.
fn add_unhandled(report: &mut Report, errors: u32) {
    if errors > 0 {
        report.add_error(errors);
        report.failures.push(format!("{errors} unhandled errors"));
    }
}

fn vitest_names(lines: &[&str], report: &mut Report) {
    let mut names: Vec<String> = Vec::new();
    for line in lines {
        let text = line.trim_start();
        if let Some(name) = text.strip_prefix("FAIL ") {
            names.push(name.trim().to_owned());
        } else if let Some(name) = text.strip_prefix("↓ ") {
            report.skipped.push(name.trim().to_owned());
        }
    }
    names.sort_by_key(|name| name.contains(" > "));
    names.dedup();
    // Files without a test that failed could not be loaded, or a hook failed after their tests.
    let files = names.iter().filter(|name| !name.contains(" > "));
    let (after, broken): (Vec<_>, Vec<_>) = files.partition(|name| has_tests(name, lines));
    report.add_failed(u32::try_from(broken.len()).unwrap_or(u32::MAX));
    report.add_broken(u32::try_from(after.len()).unwrap_or(u32::MAX));
    names.append(&mut report.failures);
    report.failures = names;
}

/// Whether tests of the file ran: ` ❯ a.test.js (2 tests) 3ms` above ` FAIL  a.test.js [ a.test.js ]`.
fn has_tests(file: &str, lines: &[&str]) -> bool {
    let name = file.split(" [ ").next().unwrap_or(file);
    let counted = |line: &&str| {
        let rest = line.trim_start().strip_prefix("❯ ")?.split_once(name)?.1.strip_prefix(" (")?;
        rest.split([' ', ')']).next()?.parse::<u32>().ok()
    };
    lines.iter().find_map(counted).is_some_and(|tests| tests > 0)
}

fn vitest_summary(text: &str) -> Option<Report> {
    if text.starts_with("No test files found, exiting with code ") {
        return Some(Report::default());
    }
    let counts = text.strip_prefix("Tests  ")?.trim_start();
    if counts == "no tests" {
        return Some(Report::default());
    }
    let (counts, total) = counts.rsplit_once(" (")?;
    let total: u32 = total.strip_suffix(')')?.parse().ok()?;
    let of = |word| count(counts, word).unwrap_or(0);
    Some(Report::totalled(total, of("failed"), of("skipped").saturating_add(of("todo"))))
}

fn vitest_errors(text: &str) -> Option<u32> {
    count(text.trim(), "error").or_else(|| count(text.trim(), "errors"))
}

/// `jest --json` and `vitest --reporter=json`: one object on a line of its own.
pub(super) fn json(lines: &[&str]) -> Vec<RunnerSession> {
    let is_object = |line: &str| line.starts_with('{') && line.contains("\"numTotalTests\"");
    let found = lines.iter().enumerate().filter(|(_, line)| is_object(line));
    found
        .filter_map(|(at, line)| {
            let value: Value = serde_json::from_str(line).ok()?;
            Some(RunnerSession::new("the JSON report", json_report(&value)?, (at, at)))
        })
        .collect()
}

fn json_report(value: &Value) -> Option<Report> {
    let of = |key: &str| u32::try_from(value.get(key)?.as_u64()?).ok();
    let skipped =
        of("numPendingTests").unwrap_or(0).saturating_add(of("numTodoTests").unwrap_or(0));
    let mut report = Report::totalled(of("numTotalTests")?, of("numFailedTests")?, skipped);
    report.add_failed(of("numRuntimeErrorTestSuites").unwrap_or(0));
    let files = value.get("testResults").and_then(Value::as_array);
    let tests = files.into_iter().flatten().filter_map(|file| file["assertionResults"].as_array());
    for test in tests.flatten() {
        let name = test["fullName"].as_str().unwrap_or_default().to_owned();
        match test["status"].as_str() {
            Some("failed") => report.failures.push(name),
            Some("pending" | "skipped" | "todo") => report.skipped.push(name),
            Some(_) | None => {}
        }
    }
    Some(report)
}
