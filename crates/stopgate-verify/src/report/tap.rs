//! The Test Anything Protocol; node's own runner, which counts at the end; bats and prove.

use std::collections::BTreeMap;

use super::session::{Block, RunnerSession, by_results};
use super::{Report, count};

/// How far below a result node says where its test is.
const LOCATION_LINES_MAX: usize = 6;

/// Documents of TAP: node's, tape's, bats's, anybody's.
pub(super) fn read(lines: &[&str]) -> Vec<RunnerSession> {
    let mut sessions = Vec::new();
    let mut document = Document::default();
    for (at, line) in lines.iter().enumerate() {
        if document.is_ended_by(line) {
            sessions.extend(std::mem::take(&mut document).session(lines));
        }
        document.take(at, line);
    }
    sessions.extend(document.session(lines));
    sessions
}

/// One document as far as it was read.
#[derive(Default)]
struct Document {
    first: Option<usize>,
    last: usize,
    plan: Option<u32>,
    plan_at: usize,
    has_version: bool,
    numbered: BTreeMap<u32, Outcome>,
    unnumbered: Report,
}

impl Document {
    /// Whether a line begins another document.
    fn is_ended_by(&self, line: &str) -> bool {
        let is_whole = self
            .plan
            .is_some_and(|plan| u32::try_from(self.numbered.len()).unwrap_or(u32::MAX) >= plan);
        let begins = result(line).is_some_and(|result| result.number == Some(1));
        (is_version(line) && self.first.is_some())
            || (plan(line).is_some() && self.plan.is_some())
            || (is_whole && begins)
    }

    fn take(&mut self, at: usize, line: &str) {
        if is_version(line) {
            self.has_version = true;
        } else if let Some(plan) = plan(line) {
            self.plan = Some(plan);
            self.plan_at = at;
        } else if let Some(result) = result(line) {
            match result.number {
                // A failure stays one, whatever else is printed with its number.
                Some(number) if result.outcome == Outcome::Failed => {
                    self.numbered.insert(number, Outcome::Failed);
                }
                Some(number) => {
                    self.numbered.entry(number).or_insert(result.outcome);
                }
                None => self.unnumbered.add(result.outcome.report()),
            }
        } else {
            return;
        }
        self.first.get_or_insert(at);
        self.last = at;
    }

    fn session(self, lines: &[&str]) -> Option<RunnerSession> {
        let first = self.first.unwrap_or(0);
        let totals = self.totals(lines);
        let is_tap = self.has_version || self.plan.is_some() || totals.is_some();
        let (last, mut report) = match totals {
            Some((at, report)) => (at.max(self.last), report),
            None => (self.last, self.counted()?),
        };
        if !is_tap {
            return None;
        }
        let region = lines.get(first..=last).unwrap_or_default();
        let plan = self.plan.unwrap_or(u32::MAX);
        report.failures = names(region, Outcome::Failed, plan);
        report.less_broken(failed_files(region));
        report.skipped = names(region, Outcome::LeftOut, plan);
        let session = RunnerSession::new("TAP", report, (first, last));
        let is_bare = self.first.is_none();
        Some(if is_bare { session.bare() } else { session })
    }

    /// What the lines of results come to; only numbers that the plan has.
    fn counted(&self) -> Option<Report> {
        let mut report = Report::default();
        let planned = |number: &u32| self.plan.is_none_or(|plan| (1..=plan).contains(number));
        for (_, outcome) in self.numbered.iter().filter(|(number, _)| planned(number)) {
            report.add(outcome.report());
        }
        if self.numbered.is_empty() {
            report = self.unnumbered.clone();
        }
        let seen = report.tests.collected;
        // What was planned and has no result did not run.
        let missing = self.plan.unwrap_or(0).saturating_sub(seen);
        report.tests.collected = report.tests.collected.saturating_add(missing);
        report.tests.skipped = report.tests.skipped.saturating_add(missing);
        (seen > 0 || self.plan == Some(0)).then_some(report)
    }

    /// `# tests 5`, `# pass 1`, `# fail 2` of node, tape and tap: the first after the plan, else
    /// the last before it, since what tests print becomes comments, too.
    fn totals(&self, lines: &[&str]) -> Option<(usize, Report)> {
        let end = lines.len();
        let from = self.first.unwrap_or(0);
        let mut found = None;
        for at in from..end {
            if at > self.last && (is_version(lines[at]) || result(lines[at]).is_some()) {
                break;
            }
            let Some((last, report)) = totals_at(lines, at, "# ") else { continue };
            found = Some((last, report));
            if self.plan.is_some() && at > self.plan_at {
                break;
            }
        }
        found
    }
}

