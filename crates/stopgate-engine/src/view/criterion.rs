//! Criteria as people and programs see them.

use std::time::Duration;

use serde::{Serialize, Serializer};
use stopgate_core::{Criterion, CriterionJudge, FirstRun, Receipt, Status, Tests};
use stopgate_view::first_run_text;

use super::time_text;

/// One criterion.
#[derive(Clone, Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the answer")]
pub struct CriterionView {
    /// Its name.
    pub name: String,
    /// `run`, `files`, `pattern`, `coverage`, `features`, `git`, `attest` or `approve`.
    pub kind: &'static str,
    /// Whether the loop can't be done without it.
    pub required: bool,
    /// Whether the agent is not told which one it is.
    pub hidden: bool,
    /// How it stands.
    pub status: CriterionStatus,
    /// Whose word it takes.
    #[serde(skip)]
    pub judge: CriterionJudge,
    /// The command of its check.
    pub command: Option<String>,
    /// What its check produced last.
    pub receipt: Option<ReceiptView>,
    /// Its first run, where `start` did not wait for its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_run: Option<FirstRunView>,
}

/// The first run of a check, on the tree as it was at the start.
#[derive(Clone, Debug, Serialize)]
pub struct FirstRunView {
    /// How it came out; nothing where that is not known.
    #[serde(serialize_with = "status_word")]
    pub status: Option<Status>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// How many tests ran.
    pub tests_ran: Option<u32>,
    /// Whether it takes longer than a stop waits, so that it goes on in the background there.
    pub is_long: bool,
    /// The same in words.
    pub words: String,
}

/// What is remembered of a receipt.
#[derive(Clone, Debug, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the answer")]
pub struct ReceiptView {
    /// The exit code, where there was one.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// When it ended.
    pub at: String,
    /// Where its whole output is.
    pub log: Option<String>,
    /// The telling part of what it printed.
    #[serde(skip)]
    pub tail: String,
    /// What was the matter.
    pub trouble: Option<String>,
    /// The fingerprint of the files it depends on.
    pub tree: Option<String>,
    /// The fingerprint of the check itself.
    pub command: Option<String>,
    /// The fingerprint of what it printed.
    pub output: Option<String>,
    /// What the tool calls its version.
    pub version: Option<String>,
    /// The tests it ran.
    pub tests: Option<Tests>,
    /// Whether it passed only when it was tried again.
    pub flaky: bool,
    /// Whether it is an earlier receipt, used again.
    pub reused: bool,
    /// Where the trouble is.
    pub spots: Vec<String>,
    /// Failures that were there before and are not counted.
    pub known: Vec<String>,
}

/// How a criterion stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CriterionStatus {
    /// Nothing is known yet.
    Unknown,
    /// A person attested it.
    Approved,
    /// This is how its check came out last.
    Checked(Status),
}

impl CriterionStatus {
    /// The word that users and JSON use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Approved => "approved",
            Self::Checked(status) => status.word(),
        }
    }

    /// Whether the criterion is met.
    pub const fn is_met(self) -> bool {
        matches!(self, Self::Approved | Self::Checked(Status::Pass))
    }
}

impl Serialize for CriterionStatus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// A criterion as people see it; `receipt` is what was found just now, where it was.
pub(crate) fn criterion_view(criterion: &Criterion, receipt: Option<&Receipt>) -> CriterionView {
    let last = criterion.last.as_ref();
    let status = match (criterion.approved_at, last) {
        (Some(_), _) => CriterionStatus::Approved,
        (None, Some(last)) => CriterionStatus::Checked(last.status),
        (None, None) => CriterionStatus::Unknown,
    };
    let made = receipt.map(receipt_view);
    CriterionView {
        name: criterion.name.clone(),
        kind: criterion.proof.word(),
        required: criterion.is_required(),
        hidden: criterion.is_hidden(),
        status,
        judge: criterion.judge(),
        command: criterion.command(),
        receipt: made.or_else(|| last.map(|last| receipt_view(&remembered(criterion, last)))),
        first_run: criterion.first.as_ref().map(first_run_view),
    }
}

fn first_run_view(first: &FirstRun) -> FirstRunView {
    let result = first.result;
    FirstRunView {
        status: result.map(|result| result.status),
        duration_ms: result.map(|result| result.duration_ms),
        tests_ran: result.and_then(|result| result.tests).map(Tests::ran),
        is_long: false,
        words: result.map_or_else(|| "still running when the loop began".into(), first_run_text),
    }
}

impl FirstRunView {
    /// Says so where it takes longer than a stop waits.
    pub(super) fn compare(&mut self, hook_time: Duration) {
        self.is_long = self.duration_ms.is_some_and(|ms| Duration::from_millis(ms) > hook_time);
        if self.is_long {
            self.words
                .push_str(": longer than the hook's time, so it runs in the background at a stop");
        }
    }
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde lends fields")]
fn status_word<S: Serializer>(status: &Option<Status>, to: S) -> Result<S::Ok, S::Error> {
    status.map(Status::word).serialize(to)
}

/// What is remembered of a receipt, in its full form.
fn remembered(criterion: &Criterion, last: &stopgate_core::Standing) -> Receipt {
    let kept = last.kept.clone();
    Receipt {
        criterion: criterion.name.clone(),
        status: last.status,
        exit_code: last.exit_code,
        duration_ms: last.duration_ms,
        tail: kept.as_ref().map(|kept| kept.tail.clone()).unwrap_or_default(),
        output_bytes: kept.as_ref().map_or(0, |kept| kept.output_bytes),
        log: last.log.clone(),
        trouble: kept.as_ref().and_then(|kept| kept.trouble.clone()),
        at: last.at,
        evidence: kept.map(|kept| kept.evidence).unwrap_or_default(),
    }
}

fn receipt_view(receipt: &Receipt) -> ReceiptView {
    let evidence = receipt.evidence.clone();
    ReceiptView {
        exit_code: receipt.exit_code,
        duration_ms: receipt.duration_ms,
        at: time_text(receipt.at),
        log: receipt.log.clone(),
        tail: receipt.tail.clone(),
        trouble: receipt.trouble.clone(),
        tree: evidence.tree,
        command: evidence.command,
        output: evidence.output,
        version: evidence.version,
        tests: evidence.tests,
        flaky: receipt.is_flaky(),
        reused: evidence.reused,
        spots: evidence.spots,
        known: evidence.known,
    }
}
