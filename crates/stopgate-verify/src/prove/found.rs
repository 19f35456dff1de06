//! Criteria that are looked at instead of run.

use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use stopgate_core::{Criterion, PatternSubject, Proof, Receipt, Status, Timestamp, clip_end};
use stopgate_system::CanonicalPath;

use super::ProofRequest;
use super::round::told;
use crate::basis::Basis;
use crate::kinds::{self, FindingBasis, KindFinding, PathRule, ReportTimes};

const TAIL_BYTES_MAX: usize = 4096;

/// What a look shows; `wrote` is when this stop's commands began, where any ran.
pub(super) fn look_at(
    criterion: &Criterion,
    request: &ProofRequest<'_>,
    basis: Option<&Basis>,
    wrote: Option<SystemTime>,
    at: Timestamp,
) -> Receipt {
    let cwd = criterion.terms.cwd.as_ref();
    let root: PathBuf = cwd.map_or_else(|| request.root.into(), |cwd| request.root.join(cwd));
    if strays(criterion, &root, request.root) {
        let why = "its `cwd` leads out of the project through a link".into();
        return told(criterion, Status::Error, why, at);
    }
    let rule = path_rule(criterion);
    let finding = match &criterion.proof {
        Proof::Files { exist, absent } => kinds::files(&root, exist, absent, rule),
        Proof::Pattern { subject, must, must_not } => {
            kinds::pattern(&root, subject, request.message, must, must_not, rule)
        }
        Proof::Coverage { report, format, floor } => {
            let times = ReportTimes { newer_than: request.since, written_since: wrote };
            kinds::coverage(&root, report, *format, floor, times, rule)
        }
        Proof::Features { list } => kinds::features(&root, list, rule),
        Proof::Git { demands } => kinds::git(&root, demands, basis.and_then(Basis::git)),
        Proof::Check { .. }
        | Proof::Run { .. }
        | Proof::Review { .. }
        | Proof::Attest
        | Proof::Approve => KindFinding::error("it is not of a kind that can be looked at"),
    };
    let mut receipt = told(criterion, finding.status, String::new(), at);
    receipt.trouble = finding.trouble;
    receipt.output_bytes = finding.text.len() as u64;
    receipt.tail = clip_end(&crate::redact(&finding.text), TAIL_BYTES_MAX).to_string();
    receipt.evidence.spots = finding.spots;
    receipt.evidence.word = finding.basis == FindingBasis::Word;
    receipt
}

/// Which files a criterion may name. A project's file may name others only by absolute paths,
/// and those need a person's trust before anything is looked at.
fn path_rule(criterion: &Criterion) -> PathRule {
    let is_absolute = |path: &String| Path::new(path).is_absolute();
    let names_others = match &criterion.proof {
        Proof::Files { exist, absent } => exist.iter().chain(absent).any(is_absolute),
        Proof::Pattern { subject: PatternSubject::File(file), .. }
        | Proof::Coverage { report: file, .. }
        | Proof::Features { list: file } => is_absolute(file),
        Proof::Pattern { subject: PatternSubject::Message, .. }
        | Proof::Git { .. }
        | Proof::Check { .. }
        | Proof::Run { .. }
        | Proof::Review { .. }
        | Proof::Attest
        | Proof::Approve => false,
    };
    if names_others { PathRule::Anywhere } else { PathRule::of(criterion.terms.author) }
}

/// Whether the plain path of its directory leads out of the project all the same.
fn strays(criterion: &Criterion, directory: &Path, root: &Path) -> bool {
    let Some(cwd) = &criterion.terms.cwd else { return false };
    let plain = Path::new(cwd)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let (real, root) = (directory.canonical(), root.canonical());
    plain && matches!((real, root), (Ok(real), Ok(root)) if !real.starts_with(&root))
}
