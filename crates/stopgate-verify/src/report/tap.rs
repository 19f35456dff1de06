//! The Test Anything Protocol, and node's own runner, which counts at the end.

use super::Report;

/// `# tests 5`, `# pass 1`, `# fail 2` at the end of node's, tape's and tap's output.
pub(super) fn counted(lines: &[&str]) -> Option<Report> {
    let mut report = totals(lines, "# ")?;
    report.failures = failing(lines);
    Some(report)
}

/// The same as people read it: `ℹ tests 5`, and a list of failing tests.
pub(super) fn spec(lines: &[&str]) -> Option<Report> {
    let mut report = totals(lines, "ℹ ")?;
    let mut file = None;
    let list = lines.iter().skip_while(|line| **line != "✖ failing tests:");
    for line in list {
        if let Some(place) = line.strip_prefix("test at ") {
            file = Some(place.rsplitn(3, ':').last().unwrap_or(place));
        } else if let (Some(place), Some(name)) = (file, line.strip_prefix("✖ ")) {
            report.failures.push(format!("{place} › {}", without_time(name)));
            file = None;
        }
    }
    Some(report)
}

/// Lines of `ok` and `not ok` with a plan.
pub(super) fn plain(lines: &[&str]) -> Option<Report> {
    let plan = lines.iter().filter_map(|line| line.strip_prefix("1..")).find_map(|text| {
        let number = text.split(' ').next().unwrap_or(text);
        number.parse::<u32>().ok()
    });
    let is_tap = plan.is_some() || lines.iter().any(|line| line.starts_with("TAP version "));
    let mut report = Report::default();
    for result in lines.iter().filter_map(|line| result(line)) {
        report.add(match result.outcome {
            Outcome::Passed => Report::counted(1, 0, 0),
            Outcome::Failed => Report::counted(0, 1, 0),
            Outcome::LeftOut => Report::counted(0, 0, 1),
        });
    }
    report.failures = failing(lines);
    let seen = report.tests.collected;
    report.tests.collected = seen.max(plan.unwrap_or(0));
    (is_tap && (seen > 0 || plan == Some(0))).then_some(report)
}

fn totals(lines: &[&str], mark: &str) -> Option<Report> {
    let of = |word: &str| {
        let mut numbers = lines.iter().filter_map(|line| {
            let (said, number) = line.strip_prefix(mark)?.trim().split_once(' ')?;
            (said == word).then(|| number.trim().parse::<u32>().ok())?
        });
        // Several runs, one below the other, are added up.
        let first = numbers.next()?;
        Some(numbers.fold(first, u32::saturating_add))
    };
    let total = of("tests")?;
    let or_none = |word| of(word).unwrap_or(0);
    if of("pass").is_none() && of("fail").is_none() {
        return None;
    }
    let skipped = or_none("skipped").max(or_none("skip")).saturating_add(or_none("todo"));
    let mut report = Report::counted(total, 0, 0);
    report.tests.failed = or_none("fail").saturating_add(or_none("cancelled"));
    report.tests.skipped = skipped;
    Some(report)
}

/// The failing tests with the ones around them, without those that only hold failing ones.
fn failing(lines: &[&str]) -> Vec<String> {
    let mut around: Vec<&str> = Vec::new();
    let mut names = Vec::new();
    for line in lines {
        let text = line.trim_start();
        let depth = (line.len() - text.len()) / 4;
        if let Some(name) = text.strip_prefix("# Subtest: ") {
            around.truncate(depth);
            around.push(name);
        } else if text.starts_with("failureType: 'subtestsFailed'") {
            names.pop();
        } else if let Some(Line { outcome: Outcome::Failed, name }) = result(text) {
            let outer = around.iter().take(depth.min(around.len())).copied();
            names.push(outer.chain([name]).collect::<Vec<&str>>().join(" › "));
        }
    }
    names
}

/// One result.
struct Line<'a> {
    outcome: Outcome,
    name: &'a str,
}

#[derive(Clone, Copy)]
enum Outcome {
    Passed,
    Failed,
    LeftOut,
}

/// `not ok 2 - fails # TODO later`
fn result(line: &str) -> Option<Line<'_>> {
    let (outcome, rest) = match (line.strip_prefix("ok"), line.strip_prefix("not ok")) {
        (Some(rest), _) => (Outcome::Passed, rest),
        (None, Some(rest)) => (Outcome::Failed, rest),
        (None, None) => return None,
    };
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let rest = rest.trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (number, named) = rest.split_at(digits);
    if number.is_empty() && !named.starts_with('-') {
        return None;
    }
    let (name, directive) = named.split_once(" # ").unwrap_or((named, ""));
    let directive = directive.trim_start().to_ascii_lowercase();
    let left_out = directive.starts_with("skip") || directive.starts_with("todo");
    let outcome = if left_out { Outcome::LeftOut } else { outcome };
    let name = name.trim().trim_start_matches('-').trim();
    let name = if name.is_empty() { number } else { name };
    Some(Line { outcome, name })
}

/// `fails` of `fails (1.070989ms)`.
fn without_time(name: &str) -> &str {
    match name.rsplit_once(" (") {
        Some((before, time)) if time.ends_with("ms)") => before,
        Some(_) | None => name,
    }
}
