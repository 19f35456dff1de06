//! The loop's own tools: begin one, look at it, say how it went.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_core::{Criterion, Mode, Outcome, Proof};
use stopgate_engine::{
    AgentExit, CriterionDraft, CriterionView, Engine, Failure, FailureKind, Incumbent, LoopTarget,
    LoopView, Preflight, RequestedLimits, SessionChoice, StartRequest, time_text,
};

const CHECK_TIMEOUT_MS: u64 = 5 * 60 * 1000;
const CLAIM_WITHIN_MS: i64 = 60 * 60 * 1000;

/// What `loop_start` is asked.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StartAsk {
    goal: String,
    #[serde(default)]
    checks: Vec<CheckAsk>,
    max_iterations: Option<u32>,
    max_minutes: Option<u32>,
    session: Option<String>,
    #[serde(default)]
    replace: bool,
}

/// A command that must pass.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckAsk {
    name: String,
    command: String,
}

/// What `loop_status` is asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatusAsk {
    id: Option<String>,
}

/// What `loop_done` is asked.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DoneAsk {
    id: Option<String>,
    #[serde(default)]
    claim: ReportedEnd,
    #[serde(default)]
    why: String,
}

/// How an agent says it went.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReportedEnd {
    #[default]
    Done,
    Blocked,
    Impossible,
    NeedsInput,
}

/// A loop in the words that an agent needs, and what it means for it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoopAnswer {
    id: String,
    goal: String,
    state: &'static str,
    outcome: Option<&'static str>,
    why: Option<String>,
    iteration: u32,
    max_iterations: u32,
    session: Option<String>,
    criteria: Vec<CriterionAnswer>,
    note: String,
}

/// What must hold. Which of them are hidden is not told.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CriterionAnswer {
    name: String,
    status: &'static str,
    command: Option<String>,
    log: Option<String>,
}

impl LoopAnswer {
    fn new(view: LoopView, note: String) -> Self {
        Self {
            criteria: view.criteria.into_iter().map(CriterionAnswer::new).collect(),
            id: view.id,
            goal: view.goal,
            state: view.state.word(),
            outcome: view.outcome.map(Outcome::word),
            why: view.why,
            iteration: view.iteration,
            max_iterations: view.max_iterations,
            session: view.session,
            note,
        }
    }
}

impl CriterionAnswer {
    fn new(view: CriterionView) -> Self {
        if view.hidden {
            let name = "hidden".into();
            return Self { name, status: view.status.word(), command: None, log: None };
        }
        let log = view.receipt.and_then(|receipt| receipt.log);
        Self { name: view.name, status: view.status.word(), command: view.command, log }
    }
}

/// Begins a loop.
pub(crate) fn start(
    engine: &mut Engine,
    ask: &StartAsk,
    directory: &Path,
) -> Result<LoopAnswer, Failure> {
    let begun = engine.loops().start(&request(ask, directory)).map_err(in_tools_words)?;
    let found = engine.views().view(&begun.stored);
    let note = match &begun.binding {
        SessionChoice::Session(session) => format!("It holds session {session} from now on."),
        SessionChoice::Pending(until) => format!(
            "It holds nobody yet: the first session in this project until {} claims it.",
            time_text(*until)
        ),
    };
    Ok(LoopAnswer::new(found, note))
}

/// An agent at a tool has no command line: its ways out are tools and arguments.
fn in_tools_words(failure: Failure) -> Failure {
    if failure.kind != FailureKind::SessionTaken {
        return failure;
    }
    failure.hint(
        "ask loop_status how that loop stands and end it with loop_done, or call loop_start with \
         replace: true",
    )
}

fn request(ask: &StartAsk, directory: &Path) -> StartRequest {
    let limits = RequestedLimits {
        max_iterations: ask.max_iterations,
        max_minutes: ask.max_minutes,
        ..RequestedLimits::default()
    };
    StartRequest {
        goal: ask.goal.clone(),
        prompt: None,
        mode: Mode::Loop,
        limits,
        criteria: ask.checks.iter().map(draft).collect(),
        gates: Vec::new(),
        session: ask.session.clone(),
        directory: directory.into(),
        claim_within_ms: CLAIM_WITHIN_MS,
        incumbent: if ask.replace { Incumbent::Replace } else { Incumbent::Keep },
        preflight: Preflight::Run,
        tool: Some("loop_start"),
        shape: None,
    }
}

fn draft(ask: &CheckAsk) -> CriterionDraft {
    let proof = Proof::Check { command: ask.command.clone(), timeout_ms: CHECK_TIMEOUT_MS };
    CriterionDraft::at_rest(Criterion::new(&ask.name, proof))
}

/// Shows a loop.
pub(crate) fn status(
    engine: &mut Engine,
    ask: &StatusAsk,
    directory: &Path,
) -> Result<LoopAnswer, Failure> {
    let stored = engine.loops().resolve(&target(ask.id.as_deref(), directory))?;
    let mut answer = LoopAnswer::new(engine.views().view_checked(&stored)?, String::new());
    let open = |criterion: &&CriterionAnswer| !["pass", "approved"].contains(&criterion.status);
    let unmet: Vec<&str> =
        answer.criteria.iter().filter(open).map(|criterion| criterion.name.as_str()).collect();
    answer.note = match (answer.outcome, unmet.as_slice()) {
        (Some(outcome), _) => format!("It is over: {outcome}."),
        (None, []) => "Nothing is left to be proven.".into(),
        (None, unmet) => format!("Not proven yet: {}.", unmet.join(", ")),
    };
    Ok(answer)
}

/// Hears how it went.
pub(crate) fn done(
    engine: &mut Engine,
    ask: &DoneAsk,
    directory: &Path,
) -> Result<LoopAnswer, Failure> {
    let target = target(ask.id.as_deref(), directory);
    let (stored, note) = match ask.claim {
        ReportedEnd::Done => {
            (engine.loops().claim(&target)?, "Stop now: the checks run, and they decide.")
        }
        ReportedEnd::Blocked => {
            (engine.loops().leave(&target, AgentExit::Blocked, &ask.why)?, "You may stop.")
        }
        ReportedEnd::Impossible => {
            (engine.loops().leave(&target, AgentExit::Impossible, &ask.why)?, "You may stop.")
        }
        ReportedEnd::NeedsInput => (
            engine.loops().ask(&target, &ask.why)?,
            "Put the question to the person and stop; the loop goes on when they answer.",
        ),
    };
    Ok(LoopAnswer::new(engine.views().view(&stored), note.into()))
}

fn target(id: Option<&str>, directory: &Path) -> LoopTarget {
    match id {
        Some(id) => LoopTarget::Named(id.into()),
        None => LoopTarget::Here(PathBuf::from(directory)),
    }
}
