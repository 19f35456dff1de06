//! A loop begins.

use std::path::PathBuf;

use stopgate_core::{
    Author, Event, Frame, GoalShape, JudgesAre, LoopGate, Mode, Origin, Outcome, Proof, SessionId,
    Started, State, Surface, Timestamp, apply,
};
use stopgate_store::{Recorded, Revision, Stored};
use stopgate_verify::PlaceReport;

use crate::config::Config;
use crate::context::{Incumbent, Stocked};
use crate::failure::Failure;
use crate::judging::gates;
use crate::judging::ground::{
    JudgesOf, Preflight, Preflighted, PreparedLoop, ProjectCommands, go_on_with_first_runs,
    prepare_loop,
};
use crate::judging::origin::{REPLACED, REPLACED_BY_AGENT, origin};
use crate::limits::{LimitSetting, LoopLimits, RequestedLimits, settle};
use crate::lint::{GoalReview, review_goal};
use crate::loops::Loops;
use crate::project::project_of;
use crate::project_file::{AtStart, CriterionDraft, ProjectFile};
use crate::tidy::tidy;
use crate::trust::{Trust, untrusted};

const GOAL_BYTES_MAX: usize = 16 * 1024;
const CRITERIA_MAX: usize = 64;
const NAMES_TRIED_MAX: usize = 8;

/// What a new loop should be.
#[derive(Clone, Debug)]
pub struct StartRequest {
    /// What it is for.
    pub goal: String,
    /// What the agent is asked to do, where that is more than the goal.
    pub prompt: Option<String>,
    /// How its outermost frame works.
    pub mode: Mode,
    /// The limits that were asked for.
    pub limits: RequestedLimits,
    /// What must hold before it is done, beyond what the project's file says.
    pub criteria: Vec<CriterionDraft>,
    /// Gates beside the criteria, as people write them.
    pub gates: Vec<String>,
    /// The session it holds, where that is known.
    pub session: Option<String>,
    /// The directory it begins in.
    pub directory: PathBuf,
    /// How long a session may claim it, where it holds none.
    pub claim_within_ms: i64,
    /// What becomes of a loop that holds the session already.
    pub incumbent: Incumbent,
    /// Whether each check is run once before the loop begins.
    pub preflight: Preflight,
    /// The tool by which an agent asks for it; nothing where it is a command.
    pub tool: Option<&'static str>,
    /// How the agent is to work, where a person says so.
    pub shape: Option<GoalShape>,
}

/// A loop that has begun.
#[derive(Clone, Debug)]
pub struct Begun {
    /// The loop.
    pub stored: Stored,
    /// Whom it holds.
    pub binding: SessionChoice,
    /// Its limits, and who set them.
    pub settings: Vec<LimitSetting>,
    /// The checks that were run before it began.
    pub preflighted: Vec<Preflighted>,
    /// The files that judge each criterion.
    pub judges: Vec<JudgesOf>,
    /// Why nothing could be noted to judge by, where nothing could.
    pub no_basis: Option<String>,
    /// What a person should know about the checks before they walk away.
    pub warnings: Vec<String>,
    /// Where original runs take place, where any check runs something.
    pub place: Option<PlaceReport>,
    /// Variables that steer the checks' runners.
    pub steering: Vec<String>,
    /// Whether nobody trusted the project's file, so that nothing of it is run.
    pub untrusted: bool,
    /// How clear its goal is.
    pub review: GoalReview,
}

/// Whom a new loop holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChoice {
    /// This session.
    Session(SessionId),
    /// Nobody yet; the first session of the project to come by until then.
    Pending(Timestamp),
}

