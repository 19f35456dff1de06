//! From a command to a receipt.
//!
//! A check never fails to answer: what could not be run is a receipt, too.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use stopgate_core::{Evidence, Receipt, Status, Timestamp, clip_end};

use crate::attempt::End;
use crate::bytecode::CompiledPython;
use crate::capture::Captured;
use crate::limits::{ends_by_processor_limit, limited};
use crate::orphans::Strangers;
use crate::redact::redact;
use crate::runner::Runner;
use crate::shell::{NOT_FOUND, shell_argv};

/// How much of a check's output a receipt keeps.
pub(crate) const TAIL_BYTES_MAX: usize = 4096;
/// How much of the end is searched for secrets.
const MASKED_BYTES_MAX: usize = 4 * TAIL_BYTES_MAX;
/// How long a check may take where nobody says.
const TIMEOUT: Duration = Duration::from_mins(1);

/// One check to run.
#[derive(Clone, Debug)]
pub struct Check<'a> {
    /// The criterion it proves.
    pub criterion: &'a str,
    /// What is run.
    pub command: CheckCommand<'a>,
    /// Where it is run.
    pub directory: PathBuf,
    /// How long each try may take.
    pub timeout: Duration,
    /// How often it is tried again after it failed.
    pub retries: u32,
    /// Where its whole output goes.
    pub log: PathBuf,
    /// Variables of its own.
    pub set: &'a [(String, String)],
    /// Variables of ours that it may know whatever they look like; `*` at the end is the rest.
    pub pass: &'a [String],
    /// How much address space each of its processes may have.
    pub memory_bytes: Option<u64>,
    /// How long each of its processes may keep a processor busy.
    pub cpu_seconds: Option<u64>,
    /// What prints the tool's version; empty where nothing does.
    pub version: &'a [String],
    /// How much of its output is wanted afterwards.
    pub whole: OutputWanted,
    /// The variables that it sees instead of ours, as they were noted at the start.
    pub noted: Option<&'a [(OsString, OsString)]>,
}

/// What is run.
#[derive(Clone, Copy, Debug)]
pub enum CheckCommand<'a> {
    /// A line for the platform's shell.
    Shell(&'a str),
    /// A program and its arguments.
    Argv(&'a [String]),
    /// A program and its arguments, whatever bytes they are.
    Exact(&'a [OsString]),
}

/// How much of the output is wanted afterwards.
#[derive(Clone, Copy, Debug)]
pub enum OutputWanted {
    /// What the receipt keeps.
    Tail,
    /// All of it, or the end of it where there is more.
    Text {
        /// How much there may be.
        bytes_max: usize,
    },
}

/// What all checks of a run share.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits<'a> {
    /// How long they may take together.
    pub budget: Duration,
    /// How many may run at once.
    pub jobs: usize,
    /// Variables of ours that each of them may know whatever they look like.
    pub pass: &'a [String],
    /// What happens to children of this process that no check owns up to.
    pub strangers: Strangers,
    /// What is done with Python that they compile.
    pub compiled: CompiledPython<'a>,
}

/// What came of one check.
#[derive(Clone, Debug)]
pub struct Run {
    /// What stopgate saw.
    pub receipt: Receipt,
    /// What it printed, where that was wanted: the end of it where it is shorter than
    /// [`Receipt::output_bytes`].
    pub text: Option<Vec<u8>>,
}

/// What came of running checks.
#[derive(Debug)]
pub enum ChecksRun {
    /// One for each check, in order.
    Runs(Vec<Run>),
    /// Somebody ended the program meanwhile; the checks were ended, too.
    Interrupted,
}

impl<'a> Check<'a> {
    /// A check with nothing special about it.
    pub fn new(
        criterion: &'a str,
        command: CheckCommand<'a>,
        directory: PathBuf,
        log: PathBuf,
    ) -> Self {
        Self {
            criterion,
            command,
            directory,
            timeout: TIMEOUT,
            retries: 0,
            log,
            set: &[],
            pass: &[],
            memory_bytes: None,
            cpu_seconds: None,
            version: &[],
            whole: OutputWanted::Tail,
            noted: None,
        }
    }

    /// The program and its arguments, limits included.
    pub(crate) fn argv(&self) -> Vec<OsString> {
        let argv = match self.command {
            CheckCommand::Shell(line) => shell_argv(line),
            CheckCommand::Argv(argv) => argv.iter().map(OsString::from).collect(),
            CheckCommand::Exact(argv) => argv.to_vec(),
        };
        limited(argv, self.memory_bytes, self.cpu_seconds)
    }
}

/// Runs `checks` side by side, begun in order, within the limits that they share.
pub fn run(checks: &[Check<'_>], limits: RunLimits<'_>, now: &dyn Fn() -> Timestamp) -> ChecksRun {
    if checks.is_empty() {
        return ChecksRun::Runs(Vec::new());
    }
    Runner::new(checks, limits, now).run()
}

/// The time that a try had, and what set it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Allowance {
    /// The check's own time-out.
    Own(Duration),
    /// What was left for all checks.
    Rest(Duration),
}

impl Allowance {
    pub(crate) fn time(self) -> Duration {
        match self {
            Self::Own(time) | Self::Rest(time) => time,
        }
    }

    fn trouble(self) -> String {
        let time = match self.time() {
            time if time.subsec_millis() == 0 => format!("{} s", time.as_secs()),
            time => format!("{:.1} s", time.as_secs_f64()),
        };
        match self {
            Self::Own(_) => format!("killed after {time}"),
            Self::Rest(_) => format!("killed after {time}: the time for checks was used up"),
        }
    }
}

/// When something began and ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) begun: Timestamp,
    pub(crate) ended: Timestamp,
}

