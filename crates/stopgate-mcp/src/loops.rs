//! The loop's own tools: begin one, look at it, say how it went.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_core::{Criterion, Mode, Policy, Proof};
use stopgate_engine::{
    Binding, Engine, Exit, Failure, Incumbent, LoopView, StartRequest, Target, time_text,
};

const MAX_ITERATIONS: u32 = 20;
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
    claim: Claim,
    #[serde(default)]
    why: String,
}

/// How an agent says it went.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Claim {
    #[default]
    Done,
    Blocked,
    Impossible,
    NeedsInput,
}

/// A loop, and what that means for whoever asked.
#[derive(Debug, Serialize)]
pub(crate) struct LoopAnswer {
    #[serde(rename = "loop")]
    found: LoopView,
    note: String,
}

/// Begins a loop.
pub(crate) fn start(
    engine: &mut Engine,
    ask: &StartAsk,
    folder: &Path,
) -> Result<LoopAnswer, Failure> {
    let begun = engine.start(&request(ask, folder))?;
    let found = engine.view(&begun.stored);
    let note = match &begun.binding {
        Binding::Session(session) => format!("It holds session {session} from now on."),
        Binding::Pending(until) => format!(
            "It holds nobody yet: the first session in this project until {} claims it.",
            time_text(*until)
        ),
    };
    Ok(LoopAnswer { found, note })
}

fn request(ask: &StartAsk, folder: &Path) -> StartRequest {
    let standard = Policy::default();
    let policy =
        Policy { max_minutes: ask.max_minutes.unwrap_or(standard.max_minutes), ..standard };
    StartRequest {
        goal: ask.goal.clone(),
        prompt: None,
        mode: Mode::Loop,
        max_iterations: ask.max_iterations.unwrap_or(MAX_ITERATIONS),
        policy,
        criteria: ask.checks.iter().map(criterion).collect(),
        session: ask.session.clone(),
        folder: folder.into(),
        claim_within_ms: CLAIM_WITHIN_MS,
        incumbent: if ask.replace { Incumbent::Replace } else { Incumbent::Keep },
    }
}

fn criterion(ask: &CheckAsk) -> Criterion {
    let proof = Proof::Check { command: ask.command.clone(), timeout_ms: CHECK_TIMEOUT_MS };
    Criterion { name: ask.name.clone(), proof, last: None }
}

/// Shows a loop.
pub(crate) fn status(
    engine: &mut Engine,
    ask: &StatusAsk,
    folder: &Path,
) -> Result<LoopAnswer, Failure> {
    let stored = engine.resolve(&target(ask.id.as_deref(), folder))?;
    let found = engine.view(&stored);
    let unmet: Vec<&str> =
        found.criteria.iter().filter(|c| c.status != "pass").map(|c| c.name.as_str()).collect();
    let note = match (found.outcome, unmet.as_slice()) {
        (Some(outcome), _) => format!("It is over: {outcome}."),
        (None, []) => "Nothing is left to be proven.".into(),
        (None, unmet) => format!("Not proven yet: {}.", unmet.join(", ")),
    };
    Ok(LoopAnswer { found, note })
}

/// Hears how it went.
pub(crate) fn done(
    engine: &mut Engine,
    ask: &DoneAsk,
    folder: &Path,
) -> Result<LoopAnswer, Failure> {
    let target = target(ask.id.as_deref(), folder);
    let (stored, note) = match ask.claim {
        Claim::Done => (engine.claim(&target)?, "Stop now: the checks run, and they decide."),
        Claim::Blocked => (engine.leave(&target, Exit::Blocked, &ask.why)?, "You may stop."),
        Claim::Impossible => (engine.leave(&target, Exit::Impossible, &ask.why)?, "You may stop."),
        Claim::NeedsInput => (
            engine.ask(&target, &ask.why)?,
            "Put the question to the person and stop; the loop goes on when they answer.",
        ),
    };
    Ok(LoopAnswer { found: engine.view(&stored), note: note.into() })
}

fn target(id: Option<&str>, folder: &Path) -> Target {
    match id {
        Some(id) => Target::Named(id.into()),
        None => Target::Here(PathBuf::from(folder)),
    }
}
