//! What a first run came to that `start` did not wait for, in words.

use stopgate_core::{FirstRunResult, Receipt, Status, Tests, clean};

use crate::parked::rounded;

/// `passed already, 12 tests ran, took 4 min`.
pub fn first_run_text(result: FirstRunResult) -> String {
    let came_out: String = match (result.status, result.exit_code) {
        (Status::Pass, _) => "passed already".into(),
        (Status::Fail, Some(code)) => format!("failed (exit {code})"),
        (Status::Fail, None) => "failed".into(),
        (status, _) => status.word().into(),
    };
    let tests = match result.tests.map(Tests::ran) {
        Some(1) => ", 1 test ran".into(),
        Some(ran) => format!(", {ran} tests ran"),
        None => String::new(),
    };
    format!("{came_out}{tests}, took {}", rounded(result.duration_ms))
}

/// The same for each of these receipts, by name.
pub fn first_runs_text(receipts: &[Receipt]) -> String {
    let told = receipts.iter().map(|receipt| {
        let name = clean(&receipt.criterion).replace('\n', " ");
        format!("{name} {}", first_run_text(FirstRunResult::of(receipt)))
    });
    let told: Vec<String> = told.collect();
    format!("on the tree as it was at the start: {}", told.join("; "))
}