/// What a finished try says; nothing if it was interrupted.
pub(crate) fn judged(
    check: &Check<'_>,
    end: End,
    captured: &Captured,
    allowance: Allowance,
    span: Span,
) -> Option<Receipt> {
    let (status, exit_code, trouble) = match end {
        End::Exited(status) => judge(check, status),
        End::TimedOut => (Status::Timeout, None, Some(allowance.trouble())),
        End::Lost(error) => (Status::Error, None, Some(format!("was lost: {error}"))),
        End::Interrupted => return None,
    };
    // Masked before it is cut: half a key is not known for one.
    let end = &captured.end[captured.end.len().saturating_sub(MASKED_BYTES_MAX)..];
    let end = String::from_utf8_lossy(end);
    let tail = redact(&end);
    Some(Receipt {
        exit_code,
        tail: clip_end(&tail, TAIL_BYTES_MAX).to_string(),
        output_bytes: captured.bytes,
        log: captured.logged.then(|| check.log.display().to_string()),
        evidence: Evidence { output: Some(captured.hash.clone()), ..Evidence::default() },
        ..bare(check, status, trouble, span)
    })
}

/// The receipt of a check that printed nothing.
pub(crate) fn bare(
    check: &Check<'_>,
    status: Status,
    trouble: Option<String>,
    span: Span,
) -> Receipt {
    Receipt {
        duration_ms: span.ended.since(span.begun).unsigned_abs(),
        trouble,
        ..Receipt::new(check.criterion, status, span.ended)
    }
}

/// A shell's 126 and 127 (and `cmd`'s 9009) mean that the command could not be run: that proves nothing.
fn judge(check: &Check<'_>, status: ExitStatus) -> (Status, Option<i32>, Option<String>) {
    let busy = check.cpu_seconds.map(|seconds| format!("used a processor for {seconds} s"));
    match status.code() {
        Some(0) => (Status::Pass, Some(0), None),
        Some(126) => (Status::Error, Some(126), Some("the command can't be executed".into())),
        Some(code) if NOT_FOUND.contains(&code) => {
            (Status::Error, Some(code), Some("the command was not found".into()))
        }
        code if busy.is_some() && ends_by_processor_limit(status) => (Status::Timeout, code, busy),
        Some(code) => (Status::Fail, Some(code), None),
        None => (Status::Fail, None, Some(format!("ended by a signal ({status})"))),
    }
}

#[cfg(test)]
mod tests;
