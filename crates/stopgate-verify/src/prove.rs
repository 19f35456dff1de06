//! From criteria to receipts: the impure act, whole.
//!
//! Checks run in the work tree as it is. What passes there is proven only if the judges of the
//! start would pass it, too: where a judge was added, changed or deleted, or fewer tests ran
//! than at the start, they are asked in a place of their own. The results are *given* to the
//! core.

mod apart;
mod asked_again;
mod base_tree;
mod built_files;
mod changed_judges;
mod coverage_shortfall;
mod found;
mod measure;
mod measured_coverage;
mod new_packages;
mod original;
mod reading;
mod rebuilt;
mod recommit;
mod red_first;
mod red_tests;
mod remade;
mod round;
#[cfg(test)]
mod scene;
mod settling;
mod shown_output;
mod source_copies;
mod standing;
mod start_copy;
mod surely;
mod whole_files;
mod wording;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use stopgate_core::{Criterion, Ground, Receipt, Status, Timestamp, ToolUse};

pub use self::changed_judges::{ChangedFile, ChangedJudges, changed_judges};
pub use self::measure::{FirstWrites, Measured, measure};
use self::original::Originals;
pub use self::reading::{TestFloor, floor};
use self::round::Round;
pub(crate) use self::round::{again as used_again, told};
pub use self::standing::content_fingerprint;
use self::standing::{BasisFound, find_basis};
pub use self::start_copy::StartCopy;
use crate::basis::BasisStore;
use crate::orphans::Strangers;

/// How long the tree must lie still after everything passed.
const SETTLE: Duration = Duration::from_millis(100);

/// What is to be proven, and what it may cost.
#[derive(Clone, Copy, Debug)]
pub struct ProofRequest<'a> {
    /// The criteria; those that nobody can check are left alone.
    pub criteria: &'a [Criterion],
    /// The project's root.
    pub root: &'a Path,
    /// What the criteria rest on.
    pub ground: &'a Ground,
    /// The agent's last message, where there is one.
    pub message: Option<&'a str>,
    /// Where things are kept, outside the work tree.
    pub place: &'a ProofStorage,
    /// Whether earlier receipts may be used again.
    pub freshness: Freshness,
    /// Whether the files can be told apart at all.
    pub files: Files,
    /// When the loop began.
    pub since: Option<SystemTime>,
    /// How long everything may take.
    pub budget: Duration,
    /// What becomes of children of this process that no check owns up to.
    pub strangers: Strangers,
    /// Variables that the person passes on to checks beyond the usual ones.
    pub pass: &'a [String],
    /// The only place for original runs to use, where a test asks for one.
    pub only_place: Option<&'a str>,
    /// The names of checks that take longer than there is time now: they are used again where
    /// they can be, and never run.
    pub later: &'a [String],
}

/// Where things are kept, outside the work tree.
#[derive(Clone, Debug)]
pub struct ProofStorage {
    /// The directory that stopgate owns.
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
    /// Those whose inputs are the same: a failure only if the agent touched nothing, a pass to
    /// go on, and to end only if no tool was used since.
    Reuse(ToolUse),
    /// None.
    Fresh,
}

/// What came of it.
#[derive(Debug)]
pub enum Proved {
    /// A receipt for every criterion that can be checked, in their order.
    Receipts(Vec<Receipt>),
    /// Nothing fails, but what is left to be run takes longer than there is time; what is known
    /// so far.
    TooLong(Vec<Receipt>),
    /// The program was asked to end meanwhile; the checks were ended, too.
    Interrupted,
}

impl ProofStorage {
    /// Where fingerprints of trees are remembered.
    pub fn trees(&self) -> PathBuf {
        self.home.join("trees")
    }

    /// Where contents of judges are kept.
    pub fn objects(&self) -> PathBuf {
        self.home.join("objects")
    }

    /// The basis with this fingerprint.
    pub fn basis(&self, fingerprint: &str) -> PathBuf {
        self.home.join("seals").join(format!("{fingerprint}.json"))
    }

    /// Where private places live for a while.
    pub fn copies(&self) -> PathBuf {
        self.home.join("copies")
    }
}

/// A place's directories, as a basis needs them.
pub(crate) struct Directories {
    objects: PathBuf,
    trees: PathBuf,
}

impl Directories {
    pub(crate) fn of(place: &ProofStorage) -> Self {
        Self { objects: place.objects(), trees: place.trees() }
    }

    pub(crate) fn store(&self) -> BasisStore<'_> {
        BasisStore { objects: &self.objects, trees: &self.trees }
    }
}

/// Proves what can be proven; criteria that another agent is asked about are left out.
pub fn prove(request: &ProofRequest<'_>, now: &dyn Fn() -> Timestamp) -> Proved {
    let criteria = without_reviews(request.criteria);
    let request = &ProofRequest { criteria: &criteria, ..*request };
    let begun = now();
    let receipts = match find_basis(request) {
        BasisFound::Forged(why) => Some(all_told(request, Status::Tampered, &why, now())),
        BasisFound::Gone(why) => Some(all_told(request, Status::Error, &why, now())),
        BasisFound::None => proven_without_basis(request, now),
        BasisFound::Sound(basis) => proven_by(request, &basis, now),
    };
    let Some(receipts) = receipts else { return Proved::Interrupted };
    if lacks_time(request, &receipts, span(begun, now())) {
        Proved::TooLong(receipts)
    } else {
        Proved::Receipts(receipts)
    }
}

