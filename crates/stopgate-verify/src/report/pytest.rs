//! pytest: sessions from their header, or from the first dots of a quiet one, to the summary.

use std::path::Path;

use super::session::{RunnerEnd, RunnerSession, SessionScope};
use super::{Report, count};

const RUNNER: &str = "pytest";
const DONE: u8 = 100;

/// The sessions of pytest.
pub(super) fn read(lines: &[&str]) -> Vec<RunnerSession> {
    let mut reading = Reading { lines, run: None, bare: None, sessions: Vec::new() };
    for (at, line) in lines.iter().enumerate() {
        reading.take(at, line);
    }
    reading.close();
    if reading.sessions.is_empty() {
        reading.sessions.extend(reading.bare.map(RunnerSession::bare));
    }
    if reading.sessions.is_empty() {
        reading.sessions.extend(quiet_progress(lines));
    }
    reading.sessions
}

struct Reading<'a> {
    lines: &'a [&'a str],
    run: Option<Run>,
    /// A summary without anything of a session before it.
    bare: Option<RunnerSession>,
    sessions: Vec<RunnerSession>,
}

/// A session that is under way, or has ended and is not followed by another yet.
#[derive(Default)]
struct Run {
    first: usize,
    /// How wide its header is drawn; none where it has none.
    width: Option<usize>,
    items: Option<u32>,
    /// Sessions that began inside it and have not ended.
    nested: u32,
    percent: Option<u8>,
    summary: Option<Summary>,
    /// Results that came after what looked like its summary.
    went_on: bool,
    /// A summary that may be that of a nested session.
    spare: Option<Summary>,
    scope: SessionScope,
}

#[derive(Clone)]
struct Summary {
    at: usize,
    report: Report,
    width: Option<usize>,
}

impl Reading<'_> {
    fn take(&mut self, at: usize, line: &str) {
        if is_header(line) {
            self.begin(at, line);
        } else if let Some(summary) = summary(at, line) {
            self.end(summary);
        } else if let Some(progress) = progress(line) {
            self.go_on(at, progress);
        } else if let Some(run) = &mut self.run {
            run.note(line);
            let is_other = run.width.is_none() && run.summary.is_none() && is_unittest(line);
            if is_other {
                self.run = None;
            }
        }
    }

    fn begin(&mut self, at: usize, line: &str) {
        let inside = self.run.as_mut().filter(|run| run.width.is_some() && !run.has_ended());
        if let Some(run) = inside {
            run.nested += 1;
            return;
        }
        self.close();
        let rule = line.find('=').map_or(line, |from| &line[from..]);
        self.run = Some(Run { first: at, width: Some(rule.chars().count()), ..Run::default() });
    }

    fn go_on(&mut self, at: usize, progress: Progress) {
        let percent = match progress {
            Progress::Percent(percent) => Some(percent),
            Progress::Unknown => None,
        };
        let over = self.run.as_ref().is_some_and(|run| {
            let is_done = run.summary.is_some() && run.percent == Some(DONE);
            // Dots without a percentage may be another runner's.
            let is_other = run.width.is_none() && run.summary.is_none() && run.percent.is_none();
            run.nested == 0 && (is_done || (is_other && percent.is_some()))
        });
        if over {
            self.close();
        }
        let run = self.run.get_or_insert_with(|| Run { first: at, ..Run::default() });
        if run.nested == 0 {
            run.went_on = run.summary.is_some();
            run.percent = percent.or(run.percent);
        }
    }

    fn end(&mut self, summary: Summary) {
        let Some(run) = &mut self.run else {
            self.bare = Some(self.session((summary.at, summary.at), &summary));
            return;
        };
        if !run.fits(&summary) {
            return;
        }
        if run.nested > 0 {
            run.nested -= 1;
            run.spare = Some(summary);
        } else if run.summary.is_none() || run.went_on {
            run.summary = Some(summary);
            run.went_on = false;
        }
    }

    /// Files the session that is under way, if it is one.
    fn close(&mut self) {
        let Some(run) = self.run.take() else { return };
        if let Some(summary) = run.summary.as_ref().or(run.spare.as_ref()) {
            let mut session = self.session((run.first, summary.at), summary);
            session.scope = run.scope;
            self.sessions.push(session);
        } else if let (Some(_), Some(items)) = (run.width, run.items) {
            let mut report = Report::default();
            report.add_failed(items.max(1));
            report.failures.push("pytest: ended before its result".into());
            let end = self.lines.len().saturating_sub(1).max(run.first);
            let mut session = RunnerSession::new(RUNNER, report, (run.first, end));
            session.ending = RunnerEnd::Missing;
            self.sessions.push(session);
        }
    }

    fn session(&self, span: (usize, usize), summary: &Summary) -> RunnerSession {
        let from = if span.0 == span.1 { 0 } else { span.0 };
        let lines = self.lines.get(from..=span.1).unwrap_or_default();
        let names = Names::find(lines);
        let mut report = summary.report.clone();
        // A test that failed in a part of it, or after it, is still one test.
        report.tests.collected = report.tests.collected.saturating_sub(names.doubled);
        report.failures = names.failed;
        report.skipped = names.skipped;
        RunnerSession::new(RUNNER, report, span)
    }
}

