//! From a command to a receipt.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use stopgate_core::{Receipt, Status, Timestamp};

use crate::capture::Captured;
use crate::child::{Child, End};

/// How much of a check's output a receipt keeps.
const TAIL_BYTES_MAX: usize = 4096;
/// Checks that would have less time than this are not begun.
const TIME_MIN: Duration = Duration::from_millis(10);

/// One check to run.
#[derive(Clone, Debug)]
pub struct Check<'a> {
    /// The criterion it proves.
    pub criterion: &'a str,
    /// The command, for the platform's shell.
    pub command: &'a str,
    /// How long it may take.
    pub timeout: Duration,
    /// Where its whole output goes.
    pub log: PathBuf,
}

/// What came of running checks.
#[derive(Debug)]
pub enum Ran {
    /// One receipt for each check, in order.
    Receipts(Vec<Receipt>),
    /// Somebody ended the program meanwhile; the checks were ended, too.
    Interrupted,
}

/// Runs `checks` in `folder`, one after the other, within `budget` in all.
pub fn run(
    checks: &[Check<'_>],
    folder: &Path,
    budget: Duration,
    now: &dyn Fn() -> Timestamp,
) -> Ran {
    let interrupted = listen();
    let begun = now();
    let mut receipts = Vec::new();
    for check in checks {
        let used = Duration::from_millis(now().since(begun).unsigned_abs());
        let timeout = check.timeout.min(budget.saturating_sub(used));
        match run_one(check, folder, timeout, &interrupted, now) {
            Some(receipt) => receipts.push(receipt),
            None => return Ran::Interrupted,
        }
    }
    Ran::Receipts(receipts)
}

/// A flag that rises when somebody asks this program to end.
///
/// A check runs in a process group of its own, so it would outlive us otherwise.
fn listen() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        // Without the handler the check is orphaned, but the program still ends.
        let _ = signal_hook::flag::register(signal, Arc::clone(&flag));
    }
    flag
}

fn run_one(
    check: &Check<'_>,
    folder: &Path,
    timeout: Duration,
    interrupted: &AtomicBool,
    now: &dyn Fn() -> Timestamp,
) -> Option<Receipt> {
    let begun = now();
    if timeout < TIME_MIN {
        let trouble = "not begun: the time for checks was used up".to_string();
        return Some(receipt(check, Status::Timeout, None, Some(trouble), begun, begun));
    }
    let child = match Child::spawn(check.command, folder, &check.log) {
        Ok(child) => child,
        Err(error) => {
            let trouble = format!("could not be started in {}: {error}", folder.display());
            return Some(receipt(check, Status::Error, None, Some(trouble), begun, now()));
        }
    };
    let (end, captured) = child.wait(timeout, interrupted);
    let (status, exit_code, trouble) = match end {
        End::Exited(status) => judge(status),
        End::TimedOut => {
            let trouble = format!("killed after {} s", timeout.as_secs());
            (Status::Timeout, None, Some(trouble))
        }
        End::Lost(error) => (Status::Error, None, Some(format!("was lost: {error}"))),
        End::Interrupted => return None,
    };
    let mut receipt = receipt(check, status, exit_code, trouble, begun, now());
    keep(&mut receipt, &captured, check);
    Some(receipt)
}

/// A shell's 126 and 127 mean that the command could not be run: that proves nothing.
fn judge(status: ExitStatus) -> (Status, Option<i32>, Option<String>) {
    match status.code() {
        Some(0) => (Status::Pass, Some(0), None),
        Some(126) => (Status::Error, Some(126), Some("the command can't be executed".into())),
        Some(127) => (Status::Error, Some(127), Some("the command was not found".into())),
        Some(code) => (Status::Fail, Some(code), None),
        None => (Status::Fail, None, Some(format!("ended by a signal ({status})"))),
    }
}

fn receipt(
    check: &Check<'_>,
    status: Status,
    exit_code: Option<i32>,
    trouble: Option<String>,
    begun: Timestamp,
    ended: Timestamp,
) -> Receipt {
    Receipt {
        criterion: check.criterion.into(),
        status,
        exit_code,
        duration_ms: ended.since(begun).unsigned_abs(),
        tail: String::new(),
        output_bytes: 0,
        log: None,
        trouble,
        at: ended,
    }
}

fn keep(receipt: &mut Receipt, captured: &Captured, check: &Check<'_>) {
    let tail = String::from_utf8_lossy(&captured.tail);
    receipt.tail = stopgate_core::clip_end(&tail, TAIL_BYTES_MAX).to_string();
    receipt.output_bytes = captured.bytes;
    if captured.logged {
        receipt.log = Some(check.log.display().to_string());
    }
}

#[cfg(test)]
mod tests;
