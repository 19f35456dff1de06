//! Whether the judges of the start accept the work that today's judges accept.
//!
//! It runs last, when everything else passes. Judges untouched and counts kept: nothing extra
//! runs. A rejection is believed only where today's judges accept the work in the same place;
//! otherwise the place is at fault, and a person decides.

use stopgate_core::{
    Criterion, JudgesAre, OriginalRun, OriginalVerdict, Receipt, Site, Status, Strength, Tests,
    Timestamp,
};

use super::apart::{Apart, ApartRun, EmptiedDirectories, Judges};
use super::built_files::BuiltFiles;
use super::coverage_shortfall::CoverageShortfall;
use super::measured_coverage::MeasuredCoverage;
use super::rebuilt::RebuiltChecks;
use super::remade::RemadeFiles;
use super::round::Looked;
use super::shown_output::tells_only_failures;
use super::source_copies::SourceCopies;
use super::whole_files::WholeFiles;
use super::wording::{rejection, undecided};
use super::{Directories, ProofRequest, TestFloor, floor, red_first, span};
use crate::basis::{Basis, JudgeChanges};
use crate::tree::{Tree, hash_of, hex};

/// How many failing tests of the start are named.
pub(super) const FAILING_MAX: usize = 20;
/// How many changes are named.
pub(super) const CHANGES_MAX: usize = 20;
/// What is noted where a rejection did not repeat.
const ACCEPTED_AGAIN: &str = "the tests of the start failed once, and passed when they ran again";

/// Everything passes in the work tree; now the judges of the start are asked.
pub(super) struct Originals<'a> {
    pub(super) request: &'a ProofRequest<'a>,
    pub(super) basis: &'a Basis,
    pub(super) now: &'a dyn Fn() -> Timestamp,
    pub(super) begun: Timestamp,
    pub(super) looked: &'a Looked,
}

/// One criterion that passes as things are.
pub(super) struct OriginalSubject<'a> {
    pub(super) criterion: &'a Criterion,
    pub(super) changes: JudgeChanges,
    /// The tests of the start, as many of which must run; none where a person lets them change.
    pub(super) floor: Option<Tests>,
    /// How many tests fail now although the check passes: `pytest slow; pytest fast`.
    pub(super) failed: u32,
    /// How many tests ran at the start and now, where fewer did now.
    pub(super) fewer: Option<(u32, u32)>,
}

impl OriginalSubject<'_> {
    /// The same criterion, with other changes undone.
    pub(super) fn with_changes(&self, changes: JudgeChanges) -> OriginalSubject<'_> {
        let Self { criterion, floor, failed, fewer, .. } = *self;
        OriginalSubject { criterion, changes, floor, failed, fewer }
    }

    pub(super) fn runs(&self) -> bool {
        self.criterion.command().is_some()
    }

    /// Whether the judges of the start must be asked.
    pub(super) fn is_open(&self) -> bool {
        !self.changes.is_empty() || self.fewer.is_some()
    }

    /// The strength that is asked for, where that takes a private run.
    fn wants_private(&self) -> Option<Strength> {
        let terms = &self.criterion.terms;
        let pristine = (terms.site == Site::Pristine).then_some(Strength::Clean);
        terms.strength.or(pristine).filter(|strength| *strength >= Strength::Clean)
    }
}

