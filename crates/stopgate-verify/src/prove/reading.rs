//! What is read out of a check's output.

use std::path::Path;

use stopgate_core::{Criterion, Receipt, Status, Tests, excerpt};

use crate::baseline::{self, Exit};
use crate::check::{Run, TAIL_BYTES_MAX};
use crate::{report, spots};

const SPOTS_MAX: usize = 5;
const KNOWN_MAX: usize = 16;
const NEW_NAMED_MAX: usize = 3;

/// What a check printed, as far as it was kept.
pub(super) struct Printed {
    pub(super) text: String,
    pub(super) whole: Whole,
}

/// Whether all of it was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whole {
    All,
    Cut,
}

impl Printed {
    pub(super) fn of(receipt: &Receipt, text: Option<&[u8]>) -> Self {
        let kept = text.unwrap_or(receipt.tail.as_bytes());
        let whole =
            if (kept.len() as u64) < receipt.output_bytes { Whole::Cut } else { Whole::All };
        Self { text: String::from_utf8_lossy(kept).into_owned(), whole }
    }
}

/// The receipt of a run, with what its output says.
pub(super) fn read(criterion: &Criterion, run: Run, root: &Path) -> Receipt {
    let mut receipt = run.receipt;
    if !matches!(receipt.status, Status::Pass | Status::Fail) {
        return receipt;
    }
    let text = Printed::of(&receipt, run.text.as_deref());
    let (text, whole) = (text.text, text.whole);
    receipt.evidence.tests = report::read(&text).map(|report| report.tests);
    count_only_new(criterion, &mut receipt, &text, whole);
    compare_tests(criterion, &mut receipt);
    if receipt.status == Status::Fail {
        receipt.evidence.spots = spots::find(&text, root, SPOTS_MAX);
        receipt.tail = excerpt(&text, TAIL_BYTES_MAX);
    }
    receipt
}

/// Where there is a baseline, only what did not fail before counts.
fn count_only_new(criterion: &Criterion, receipt: &mut Receipt, text: &str, whole: Whole) {
    let Some(before) = &criterion.terms.baseline else { return };
    if receipt.status != Status::Fail {
        return;
    }
    let compared = baseline::compare(before, text, Exit::Failed);
    receipt.evidence.known = compared.known.into_iter().take(KNOWN_MAX).collect();
    match compared.new.as_slice() {
        [] if whole == Whole::Cut => {
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

/// A check that passes with fewer tests than at the start proves less than it did.
fn compare_tests(criterion: &Criterion, receipt: &mut Receipt) {
    let (Some(before), Status::Pass) = (criterion.tests, receipt.status) else { return };
    let why = match receipt.evidence.tests {
        None => {
            Some(format!("no test is reported any more, {} were at the start", before.collected))
        }
        Some(now) => fewer(before, now),
    };
    if let Some(why) = why {
        receipt.status = Status::Tampered;
        receipt.trouble = Some(why);
    }
}

fn fewer(before: Tests, now: Tests) -> Option<String> {
    if now.collected < before.collected {
        return Some(format!(
            "fewer tests than at the start: {}, were {}",
            now.collected, before.collected
        ));
    }
    (now.skipped > before.skipped).then(|| {
        format!(
            "more tests are skipped than at the start: {}, were {}",
            now.skipped, before.skipped
        )
    })
}
