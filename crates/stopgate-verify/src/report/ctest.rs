//! `CTest`: from `Test project …` to its summary. What the tests themselves print in between, where
//! they fail, is not counted beside it.

use super::Report;
use super::session::RunnerSession;

const RUNNER: &str = "CTest";

/// The sessions of `CTest`.
pub(super) fn read(lines: &[&str]) -> Vec<RunnerSession> {
    let mut begin = None;
    let mut found: Vec<RunnerSession> = Vec::new();
    let mut list = List::Other;
    for (at, line) in lines.iter().enumerate() {
        if line.starts_with("Test project ") {
            begin = Some(at);
            list = List::Other;
        } else if let Some((failed, all)) = summary(line) {
            let session = RunnerSession::new(RUNNER, Report::totalled(all, failed, 0), (at, at));
            found.push(match begin.take() {
                Some(first) => RunnerSession { span: (first, at), ..session },
                None => session.bare(),
            });
        } else if line.starts_with("The following tests ") {
            list = List::of(line);
        } else if let (Some(name), Some(last)) = (listed(line), found.last_mut()) {
            list.take(name, &mut last.report);
        }
    }
    found
}

/// What the tests have in common that are listed after the summary.
enum List {
    Failed,
    NotRun,
    Other,
}

impl List {
    fn of(line: &str) -> Self {
        match line {
            "The following tests FAILED:" => Self::Failed,
            "The following tests did not run:" => Self::NotRun,
            _ => Self::Other,
        }
    }

    fn take(&self, (name, why): (&str, &str), report: &mut Report) {
        match self {
            Self::Failed => report.failures.push(name.into()),
            // Those that are disabled are not among all.
            Self::NotRun if why == "Skipped" => {
                report.skipped.push(name.into());
                report.tests.skipped = report.tests.skipped.saturating_add(1);
            }
            Self::NotRun | Self::Other => {}
        }
    }
}

/// `50% tests passed, 2 tests failed out of 4`, `100% tests passed out of 4`
fn summary(line: &str) -> Option<(u32, u32)> {
    let (percent, rest) = line.split_once("% tests passed")?;
    percent.parse::<u32>().ok()?;
    let (failed, all) = rest.split_once(" out of ")?;
    let failed = match failed {
        "" => 0,
        failed => failed.strip_prefix(", ")?.split_once(" test")?.0.parse().ok()?,
    };
    Some((failed, all.trim_end().parse().ok()?))
}

/// `2 - bad (Failed)`, behind a tab
fn listed(line: &str) -> Option<(&str, &str)> {
    let (number, rest) = line.strip_prefix(['\t', ' '])?.trim_start().split_once(" - ")?;
    number.parse::<u32>().ok()?;
    let (name, why) = rest.rsplit_once(" (")?;
    Some((name, why.strip_suffix(')')?))
}