impl Originals<'_> {
    /// The receipts, after the judges of the start were asked where that was needed; nothing
    /// where the program was asked to end meanwhile.
    pub(super) fn judge(&self) -> Option<Vec<Receipt>> {
        let mut receipts = self.looked.receipts.clone();
        let Some(tree) = &self.looked.tree else {
            let why = "the files it depends on can't be told apart, so nothing is proven";
            return Some(receipts.into_iter().map(|receipt| unproven(receipt, why)).collect());
        };
        let subjects = match self.subjects(&receipts, tree) {
            Ok(subjects) => subjects,
            Err(why) => {
                let failed = |receipt| unproven(receipt, &why);
                return Some(receipts.into_iter().map(failed).collect());
            }
        };
        let digest = combined(&subjects);
        for subject in &subjects {
            self.grade(subject, &mut receipts);
        }
        let controls = self.run_privately(&subjects, &mut receipts)?;
        if !super::passes(self.request, &receipts) {
            return Some(receipts);
        }
        self.ask_originals(&subjects, &controls, &digest, &mut receipts)?;
        RebuiltChecks(self).doubt(&subjects, &digest, &mut receipts)?;
        SourceCopies(self).doubt(&subjects, &digest, &mut receipts)?;
        RemadeFiles(self).doubt(&subjects, &digest, &mut receipts)?;
        MeasuredCoverage(self).doubt(&subjects, &mut receipts);
        red_first::ask(&self.apart(), &subjects, &mut receipts)?;
        Some(receipts)
    }

    fn subjects<'s>(
        &'s self,
        receipts: &[Receipt],
        tree: &Tree,
    ) -> Result<Vec<OriginalSubject<'s>>, String> {
        let directories = Directories::of(self.request.place);
        let mut subjects = Vec::new();
        for criterion in self.request.criteria.iter().filter(|c| c.is_checked()) {
            let Some(receipt) = passed(receipts, &criterion.name) else { continue };
            let changes = self.basis.changes(
                self.request.root,
                criterion,
                tree,
                directories.store(),
                self.request.since,
            );
            let changes = changes.map_err(|error| story(&error))?;
            let is_counted = !self.may_drop_tests(criterion)
                && !tells_only_failures(self.request.root, self.basis, criterion, &changes);
            let floor = criterion.tests.filter(|_| is_counted);
            let fewer = fewer_tests(floor, receipt);
            let failed = failed_tests(receipt);
            subjects.push(OriginalSubject { criterion, changes, floor, failed, fewer });
        }
        Ok(subjects)
    }

    /// Says what a pass is worth before anything else runs.
    fn grade(&self, subject: &OriginalSubject<'_>, receipts: &mut [Receipt]) {
        let Some(receipt) = receipt_of(receipts, &subject.criterion.name) else { return };
        receipt.evidence.strength = Some(Strength::Original);
        if !subject.runs() {
            return;
        }
        let terms = &subject.criterion.terms;
        if terms.judges == JudgesAre::Work {
            receipt.evidence.notes.push("its judges are part of the work".into());
        } else if self.basis.is_self_judged(subject.criterion) {
            receipt.evidence.notes.push("self-judged: nothing judged it at the start".into());
        }
        let is_counted = subject.floor.is_some() || self.may_drop_tests(subject.criterion);
        if subject.criterion.tests.is_some() && !is_counted {
            let note = "its tests are shown only where they fail, so they are not counted";
            receipt.evidence.notes.push(note.into());
        }
        if !terms.may_change.is_empty() {
            let note = format!("the work may change {}", terms.may_change.join(", "));
            receipt.evidence.notes.push(note);
        }
    }

    /// Runs with today's judges in a place of its own whatever could not be believed in the tree.
    fn run_privately<'s>(
        &self,
        subjects: &'s [OriginalSubject<'s>],
        receipts: &mut [Receipt],
    ) -> Option<Vec<(&'s str, ApartRun)>> {
        let touched = &self.looked.touched;
        let unsettled = !touched.files.is_empty() || !touched.directories.is_empty();
        let due: Vec<&OriginalSubject<'_>> = subjects
            .iter()
            .filter(|subject| subject.runs() && (unsettled || subject.wants_private().is_some()))
            .collect();
        let runs = self.apart().run(&due, Judges::Today, ".private")?;
        let mut controls = Vec::new();
        for (subject, run) in due.into_iter().zip(runs) {
            let name = subject.criterion.name.as_str();
            if let Some(receipt) = receipt_of(receipts, name) {
                settle_private(subject, &run, receipt);
            }
            controls.push((name, run));
        }
        Some(controls)
    }

    fn ask_originals(
        &self,
        subjects: &[OriginalSubject<'_>],
        controls: &[(&str, ApartRun)],
        digest: &str,
        receipts: &mut [Receipt],
    ) -> Option<()> {
        let is_open = |own: &&OriginalSubject<'_>| own.is_open() && !self.is_first_tests(own);
        let open: Vec<&OriginalSubject<'_>> = subjects.iter().filter(is_open).collect();
        if self.is_approved(digest, subjects) {
            for subject in open.iter().filter(|subject| !subject.changes.texts.is_empty()) {
                let told = told(subject, OriginalVerdict::Approved, digest, Vec::new());
                conclude(receipt_of(receipts, &subject.criterion.name), told);
            }
            return Some(());
        }
        let askable: Vec<&OriginalSubject<'_>> = open
            .iter()
            .copied()
            .filter(|subject| subject.runs() && subject.changes.lasting.is_empty())
            .collect();
        let runs = self.apart().run(&askable, Judges::Original, ".original")?;
        let mut doubted: Vec<(&OriginalSubject<'_>, ApartRun)> = Vec::new();
        for (subject, run) in askable.iter().zip(runs) {
            if accepts(subject, &run) {
                accept(subject, digest, receipts);
            } else {
                doubted.push((subject, run));
            }
        }
        let doubted = self.ask_with_built_files(doubted, digest, receipts)?;
        let doubted = self.ask_without_stored_results(doubted, digest, receipts)?;
        let doubted = self.ask_with_emptied_directories(doubted, digest, receipts)?;
        let doubted = self.ask_without_new_packages(doubted, digest, receipts)?;
        let doubted = WholeFiles(self).ask(doubted, digest, receipts)?;
        let shortfall = CoverageShortfall(self);
        let doubted = shortfall.ask_with_todays_tests(doubted, digest, receipts)?;
        self.control(&doubted, controls, digest, receipts)?;
        for subject in open.iter().filter(|subject| !askable.iter().any(|own| same(own, subject))) {
            let told = told(subject, OriginalVerdict::Undecided, digest, Vec::new());
            let receipt = receipt_of(receipts, &subject.criterion.name);
            dispute(receipt, told, &subject.changes.lasting.join("; "), None);
        }
        Some(())
    }

    /// Whether a person accepted what changed, or what the checks did not make themselves.
    pub(super) fn is_approved(&self, digest: &str, subjects: &[OriginalSubject<'_>]) -> bool {
        let Some(approved) = self.request.ground.approved.as_ref() else { return false };
        let runs = || subjects.iter().any(OriginalSubject::runs);
        approved.digest == digest
            || (runs() && approved.digest == RebuiltChecks(self).digest(digest, subjects))
    }

    /// Whether a person made all tests part of the work, which may merge or drop some then.
    fn may_drop_tests(&self, criterion: &Criterion) -> bool {
        let terms = &criterion.terms;
        terms.judges == JudgesAre::Work
            || (!terms.may_change.is_empty() && self.basis.is_self_judged(criterion))
    }

    /// Whether there was nothing at the start to ask: the first tests are the work's own.
    fn is_first_tests(&self, subject: &OriginalSubject<'_>) -> bool {
        subject.changes.only_adds_tests() && self.basis.is_self_judged(subject.criterion)
    }

    /// Believes a rejection only where today's judges accept the work in the same place, and only
    /// the second time: a test that fails now and then says nothing about the work.
    fn control(
        &self,
        doubted: &[(&OriginalSubject<'_>, ApartRun)],
        controls: &[(&str, ApartRun)],
        digest: &str,
        receipts: &mut [Receipt],
    ) -> Option<()> {
        let known = |name: &str| controls.iter().find(|(own, _)| *own == name).map(|(_, run)| run);
        let due: Vec<&OriginalSubject<'_>> = doubted
            .iter()
            .filter(|(subject, run)| run.ran() && known(&subject.criterion.name).is_none())
            .map(|(subject, _)| *subject)
            .collect();
        let mut fresh = self.apart().run(&due, Judges::Today, ".control")?.into_iter();
        let said = doubted.iter().filter(|(_, run)| run.is_verdict()).map(|(subject, _)| *subject);
        let said: Vec<&OriginalSubject<'_>> = said.collect();
        let mut again = self.apart().run(&said, Judges::Original, ".original")?.into_iter();
        for (subject, run) in doubted {
            let name = &subject.criterion.name;
            let control = match known(name) {
                Some(control) => Some(control.passes()),
                None if run.ran() => fresh.next().map(|control| control.passes()),
                None => None,
            };
            let second = if run.is_verdict() { again.next() } else { None };
            if second.is_some_and(|second| accepts(subject, &second)) {
                accept(subject, digest, receipts);
                note(receipts, name, ACCEPTED_AGAIN);
            } else {
                let receipt = receipt_of(receipts, name);
                reject(subject, run, control, digest, receipt);
            }
        }
        Some(())
    }

    pub(super) fn apart(&self) -> Apart<'_> {
        let left = self.request.budget.saturating_sub(span(self.begun, (self.now)()));
        Apart {
            request: self.request,
            basis: self.basis,
            now: self.now,
            left,
            tree: self.looked.tree.as_ref(),
            restless: Vec::new(),
            built: BuiltFiles::default(),
            emptied: EmptiedDirectories::Go,
            over: &[],
            tells_left: false,
            ran_at: self.looked.begun,
        }
    }
}

/// What a person is asked where the judges of the start do not accept the work; `control` is
/// whether today's do in the same place.
fn reject(
    subject: &OriginalSubject<'_>,
    run: &ApartRun,
    control: Option<bool>,
    digest: &str,
    receipt: Option<&mut Receipt>,
) {
    if control == Some(true) && run.is_verdict() {
        let failing = run.failing().into_iter().take(FAILING_MAX).collect();
        let told = told(subject, OriginalVerdict::Rejected, digest, failing);
        dispute(receipt, told, &rejection(subject, run), Some(run));
    } else {
        let told = told(subject, OriginalVerdict::Undecided, digest, Vec::new());
        dispute(receipt, told, &undecided(run), Some(run));
    }
}

pub(super) fn note(receipts: &mut [Receipt], name: &str, text: &str) {
    if let Some(receipt) = receipt_of(receipts, name) {
        receipt.evidence.notes.push(text.into());
    }
}

/// What a private run with today's judges means for a receipt.
fn settle_private(subject: &OriginalSubject<'_>, run: &ApartRun, receipt: &mut Receipt) {
    let wanted = subject.wants_private();
    match run {
        ApartRun::Ran { receipt: own, strength, written, .. } => {
            if own.status != Status::Pass {
                take_over(receipt, own);
            } else if let Some(path) = written.first() {
                receipt.status = Status::Fail;
                receipt.trouble =
                    Some(format!("{} was written while the check ran", path.display()));
            }
            receipt.evidence.strength = Some(*strength);
            if let Some(wanted) = wanted.filter(|wanted| wanted > strength) {
                *receipt = unproven(
                    receipt.clone(),
                    &format!(
                        "it asks for the strength {wanted}, and only {strength} is possible here"
                    ),
                );
            }
        }
        ApartRun::NoPlace(why) => {
            let why = format!("it can't be run apart from this tree: {why}");
            *receipt = unproven(receipt.clone(), &why);
        }
    }
}

/// The result of another run of the same check.
fn take_over(receipt: &mut Receipt, own: &Receipt) {
    receipt.status = own.status;
    receipt.exit_code = own.exit_code;
    receipt.tail.clone_from(&own.tail);
    receipt.output_bytes = own.output_bytes;
    receipt.log.clone_from(&own.log);
    receipt.trouble.clone_from(&own.trouble);
    receipt.evidence.spots.clone_from(&own.evidence.spots);
    receipt.evidence.tree = None;
}

/// Whether the judges of the start accept the work, with as many tests as there were.
pub(super) fn accepts(subject: &OriginalSubject<'_>, run: &ApartRun) -> bool {
    let ApartRun::Ran { receipt, written, .. } = run else { return false };
    // Where there is a baseline, a check that fails and counts as a pass had nothing but failures
    // that were there before.
    let is_known = subject.criterion.terms.baseline.is_some() && receipt.exit_code != Some(0);
    receipt.status == Status::Pass
        && written.is_empty()
        && (is_known || failed_tests(receipt) <= subject.failed)
        && fewer_tests(subject.floor, receipt).is_none()
}

fn told(
    subject: &OriginalSubject<'_>,
    verdict: OriginalVerdict,
    digest: &str,
    failing: Vec<String>,
) -> OriginalRun {
    let changes = subject.changes.texts.iter().chain(&subject.changes.lasting);
    OriginalRun {
        verdict,
        digest: digest.into(),
        changes: changes.take(CHANGES_MAX).cloned().collect(),
        failing,
    }
}

/// Notes that the judges of the start accept the work.
pub(super) fn accept(subject: &OriginalSubject<'_>, digest: &str, receipts: &mut [Receipt]) {
    let told = told(subject, OriginalVerdict::Accepted, digest, Vec::new());
    conclude(receipt_of(receipts, &subject.criterion.name), told);
}

fn conclude(receipt: Option<&mut Receipt>, told: OriginalRun) {
    let Some(receipt) = receipt else { return };
    // Judges that were only written to again are not worth a word.
    if !told.changes.is_empty() {
        receipt.evidence.original = Some(told);
    }
}

pub(super) fn dispute(
    receipt: Option<&mut Receipt>,
    told: OriginalRun,
    why: &str,
    run: Option<&ApartRun>,
) {
    let Some(receipt) = receipt else { return };
    if let Some(ApartRun::Ran { receipt: own, .. }) = run {
        receipt.tail.clone_from(&own.tail);
        receipt.log.clone_from(&own.log);
        receipt.evidence.spots.clone_from(&own.evidence.spots);
    }
    receipt.status = Status::NeedsApproval;
    receipt.trouble = Some(why.into());
    receipt.evidence.original = Some(told);
}

/// A pass that proves nothing is none.
fn unproven(mut receipt: Receipt, why: &str) -> Receipt {
    if receipt.status == Status::Pass {
        receipt.status = Status::Error;
        receipt.trouble = Some(why.into());
        receipt.evidence.tree = None;
    }
    receipt
}

pub(super) fn failed_tests(receipt: &Receipt) -> u32 {
    receipt.evidence.tests.map_or(0, |tests| tests.failed)
}

/// How many tests ran at the start and now, where fewer did now.
pub(super) fn fewer_tests(then: Option<Tests>, receipt: &Receipt) -> Option<(u32, u32)> {
    match floor(then, receipt.evidence.tests) {
        TestFloor::Fewer { before, now } => Some((before, now)),
        TestFloor::Kept | TestFloor::Unknown => None,
    }
}

pub(super) fn passed<'r>(receipts: &'r [Receipt], name: &str) -> Option<&'r Receipt> {
    receipts.iter().find(|receipt| receipt.criterion == name && receipt.status == Status::Pass)
}

pub(super) fn receipt_of<'r>(receipts: &'r mut [Receipt], name: &str) -> Option<&'r mut Receipt> {
    receipts.iter_mut().find(|receipt| receipt.criterion == name)
}

fn same(one: &OriginalSubject<'_>, other: &OriginalSubject<'_>) -> bool {
    std::ptr::eq(one.criterion, other.criterion)
}

/// Identifies all changes together, so that a person accepts exactly what was shown.
fn combined(subjects: &[OriginalSubject<'_>]) -> String {
    let line = |subject: &OriginalSubject<'_>| {
        let OriginalSubject { criterion, changes, fewer, .. } = subject;
        format!("{} {} {fewer:?}\n", criterion.name, changes.digest)
    };
    let open = subjects.iter().filter(|subject| subject.is_open());
    let text: String = open.map(line).collect();
    hex(&hash_of(text.as_bytes()))
}

pub(super) fn story(error: &dyn std::error::Error) -> String {
    let mut text = format!("could not {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests;
