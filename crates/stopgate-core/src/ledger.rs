//! What a task's own record says beside its loop: money and written-down errors.
//!
//! Nobody here measures anything: these are the words of the record's keeper,
//! and all that they can do is let an agent go.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::brakes::Brake;
use crate::outcome::Outcome;

/// Equal logic errors that are too many.
const SAME_MAX: usize = 3;
/// Transient errors that are too many: one is tried again.
const TRANSIENT_MAX: usize = 2;

/// What a record says about its money and its errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Money spent so far, in millionths.
    pub spent_micros: u64,
    /// Money allowed, in millionths; none means no limit.
    pub budget_micros: Option<u64>,
    /// The errors that nothing has settled yet, the oldest first.
    pub errors: Vec<WrittenError>,
}

/// One error that an agent wrote down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenError {
    /// What kind it is.
    pub class: ErrorClass,
    /// What it says.
    pub message: String,
}

/// What kind an error is, which decides what comes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorClass {
    /// A network, a time-out: tried again once.
    Transient,
    /// A failing test, a lint: the agent's own work.
    Logic,
    /// Something is missing or forbidden: a person is needed at once.
    Blocking,
    /// Nobody knows: a person should look.
    Unknown,
}

/// Whether the money is used up.
pub(crate) fn spend(ledger: &Ledger) -> Brake {
    let budget = ledger.budget_micros?;
    (ledger.spent_micros >= budget).then(|| {
        let (spent, budget) = (money(ledger.spent_micros), money(budget));
        (Outcome::Budget, format!("the budget of {budget} is used up: {spent} was spent"))
    })
}

/// Whether the errors need a person.
pub(crate) fn errors(ledger: &Ledger) -> Brake {
    let of = |class| ledger.errors.iter().filter(move |error| error.class == class);
    if let Some(error) = of(ErrorClass::Blocking).next_back() {
        return Some((Outcome::Blocked, format!("a blocking error: {}", error.message)));
    }
    if let Some(error) = of(ErrorClass::Unknown).next_back() {
        return Some((Outcome::NeedsInput, format!("an unknown error: {}", error.message)));
    }
    if let Some(error) = of(ErrorClass::Logic).find(|error| times(ledger, error) >= SAME_MAX) {
        let why =
            format!("the same error occurred {} times: {}", times(ledger, error), error.message);
        return Some((Outcome::Stalled, why));
    }
    let last = of(ErrorClass::Transient).next_back()?;
    (of(ErrorClass::Transient).count() >= TRANSIENT_MAX).then(|| {
        let why = format!("a transient error persisted after a retry: {}", last.message);
        (Outcome::InfraError, why)
    })
}

fn times(ledger: &Ledger, error: &WrittenError) -> usize {
    ledger.errors.iter().filter(|other| *other == error).count()
}

/// Millionths as people write money: 25, 25.5, 0.000001.
fn money(micros: u64) -> String {
    let (whole, rest) = (micros / 1_000_000, micros % 1_000_000);
    if rest == 0 {
        return format!("{whole}");
    }
    let digits = format!("{rest:06}");
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod enumeration;
#[cfg(test)]
mod tests;
