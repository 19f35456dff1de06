//! Runs of runners in an output, and what they come to together.
//!
//! A session is one invocation of a runner, from its first line to its summary. What a
//! test or a program under test prints may look like a summary, too, but it stands inside
//! a session, or has nothing before it that a runner prints, and so it is not counted.

use std::collections::BTreeMap;

use super::{LastSummary, Report};

/// One invocation of a runner.
#[derive(Clone, Debug)]
pub(super) struct RunnerSession {
    pub(super) runner: &'static str,
    pub(super) report: Report,
    /// Its first and last line.
    pub(super) span: (usize, usize),
    pub(super) frame: SummaryFrame,
    pub(super) ending: RunnerEnd,
    pub(super) scope: SessionScope,
}

/// How well a summary is known to be a runner's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SummaryFrame {
    /// The runner's own lines lead up to it.
    Whole,
    /// It stands alone, as after `| tail -1`.
    Bare,
}

/// Whether a session came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunnerEnd {
    Summary,
    /// It began and never printed a summary.
    Missing,
}

/// Which tests a session is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SessionScope {
    #[default]
    Tests,
    /// Only those that failed in the session before.
    FailedBefore,
}

impl RunnerSession {
    pub(super) fn new(runner: &'static str, report: Report, span: (usize, usize)) -> Self {
        Self {
            runner,
            report,
            span,
            frame: SummaryFrame::Whole,
            ending: RunnerEnd::Summary,
            scope: SessionScope::Tests,
        }
    }

    pub(super) fn bare(mut self) -> Self {
        self.frame = SummaryFrame::Bare;
        self
    }

    fn is_inside(&self, other: &Self) -> bool {
        other.span.0 <= self.span.0 && self.span.1 <= other.span.1 && self.span != other.span
    }

    /// Whether this one repeats `before`, which failed.
    fn repeats(&self, before: &Self) -> bool {
        before.report.tests.failed > 0
            && before.report.tests.collected == self.report.tests.collected
    }

    /// Whether all that fails in this one failed in `before`: it is another try of the same tests,
    /// perhaps of the failed ones only, or with more details.
    fn tries_again(&self, before: &Self) -> bool {
        let failures = &self.report.failures;
        !failures.is_empty() && failures.iter().all(|name| before.report.failures.contains(name))
    }

    /// What fails in a later try, counted among the tests of this one: where all is well, there is no
    /// other try.
    fn take_result(&mut self, later: Report) {
        self.report.tests.failed = later.tests.failed.min(self.report.tests.collected);
        self.report.failures = later.failures;
    }
}

/// What all sessions of an output come to; nothing where there is none.
pub(super) fn together(mut sessions: Vec<RunnerSession>) -> Option<Report> {
    if sessions.iter().any(|session| session.frame == SummaryFrame::Whole) {
        sessions.retain(|session| session.frame == SummaryFrame::Whole);
    }
    sessions.sort_by_key(|session| (session.span.0, std::cmp::Reverse(session.span.1)));
    let mut outer: Vec<RunnerSession> = Vec::new();
    for mut session in sessions {
        if session.report.tests.failed == 0 {
            // What is named then failed in a session inside of this one.
            session.report.failures.clear();
        }
        let repeated =
            outer.iter().any(|kept| session.is_inside(kept) || session.span == kept.span);
        if !repeated {
            outer.push(session);
        }
    }
    (!outer.is_empty()).then(|| add_up(outer))
}

fn add_up(sessions: Vec<RunnerSession>) -> Report {
    let mut order: Vec<&'static str> = Vec::new();
    let mut by_runner: BTreeMap<&'static str, Vec<RunnerSession>> = BTreeMap::new();
    for session in sessions {
        if !by_runner.contains_key(session.runner) {
            order.push(session.runner);
        }
        by_runner.entry(session.runner).or_default().push(session);
    }
    let mut sum = Report::default();
    for runner in order {
        let sessions = by_runner.remove(runner).unwrap_or_default();
        sum.last.extend(last_summary(&sessions));
        let kept = without_retries(sessions);
        let earlier = kept.split_last().map(|(_, earlier)| earlier).unwrap_or_default();
        sum.earlier.extend(earlier.iter().map(summary).filter(LastSummary::is_bad));
        for session in kept {
            sum.add(session.report);
        }
    }
    sum.distinct()
}

/// A session that ran nothing says nothing: the one before it is the last word.
fn last_summary(sessions: &[RunnerSession]) -> Option<LastSummary> {
    let says = |session: &&RunnerSession| session.report.tests.ran() > 0;
    sessions.iter().rev().find(says).or(sessions.last()).map(summary)
}

fn summary(session: &RunnerSession) -> LastSummary {
    let (runner, report) = (session.runner, &session.report);
    match session.ending {
        RunnerEnd::Summary => LastSummary::Reported { runner, failed: report.settled },
        RunnerEnd::Missing => LastSummary::Missing { runner, tests: report.tests.failed },
    }
}

