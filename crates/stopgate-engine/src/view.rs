//! Loops as people and programs see them.

use jiff::Timestamp as Instant;
use serde::Serialize;
use stopgate_core::{Criterion, Frame, Phase, Proof, SessionId, State, Timestamp, Waiting};
use stopgate_dialects::Dialect;
use stopgate_store::{Filter, Standing, Stored};

use crate::engine::Engine;
use crate::failure::Failure;

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
    /// When it began.
    pub started_at: String,
    /// When it was last touched.
    pub updated_at: String,
    /// When the agent last did something.
    pub progress_at: String,
    /// How long ago that was.
    pub progress_age_ms: i64,
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
pub struct CriterionView {
    /// Its name.
    pub name: String,
    /// `run` or `attest`.
    pub kind: &'static str,
    /// `unknown`, or how its check came out.
    pub status: &'static str,
    /// The command of its check.
    pub command: Option<String>,
    /// What its check produced last.
    pub receipt: Option<ReceiptView>,
}

/// What is remembered of a receipt.
#[derive(Clone, Debug, Serialize)]
pub struct ReceiptView {
    /// The exit code, where there was one.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// When it ended.
    pub at: String,
    /// Where its whole output is.
    pub log: Option<String>,
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
        view
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
        criteria: state.criteria.iter().map(criterion_view).collect(),
        budget: budget_view(state, now),
        revision: 0,
        started_at: time_text(state.started_at),
        updated_at: time_text(state.updated_at),
        progress_at: time_text(state.progress_at),
        progress_age_ms: now.since(state.progress_at),
    }
}

/// A loop that nobody claimed in time holds nobody: it is idle, whatever it was meant to be.
/// Background work parks a loop for an hour at most.
fn word(state: &State, now: Timestamp) -> &'static str {
    let missed = state.session.is_none() && state.claim_until.is_some_and(|until| until < now);
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
        Phase::Active | Phase::Completing | Phase::Paused { .. } => None,
    }
}

fn next(state: &State) -> &'static str {
    match &state.phase {
        Phase::Active | Phase::Completing | Phase::Waiting { on: Waiting::Background, .. } => {
            "agent"
        }
        Phase::Waiting { on: Waiting::Answer(_), .. } | Phase::Paused { .. } => "person",
        Phase::Ended { outcome, .. } if outcome.can_resume() => "person",
        Phase::Ended { .. } => "nobody",
    }
}

/// Other formats know loops without a limit, which the core counts towards a number out of reach.
const fn limit(max: u32) -> u32 {
    if max == u32::MAX { 0 } else { max }
}

fn frame_view(frame: &Frame) -> FrameView {
    FrameView {
        mode: frame.mode.word(),
        iteration: frame.iteration,
        max: limit(frame.max),
        prompt: frame.prompt.clone(),
    }
}

fn criterion_view(criterion: &Criterion) -> CriterionView {
    let (kind, command) = match &criterion.proof {
        Proof::Check { command, .. } => ("run", Some(command.clone())),
        Proof::Attest => ("attest", None),
    };
    let last = criterion.last.as_ref();
    CriterionView {
        name: criterion.name.clone(),
        kind,
        status: last.map_or("unknown", |last| last.status.word()),
        command,
        receipt: last.map(|last| ReceiptView {
            exit_code: last.exit_code,
            duration_ms: last.duration_ms,
            at: time_text(last.at),
            log: last.log.clone(),
        }),
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
