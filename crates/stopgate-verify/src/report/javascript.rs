//! jest, vitest and mocha.

use super::{Report, count};

/// How deep a title of mocha may be nested.
const TITLE_LINES_MAX: usize = 16;
const BROKEN_SUITE: &str = "Test suite failed to run";

/// jest: `Tests:       1 failed, 1 skipped, 1 todo, 2 passed, 5 total`.
pub(super) fn jest(lines: &[&str]) -> Option<Report> {
    let mut found: Option<Report> = None;
    // Where the beginning is gone, so is the first file's name.
    let mut file = Some("…");
    let mut names = Vec::new();
    for line in lines {
        let text = line.trim_start();
        if let Some(summary) = jest_summary(line) {
            found.get_or_insert_with(Report::default).add(summary);
        } else if let Some(name) = text.strip_prefix("FAIL ") {
            file = Some(without_time(name.trim()));
        } else if text.starts_with("PASS ") {
            file = None;
        } else if let (Some(file), Some(title)) = (file, jest_title(line)) {
            names.push(format!("{file} › {title}"));
        }
    }
    let mut report = found?;
    report.failures = names;
    let mut report = report.distinct();
    // What could not even be loaded is not among the tests that are counted.
    let is_broken = |name: &&String| name.ends_with(BROKEN_SUITE);
    let broken = report.failures.iter().filter(is_broken).count();
    report.add_failed(u32::try_from(broken).unwrap_or(u32::MAX));
    Some(report)
}

fn jest_summary(line: &str) -> Option<Report> {
    let counts = line.strip_prefix("Tests: ")?;
    let total = count(counts, "total")?;
    let of = |word| count(counts, word).unwrap_or(0);
    let skipped = of("skipped").saturating_add(of("todo"));
    let mut report = Report::counted(total, 0, 0);
    report.tests.failed = of("failed");
    report.tests.skipped = skipped;
    Some(report)
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

/// vitest: `      Tests  1 failed | 2 passed | 1 skipped | 1 todo (5)`.
pub(super) fn vitest(lines: &[&str]) -> Option<Report> {
    let mut found: Option<Report> = None;
    let mut names = Vec::new();
    let mut unhandled = 0;
    for line in lines {
        let text = line.trim_start();
        if let Some(summary) = vitest_summary(text) {
            found.get_or_insert_with(Report::default).add(summary);
        } else if let Some(name) = text.strip_prefix("FAIL ") {
            names.push(name.trim().to_owned());
        } else if let Some(count) = text.strip_prefix("Errors  ").and_then(vitest_errors) {
            unhandled = count;
        }
    }
    let mut report = found?;
    report.failures = names;
    let mut report = report.distinct();
    // Files without a test that failed could not be loaded.
    let broken = report.failures.iter().filter(|name| !name.contains(" > ")).count();
    report.add_failed(u32::try_from(broken).unwrap_or(u32::MAX));
    if unhandled > 0 {
        report.add_failed(unhandled);
        report.failures.push(format!("{unhandled} unhandled errors"));
    }
    Some(report)
}

fn vitest_summary(text: &str) -> Option<Report> {
    let counts = text.strip_prefix("Tests  ")?.trim_start();
    if counts == "no tests" {
        return Some(Report::default());
    }
    let (counts, total) = counts.rsplit_once(" (")?;
    let total: u32 = total.strip_suffix(')')?.parse().ok()?;
    let of = |word| count(counts, word).unwrap_or(0);
    let mut report = Report::counted(total, 0, 0);
    report.tests.failed = of("failed");
    report.tests.skipped = of("skipped").saturating_add(of("todo"));
    Some(report)
}

fn vitest_errors(text: &str) -> Option<u32> {
    count(text.trim(), "error").or_else(|| count(text.trim(), "errors"))
}

/// mocha: `  1 passing (4ms)`, `  2 pending`, `  2 failing`, and a numbered list.
pub(super) fn mocha(lines: &[&str]) -> Option<Report> {
    let mut found: Option<Report> = None;
    let mut in_list = false;
    for (at, line) in lines.iter().enumerate() {
        let Some(text) = line.strip_prefix("  ") else { continue };
        if let Some(passed) = count(text, "passing").filter(|_| text.ends_with(')')) {
            found.get_or_insert_with(Report::default).add(Report::counted(passed, 0, 0));
            in_list = false;
        }
        let Some(report) = &mut found else { continue };
        if let Some(pending) = count(text, "pending") {
            report.add(Report::counted(0, 0, pending));
        } else if let Some(failed) = count(text, "failing") {
            report.add_failed(failed);
            in_list = true;
        } else if in_list && starts_item(text) {
            report.failures.extend(mocha_title(&lines[at..]));
        }
    }
    found
}

/// `1) math`
fn starts_item(text: &str) -> bool {
    text.split_once(") ").is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

/// A title goes on below, indented further, up to a colon.
fn mocha_title(lines: &[&str]) -> Option<String> {
    let (first, rest) = lines.split_first()?;
    let (_, first) = first.split_once(") ")?;
    let mut parts = vec![first.trim()];
    for line in rest.iter().take(TITLE_LINES_MAX) {
        if parts.last()?.ends_with(':') || line.is_empty() {
            break;
        }
        parts.push(line.trim());
    }
    Some(parts.join(" › ").trim_end_matches(':').into())
}
