//! Loops as people and programs see them.

use jiff::Timestamp as Instant;
use serde::Serialize;
use stopgate_core::{
    Criterion, Frame, Origin, Outcome, Phase, Receipt, SessionId, State, Surface, Tests, Timestamp,
    Vouch, Waiting,
};
use stopgate_dialects::Dialect;
use stopgate_store::{Filter, Soundness, Standing, Stored};

use crate::certificate::Signed;
use crate::engine::Engine;
use crate::failure::Failure;

const FORGED: &str = "its record was changed outside of stopgate";
const PARKED_MS_MAX: i64 = 60 * 60 * 1000;

/// The version of every JSON answer.
pub const SCHEMA_VERSION: u32 = 1;

/// The answer about one loop.
#[derive(Clone, Debug, Serialize)]
pub struct StatusView {
    /// [`SCHEMA_VERSION`]
    pub schema_version: u32,
    /// The loop.
    #[serde(rename = "loop")]
    pub found: LoopView,
}

/// The answer about several loops.
#[derive(Clone, Debug, Serialize)]
pub struct ListView {
    /// [`SCHEMA_VERSION`]
    pub schema_version: u32,
    /// The loops, the newest first.
    pub loops: Vec<LoopView>,
}

/// One loop.
#[derive(Clone, Debug, Serialize)]
pub struct LoopView {
    /// Its name.
    pub id: String,
    /// What it is for.
    pub goal: String,
    /// One of the seven words.
    pub state: &'static str,
    /// How it ended.
    pub outcome: Option<&'static str>,
    /// Why it ended, or what it waits for.
    pub why: Option<String>,
    /// Who must act next: `agent`, `person` or `nobody`.
    pub next: &'static str,
    /// Continuations used.
    pub iteration: u32,
    /// Continuations allowed; 0 is no limit.
    pub max_iterations: u32,
    /// The session it holds.
    pub session: Option<String>,
    /// Until when it may be claimed.
    pub claim_until: Option<String>,
    /// The folder it belongs to.
    pub project: String,
    /// Whose file keeps it, where it is not ours: then this is an audit trail, or that file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<&'static str>,
    /// Its frames, the outermost first.
    pub frames: Vec<FrameView>,
    /// What must hold before it is done.
    pub criteria: Vec<CriterionView>,
    /// What it may use and has used.
    pub budget: BudgetView,
    /// How many events the journal has of it.
    pub revision: u64,
    /// What the seals under its record say: `sound`, `unchained`, `unknown writer` or `forged`;
    /// empty where they were not looked at.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub record: &'static str,
    /// What can be said about the signature of a loop that is done: `genuine`, `unknown signer`
    /// or `forged`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<&'static str>,
    /// Who began it.
    pub origin: OriginView,
    /// When it began.
    pub started_at: String,
    /// When it was last touched.
    pub updated_at: String,
    /// When the agent last did something.
    pub progress_at: String,
    /// How long ago that was.
    pub progress_age_ms: i64,
}

/// Who began a loop.
#[derive(Clone, Debug, Serialize)]
pub struct OriginView {
    /// `person`, `agent` or `unknown`.
    pub by: &'static str,
    /// What showed that an agent did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_by: Option<String>,
    /// Whether a person approved it later.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub approved: bool,
    /// Earlier loops that were put aside for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaced: Vec<ReplacedView>,
}

/// An earlier loop that was put aside.
#[derive(Clone, Debug, Serialize)]
pub struct ReplacedView {
    /// The loop.
    #[serde(rename = "loop")]
    pub id: String,
    /// Who ended it.
    pub by: &'static str,
}

/// One frame.
#[derive(Clone, Debug, Serialize)]
pub struct FrameView {
    /// How it works.
    pub mode: &'static str,
    /// Continuations used.
    pub iteration: u32,
    /// Continuations allowed.
    pub max: u32,
    /// What it asks for.
    pub prompt: String,
}

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
    /// `unknown`, how its check came out, or `approved`.
    pub status: &'static str,
    /// The command of its check.
    pub command: Option<String>,
    /// What its check produced last.
    pub receipt: Option<ReceiptView>,
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

