//! Loops as people and programs see them.

mod budget;
mod criterion;
mod edit;
mod steps;

use jiff::Timestamp as Instant;
use serde::{Serialize, Serializer};
use stopgate_core::{
    Frame, GoalShape, LoopId, LoopState, Mode, Origin, Outcome, Party, Phase, Rest, SessionId,
    State, Surface, Timestamp, Vouch, Waiting,
};
use stopgate_dialects::Dialect;
use stopgate_store::{EndedFilter, Filter, Soundness, Stored};
use stopgate_view::waits_for as waits_for_text;

use self::budget::budget_view;
pub use self::budget::{BudgetView, ModelSpendView};
pub(crate) use self::criterion::criterion_view;
pub use self::criterion::{CriterionStatus, CriterionView, ReceiptView};
pub(crate) use self::edit::{describe_edit, short};
pub(crate) use self::steps::step_line;
use crate::checking::{CheckingView, checking};
use crate::context::Context;
use crate::failure::Failure;
use crate::judging::certificate::{Signed, signed};
use crate::metering::Metering;

const FORGED: &str = "its record was changed outside of stopgate";
const PARKED_MS_MAX: i64 = 60 * 60 * 1000;

/// The version of every JSON answer.
pub const SCHEMA_VERSION: u32 = 1;

/// One loop.
#[derive(Clone, Debug, Serialize)]
pub struct LoopView {
    /// Its name.
    pub id: String,
    /// What it is for.
    pub goal: String,
    /// How clear that is, of ten points, where it was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<u8>,
    /// How the agent is to work, where a person said so: `tool` or `colleague`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<&'static str>,
    /// One of the seven words.
    pub state: LoopState,
    /// How it ended.
    pub outcome: Option<Outcome>,
    /// Why it ended, or what it waits for.
    pub why: Option<String>,
    /// Who must act next.
    pub next: WhoActs,
    /// What ends a pause.
    pub paused_until: Option<PausedUntil>,
    /// What a waiting loop waits for.
    #[serde(skip)]
    pub waiting: Option<WaitsFor>,
    /// Continuations used.
    pub iteration: u32,
    /// Continuations allowed; 0 means no limit.
    pub max_iterations: u32,
    /// The session it holds.
    pub session: Option<String>,
    /// Whether that session is known to be gone.
    pub session_gone: bool,
    /// Until when it may be claimed.
    pub claim_until: Option<String>,
    /// The same, for people.
    #[serde(skip)]
    pub claim_until_at: Option<Timestamp>,
    /// The directory it belongs to.
    pub project: String,
    /// Whose file keeps it, where it is not ours: then this is an audit trail, or that file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialect: Option<&'static str>,
    /// Its frames, the outermost first.
    pub frames: Vec<FrameView>,
    /// What must hold before it is done.
    pub criteria: Vec<CriterionView>,
    /// The checks that run now.
    pub checking: Option<CheckingView>,
    /// What it may use and has used.
    pub budget: BudgetView,
    /// How many events the journal has of it.
    pub revision: u64,
    /// What the seals under its record say; nothing where they were not looked at.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "soundness_word")]
    pub record: Option<Soundness>,
    /// What can be said about the signature of a loop that is done.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "signature_words")]
    pub signature: Option<Signed>,
    /// Who began it.
    pub origin: OriginView,
    /// When it began.
    pub started_at: String,
    /// When it was last touched.
    pub updated_at: String,
    /// The same, to reckon with.
    #[serde(skip)]
    pub updated: Timestamp,
    /// When the agent last did something.
    pub progress_at: String,
    /// How long ago that was.
    pub progress_age_ms: i64,
}

/// Who must act next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhoActs {
    /// The agent works on.
    Agent,
    /// A person has to look, answer or decide.
    Person,
    /// It is over.
    Nobody,
}

/// What ends a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PausedUntil {
    /// `stopgate resume`.
    Resume,
    /// The next prompt of a person.
    Prompt,
    /// Another session that takes over.
    Session,
}

/// What a waiting loop waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// Background work of the agent.
    Background,
    /// A person's answer.
    Answer,
    /// A person's approval.
    Approval,
    /// Something outside the session.
    Condition,
}

/// Who began a loop.
#[derive(Clone, Debug, Serialize)]
pub struct OriginView {
    /// A person, an agent, or nobody knows.
    pub by: Party,
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
    pub mode: Mode,
    /// Continuations used.
    pub iteration: u32,
    /// Continuations allowed.
    pub max: u32,
    /// What it asks for.
    pub prompt: String,
}