/// Lines `# tests 5`, `# pass 3` and so on, one below the other.
fn totals_at(lines: &[&str], at: usize, mark: &str) -> Option<(usize, Report)> {
    let read = |line: &str| {
        let (word, number) = line.strip_prefix(mark)?.trim().split_once(' ')?;
        let number = number.trim();
        let number = number.split('.').next().unwrap_or(number).parse::<u32>().ok()?;
        Some((word.to_owned(), number))
    };
    let (word, total) = read(lines.get(at)?)?;
    if word != "tests" {
        return None;
    }
    let counts: BTreeMap<String, u32> =
        lines[at + 1..].iter().map_while(|line| read(line)).collect();
    let of = |word: &str| counts.get(word).copied();
    let or_none = |word| of(word).unwrap_or(0);
    if of("pass").is_none() && of("fail").is_none() {
        return None;
    }
    let skipped = or_none("skipped").max(or_none("skip")).saturating_add(or_none("todo"));
    let failed = or_none("fail").saturating_add(or_none("cancelled"));
    Some((at + counts.len(), Report::totalled(total, failed, skipped)))
}

/// Node's runner as people read it: `✔ adds`, `ℹ tests 5`, and a list of failing tests.
pub(super) fn spec(lines: &[&str]) -> Vec<RunnerSession> {
    let mut blocks = Vec::new();
    for at in 0..lines.len() {
        if let Some((last, report)) = totals_at(lines, at, "ℹ ") {
            blocks.push(Block { span: (at, last), results: report.tests.collected, report });
        }
    }
    let mut sessions = by_results("node --test", lines, blocks, spec_results);
    let ends: Vec<usize> = sessions.iter().map(|session| session.span.0).skip(1).collect();
    for (session, end) in sessions.iter_mut().zip(ends.into_iter().chain([lines.len()])) {
        session.report.failures = spec_failures(lines.get(session.span.1..end).unwrap_or_default());
        let region = lines.get(session.span.0..end).unwrap_or_default();
        session.report.less_broken(spec_files(region));
        let tests = lines.get(session.span.0..session.span.1).unwrap_or_default().iter();
        let names = tests.filter_map(|line| line.trim_start().strip_prefix("﹣ "));
        session.report.skipped = names.map(|name| without_time(name).to_owned()).collect();
    }
    sessions
}

fn spec_results(line: &str) -> u32 {
    let text = line.trim_start();
    u32::from(["✔ ", "✖ ", "﹣ ", "⚠ "].iter().any(|sign| text.starts_with(sign)))
}

/// The same as people read it: `test at test/a.js:2:47` above `✖ /home/me/test/a.js (0.15ms)`.
fn spec_files(lines: &[&str]) -> usize {
    let list = lines.iter().skip_while(|line| **line != "✖ failing tests:");
    let list: Vec<&str> = list.copied().collect();
    let is_file = |pair: &&[&str]| {
        let Some((file, place)) =
            pair[0].strip_prefix("test at ").and_then(|at| at.split_once(':'))
        else {
            return false;
        };
        let name = pair[1].strip_prefix("✖ ").map(without_time);
        name.is_some_and(|name| name.ends_with(file) && has_tests(name, place, lines))
    };
    list.windows(2).filter(is_file).count()
}

fn spec_failures(lines: &[&str]) -> Vec<String> {
    let mut file = None;
    let mut names = Vec::new();
    for line in lines.iter().skip_while(|line| **line != "✖ failing tests:") {
        if let Some(place) = line.strip_prefix("test at ") {
            file = Some(place.rsplitn(3, ':').last().unwrap_or(place));
        } else if let (Some(place), Some(name)) = (file, line.strip_prefix("✖ ")) {
            // A failure of what is still to be done is listed, and not counted.
            if !name.contains(" # TODO") {
                names.push(format!("{place} › {}", without_time(name)));
            }
            file = None;
        }
    }
    names
}

/// bats for people, and prove: `3 tests, 1 failure, 1 skipped`, `Files=1, Tests=3, …`.
pub(super) fn prove(lines: &[&str]) -> Vec<RunnerSession> {
    let mut blocks = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let found = bats_summary(line).map(|report| (report.tests.collected, at, report));
        let found = found.or_else(|| prove_summary(lines, at));
        if let Some((results, last, report)) = found {
            blocks.push(Block { span: (at, last), results, report });
        }
    }
    let mut sessions = by_results("prove or bats", lines, blocks, prove_results);
    for session in &mut sessions {
        let region = lines.get(session.span.0..=session.span.1).unwrap_or_default();
        let failed = region.iter().filter_map(|line| prove_failure(line));
        session.report.failures = failed.map(str::to_owned).collect();
        let skipped = region.iter().filter_map(|line| line.strip_prefix(" - "));
        session.report.skipped = skipped.map(str::to_owned).collect();
    }
    sessions
}

