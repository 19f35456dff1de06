//! `import`: a loop in another tool's files becomes one of stopgate's own.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use stopgate_core::{Criterion, Proof};
use stopgate_dialects::import::Carried;
use stopgate_engine::{
    Begun, CriterionDraft, DialectCall, DialectRequest, Engine, Failure, Incumbent, LoopTarget,
    LoopView, OkForm, Preflight, RequestedLimits, Settings, StartRequest,
};

use super::check_flags::named_command;
use super::common;
use super::dialects::DialectWord;
use crate::output::{self, BOLD, CommandResult, DIM, styled};
use crate::stores::STORES;

const CLAIM_MS: i64 = 60 * 60 * 1000;
const CHECK_TIMEOUT_MS: u64 = 5 * 60 * 1000;

/// Convert a loop kept in another tool's files into one of stopgate's own
///
/// The goal, the prompt, what is left of the iterations, nested frames, criteria and the session
/// are carried over, and what can't be is said. The files stay as they are.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Whose files keep the loop
    #[arg(value_enum)]
    dialect: DialectWord,
    /// The task record, where the files are tasks
    #[arg(long, value_name = "FILE")]
    task_file: Option<PathBuf>,
    /// A command that must pass from now on, run by stopgate itself (repeatable)
    #[arg(long, value_name = "NAME=COMMAND", value_parser = named_command)]
    check: Vec<(String, String)>,
    /// How often the agent may be sent back, instead of what is left
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: Option<u32>,
    /// The session to hold, instead of the one that the files name
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Say what would be carried over, and begin nothing
    #[arg(long)]
    dry_run: bool,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ImportView {
    #[serde(rename = "loop")]
    begun: Option<LoopView>,
    goal: String,
    max_iterations: u32,
    criteria: Vec<String>,
    lost: Vec<String>,
}

/// Imports a loop.
pub(crate) fn run(args: &Args) -> CommandResult {
    let request = DialectRequest {
        dialect: args.dialect.into(),
        task_file: args.task_file.clone(),
        form: OkForm::Full,
    };
    let directory = common::directory()?;
    let carried = DialectCall::new(Settings, STORES, request, directory.clone())?.carried()?;
    let request = start_request(args, &carried, directory);
    let mut view = ImportView {
        begun: None,
        goal: request.goal.clone(),
        max_iterations: limit(args, &carried),
        criteria: request.criteria.iter().map(|draft| draft.criterion.name.clone()).collect(),
        lost: carried.lost.clone(),
    };
    if !args.dry_run {
        let mut engine = common::engine()?;
        let begun = engine.loops().start(&request)?;
        nest(&mut engine, &begun, &carried)?;
        let stored =
            engine.loops().resolve(&LoopTarget::Named(begun.stored.state.id.to_string()))?;
        view.begun = Some(engine.views().view(&stored));
    }
    output::answer(args.json, &view, |view| tell(view, args.dialect.into()));
    Ok(ExitCode::SUCCESS)
}

fn start_request(args: &Args, carried: &Carried, directory: PathBuf) -> StartRequest {
    let check = |(name, command): &(String, String)| {
        let proof = Proof::Check { command: command.clone(), timeout_ms: CHECK_TIMEOUT_MS };
        CriterionDraft::at_rest(Criterion::new(name, proof))
    };
    let is_checked = |name: &&String| args.check.iter().any(|(checked, _)| checked == *name);
    let attested = carried.criteria.iter().filter(|name| !is_checked(name));
    let attest = |name: &String| CriterionDraft::at_rest(Criterion::new(name, Proof::Attest));
    StartRequest {
        goal: carried.goal.clone(),
        prompt: carried.prompt.clone(),
        mode: carried.mode,
        limits: RequestedLimits {
            max_iterations: Some(limit(args, carried)),
            stale_after_ms: carried.stale_after_ms,
            ..RequestedLimits::default()
        },
        criteria: args.check.iter().map(check).chain(attested.map(attest)).collect(),
        gates: Vec::new(),
        session: args.session.clone().or_else(|| carried.session.clone()),
        directory,
        claim_within_ms: CLAIM_MS,
        incumbent: Incumbent::Keep,
        preflight: Preflight::Run,
        tool: None,
        shape: None,
    }
}

fn limit(args: &Args, carried: &Carried) -> u32 {
    args.max_iterations.unwrap_or(carried.max_iterations)
}

fn nest(engine: &mut Engine, begun: &Begun, carried: &Carried) -> Result<(), Failure> {
    let target = LoopTarget::Named(begun.stored.state.id.to_string());
    for frame in &carried.nested {
        let prompt = if frame.prompt.trim().is_empty() { &carried.goal } else { &frame.prompt };
        engine.loops().push(&target, frame.mode, frame.max, prompt)?;
    }
    Ok(())
}

fn tell(view: &ImportView, dialect: stopgate_dialects::Dialect) {
    match &view.begun {
        Some(begun) => {
            output::line(&format!("Loop {} has begun: {}", styled(BOLD, &begun.id), view.goal));
        }
        None => output::line(&format!("A loop would begin: {}", view.goal)),
    }
    let limit = format!("  at most {} continuations", view.max_iterations);
    output::line(&styled(DIM, &limit));
    for name in &view.criteria {
        output::line(&format!("  criterion: {name}"));
    }
    for lost in &view.lost {
        output::line(&format!("  not carried over: {lost}"));
    }
    output::line(&styled(
        DIM,
        &format!(
            "  the files are as they were: take the entry with --dialect {dialect} out of the \
             agent's settings, or both hold it"
        ),
    ));
}
