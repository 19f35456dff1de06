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
    if receipts.is_empty() {
        return "first runs have ended".into();
    }
    let told = receipts.iter().map(|receipt| {
        let name = clean(&receipt.criterion).replace('\n', " ");
        format!("{name} {}", first_run_text(FirstRunResult::of(receipt)))
    });
    let told: Vec<String> = told.collect();
    format!("on the tree as it was at the start: {}", told.join("; "))
}

#[cfg(test)]
mod tests {
    use stopgate_core::{FirstRunResult, Status, Tests};

    use super::{first_run_text, first_runs_text};

    #[test]
    fn it_says_how_it_came_out_how_many_tests_ran_and_how_long_it_took() {
        let tests = Some(Tests { collected: 12, failed: 0, skipped: 2 });
        let passed = FirstRunResult {
            status: Status::Pass,
            exit_code: Some(0),
            duration_ms: 240_000,
            tests,
        };
        assert_eq!(first_run_text(passed), "passed already, 10 tests ran, took 4 min");
        let fail =
            FirstRunResult { status: Status::Fail, exit_code: Some(101), tests: None, ..passed };
        assert_eq!(first_run_text(fail), "failed (exit 101), took 4 min");
        let cut =
            FirstRunResult { status: Status::Timeout, exit_code: None, tests: None, ..passed };
        assert_eq!(first_run_text(cut), "timeout, took 4 min");
        assert_eq!(first_runs_text(&[]), "first runs have ended");
    }
}