fn bats_summary(line: &str) -> Option<Report> {
    let tests = count(line, "tests").or_else(|| count(line, "test"))?;
    let failed = count(line, "failures").or_else(|| count(line, "failure"))?;
    Some(Report::totalled(tests, failed, count(line, "skipped").unwrap_or(0)))
}

fn prove_summary(lines: &[&str], at: usize) -> Option<(u32, usize, Report)> {
    let (files, rest) = lines[at].strip_prefix("Files=")?.split_once(", Tests=")?;
    let tests: u32 = rest.split(',').next()?.trim().parse().ok()?;
    let result = lines.get(at + 1)?.strip_prefix("Result: ")?;
    let is_bad = result == "FAIL";
    let above = lines[..at].iter().filter_map(|line| line.split_once(" Failed: "));
    let failed = above.filter_map(|(_, number)| number.trim_end_matches(')').parse::<u32>().ok());
    let failed = if is_bad { failed.fold(0, u32::saturating_add).max(1) } else { 0 };
    Some((files.parse().ok()?, at + 1, Report::totalled(tests.max(failed), failed, 0)))
}

/// ` ✓ adds` of bats, `a.t .. ok` of prove.
fn prove_results(line: &str) -> u32 {
    let signs = [" ✓ ", " ✗ ", " - "];
    let is_file = line.split_once(" ..").is_some_and(|(file, _)| !file.contains(' '));
    u32::from(is_file || signs.iter().any(|sign| line.starts_with(sign)))
}

fn prove_failure(line: &str) -> Option<&str> {
    let bats = line.strip_prefix(" ✗ ").map(str::trim);
    bats.or_else(|| line.split_once(" (Wstat: ").map(|(file, _)| file))
}

/// Tests with one outcome, with the ones around them, without those that only hold failing ones.
fn names(lines: &[&str], wanted: Outcome, plan: u32) -> Vec<String> {
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
        } else if let Some(result) = result(text).filter(|result| result.outcome == wanted) {
            let is_planned = depth > 0 || result.number.is_none_or(|number| number <= plan);
            let outer = around.iter().take(depth.min(around.len())).copied();
            if is_planned {
                names.push(outer.chain([result.name]).collect::<Vec<&str>>().join(" › "));
            }
        }
    }
    names
}

/// How many of node's tests are files in which something failed after the tests, which are counted:
/// such a failure has the name of its file.
fn failed_files(lines: &[&str]) -> usize {
    let is_file = |at: usize, name: &str| {
        let mark = format!("location: '{name}:");
        let below = lines[at..].iter().take(LOCATION_LINES_MAX).map(|line| line.trim_start());
        let place = below.into_iter().find_map(|line| line.strip_prefix(&mark));
        place.is_some_and(|place| has_tests(name, place.trim_end_matches('\''), lines))
    };
    let failed = lines.iter().enumerate().filter_map(|(at, line)| {
        let found = result(line).filter(|found| found.outcome == Outcome::Failed)?;
        Some((at, found.name))
    });
    failed.filter(|(at, name)| is_file(*at, name)).count()
}

/// Whether a file that failed as a whole has run tests: a hook failed, which has a place, or a test
/// went on after its end. A file that can't be loaded fails at its beginning, and is counted once.
fn has_tests(file: &str, place: &str, lines: &[&str]) -> bool {
    let went_on = |line: &&str| {
        line.contains(" generated asynchronous activity after the test ended")
            && line.split(" at ").any(|part| {
                let known = part.split(':').next().unwrap_or(part);
                !known.is_empty() && file.ends_with(known)
            })
    };
    place != "1:1" || lines.iter().any(went_on)
}

/// One result.
struct Line<'a> {
    outcome: Outcome,
    number: Option<u32>,
    name: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    LeftOut,
}

impl Outcome {
    fn report(self) -> Report {
        match self {
            Self::Passed => Report::counted(1, 0, 0),
            Self::Failed => Report::counted(0, 1, 0),
            Self::LeftOut => Report::counted(0, 0, 1),
        }
    }
}

fn is_version(line: &str) -> bool {
    line.starts_with("TAP version ")
}

/// `1..5`, `1..0 # skipped`
fn plan(line: &str) -> Option<u32> {
    let text = line.strip_prefix("1..")?;
    text.split(' ').next().unwrap_or(text).parse().ok()
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
    Some(Line { outcome, number: number.parse().ok(), name })
}

/// `fails` of `fails (1.070989ms)`.
fn without_time(name: &str) -> &str {
    let name = name.split(" # ").next().unwrap_or(name);
    match name.rsplit_once(" (") {
        Some((before, time)) if time.ends_with("ms)") => before,
        Some(_) | None => name,
    }
}