/// What a loop may use and has used.
#[derive(Clone, Debug, Serialize)]
pub struct BudgetView {
    /// Minutes allowed; 0 is no limit.
    pub max_minutes: u32,
    /// Milliseconds of work so far.
    pub used_ms: i64,
    /// Idle continuations in a row, and how many are allowed.
    pub idle: u32,
    /// See `idle`; 0 is no limit.
    pub max_idle: u32,
    /// Stops in a row with the same failures, and how many are allowed.
    pub repeat: u32,
    /// See `repeat`; 0 is no limit.
    pub max_repeat: u32,
}

impl Engine {
    /// The loop that was loaded, as people and programs see it.
    pub fn view(&self, stored: &Stored) -> LoopView {
        let mut view = loop_view(&stored.state, self.now());
        view.revision = stored.revision.0;
        if stored.soundness == Soundness::Forged {
            view.be_tampered(FORGED);
        }
        view
    }

    /// The same, after looking at all of its record, and whether a loop that is said to be done
    /// was signed so.
    pub fn view_checked(&mut self, stored: &Stored) -> Result<LoopView, Failure> {
        let mut view = self.view(stored);
        let soundness = self.journal.soundness(&stored.state.id)?;
        view.record = soundness.word();
        if soundness == Soundness::Forged {
            view.be_tampered(FORGED);
        } else if stored.state.outcome() == Some(Outcome::Done) {
            let signed = self.signed(stored)?;
            view.signature = Some(signed.words());
            if signed == Signed::Forged {
                view.be_tampered("the journal says done, but nothing that stopgate signed does");
            }
        }
        Ok(view)
    }

    /// Loops, the newest first.
    pub fn list(&mut self, project: Option<&str>, standing: Standing) -> Result<ListView, Failure> {
        let found = self.journal.list(&Filter { project, standing, limit: 0 })?;
        let loops = found.iter().map(|stored| self.view(stored)).collect();
        Ok(ListView { schema_version: SCHEMA_VERSION, loops })
    }

    /// The loop that holds a session now, if there is one.
    pub fn held_by(&mut self, session: &str) -> Result<Option<LoopView>, Failure> {
        let Some(session) = SessionId::new(session) else { return Ok(None) };
        if !self.signs.may_hold(session.as_str()) {
            return Ok(None);
        }
        let held = self.journal.load_held(&session)?;
        Ok(held.map(|stored| self.view(&stored)))
    }
}

impl LoopView {
    /// Shows a record that is not what stopgate wrote.
    fn be_tampered(&mut self, why: &str) {
        self.state = "stuck";
        self.outcome = Some(Outcome::Tampered.word());
        self.why = Some(why.into());
        self.next = "person";
    }
}

impl StatusView {
    /// The answer about this loop.
    pub const fn of(found: LoopView) -> Self {
        Self { schema_version: SCHEMA_VERSION, found }
    }
}

/// A time as JSON and people read it: RFC 3339, UTC.
pub fn time_text(at: Timestamp) -> String {
    Instant::from_millisecond(at.unix_millis())
        .map_or_else(|_| "unknown".into(), |at| at.to_string())
}

pub(crate) fn loop_view(state: &State, now: Timestamp) -> LoopView {
    let outermost = state.frames.first();
    LoopView {
        id: state.id.as_str().into(),
        goal: state.goal.clone(),
        state: word(state, now),
        outcome: state.outcome().map(stopgate_core::Outcome::word),
        why: why(&state.phase),
        next: next(state),
        iteration: outermost.map_or(0, |frame| frame.iteration),
        max_iterations: outermost.map_or(0, |frame| limit(frame.max)),
        session: state.session.as_ref().map(|session| session.as_str().into()),
        claim_until: state.claim_until.map(time_text),
        project: state.project.clone(),
        dialect: Dialect::of(state.policy.order).map(Dialect::word),
        frames: state.frames.iter().map(frame_view).collect(),
        criteria: state.criteria.iter().map(|c| criterion_view(c, None)).collect(),
        budget: budget_view(state, now),
        revision: 0,
        record: "",
        signature: None,
        origin: origin_view(&state.origin),
        started_at: time_text(state.started_at),
        updated_at: time_text(state.updated_at),
        progress_at: time_text(state.progress_at),
        progress_age_ms: now.since(state.progress_at),
    }
}

