//! The first run of a check, where it takes longer than `start` waits: what the judges say about
//! the work before it began.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::criterion::Criterion;
use crate::receipt::{Receipt, Status, Tests};

/// The run of a check on the tree as it was at the start, which `start` did not wait for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstRun {
    /// The fingerprint of the files at the start; nothing where they can't be told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// What it came to; nothing where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<FirstRunResult>,
}

/// What a first run came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstRunResult {
    /// How the check came out.
    pub status: Status,
    /// Its exit code, where it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// The tests that it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<Tests>,
}

impl FirstRunResult {
    /// What this receipt says.
    pub fn of(receipt: &Receipt) -> Self {
        Self {
            status: receipt.status,
            exit_code: receipt.exit_code,
            duration_ms: receipt.duration_ms,
            tests: receipt.evidence.tests,
        }
    }
}

impl Criterion {
    /// Whether its first run was not over when the loop began, and is not known to be over now.
    pub fn awaits_first_run(&self) -> bool {
        self.first.as_ref().is_some_and(|first| first.result.is_none())
    }
}

/// Notes what first runs came to, once for each criterion that waits for it.
///
/// The tests that ran at the start are the floor, whatever an earlier stop counted.
pub(crate) fn note_first_runs(criteria: &mut [Criterion], receipts: &[Receipt]) {
    for criterion in criteria.iter_mut().filter(|criterion| criterion.awaits_first_run()) {
        let receipt = receipts.iter().find(|receipt| receipt.criterion == criterion.name);
        let (Some(receipt), Some(first)) = (receipt, criterion.first.as_mut()) else { continue };
        first.result = Some(FirstRunResult::of(receipt));
        criterion.tests = receipt.evidence.tests.or(criterion.tests);
    }
}

#[cfg(test)]
mod tests;
