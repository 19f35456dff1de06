//! What is read out of a check's output.

use std::fmt;
use std::path::Path;

use stopgate_core::{Criterion, Proof, Receipt, Status, Tests, excerpt};

use crate::baseline::{self, CommandExit};
use crate::check::{Run, TAIL_BYTES_MAX};
use crate::redact::redact;
use crate::report::{self, LastSummary, Report, without_passing_go_tests};
use crate::spots;

const SPOTS_MAX: usize = 5;
const KNOWN_MAX: usize = 16;
const NEW_NAMED_MAX: usize = 3;

/// What a check printed, as far as it was kept.
pub(super) struct Printed {
    pub(super) text: String,
    pub(super) whole: OutputKept,
}

/// Whether all of it was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputKept {
    All,
    Cut,
}

impl Printed {
    pub(super) fn of(receipt: &Receipt, text: Option<&[u8]>) -> Self {
        let kept = text.unwrap_or(receipt.tail.as_bytes());
        let whole = if (kept.len() as u64) < receipt.output_bytes {
            OutputKept::Cut
        } else {
            OutputKept::All
        };
        // The model, the journal and the baseline see what the log shows.
        Self { text: redact(&String::from_utf8_lossy(kept)).into_owned(), whole }
    }
}

/// The receipt of a run, with what its output says.
pub(super) fn read(criterion: &Criterion, run: Run, root: &Path) -> Receipt {
    let mut receipt = run.receipt;
    if !matches!(receipt.status, Status::Pass | Status::Fail) {
        return receipt;
    }
    let Printed { text, whole } = Printed::of(&receipt, run.text.as_deref());
    let report = report::read(&text);
    if let Some(report) = &report {
        believe_the_runner(criterion, &mut receipt, report);
    }
    believe_the_program(criterion, &mut receipt, &text);
    let told = || report::told_by_lines(&text);
    receipt.evidence.tests = report.map(|report| report.tests).or_else(told);
    count_only_new(criterion, &mut receipt, &text, whole, root);
    if receipt.status == Status::Fail {
        let shown = without_passing_go_tests(&text);
        receipt.evidence.spots = spots::find(&shown, root, SPOTS_MAX);
        receipt.tail = excerpt(&shown, TAIL_BYTES_MAX);
    }
    receipt
}

/// Whether at least as many tests ran as before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestFloor {
    /// They did; more of them may be skipped.
    Kept,
    /// Fewer did, which by itself proves nothing: tests may have been merged or moved.
    Fewer {
        /// How many ran before.
        before: u32,
        /// How many ran now.
        now: u32,
    },
    /// Nothing was counted before.
    Unknown,
}

/// Compares how many tests ran; a check that reports none any more ran none.
pub fn floor(before: Option<Tests>, now: Option<Tests>) -> TestFloor {
    let Some(before) = before.map(Tests::ran) else { return TestFloor::Unknown };
    let now = now.map_or(0, Tests::ran);
    if now < before { TestFloor::Fewer { before, now } } else { TestFloor::Kept }
}

impl fmt::Display for TestFloor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept => f.write_str("at least as many tests ran as at the start"),
            Self::Fewer { before, now: 0 } => {
                write!(f, "no test ran, {before} did at the start")
            }
            Self::Fewer { before, now } => {
                write!(f, "fewer tests ran than at the start: {now}, were {before}")
            }
            Self::Unknown => f.write_str("no tests were counted at the start"),
        }
    }
}

/// An exit code of 0 is not a pass where the runner's last word is that tests failed.
///
/// The last summary of each runner counts, so that a command may try again what failed.
/// A command that expects a failure (`! pytest bad.py`) is taken at its exit code.
fn believe_the_runner(criterion: &Criterion, receipt: &mut Receipt, report: &Report) {
    if receipt.status != Status::Pass {
        return;
    }
    let exit = ExitCode::of(criterion);
    let earlier = report.earlier.iter().filter(|_| every_part_counts(criterion));
    let bad = report.last.iter().chain(earlier).find(|last| match (last, exit) {
        (_, ExitCode::TurnedAround) | (LastSummary::Missing { .. }, ExitCode::BehindPipe) => false,
        (LastSummary::Missing { .. }, ExitCode::Plain) => true,
        (LastSummary::Reported { failed, .. }, ExitCode::Plain | ExitCode::BehindPipe) => {
            *failed > 0
        }
    });
    if let Some(bad) = bad {
        receipt.status = Status::Fail;
        receipt.trouble = Some(format!("exit code 0, but {bad}"));
    }
}

/// The same where the last word is an exception that nobody caught.
fn believe_the_program(criterion: &Criterion, receipt: &mut Receipt, text: &str) {
    if receipt.status != Status::Pass || !every_part_counts(criterion) {
        return;
    }
    if let Some(language) = report::uncaught_at_end(text) {
        receipt.status = Status::Fail;
        let why = format!("exit code 0, but it ends with an uncaught exception of {language}");
        receipt.trouble = Some(why);
    }
}

/// Whether a command can only pass where each of its parts does: `pytest api && pytest web`.
///
/// What a script makes of a part's exit code can't be seen here.
fn every_part_counts(criterion: &Criterion) -> bool {
    const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "make", "just", "task"];
    let command = criterion.command().unwrap_or_default();
    let is_plain = |part: &str| {
        let mut words = part.split_whitespace().skip_while(|word| word.contains('='));
        let program = words.next().unwrap_or_default();
        !program.contains('/') && !SHELLS.contains(&program)
    };
    !command.contains(['|', ';', '\n', '!', '(', '`']) && command.split("&&").all(is_plain)
}

/// What a command's own text says about its exit code and its output.
#[derive(Clone, Copy)]
enum ExitCode {
    Plain,
    /// It expects a failure: `! pytest bad.py`.
    TurnedAround,
    /// Another program may print only a part: `pytest | head`.
    BehindPipe,
}

impl ExitCode {
    fn of(criterion: &Criterion) -> Self {
        let Proof::Check { command, .. } = &criterion.proof else { return Self::Plain };
        let pipes = command.replace("||", " ").replace(">|", " ");
        if command.split_whitespace().any(|word| word == "!") {
            Self::TurnedAround
        } else if pipes.contains('|') {
            Self::BehindPipe
        } else {
            Self::Plain
        }
    }
}

/// Where there is a baseline, only what did not fail before counts.
fn count_only_new(
    criterion: &Criterion,
    receipt: &mut Receipt,
    text: &str,
    whole: OutputKept,
    root: &Path,
) {
    let Some(before) = &criterion.terms.baseline else { return };
    if receipt.status != Status::Fail {
        return;
    }
    let compared = baseline::compare(before, text, CommandExit::Failed, root);
    receipt.evidence.known = compared.known.into_iter().take(KNOWN_MAX).collect();
    match compared.new.as_slice() {
        [] if whole == OutputKept::Cut => {
            receipt.trouble =
                Some("it printed too much to tell whether all of it failed before".into());
        }
        [] => {
            receipt.status = Status::Pass;
            receipt.trouble = Some("only what failed before the start fails".into());
        }
        new => {
            let named: Vec<&str> = new.iter().take(NEW_NAMED_MAX).map(String::as_str).collect();
            let count = new.len();
            let plural = if count == 1 { "" } else { "s" };
            receipt.trouble = Some(format!("{count} new failure{plural}: {}", named.join(", ")));
        }
    }
}

#[cfg(test)]
mod tests;