/// A loop that nobody claimed in time holds nobody: it is idle, whatever it was meant to be;
/// and so is a task that nobody's hook waits for.
/// Background work parks a loop for an hour at most.
fn word(state: &State, now: Timestamp) -> &'static str {
    let missed = state.session.is_none()
        && (state.claim_until.is_some_and(|until| until < now) || state.surface == Surface::Tools);
    match &state.phase {
        Phase::Ended { .. } => state.word(),
        _unclaimed if missed => "idle",
        Phase::Waiting { on: Waiting::Background, since } if now.since(*since) > PARKED_MS_MAX => {
            "active"
        }
        _steady => state.word(),
    }
}

fn why(phase: &Phase) -> Option<String> {
    match phase {
        Phase::Ended { why, .. } => Some(why.clone()),
        Phase::Waiting { on: Waiting::Answer(question), .. } => Some(question.clone()),
        Phase::Waiting { on: Waiting::Background, .. } => Some("background work".into()),
        Phase::Waiting { on: Waiting::Approval, .. } => {
            Some("a person's word: stopgate approve".into())
        }
        Phase::Active | Phase::Completing | Phase::Paused { .. } => None,
    }
}

fn next(state: &State) -> &'static str {
    match &state.phase {
        Phase::Active | Phase::Completing | Phase::Waiting { on: Waiting::Background, .. } => {
            "agent"
        }
        Phase::Waiting { on: Waiting::Answer(_) | Waiting::Approval, .. }
        | Phase::Paused { .. } => "person",
        Phase::Ended { outcome, .. } if outcome.can_resume() => "person",
        Phase::Ended { .. } => "nobody",
    }
}

/// Other formats know loops without a limit, which the core counts towards a number out of reach.
const fn limit(max: u32) -> u32 {
    if max == u32::MAX { 0 } else { max }
}

fn origin_view(origin: &Origin) -> OriginView {
    let replaced = origin
        .replaced
        .iter()
        .map(|earlier| ReplacedView { id: earlier.id.as_str().into(), by: earlier.by.word() });
    OriginView {
        by: origin.by.word(),
        shown_by: origin.shown_by.clone(),
        approved: origin.vouched == Some(Vouch::Approved),
        replaced: replaced.collect(),
    }
}

fn frame_view(frame: &Frame) -> FrameView {
    FrameView {
        mode: frame.mode.word(),
        iteration: frame.iteration,
        max: limit(frame.max),
        prompt: frame.prompt.clone(),
    }
}

/// A criterion as people see it; `receipt` is what was found just now, where it was.
pub(crate) fn criterion_view(criterion: &Criterion, receipt: Option<&Receipt>) -> CriterionView {
    let last = criterion.last.as_ref();
    let status = match (criterion.approved_at, last) {
        (Some(_), _) => "approved",
        (None, Some(last)) => last.status.word(),
        (None, None) => "unknown",
    };
    let made = receipt.map(receipt_view);
    CriterionView {
        name: criterion.name.clone(),
        kind: criterion.proof.word(),
        required: criterion.is_required(),
        hidden: criterion.is_hidden(),
        status,
        command: criterion.command(),
        receipt: made.or_else(|| last.map(|last| receipt_view(&remembered(criterion, last)))),
    }
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

fn budget_view(state: &State, now: Timestamp) -> BudgetView {
    BudgetView {
        max_minutes: state.policy.max_minutes,
        used_ms: state.used_ms(now),
        idle: state.tally.idle,
        max_idle: state.policy.max_idle,
        repeat: state.tally.repeat,
        max_repeat: state.policy.max_repeat,
    }
}