/// Whether it is only for want of time that not everything passes.
fn lacks_time(request: &ProofRequest<'_>, receipts: &[Receipt], used: Duration) -> bool {
    let required = || request.criteria.iter().filter(|c| c.is_checked() && c.is_required());
    let of = |criterion: &Criterion| receipts.iter().find(|r| r.criterion == criterion.name);
    if !request.later.is_empty() {
        return required().all(|criterion| match of(criterion) {
            Some(receipt) => matches!(receipt.status, Status::Pass | Status::NeedsApproval),
            None => is_later(request, criterion),
        });
    }
    // A run that was cut is a time-out, a place that could not be made in time an error, and an
    // original run that was cut leaves a person to decide.
    let is_cut = |status| matches!(status, Status::Timeout | Status::Error | Status::NeedsApproval);
    let fails = |status| matches!(status, Status::Fail | Status::Tampered);
    used >= request.budget
        && required().any(|c| of(c).is_none_or(|receipt| is_cut(receipt.status)))
        && !required().any(|c| of(c).is_some_and(|receipt| fails(receipt.status)))
}

/// Whether there is no time now to run a check.
fn is_later(request: &ProofRequest<'_>, criterion: &Criterion) -> bool {
    request.later.contains(&criterion.name)
}

/// Identifies what is to be proven: the files as they are, the criteria, what they rest on and
/// the programs that they run; nothing where the files can't be told apart.
pub fn proof_fingerprint(request: &ProofRequest<'_>) -> Option<String> {
    let tree = round::tree_of(request, &[])?;
    let mut text = format!("{}\n{:?}\n{:?}\n", tree.hash(), request.ground, request.pass);
    for criterion in request.criteria.iter().filter(|criterion| criterion.is_checked()) {
        let defined = Criterion { last: None, takes_ms: None, first: None, ..criterion.clone() };
        let command = crate::program::command_fingerprint(request.root, criterion);
        let _ = writeln!(text, "{defined:?} {command}");
    }
    Some(content_fingerprint(text.as_bytes()))
}

fn without_reviews(criteria: &[Criterion]) -> Cow<'_, [Criterion]> {
    if !criteria.iter().any(Criterion::is_review) {
        return Cow::Borrowed(criteria);
    }
    Cow::Owned(criteria.iter().filter(|criterion| !criterion.is_review()).cloned().collect())
}

/// Nothing was fixed at the start, so what passes is only the work's own word.
fn proven_without_basis(
    request: &ProofRequest<'_>,
    now: &dyn Fn() -> Timestamp,
) -> Option<Vec<Receipt>> {
    let looked = Round::new(request, None, request.freshness, request.budget).look(now)?;
    let mut receipts = looked.receipts;
    note_changed(&mut receipts, looked.changed);
    for receipt in receipts.iter_mut().filter(|receipt| receipt.status == Status::Pass) {
        receipt.evidence.word = true;
        receipt.evidence.notes.push("nothing was noted at the start to judge by".into());
    }
    Some(receipts)
}

fn proven_by(
    request: &ProofRequest<'_>,
    basis: &crate::basis::Basis,
    now: &dyn Fn() -> Timestamp,
) -> Option<Vec<Receipt>> {
    let begun = now();
    let left = || request.budget.saturating_sub(span(begun, now()));
    let mut looked =
        Round::new(request, Some(basis), request.freshness, request.budget).look(now)?;
    if !request.later.is_empty() {
        // The rest is asked where there is time for all of it.
        return Some(looked.receipts);
    }
    if passes(request, &looked.receipts) && looked.reused && !may_end_reused(request.freshness) {
        // A pass is used again to go on, never to end.
        let changed = looked.changed;
        looked = Round::new(request, Some(basis), Freshness::Fresh, left()).look(now)?;
        looked.changed = changed;
    }
    note_changed(&mut looked.receipts, looked.changed);
    if !passes(request, &looked.receipts) {
        return Some(looked.receipts);
    }
    Originals { request, basis, now, begun, looked: &looked }.judge()
}

/// Notes with each result how many files had changed before the checks ran.
fn note_changed(receipts: &mut [Receipt], changed: Option<u32>) {
    for receipt in receipts.iter_mut().filter(|receipt| receipt.evidence.command.is_some()) {
        receipt.evidence.changed_files = changed;
    }
}

/// Whether nothing can have happened since the receipts were made.
fn may_end_reused(freshness: Freshness) -> bool {
    freshness == Freshness::Reuse(ToolUse::None)
}

/// Whether every criterion that the loop can't do without passed.
fn passes(request: &ProofRequest<'_>, receipts: &[Receipt]) -> bool {
    let mut required = request.criteria.iter().filter(|c| c.is_checked() && c.is_required());
    required.all(|criterion| {
        let accepted = |status| matches!(status, Status::Pass | Status::NeedsApproval);
        receipts.iter().any(|r| r.criterion == criterion.name && accepted(r.status))
    })
}

fn all_told(request: &ProofRequest<'_>, status: Status, why: &str, at: Timestamp) -> Vec<Receipt> {
    let checked = request.criteria.iter().filter(|criterion| criterion.is_checked());
    checked.map(|criterion| round::told(criterion, status, why.into(), at)).collect()
}

fn span(begun: Timestamp, now: Timestamp) -> Duration {
    Duration::from_millis(now.since(begun).unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_ends_a_loop_a_second_time_only_where_no_tool_ran_since() {
        assert!(may_end_reused(Freshness::Reuse(ToolUse::None)));
        for freshness in
            [Freshness::Reuse(ToolUse::Used), Freshness::Reuse(ToolUse::Unknown), Freshness::Fresh]
        {
            assert!(!may_end_reused(freshness), "{freshness:?}");
        }
    }

    #[test]
    fn everything_is_kept_below_the_home() {
        let place = ProofStorage { home: "/home/me/state".into(), logs: "/logs".into() };
        for path in [place.trees(), place.objects(), place.basis("ab"), place.copies()] {
            assert!(path.starts_with(&place.home) && path != place.home, "{}", path.display());
        }
    }
}
