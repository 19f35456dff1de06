//! pytest and unittest.

use std::path::Path;

use super::{Report, count, count_after};

/// What pytest says at the end of a session.
pub(super) fn pytest(lines: &[&str]) -> Option<Report> {
    let mut found: Option<Report> = None;
    let mut doubled = 0_u32;
    let mut headings = Vec::new();
    let mut names = Vec::new();
    for line in lines {
        if let Some(summary) = pytest_summary(line) {
            found.get_or_insert_with(Report::default).add(summary);
        } else if let Some(name) = pytest_failure(line) {
            doubled = doubled.saturating_add(u32::from(line.starts_with("SUBFAIL")));
            names.push(name);
        } else if let Some(heading) = pytest_heading(line) {
            let after_pass = heading.starts_with("ERROR at teardown of");
            doubled = doubled.saturating_add(u32::from(after_pass));
            headings.push(heading);
        }
    }
    if let Some(report) = &mut found {
        // A test that failed in a part of it, or after it, is still one test.
        report.tests.collected = report.tests.collected.saturating_sub(doubled);
    }
    let mut report = found.or_else(|| quiet_progress(lines))?;
    report.failures = if names.is_empty() { headings } else { names };
    Some(report)
}

/// `==== 1 failed, 2 passed in 0.06s ====`, with or without its rules.
fn pytest_summary(line: &str) -> Option<Report> {
    let text = line.trim_matches('=').trim();
    let (counts, time) = text.rsplit_once(" in ")?;
    let seconds = time.split(' ').next()?.strip_suffix('s')?;
    if seconds.parse::<f64>().is_err() {
        return None;
    }
    if counts == "no tests ran" {
        return Some(Report::default());
    }
    let words = ["passed", "failed", "skipped", "xfailed", "xpassed", "error", "errors"];
    let others = ["deselected", "warning", "warnings", "rerun", "subtests passed"];
    let is_count = |part: &str| {
        let word = part.trim().split_once(' ').map_or("", |(_, word)| word);
        words.contains(&word) || others.contains(&word)
    };
    if !counts.split(',').all(is_count) {
        return None;
    }
    let of = |word| count(counts, word).unwrap_or(0);
    let passed = of("passed").saturating_add(of("xpassed"));
    let failed = of("failed").saturating_add(of("error")).saturating_add(of("errors"));
    // A test that is expected to fail holds nobody to anything: it is left out.
    let skipped = of("skipped").saturating_add(of("xfailed"));
    Some(Report::counted(passed, failed, skipped))
}

/// `FAILED tests/a.py::b - assert …`, `ERROR tests/a.py`, `SUBFAILED(i=0) tests/a.py::b`.
fn pytest_failure(line: &str) -> Option<String> {
    let (word, rest) = line.split_once(' ')?;
    let (word, part) = match word.split_once('(') {
        Some((word, part)) => (word, format!(" ({part}")),
        None => (word, String::new()),
    };
    if !["FAILED", "ERROR", "SUBFAILED", "SUBFAIL"].contains(&word) {
        return None;
    }
    let name = node_id(rest);
    let is_file = name.contains("::") || Path::new(name).extension().is_some_and(|end| end == "py");
    (is_file && !name.starts_with(' ')).then(|| format!("{name}{part}"))
}

/// The part before the message; a parameter in brackets may hold what looks like its beginning.
fn node_id(text: &str) -> &str {
    let end = text.find(" - ").unwrap_or(text.len());
    let bracket = text.find('[').filter(|at| *at < end && text[..*at].contains("::"));
    let end = match bracket {
        Some(at) => text[at..].find("] - ").map_or_else(
            || if text.ends_with(']') { text.len() } else { end },
            |close| at + close + 1,
        ),
        None => end,
    };
    text[..end].trim_end()
}

/// `____ test_bad ____`, `____ ERROR at setup of test_err ____`.
fn pytest_heading(line: &str) -> Option<String> {
    let inside = line.trim_matches('_');
    let is_heading = line.starts_with("___") || line.starts_with("_ ");
    let title = inside.strip_prefix(' ')?.strip_suffix(' ')?.trim();
    let named = !title.is_empty() && title.chars().any(char::is_alphanumeric);
    (is_heading && named).then(|| title.into())
}

/// With `-qq` there are only letters: `.FsxXE   [100%]`.
fn quiet_progress(lines: &[&str]) -> Option<Report> {
    let mut found: Option<Report> = None;
    for line in lines {
        let Some((letters, percent)) = line.rsplit_once('[') else { continue };
        let letters = letters.trim_end();
        let is_percent = percent.trim_start().trim_end_matches(['%', ']']).parse::<u8>().is_ok();
        let is_progress = !letters.is_empty()
            && is_percent
            && percent.ends_with("%]")
            && letters.bytes().all(|b| b".FsxXEu,".contains(&b));
        if is_progress {
            let of = |wanted: &[u8]| {
                let number = letters.bytes().filter(|b| wanted.contains(b)).count();
                u32::try_from(number).unwrap_or(u32::MAX)
            };
            let line = Report::counted(of(b".X"), of(b"FE"), of(b"sx"));
            found.get_or_insert_with(Report::default).add(line);
        }
    }
    found
}

/// What unittest says after `Ran 6 tests in 0.001s`.
pub(super) fn unittest(lines: &[&str]) -> Option<Report> {
    let mut found: Option<Report> = None;
    let mut names = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if let Some(ran) = unittest_ran(line) {
            let result = lines[at + 1..].iter().find(|line| !line.is_empty());
            let report = unittest_result(ran, result.copied().unwrap_or_default());
            found.get_or_insert_with(Report::default).add(report);
        } else if lines.get(at + 1).is_some_and(|below| below.starts_with("--------------------")) {
            names.extend(unittest_failure(line));
        }
    }
    let mut report = found?;
    report.failures = names;
    Some(report)
}

fn unittest_ran(line: &str) -> Option<u32> {
    let (number, rest) = line.strip_prefix("Ran ")?.split_once(' ')?;
    let time = rest.strip_prefix("tests in ").or_else(|| rest.strip_prefix("test in "))?;
    time.ends_with('s').then(|| number.parse().ok())?
}

/// `OK (skipped=1)`, `FAILED (failures=3, errors=1, skipped=1, expected failures=1)`.
fn unittest_result(ran: u32, line: &str) -> Report {
    let counts = line.split_once('(').map_or("", |(_, counts)| counts.trim_end_matches(')'));
    let of = |word: &str| {
        let part = counts.split(", ").find(|part| part.starts_with(word));
        part.and_then(|part| count_after(part, word)).unwrap_or(0)
    };
    let failed =
        of("failures").saturating_add(of("errors")).saturating_add(of("unexpected successes"));
    let skipped = of("skipped").saturating_add(of("expected failures"));
    let failed = failed.max(u32::from(line.starts_with("FAILED")));
    let mut report = Report::counted(ran.max(u32::from(failed > 0)), 0, 0);
    report.tests.failed = failed;
    report.tests.skipped = skipped;
    report
}

fn unittest_failure(line: &str) -> Option<String> {
    let name = line
        .strip_prefix("FAIL: ")
        .or_else(|| line.strip_prefix("ERROR: "))
        .or_else(|| line.strip_prefix("UNEXPECTED SUCCESS: "))?;
    Some(name.into())
}
