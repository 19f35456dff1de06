//! `cargo nextest`: from `Starting 5 tests` to its summary, and the list below.

use super::session::{RunnerSession, SummaryFrame};
use super::{Report, count};

const RUNNER: &str = "nextest";

/// The sessions of nextest.
pub(super) fn read(lines: &[&str]) -> Vec<RunnerSession> {
    let mut open: Vec<(usize, u32)> = Vec::new();
    let mut left_out = Vec::new();
    let mut sessions: Vec<RunnerSession> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if let Some(announced) = starting(line) {
            open.push((at, announced));
        } else if let Some((of, mut report)) = summary(line) {
            report.skipped.append(&mut left_out);
            let begun = open.iter().rposition(|(_, announced)| *announced == of);
            let session = match begun {
                // What began inside and never ended was printed by a test.
                Some(at_depth) => {
                    let (first, _) = open[at_depth];
                    open.truncate(at_depth);
                    RunnerSession::new(RUNNER, report, (first, at))
                }
                None => RunnerSession::new(RUNNER, report, (at, at)).bare(),
            };
            sessions.push(session);
        } else if let Some(name) = failure(line) {
            if let Some(session) = sessions.last_mut().filter(|_| open.is_empty()) {
                session.report.failures.push(name);
                session.span.1 = at;
            }
        } else {
            left_out.extend(skipped(line));
        }
    }
    if sessions.iter().all(|session| session.frame == SummaryFrame::Bare) {
        // Where the beginning is gone, only the last can be told to be its own.
        return sessions.pop().into_iter().collect();
    }
    sessions
}

/// `    Starting 5 tests across 2 binaries (1 test skipped)`
fn starting(line: &str) -> Option<u32> {
    let (number, rest) = line.trim_start().strip_prefix("Starting ")?.split_once(' ')?;
    let rest = rest.strip_prefix("tests").or_else(|| rest.strip_prefix("test"))?;
    rest.starts_with(" across ").then(|| number.parse().ok())?
}

/// `     Summary [   0.182s] 5/9 tests run: 3 passed (1 slow), 2 failed, 1 skipped`: of how many.
fn summary(line: &str) -> Option<(u32, Report)> {
    let text = line.trim_start().strip_prefix("Summary [")?;
    let (_, text) = text.split_once(']')?;
    let (run, counts) = text.split_once(" tests run:").or_else(|| text.split_once(" test run:"))?;
    let all: u32 = run.rsplit('/').next()?.trim().parse().ok()?;
    let ran: u32 = run.split('/').next()?.trim().parse().ok()?;
    let counts = without_parentheses(counts);
    let of = |word| count(&counts, word).unwrap_or(0);
    let failed = of("failed").saturating_add(of("timed out")).saturating_add(of("exec failed"));
    // Those that a failure kept from being run are left out, too.
    let skipped = of("skipped");
    let left_out = skipped.saturating_add(all.saturating_sub(ran));
    Some((all, Report::totalled(all.saturating_add(skipped), failed, left_out)))
}

/// `        FAIL [   0.084s] (2/5) demo tests::fails`
fn failure(line: &str) -> Option<String> {
    let (words, name) = status(line)?;
    let mut words = words.split_whitespace().peekable();
    if words.next_if_eq(&"TRY").is_some() {
        words.next();
    }
    let first = words.next()?;
    let bad = ["FAIL", "TIMEOUT", "TMT", "ABORT", "EXEC", "XFAIL", "LEAK-FAIL", "FLKY-FL"];
    (first.starts_with("SIG") || bad.contains(&first)).then(|| name.into())
}

/// `        SKIP [         ] demo tests::slow`
fn skipped(line: &str) -> Option<String> {
    let (words, name) = status(line)?;
    (words.trim() == "SKIP").then(|| name.into())
}

fn status(line: &str) -> Option<(&str, &str)> {
    let (words, rest) = line.trim_start().split_once('[')?;
    let (_, rest) = rest.split_once(']')?;
    let name = rest.trim_start();
    let name = match name.strip_prefix('(').and_then(|numbered| numbered.split_once(") ")) {
        Some((_, name)) => name.trim_start(),
        None => name,
    };
    (!name.is_empty()).then_some((words, name))
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0_u32;
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    plain
}
