//! From criteria to receipts: the impure act, whole.
//!
//! What judges the work is looked at first: where it was changed, nothing is run. Then the
//! tree, then whatever has no receipt for this very tree, then the tree again: all that
//! passes together passed in one state of the files. The results are *given* to the core.

mod measure;
mod reading;
mod round;
mod tampering;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use stopgate_core::{Criterion, Ground, Receipt, Status, Timestamp, ToolUse};

pub use self::measure::{Measured, measure};
pub use self::reading::{TestFloor, floor};
use self::round::Round;
pub use self::tampering::{changes, content_fingerprint};
use crate::orphans::Strangers;

/// How long the tree must lie still after everything passed.
const SETTLE: Duration = Duration::from_millis(100);
const MOVED: &str = "files changed while the checks ran";

/// What is to be proven, and what it may cost.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The criteria; those that nobody can check are left alone.
    pub criteria: &'a [Criterion],
    /// The project's root.
    pub root: &'a Path,
    /// What the criteria rest on.
    pub ground: &'a Ground,
    /// The agent's last message, where there is one.
    pub message: Option<&'a str>,
    /// Where things are kept, outside the work tree.
    pub place: &'a Place,
    /// Whether earlier receipts may be used again.
    pub freshness: Freshness,
    /// Whether the files can be told apart at all.
    pub files: Files,
    /// A report that is older than this proves nothing.
    pub since: Option<SystemTime>,
    /// How long everything may take.
    pub budget: Duration,
    /// What becomes of children of this process that no check owns up to.
    pub strangers: Strangers,
    /// Variables that the person passes on to checks beyond the usual ones.
    pub pass: &'a [String],
}

/// Where things are kept, outside the work tree.
#[derive(Clone, Debug)]
pub struct Place {
    /// The folder that stopgate owns.
    pub home: PathBuf,
    /// Where this loop's check logs go.
    pub logs: PathBuf,
}

/// Whether the files that checks depend on can be told apart at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Files {
    /// They can.
    Countable,
    /// They were too many when the loop began: looking at them again would only take time.
    TooMany,
}

/// Whether earlier receipts may be used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// Those whose inputs are the same; a failure only if the agent touched nothing at all.
    Reuse(ToolUse),
    /// None.
    Fresh,
}

/// What came of it.
#[derive(Debug)]
pub enum Proved {
    /// A receipt for every criterion that can be checked, in their order.
    Receipts(Vec<Receipt>),
    /// Somebody ended the program meanwhile; the checks were ended, too.
    Interrupted,
}

impl Place {
    /// Where fingerprints of trees are remembered.
    pub fn trees(&self) -> PathBuf {
        self.home.join("trees")
    }

    /// Where contents of protected files are kept.
    pub fn objects(&self) -> PathBuf {
        self.home.join("objects")
    }

    /// The seal with this fingerprint.
    pub fn seal(&self, fingerprint: &str) -> PathBuf {
        self.home.join("seals").join(format!("{fingerprint}.json"))
    }

    /// Where copies of work trees live for a while.
    pub fn copies(&self) -> PathBuf {
        self.home.join("copies")
    }
}

/// Proves what can be proven.
pub fn prove(request: &Request<'_>, now: &dyn Fn() -> Timestamp) -> Proved {
    let begun = now();
    let first = Round::new(request, request.freshness, request.budget);
    let Some(looked) = first.look(now) else { return Proved::Interrupted };
    if !looked.moved || !passes(request, &looked.receipts) {
        return Proved::Receipts(looked.receipts);
    }
    // Something wrote while the checks ran, perhaps they themselves. Once more, in the tree
    // as it is now; whoever goes on writing proves nothing.
    let used = Duration::from_millis(now().since(begun).unsigned_abs());
    let again = Round::new(request, Freshness::Fresh, request.budget.saturating_sub(used));
    let Some(looked) = again.look(now) else { return Proved::Interrupted };
    let unsettled = looked.moved;
    Proved::Receipts(
        looked.receipts.into_iter().map(|r| if unsettled { unsettle(r) } else { r }).collect(),
    )
}

/// Whether every criterion that the loop can't do without passed.
fn passes(request: &Request<'_>, receipts: &[Receipt]) -> bool {
    let mut required = request.criteria.iter().filter(|c| c.is_checked() && c.is_required());
    required.all(|criterion| {
        receipts.iter().any(|r| r.criterion == criterion.name && r.status == Status::Pass)
    })
}

/// A pass in a tree that would not lie still is no pass.
fn unsettle(mut receipt: Receipt) -> Receipt {
    if receipt.status == Status::Pass {
        receipt.status = Status::Error;
        receipt.trouble = Some(format!(
            "{MOVED}, twice; end what still writes to the work tree, or name what the check \
             depends on with `inputs`"
        ));
        receipt.evidence.tree = None;
    }
    receipt
}