impl Run {
    fn has_ended(&self) -> bool {
        self.summary.is_some() && !self.went_on && self.nested == 0
    }

    /// Whether a summary can be the one of this session: drawn as wide as its header, with no
    /// more passed tests than were collected.
    fn fits(&self, summary: &Summary) -> bool {
        let wide = match (self.width, summary.width) {
            (Some(header), Some(width)) => width >= header,
            (Some(_), None) => false,
            (None, _) => true,
        };
        let tests = summary.report.tests;
        let passed = tests.ran().saturating_sub(tests.failed);
        wide && (self.nested > 0 || self.items.is_none_or(|items| passed <= items))
    }

    fn note(&mut self, line: &str) {
        if self.nested > 0 || self.summary.is_some() {
            return;
        }
        if self.items.is_none() {
            self.items = items(line);
        }
        if line.starts_with("run-last-failure: rerun previous ") {
            self.scope = SessionScope::FailedBefore;
        }
    }
}

/// `===== test session starts =====`, perhaps after what an outer session has begun to say.
fn is_header(line: &str) -> bool {
    let inside = line.trim_end_matches('=');
    inside.len() < line.len() && inside.ends_with("= test session starts ")
}

fn is_unittest(line: &str) -> bool {
    line.starts_with("Ran ") && line.contains(" in ")
}

/// `collected 3 items / 1 error`, `collecting ... collected 1 item`, `2 workers [16 items]`.
fn items(line: &str) -> Option<u32> {
    let text = line.strip_prefix("collecting ... ").unwrap_or(line);
    if let Some(text) = text.strip_prefix("collected ") {
        let (number, rest) = text.split_once(' ')?;
        return rest.starts_with("item").then(|| number.parse().ok())?;
    }
    let (workers, items) = line.split_once(" [")?;
    let is_workers = workers.ends_with(" workers") || workers.ends_with(" worker");
    let number = items.strip_suffix(" items]").or_else(|| items.strip_suffix(" item]"))?;
    is_workers.then(|| number.parse().ok())?
}

/// How far a session says it is.
#[derive(Clone, Copy)]
enum Progress {
    Percent(u8),
    /// There are results, and no word about how many are left.
    Unknown,
}

/// Reads a line of results.
fn progress(line: &str) -> Option<Progress> {
    if let Some((results, percent)) = line.rsplit_once('[') {
        let number = percent.strip_suffix("%]").and_then(|text| text.trim().parse().ok());
        if let (Some(number), false) = (number, results.trim().is_empty()) {
            return Some(Progress::Percent(number));
        }
    }
    let letters = line.split(' ').next_back().unwrap_or(line);
    let is_letters = !letters.is_empty() && letters.bytes().all(|b| b".FEsxXR".contains(&b));
    let (name, result) = line.split_once(' ').unwrap_or((line, ""));
    let is_file = has_python_file(name);
    let words = ["PASSED", "FAILED", "ERROR", "SKIPPED", "XFAIL", "XPASS"];
    let is_named = name.contains("::") && words.iter().any(|word| result.starts_with(word));
    let only_letters = is_letters && (letters.len() == line.len() || is_file);
    (only_letters || is_named).then_some(Progress::Unknown)
}

fn has_python_file(name: &str) -> bool {
    let file = name.split("::").next().unwrap_or(name);
    Path::new(file).extension().is_some_and(|end| end == "py")
}

/// `==== 1 failed, 2 passed in 0.06s ====`, with or without its rules.
fn summary(at: usize, line: &str) -> Option<Summary> {
    let text = line.trim_matches('=').trim();
    let width = (line.starts_with('=') && line.ends_with('=')).then(|| line.chars().count());
    let (counts, time) = text.rsplit_once(" in ")?;
    let seconds = time.split(' ').next()?.strip_suffix('s')?;
    seconds.parse::<f64>().ok()?;
    Some(Summary { at, report: counts_of(counts)?, width })
}

