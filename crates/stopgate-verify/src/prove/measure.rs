//! The first run of a check: what fails already, and how many tests there are.

use stopgate_core::{Baseline, Receipt, Status, Timestamp};

use super::Request;
use super::reading::{Printed, Whole};
use super::round::Round;
use crate::baseline::{self, Exit};

/// What the first run of a check showed.
#[derive(Debug)]
pub struct Measured {
    /// How it came out.
    pub receipt: Receipt,
    /// What failed; more than can be told apart is an error.
    pub baseline: Result<Baseline, String>,
}

/// Runs every command among the criteria once, one receipt each, in their order; nothing where
/// somebody ended the program meanwhile.
pub fn measure(request: &Request<'_>, now: &dyn Fn() -> Timestamp) -> Option<Vec<Measured>> {
    let runs = Round::new(request, request.freshness, request.budget).run_all(now)?;
    let measured = request.criteria.iter().zip(runs).map(|(criterion, run)| {
        let printed = Printed::of(&run.receipt, run.text.as_deref());
        let receipt = super::reading::read(criterion, run, request.root);
        let exit = match receipt.status {
            Status::Fail => Exit::Failed,
            Status::Pass
            | Status::Error
            | Status::Timeout
            | Status::Tampered
            | Status::NeedsApproval => Exit::Passed,
        };
        let baseline = match printed.whole {
            Whole::All => {
                let taken = baseline::take(&printed.text, exit, request.root);
                taken.map_err(|many| many.to_string())
            }
            Whole::Cut => Err("it prints too much to tell its failures apart".into()),
        };
        Measured { receipt, baseline }
    });
    Some(measured.collect())
}