/// A second try of what failed counts instead of the first, not beside it.
fn without_retries(sessions: Vec<RunnerSession>) -> Vec<RunnerSession> {
    let mut kept: Vec<RunnerSession> = Vec::new();
    for session in sessions {
        let tried = kept.iter().rposition(|before| session.tries_again(before));
        match (kept.last_mut(), session.scope) {
            (Some(before), SessionScope::FailedBefore) => before.take_result(session.report),
            (Some(before), SessionScope::Tests) if session.repeats(before) => *before = session,
            _ => match tried {
                Some(at) => {
                    without_round(&mut kept, at);
                    kept[at].take_result(session.report);
                }
                None => kept.push(session),
            },
        }
    }
    kept
}

/// Where the session at `at` is tried again and those since then are like those before it, a whole
/// round of sessions is: they count once.
fn without_round(kept: &mut Vec<RunnerSession>, at: usize) {
    let since = kept.get(at + 1..).unwrap_or_default();
    let Some(from) = at.checked_sub(since.len()) else { return };
    let tests = |session: &RunnerSession| session.report.tests.collected;
    if kept[from..at].iter().map(tests).eq(since.iter().map(tests)) {
        kept.truncate(at + 1);
    }
}

/// A summary, and how many results must have been printed before it.
pub(super) struct Block {
    pub(super) span: (usize, usize),
    pub(super) results: u32,
    pub(super) report: Report,
}

/// The sessions of a runner that prints nothing when it begins, but a line or a sign for each
/// result: a summary is believed if enough results stand before it.
pub(super) fn by_results(
    runner: &'static str,
    lines: &[&str],
    blocks: Vec<Block>,
    results: fn(&str) -> u32,
) -> Vec<RunnerSession> {
    let printed = |from: usize, to: usize| {
        let region = lines.get(from..to).unwrap_or_default();
        region.iter().fold(0_u32, |sum, line| sum.saturating_add(results(line)))
    };
    let mut sessions: Vec<RunnerSession> = Vec::new();
    let mut last = None;
    for block in blocks {
        let previous = sessions.last();
        let from = previous.map_or(0, |session| session.span.1 + 1);
        let own = printed(from, block.span.0);
        let first = lines.get(from..block.span.0).unwrap_or_default();
        let first =
            first.iter().position(|line| results(line) > 0).map_or(block.span.0, |at| from + at);
        if own >= block.results {
            sessions.push(RunnerSession::new(runner, block.report, (first, block.span.1)));
        } else if let Some(before) = sessions.last_mut().filter(|_| own > 0) {
            // More results followed what looked like the end: a test had printed it.
            let all = printed(before.span.0, block.span.0);
            if all >= block.results {
                *before = RunnerSession::new(runner, block.report, (before.span.0, block.span.1));
            }
        } else {
            last = Some(RunnerSession::new(runner, block.report, block.span).bare());
        }
    }
    if sessions.is_empty() {
        sessions.extend(last);
    }
    sessions
}

#[cfg(test)]
mod tests {
    use crate::report::read;

    const ROUND: &str = "\
.F.F.                                                          [100%]
FAILED tests/a.py::one - assert 1 == 2
FAILED tests/a.py::two - assert 1 == 2
2 failed, 3 passed in 0.10s
";
    const FAILED_ONES: &str = "\
FF                                                             [100%]
FAILED tests/a.py::one - assert 1 == 2
FAILED tests/a.py::two - assert 1 == 2
2 failed in 0.10s
";
    const OTHER: &str = "\
..                                                             [100%]
2 passed in 0.10s
";
    const GO: &str = "\
--- FAIL: TestA (0.00s)
FAIL
FAIL\texample.com/a\t0.1s
ok  \texample.com/b\t0.1s
FAIL
";
    const GO_LOUD: &str = "\
=== RUN   TestA
--- FAIL: TestA (0.00s)
=== RUN   TestB
--- PASS: TestB (0.00s)
=== RUN   TestC
--- PASS: TestC (0.00s)
FAIL
FAIL\texample.com/a\t0.1s
FAIL
";

    #[test]
    fn tests_that_are_tried_again_count_once() {
        let rows = [
            (vec![ROUND], (5, 2)),
            (vec![ROUND, ROUND, ROUND], (5, 2)),
            (vec![ROUND, FAILED_ONES], (5, 2)),
            (vec![OTHER, ROUND, OTHER, ROUND], (7, 2)),
            (vec![ROUND, OTHER], (7, 2)),
            (vec![OTHER, OTHER], (4, 0)),
            (vec![FAILED_ONES, OTHER], (2, 0)),
            (vec![GO, GO_LOUD], (2, 1)),
            (vec![GO_LOUD, GO], (3, 1)),
        ];
        for (parts, expected) in rows {
            let output = parts.concat();
            let tests = read(&output).map(|report| report.tests).unwrap_or_default();
            assert_eq!((tests.collected, tests.failed), expected, "{output}");
        }
    }
}
