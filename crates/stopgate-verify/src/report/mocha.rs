//! mocha: a sign for each test, then `  1 passing (4ms)`, `  2 pending`, `  2 failing`.

use super::session::{Block, RunnerSession, by_results};
use super::{Report, count};

/// How deep a title may be nested.
const TITLE_LINES_MAX: usize = 16;

/// The sessions of mocha.
pub(super) fn read(lines: &[&str]) -> Vec<RunnerSession> {
    let mut blocks = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let passed = line.strip_prefix("  ").filter(|text| text.ends_with(')'));
        if let Some(passed) = passed.and_then(|text| count(text, "passing")) {
            blocks.push(block(lines, at, passed));
        }
    }
    let mut sessions = by_results("mocha", lines, blocks, results);
    let ends: Vec<usize> = sessions.iter().map(|session| session.span.0).skip(1).collect();
    for (session, end) in sessions.iter_mut().zip(ends.into_iter().chain([lines.len()])) {
        let (before, after) = lines.split_at(session.span.1 + 1);
        let list = after.get(..end.saturating_sub(session.span.1 + 1)).unwrap_or(after);
        let count = usize::try_from(session.report.tests.failed).unwrap_or(usize::MAX);
        session.report.failures = failures(list).into_iter().take(count).collect();
        let broken = session.report.failures.iter().filter(|name| is_outside(name)).count();
        session.report.less_broken(broken);
        let tests = before.get(session.span.0..).unwrap_or_default().iter();
        session.report.skipped = tests.filter_map(|line| pending(line)).collect();
    }
    sessions
}

fn block(lines: &[&str], at: usize, passed: u32) -> Block {
    let mut report = Report::counted(passed, 0, 0);
    let mut end = at;
    for (below, line) in lines.iter().enumerate().skip(at + 1) {
        let Some(text) = line.strip_prefix("  ") else { break };
        if let Some(pending) = count(text, "pending") {
            report.add(Report::counted(0, 0, pending));
        } else if let Some(failed) = count(text, "failing") {
            report.add_failed(failed);
        } else {
            break;
        }
        end = below;
    }
    Block { span: (at, end), results: passed, report }
}

/// `    ✔ adds`, or `  .,,!` of the dots.
fn results(line: &str) -> u32 {
    let text = line.trim_start();
    if ["✔ ", "✓ ", "√ "].iter().any(|sign| text.starts_with(sign)) {
        return 1;
    }
    let is_dots = !text.is_empty() && text.chars().all(|c| ".․,!".contains(c));
    let dots = text.chars().filter(|c| ".․".contains(*c)).count();
    if is_dots { u32::try_from(dots).unwrap_or(u32::MAX) } else { 0 }
}

/// `    - later`
fn pending(line: &str) -> Option<String> {
    line.strip_prefix("    ")?.trim_start().strip_prefix("- ").map(str::to_owned)
}

/// Whether what failed is not a test: `d › "after all" hook for "adds"`, or what nobody caught. Behind
/// a hook before tests is at least one that did not run.
fn is_outside(name: &str) -> bool {
    const TITLES: [&str; 3] =
        ["\"after all\" hook", "\"after each\" hook", "Uncaught error outside test suite"];
    let title = name.rsplit(" › ").next().unwrap_or(name);
    TITLES.iter().any(|begin| title.starts_with(begin))
}

fn failures(lines: &[&str]) -> Vec<String> {
    let items = lines.iter().enumerate().filter(|(_, line)| {
        let text = line.strip_prefix("  ").unwrap_or_default();
        text.split_once(") ").is_some_and(|(number, _)| number.parse::<u32>().is_ok())
    });
    items.filter_map(|(at, _)| title(&lines[at..])).collect()
}

/// A title goes on below, indented further, up to a colon.
fn title(lines: &[&str]) -> Option<String> {
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
