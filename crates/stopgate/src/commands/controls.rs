//! `pause`, `resume`, `attach`, `answer`: a person's controls.

use std::process::ExitCode;

use clap_complete::engine::ArgValueCandidates;
use stopgate_core::{LoopState, Rest, SessionId};
use stopgate_engine::{Failure, LoopView, Settings, Successor};

use super::common::{self, OnLoop};
use super::completions::{loops, sessions};
use super::dialects::{self, DialectWord};
use super::start::time_ms;
use crate::output::{CommandResult, clock};

/// Let the agent stop until you speak to it again
#[derive(Debug, clap::Args)]
pub(crate) struct HoldArgs {
    #[command(flatten)]
    on: OnLoop,
}

/// Let the agent stop until you resume the loop
#[derive(Debug, clap::Args)]
pub(crate) struct PauseArgs {
    /// Only until your next prompt to the agent
    #[arg(long, conflicts_with = "dialect")]
    until_prompt: bool,
    /// The loop is kept in another tool's files
    #[arg(long, value_enum, value_name = "D", conflicts_with_all = ["name", "session"])]
    dialect: Option<DialectWord>,
    #[command(flatten)]
    on: OnLoop,
}

/// Resume a paused loop, or reopen one whose reason to end is fixed
#[derive(Debug, clap::Args)]
pub(crate) struct ResumeArgs {
    /// How often the agent may be sent back in total
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_iterations: Option<u32>,
    /// The loop is kept in another tool's files
    #[arg(long, value_enum, value_name = "D", conflicts_with_all = ["name", "session"])]
    dialect: Option<DialectWord>,
    #[command(flatten)]
    on: OnLoop,
}

/// Give a loop whose session is gone to this session or the next one
///
/// The next one is the next session in this project.
#[derive(Debug, clap::Args)]
pub(crate) struct AttachArgs {
    /// The loop's id or the beginning of it
    #[arg(value_name = "LOOP", add = ArgValueCandidates::new(loops))]
    name: Option<String>,
    /// The session that goes on with it
    #[arg(long, value_name = "ID", add = ArgValueCandidates::new(sessions))]
    session: Option<String>,
    /// How long the next session may take to appear
    #[arg(long, value_name = "TIME", default_value = "60m", value_parser = time_ms)]
    claim_within: i64,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Answer what the agent asked
///
/// It hears the answer at its next prompt, start or stop.
#[derive(Debug, clap::Args)]
pub(crate) struct AnswerArgs {
    /// The loop's id or the beginning of it, and the answer; without an id, the answer alone
    #[arg(value_name = "[LOOP] TEXT", num_args = 1..=2, required = true)]
    words: Vec<String>,
    /// The loop that holds this session
    #[arg(long, value_name = "ID", add = ArgValueCandidates::new(sessions))]
    session: Option<String>,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Pauses a loop until the next prompt.
pub(crate) fn hold(args: &HoldArgs) -> CommandResult {
    rest(&args.on, Rest::NextPrompt)
}

/// Pauses a loop.
pub(crate) fn pause(args: &PauseArgs) -> CommandResult {
    if let Some(dialect) = args.dialect {
        return dialects::pause(dialect.into(), args.on.json.into());
    }
    rest(&args.on, if args.until_prompt { Rest::NextPrompt } else { Rest::Resume })
}

/// Resumes a loop.
pub(crate) fn resume(args: &ResumeArgs) -> CommandResult {
    if let Some(dialect) = args.dialect {
        return dialects::resume(dialect.into(), args.max_iterations, args.on.json.into());
    }
    let mut engine = common::engine()?;
    let target = args.on.target()?;
    let before = engine.loops().resolve(&target)?;
    let before = engine.views().view(&before).state;
    let stored = engine.loops().resume(&target, args.max_iterations)?;
    // What it waited for need not be watched any more.
    stopgate_daemon::poke(Settings);
    let view = engine.views().view_checked(&stored)?;
    Ok(common::show(&view, args.on.json.into(), |view| resumed(view, before)))
}

fn resumed(view: &LoopView, before: LoopState) -> String {
    let id = &view.id;
    let used = format!("{} of {} continuations used", view.iteration, view.max_iterations);
    if view.session_gone {
        return format!(
            "Loop {id} is resumed ({used}), but its session ended: claude --resume {}, or \
             stopgate attach {id}.",
            view.session.as_deref().unwrap_or_default()
        );
    }
    if before == LoopState::Active {
        return format!("Loop {id} was not paused: {used}.");
    }
    format!("Loop {id} is resumed: {used}. An agent that has stopped needs a prompt to go on.")
}

/// Gives a loop to another session.
pub(crate) fn attach(args: &AttachArgs) -> CommandResult {
    let mut engine = common::engine()?;
    let own = args.session.clone().or_else(|| Settings.session());
    let successor = match own {
        Some(name) => Successor::Session(
            SessionId::new(&name).ok_or_else(|| Failure::usage("--session can't be empty"))?,
        ),
        None => Successor::Next { within_ms: args.claim_within },
    };
    let target = common::target(args.name.as_deref(), None)?;
    let stored = engine.handover().attach(&target, &successor)?;
    let view = engine.views().view(&stored);
    Ok(common::show(&view, args.json.into(), |view| {
        let id = &view.id;
        match (&view.session, view.claim_until_at) {
            (Some(session), _) => format!("Loop {id} holds session {session} from now on."),
            (None, Some(until)) => format!(
                "Loop {id} is not attached yet: the next session in this project until {} is held.",
                clock(until)
            ),
            (None, None) => format!("Loop {id} holds nobody."),
        }
    }))
}

/// Answers a question.
pub(crate) fn answer(args: &AnswerArgs) -> CommandResult {
    let (name, text) = match args.words.as_slice() {
        [name, text] => (Some(name.as_str()), text.as_str()),
        [text] => (None, text.as_str()),
        _none => return Ok(ExitCode::SUCCESS),
    };
    let mut engine = common::engine()?;
    let target = common::target(name, args.session.as_deref())?;
    let stored = engine.handover().answer(&target, text)?;
    let view = engine.views().view_checked(&stored)?;
    Ok(common::show(&view, args.json.into(), |view| {
        let id = &view.id;
        if view.session_gone {
            let session = view.session.as_deref().unwrap_or_default();
            return format!("Answered. The session ended: claude --resume {session} carries it.");
        }
        format!(
            "Answered: loop {id} goes on. An agent that has stopped hears it at its next prompt."
        )
    }))
}

fn rest(on: &OnLoop, rest: Rest) -> CommandResult {
    let what = match rest {
        Rest::NextPrompt => "paused until your next prompt to the agent",
        Rest::Resume | Rest::NextSession => "paused; let it go on with: stopgate resume",
    };
    let mut engine = common::engine()?;
    let stored = engine.loops().pause(&on.target()?, rest)?;
    Ok(on.show(&mut engine, &stored, |view| format!("Loop {} is {what}.", view.id)))
}