/// Loops as they stand.
pub struct Views<'a> {
    pub(crate) context: &'a mut Context,
}

impl Views<'_> {
    /// The loop that was loaded, as people and programs see it.
    pub fn view(&self, stored: &Stored) -> LoopView {
        let mut view = loop_view(&stored.state, self.context.now());
        view.revision = stored.revision.0;
        for first in view.criteria.iter_mut().filter_map(|own| own.first_run.as_mut()) {
            first.compare(self.context.hook_time());
        }
        if stored.state.outcome().is_none() {
            view.checking = checking(&self.context.home, &stored.state.id, self.context.now());
        }
        if stored.soundness == Soundness::Forged {
            view.be_tampered(FORGED);
        }
        view
    }

    /// The same, after looking at all of its record, and whether a loop that is said to be done
    /// was signed so.
    pub fn view_checked(&mut self, stored: &Stored) -> Result<LoopView, Failure> {
        let mut view = self.view(stored);
        if stored.state.spend.is_some() {
            view.budget = budget_view(
                &Metering { context: self.context }.with_spend_now(&stored.state),
                self.context.now(),
            );
        }
        view.session_gone = self.context.is_session_gone(&stored.state);
        let soundness = self.context.journal.soundness(&stored.state.id)?;
        view.record = Some(soundness);
        if soundness == Soundness::Forged {
            view.be_tampered(FORGED);
        } else if stored.state.outcome() == Some(Outcome::Done) {
            let signed = signed(self.context, stored)?;
            view.signature = Some(signed);
            if signed == Signed::Forged {
                view.be_tampered("the journal says done, but nothing that stopgate signed does");
            }
        }
        Ok(view)
    }

    /// Loops, the newest first.
    pub fn list(
        &mut self,
        project: Option<&str>,
        standing: EndedFilter,
    ) -> Result<Vec<LoopView>, Failure> {
        let found = self.context.journal.list(&Filter { project, standing, limit: 0 })?;
        Ok(found.iter().map(|stored| self.view(stored)).collect())
    }

    /// The loop that holds a session now, or that ended since a person last spoke to it.
    pub fn shown_in(&mut self, session: &str) -> Result<Option<LoopView>, Failure> {
        let Some(session) = SessionId::new(session) else { return Ok(None) };
        if self.context.signs.may_hold(session.as_str())
            && let Some(stored) = self.context.journal.load_held(&session)?
        {
            return Ok(Some(self.view(&stored)));
        }
        let Some(id) = self.context.signs.freed_from(session.as_str()) else { return Ok(None) };
        let ended = self.context.journal.load(&LoopId::new(&id))?;
        Ok(ended.map(|stored| self.view(&stored)))
    }
}

impl LoopView {
    /// Shows a record that is not what stopgate wrote.
    fn be_tampered(&mut self, why: &str) {
        self.state = LoopState::Stuck;
        self.outcome = Some(Outcome::Tampered);
        self.why = Some(why.into());
        self.next = WhoActs::Person;
    }
}

/// A time as JSON and people read it: RFC 3339, UTC.
pub fn time_text(at: Timestamp) -> String {
    Instant::from_millisecond(at.unix_millis())
        .map_or_else(|_| "unknown".into(), |at| at.to_string())
}

/// An instant in the person's own time zone.
pub fn local_time(at: Timestamp, format: &str) -> String {
    in_zone(at, format, jiff::tz::TimeZone::system())
}

/// An instant in UTC.
pub fn utc_time(at: Timestamp, format: &str) -> String {
    in_zone(at, format, jiff::tz::TimeZone::UTC)
}

fn in_zone(at: Timestamp, format: &str, zone: jiff::tz::TimeZone) -> String {
    Instant::from_millisecond(at.unix_millis())
        .map_or_else(|_| "unknown".into(), |at| at.to_zoned(zone).strftime(format).to_string())
}