impl Loops<'_> {
    /// Begins a loop.
    pub fn start(&mut self, request: &StartRequest) -> Result<Begun, Failure> {
        validate(request)?;
        self.context.prepare()?;
        let project = project_of(&request.directory);
        let file = ProjectFile::read(&project)?;
        let drafts = drafts(request, file.as_ref())?;
        let gates = gates_of(request, file.as_ref(), &project)?;
        let config = Config::read(self.context.settings)?;
        let wished = file.as_ref().map(|file| file.limits).unwrap_or_default();
        let (mut limits, settings) = settle(&request.limits, &config.limits, &wished);
        let review = review(&request.goal, &drafts);
        limits.policy.score = Some(review.score);
        limits.policy.shape = request.shape;
        limits.policy.metered = config.shared.is_any();
        let session = self.session_for(request)?;
        if let Some(session) = &session {
            self.refuse_taken(session, request.incumbent)?;
        }
        let commands = self.refuse_untrusted(file.as_ref(), &drafts)?;
        self.refuse_weaker(request, &drafts)?;
        let mut prepared = prepare_loop(
            self.context,
            &project,
            file.as_ref(),
            drafts,
            request.preflight,
            commands,
        )?;
        if let Some(session) = &session {
            self.make_room(request, session)?;
        }
        let origin = origin(self.context, request.tool, &project, session.as_ref())?;
        let ground = Beginning { laid: &prepared, gates: &gates, origin: &origin };
        let stored = self.begin(request, session.as_ref(), limits, ground)?;
        go_on_with_first_runs(self.context, &stored.state.id, &mut prepared.measured);
        tidy(self.context);
        Ok(Begun {
            binding: binding(&stored.state),
            stored,
            settings,
            preflighted: prepared.measured,
            judges: prepared.judges,
            no_basis: prepared.no_basis,
            warnings: prepared.warnings,
            place: prepared.place,
            steering: prepared.steering,
            untrusted: commands == ProjectCommands::Untrusted,
            review,
        })
    }

    /// An agent may not weaken what it is judged by.
    fn refuse_weaker(
        &self,
        request: &StartRequest,
        drafts: &[CriterionDraft],
    ) -> Result<(), Failure> {
        if request.preflight == Preflight::Skip {
            self.context.as_person("use --no-preflight")?;
        }
        let weaker = |draft: &&CriterionDraft| {
            let terms = &draft.criterion.terms;
            let own = terms.author == Author::Command;
            own && (!terms.may_change.is_empty() || terms.judges == JudgesAre::Work)
        };
        match drafts.iter().find(weaker) {
            Some(_) => self.context.as_person("say that the work may change its judges"),
            None => Ok(()),
        }
    }

    pub(crate) fn begin(
        &mut self,
        request: &StartRequest,
        session: Option<&SessionId>,
        limits: LoopLimits,
        ground: Beginning<'_>,
    ) -> Result<Stored, Failure> {
        for _ in 0..NAMES_TRIED_MAX {
            self.context.journal.begin()?;
            let tried = self.try_start(request, session, limits, ground);
            self.context.journal.end();
            match tried? {
                Stocked::Stored(stored) => return Ok(*stored),
                Stocked::SessionTaken => return Err(taken(session)),
                Stocked::Conflict => {}
            }
        }
        Err(Failure::fault("could not find a free name for the loop"))
    }

    /// Whether the project's commands may not be run; refused where they would have to be now.
    fn refuse_untrusted(
        &self,
        file: Option<&ProjectFile>,
        drafts: &[CriterionDraft],
    ) -> Result<ProjectCommands, Failure> {
        let allowed = Ok(ProjectCommands::Allowed);
        let Some(file) = file.filter(|file| file.needs_trust()) else { return allowed };
        if Trust::of(&self.context.home).has(&file.source) {
            return allowed;
        }
        let runs_now = |draft: &CriterionDraft| {
            !matches!(draft.start, AtStart::Rest | AtStart::Try)
                && draft.criterion.terms.author == Author::Project
        };
        if drafts.iter().any(runs_now) {
            return Err(untrusted());
        }
        Ok(ProjectCommands::Untrusted)
    }

    fn try_start(
        &mut self,
        request: &StartRequest,
        session: Option<&SessionId>,
        limits: LoopLimits,
        ground: Beginning<'_>,
    ) -> Result<Stocked, Failure> {
        let Beginning { laid, gates, origin } = ground;
        let now = self.context.now();
        let id = self.context.world.new_id();
        let prompt = request.prompt.clone().unwrap_or_else(|| request.goal.clone());
        let started = Started {
            id,
            goal: request.goal.trim().into(),
            project: self.context.world.project_of(&request.directory).display().to_string(),
            session: session.cloned(),
            claim_until: session.is_none().then(|| now.plus(request.claim_within_ms)),
            policy: limits.policy,
            frame: Frame { mode: request.mode, iteration: 0, max: limits.max_iterations, prompt },
            criteria: laid.criteria.clone(),
            ground: laid.ground.clone(),
            surface: Surface::Hook,
            gates: gates.to_vec(),
            origin: origin.clone(),
            commit: laid.commit.clone(),
        };
        let event = Event::Started(Box::new(started));
        let state = apply(None, &event, now)
            .ok_or_else(|| Failure::fault("could not make the loop's first state"))?;
        self.context.append(Revision::NONE, &[Recorded { event, at: now }], None, state)
    }

    /// The session that was named, else the one whose shell this is, else the only one here.
    fn session_for(&self, request: &StartRequest) -> Result<Option<SessionId>, Failure> {
        if let Some(name) = &request.session {
            let session = SessionId::new(name);
            return session.map(Some).ok_or_else(|| Failure::usage("--session can't be empty"));
        }
        if let Some(session) =
            self.context.settings.session().and_then(|name| SessionId::new(&name))
        {
            return Ok(Some(session));
        }
        let alive =
            self.context.presence.alive(&project_of(&request.directory), self.context.now());
        Ok(match alive.as_slice() {
            [only] => SessionId::new(only),
            _ => None,
        })
    }

    pub(crate) fn refuse_taken(
        &mut self,
        session: &SessionId,
        incumbent: Incumbent,
    ) -> Result<(), Failure> {
        match (self.context.journal.load_held(session)?, incumbent) {
            (Some(_), Incumbent::Keep) => Err(taken(Some(session))),
            (Some(_), Incumbent::Replace) | (None, _) => Ok(()),
        }
    }

    pub(crate) fn make_room(
        &mut self,
        request: &StartRequest,
        session: &SessionId,
    ) -> Result<(), Failure> {
        let Some(held) = self.context.journal.load_held(session)? else {
            return Ok(());
        };
        let id = held.state.id;
        let agents = request.tool.is_some() || self.context.world.is_agents_shell();
        let why = if agents { REPLACED_BY_AGENT } else { REPLACED };
        self.context.end(&id, Outcome::Cancelled, why).map(|_| ())
    }
}

