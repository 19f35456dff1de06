//! `PHPUnit`, `RSpec`, `dotnet test`, Maven's Surefire and Gradle.

use super::{Report, count, count_after};

/// `OK (5 tests, 10 assertions)`, `Tests: 5, Assertions: 10, Failures: 1, Skipped: 1.`
pub(super) fn phpunit(lines: &[&str]) -> Option<Report> {
    let mut report = lines.iter().rev().find_map(|line| phpunit_summary(line))?;
    report.failures = lines.iter().filter_map(|line| phpunit_failure(line)).collect();
    Some(report)
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
    let mut report = Report::counted(count_after(line, "Tests:")?, 0, 0);
    report.tests.failed = of("Failures:").saturating_add(of("Errors:"));
    report.tests.skipped = of("Skipped:").saturating_add(of("Incomplete:"));
    Some(report)
}

/// `1) App\CalcTest::testAdds`
fn phpunit_failure(line: &str) -> Option<String> {
    let (number, name) = line.split_once(") ")?;
    let is_item = number.parse::<u32>().is_ok() && name.contains("::");
    is_item.then(|| name.into())
}

/// `5 examples, 1 failure, 1 pending`, and `rspec ./spec/a_spec.rb:3 # Calc adds`.
pub(super) fn rspec(lines: &[&str]) -> Option<Report> {
    let mut found: Option<Report> = None;
    let mut names = Vec::new();
    for line in lines {
        if let Some(summary) = rspec_summary(line) {
            found.get_or_insert_with(Report::default).add(summary);
        } else if let Some((place, title)) =
            line.strip_prefix("rspec ").and_then(|text| text.split_once(" # "))
        {
            let file = place.split([':', '[']).next().unwrap_or(place);
            names.push(format!("{} › {title}", file.trim_matches(['\'', '"'])));
        }
    }
    let mut report = found?;
    report.failures = names;
    Some(report)
}

fn rspec_summary(line: &str) -> Option<Report> {
    let examples = count(line, "examples").or_else(|| count(line, "example"))?;
    let failed = count(line, "failures").or_else(|| count(line, "failure"))?;
    let outside = ["error occurred outside of examples", "errors occurred outside of examples"];
    let outside = outside.iter().find_map(|word| count(line, word)).unwrap_or(0);
    let mut report = Report::counted(examples, 0, 0);
    report.tests.failed = failed;
    report.tests.skipped = count(line, "pending").unwrap_or(0);
    report.add_failed(outside);
    Some(report)
}

/// `Failed!  - Failed:     1, Passed:     2, Skipped:     1, Total:     4, Duration: 12 ms`
pub(super) fn dotnet(lines: &[&str]) -> Option<Report> {
    let mut found: Option<Report> = None;
    let mut names = Vec::new();
    for line in lines {
        if let Some(summary) = dotnet_summary(line) {
            found.get_or_insert_with(Report::default).add(summary);
        } else if let Some(name) = line.strip_prefix("  Failed ") {
            let name = name.rsplit_once(" [").map_or(name, |(name, _)| name);
            names.push(name.to_owned());
        }
    }
    let mut report = found?;
    report.failures = names;
    Some(report)
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

/// `[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 1`, once a module.
pub(super) fn surefire(lines: &[&str]) -> Option<Report> {
    let mut found: Option<Report> = None;
    let mut names = Vec::new();
    let mut in_list = false;
    for line in lines {
        let text = without_level(line);
        if let Some(summary) = surefire_summary(text) {
            found.get_or_insert_with(Report::default).add(summary);
            in_list = false;
        } else if text == "Failures:" || text == "Errors:" {
            in_list = true;
        } else if let Some(name) = text.strip_prefix("  ").filter(|_| in_list) {
            let end = name.find([':', ' ']).unwrap_or(name.len());
            names.extend((end > 0).then(|| name[..end].to_owned()));
        }
    }
    let mut report = found?;
    report.failures = names;
    Some(report)
}

fn surefire_summary(text: &str) -> Option<Report> {
    if !text.starts_with("Tests run: ") || text.contains("Time elapsed") {
        return None;
    }
    let mut report = Report::counted(count_after(text, "Tests run:")?, 0, 0);
    report.tests.failed =
        count_after(text, "Failures:")?.saturating_add(count_after(text, "Errors:")?);
    report.tests.skipped = count_after(text, "Skipped:").unwrap_or(0);
    Some(report)
}

fn without_level(line: &str) -> &str {
    ["[ERROR] ", "[WARNING] ", "[INFO] "]
        .iter()
        .find_map(|level| line.strip_prefix(level))
        .unwrap_or(line)
}

/// `5 tests completed, 1 failed, 1 skipped`, and `CalcTest > adds() FAILED`.
pub(super) fn gradle(lines: &[&str]) -> Option<Report> {
    let mut found: Option<Report> = None;
    for line in lines {
        let Some(total) = count(line, "tests completed").or_else(|| count(line, "test completed"))
        else {
            continue;
        };
        let mut summary = Report::counted(total, 0, 0);
        summary.tests.failed = count(line, "failed").unwrap_or(0);
        summary.tests.skipped = count(line, "skipped").unwrap_or(0);
        found.get_or_insert_with(Report::default).add(summary);
    }
    let mut report = found?;
    let named = lines.iter().filter_map(|line| line.strip_suffix(" FAILED"));
    report.failures = named.filter(|name| name.contains(" > ")).map(str::to_owned).collect();
    Some(report)
}