pub(crate) fn loop_view(state: &State, now: Timestamp) -> LoopView {
    let outermost = state.frames.first();
    // What is over can't be claimed any more.
    let claim_until = state.claim_until.filter(|_| state.outcome().is_none());
    LoopView {
        id: state.id.as_str().into(),
        goal: state.goal.clone(),
        score: state.policy.score,
        shape: state.policy.shape.map(GoalShape::word),
        state: shown(state, now),
        outcome: state.outcome().or_else(|| awaited(&state.phase)),
        why: why(&state.phase),
        next: next(state),
        paused_until: paused_until(&state.phase),
        waiting: waits_for(&state.phase),
        iteration: outermost.map_or(0, |frame| frame.iteration),
        max_iterations: outermost.map_or(0, |frame| limit(frame.max)),
        session: state.session.as_ref().map(|session| session.as_str().into()),
        session_gone: false,
        claim_until: claim_until.map(time_text),
        claim_until_at: claim_until,
        project: state.project.clone(),
        dialect: Dialect::of(state.policy.order).map(Dialect::word),
        frames: state.frames.iter().map(frame_view).collect(),
        criteria: state.criteria.iter().map(|c| criterion_view(c, None)).collect(),
        checking: None,
        budget: budget_view(state, now),
        revision: 0,
        record: None,
        signature: None,
        origin: origin_view(&state.origin),
        started_at: time_text(state.started_at),
        updated_at: time_text(state.updated_at),
        updated: state.updated_at,
        progress_at: time_text(state.progress_at),
        progress_age_ms: now.since(state.progress_at),
    }
}

/// A loop that nobody claimed in time holds nobody: it is idle, whatever it was meant to be;
/// and so is a task that nobody's hook waits for.
/// Background work parks a loop for an hour at most.
fn shown(state: &State, now: Timestamp) -> LoopState {
    let missed = state.session.is_none()
        && (state.claim_until.is_some_and(|until| until < now) || state.surface == Surface::Tools);
    match &state.phase {
        Phase::Ended { .. } => state.shown(),
        _unclaimed if missed => LoopState::Idle,
        Phase::Waiting { on: Waiting::Background, since } if now.since(*since) > PARKED_MS_MAX => {
            LoopState::Active
        }
        _steady => state.shown(),
    }
}

const fn paused_until(phase: &Phase) -> Option<PausedUntil> {
    match phase {
        Phase::Paused { rest: Rest::Resume, .. } => Some(PausedUntil::Resume),
        Phase::Paused { rest: Rest::NextPrompt, .. } => Some(PausedUntil::Prompt),
        Phase::Paused { rest: Rest::NextSession, .. } => Some(PausedUntil::Session),
        Phase::Active | Phase::Completing | Phase::Waiting { .. } | Phase::Ended { .. } => None,
    }
}

const fn waits_for(phase: &Phase) -> Option<WaitsFor> {
    match phase {
        Phase::Waiting { on: Waiting::Background, .. } => Some(WaitsFor::Background),
        Phase::Waiting { on: Waiting::Answer(_), .. } => Some(WaitsFor::Answer),
        Phase::Waiting { on: Waiting::Approval, .. } => Some(WaitsFor::Approval),
        Phase::Waiting { on: Waiting::Condition(_), .. } => Some(WaitsFor::Condition),
        Phase::Active | Phase::Completing | Phase::Paused { .. } | Phase::Ended { .. } => None,
    }
}

/// The outcome that a loop waits to be rid of: it can go on from there.
const fn awaited(phase: &Phase) -> Option<Outcome> {
    match phase {
        Phase::Waiting { on: Waiting::Approval, .. } => Some(Outcome::NeedsApproval),
        Phase::Waiting { .. }
        | Phase::Active
        | Phase::Completing
        | Phase::Paused { .. }
        | Phase::Ended { .. } => None,
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
        Phase::Waiting { on: Waiting::Condition(parking), .. } => Some(waits_for_text(parking)),
        Phase::Active | Phase::Completing | Phase::Paused { .. } => None,
    }
}

fn next(state: &State) -> WhoActs {
    match &state.phase {
        Phase::Active
        | Phase::Completing
        | Phase::Waiting { on: Waiting::Background | Waiting::Condition(_), .. } => WhoActs::Agent,
        Phase::Waiting { on: Waiting::Answer(_) | Waiting::Approval, .. }
        | Phase::Paused { .. } => WhoActs::Person,
        Phase::Ended { outcome, .. } if outcome.can_resume() => WhoActs::Person,
        Phase::Ended { .. } => WhoActs::Nobody,
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
        by: origin.by,
        shown_by: origin.shown_by.clone(),
        approved: origin.vouched == Some(Vouch::Approved),
        replaced: replaced.collect(),
    }
}

fn frame_view(frame: &Frame) -> FrameView {
    FrameView {
        mode: frame.mode,
        iteration: frame.iteration,
        max: limit(frame.max),
        prompt: frame.prompt.clone(),
    }
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde lends fields")]
fn soundness_word<S: Serializer>(found: &Option<Soundness>, to: S) -> Result<S::Ok, S::Error> {
    found.map(Soundness::word).serialize(to)
}

#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "serde lends fields")]
fn signature_words<S: Serializer>(found: &Option<Signed>, to: S) -> Result<S::Ok, S::Error> {
    found.map(Signed::words).serialize(to)
}