/// What a loop begins with.
#[derive(Clone, Copy)]
pub(crate) struct Beginning<'a> {
    pub(crate) laid: &'a PreparedLoop,
    pub(crate) gates: &'a [LoopGate],
    pub(crate) origin: &'a Origin,
}

/// How clear a goal is with these criteria behind it.
fn review(goal: &str, drafts: &[CriterionDraft]) -> GoalReview {
    let checks = drafts.iter().filter(|draft| draft.criterion.is_checked()).count();
    let attested = drafts.iter().filter(|draft| draft.criterion.proof == Proof::Attest).count();
    review_goal(goal, checks, attested)
}

/// The project's criteria, then those that were asked for.
fn drafts(
    request: &StartRequest,
    file: Option<&ProjectFile>,
) -> Result<Vec<CriterionDraft>, Failure> {
    let mut drafts = file.map(|file| file.criteria.clone()).unwrap_or_default();
    drafts.extend(request.criteria.iter().cloned());
    if drafts.len() > CRITERIA_MAX {
        return Err(Failure::usage(format!("more than {CRITERIA_MAX} criteria")));
    }
    for (at, draft) in drafts.iter().enumerate() {
        let name = &draft.criterion.name;
        if drafts[..at].iter().any(|earlier| earlier.criterion.name == *name) {
            return Err(Failure::usage(format!("two criteria are called \"{name}\"")));
        }
    }
    Ok(drafts)
}

/// The project's gates, then those that were asked for.
fn gates_of(
    request: &StartRequest,
    file: Option<&ProjectFile>,
    project: &std::path::Path,
) -> Result<Vec<LoopGate>, Failure> {
    let of_file = file.and_then(|file| file.gates.as_ref());
    let of_file = of_file.into_iter().flatten().map(|text| (text, Author::Project));
    let asked_for = request.gates.iter().map(|text| (text, Author::Command));
    gates::read(of_file.chain(asked_for), project)
}

fn binding(state: &State) -> SessionChoice {
    match (&state.session, state.claim_until) {
        (Some(session), _) => SessionChoice::Session(session.clone()),
        (None, until) => SessionChoice::Pending(until.unwrap_or(state.started_at)),
    }
}

fn taken(session: Option<&SessionId>) -> Failure {
    let name = session.map_or("this one", SessionId::as_str);
    Failure::session_taken(format!("a loop already holds session {name}")).hint(
        "nest another frame in it: stopgate push \"PROMPT\", or end it: start --replace, stopgate cancel",
    )
}

fn validate(request: &StartRequest) -> Result<(), Failure> {
    if request.goal.trim().is_empty() {
        return Err(Failure::usage("the goal is empty")
            .hint("stopgate start \"what must be true at the end\""));
    }
    if request.goal.len() > GOAL_BYTES_MAX {
        return Err(Failure::usage(format!("the goal is longer than {GOAL_BYTES_MAX} bytes"))
            .hint("put the details into a file that the goal names"));
    }
    if request.limits.max_iterations == Some(0) {
        return Err(Failure::usage("--max-iterations must be at least 1"));
    }
    Ok(())
}
