//! Criteria that are looked at instead of run.

use std::time::SystemTime;

use stopgate_core::{Criterion, Proof, Receipt, Status, Timestamp, clip_end};

use super::Request;
use super::round::told;
use crate::kinds::{self, Finding};

const TAIL_BYTES_MAX: usize = 4096;

/// What a look shows; `wrote` is when this stop's commands began, where any ran.
pub(super) fn look_at(
    criterion: &Criterion,
    request: &Request<'_>,
    wrote: Option<SystemTime>,
    at: Timestamp,
) -> Receipt {
    let cwd = criterion.terms.cwd.as_ref();
    let root = cwd.map_or_else(|| request.root.into(), |cwd| request.root.join(cwd));
    let finding = match &criterion.proof {
        Proof::Files { exist, absent } => kinds::files(&root, exist, absent),
        Proof::Pattern { subject, must, must_not } => {
            kinds::pattern(&root, subject, request.message, must, must_not)
        }
        Proof::Coverage { report, format, floor } => {
            kinds::coverage(&root, report, *format, floor, wrote.or(request.since))
        }
        Proof::Features { list } => kinds::features(&root, list),
        Proof::Git { demands } => kinds::git(&root, demands),
        Proof::Check { .. } | Proof::Run { .. } | Proof::Attest | Proof::Approve => Finding {
            status: Status::Error,
            text: String::new(),
            trouble: Some("it is not of a kind that can be looked at".into()),
            spots: Vec::new(),
        },
    };
    let mut receipt = told(criterion, finding.status, String::new(), at);
    receipt.trouble = finding.trouble;
    receipt.output_bytes = finding.text.len() as u64;
    receipt.tail = clip_end(&finding.text, TAIL_BYTES_MAX).to_string();
    receipt.evidence.spots = finding.spots;
    receipt
}