fn counts_of(counts: &str) -> Option<Report> {
    let only_collected = ["tests collected", "test collected", "no tests collected"];
    if counts == "no tests ran" || only_collected.iter().any(|words| counts.contains(words)) {
        let of = |word| count(counts, word).unwrap_or(0);
        return Some(Report::counted(0, of("error").saturating_add(of("errors")), 0));
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
    // A test that is expected to fail does not show that anything works: it is left out.
    let skipped = of("skipped").saturating_add(of("xfailed"));
    Some(Report::counted(passed, failed, skipped))
}

/// What a session says of single tests.
#[derive(Default)]
struct Names {
    failed: Vec<String>,
    skipped: Vec<String>,
    /// Failures beyond the first of a test.
    doubled: u32,
}

impl Names {
    fn find(lines: &[&str]) -> Self {
        let is_list =
            |line: &&str| line.starts_with('=') && line.contains(" short test summary info ");
        let list = lines.iter().rposition(is_list).map_or(0, |at| at + 1);
        let mut names = Self::default();
        let (mut headings, mut shown) = (Vec::new(), Vec::new());
        for (at, line) in lines.iter().enumerate() {
            if let Some(name) = failure(line).filter(|_| at >= list) {
                names.doubled += u32::from(line.starts_with("SUBFAIL"));
                names.failed.push(name);
            } else if let Some(heading) = heading(line) {
                names.doubled += u32::from(heading.starts_with("ERROR at teardown of"));
                headings.push(heading);
            } else if let Some((name, Shown::Failed)) = shown_result(line) {
                shown.push(name);
            } else if let Some((name, Shown::Skipped)) = shown_result(line) {
                names.skipped.push(name);
            }
        }
        if names.failed.is_empty() {
            names.failed = if shown.is_empty() { headings } else { shown };
        }
        names
    }
}

/// `FAILED tests/a.py::b - assert …`, `ERROR tests/a.py`, `SUBFAILED(i=0) tests/a.py::b`.
fn failure(line: &str) -> Option<String> {
    let (word, rest) = line.split_once(' ')?;
    let (word, part) = match word.split_once('(') {
        Some((word, part)) => (word, format!(" ({part}")),
        None => (word, String::new()),
    };
    if !["FAILED", "ERROR", "SUBFAILED", "SUBFAIL"].contains(&word) {
        return None;
    }
    let name = node_id(rest);
    let is_file = name.contains("::") || has_python_file(name);
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
fn heading(line: &str) -> Option<String> {
    let inside = line.trim_matches('_');
    let is_heading = line.starts_with("___") || line.starts_with("_ ");
    let title = inside.strip_prefix(' ')?.strip_suffix(' ')?.trim();
    let named = !title.is_empty() && title.chars().any(char::is_alphanumeric);
    (is_heading && named).then(|| title.into())
}

enum Shown {
    Failed,
    Skipped,
}

/// `tests/a.py::b SKIPPED (why) [ 60%]`, `SKIPPED [1] tests/a.py:4: why`, `XFAIL tests/a.py::b`.
fn shown_result(line: &str) -> Option<(String, Shown)> {
    if let Some(rest) = line.strip_prefix("SKIPPED [") {
        let (_, place) = rest.split_once("] ")?;
        return has_python_file(place.split(':').next()?).then(|| (place.into(), Shown::Skipped));
    }
    if let Some(rest) = line.strip_prefix("XFAIL ") {
        let name = node_id(rest);
        return name.contains("::").then(|| (name.into(), Shown::Skipped));
    }
    let of = |words: &[&str]| words.iter().find_map(|word| line.find(word));
    let (at, shown) = of(&[" SKIPPED", " XFAIL"])
        .map(|at| (at, Shown::Skipped))
        .or_else(|| of(&[" FAILED", " ERROR"]).map(|at| (at, Shown::Failed)))?;
    let name = &line[..at];
    (name.contains("::") && has_python_file(name)).then(|| (name.into(), shown))
}

/// With `-qq` there are only letters: `.FsxXE   [100%]`.
fn quiet_progress(lines: &[&str]) -> Option<RunnerSession> {
    let mut found: Option<(Report, (usize, usize))> = None;
    for (at, line) in lines.iter().enumerate() {
        let Some((letters, _)) = line.rsplit_once('[') else { continue };
        let letters = letters.trim_end();
        let is_letters = !letters.is_empty() && letters.bytes().all(|b| b".FsxXEu,".contains(&b));
        if is_letters && matches!(progress(line), Some(Progress::Percent(_))) {
            let of = |wanted: &[u8]| {
                let number = letters.bytes().filter(|b| wanted.contains(b)).count();
                u32::try_from(number).unwrap_or(u32::MAX)
            };
            let (report, span) = found.get_or_insert_with(|| (Report::default(), (at, at)));
            report.add(Report::counted(of(b".X"), of(b"FE"), of(b"sx")));
            span.1 = at;
        }
    }
    let (mut report, span) = found?;
    let names = Names::find(lines);
    report.failures = names.failed;
    report.skipped = names.skipped;
    Some(RunnerSession::new(RUNNER, report, span))
}
