//! `cancel`: a person ends a loop, for good.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use stopgate_core::Outcome as LoopOutcome;
use stopgate_dialects::Dialect;
use stopgate_engine::{DialectCall, Engine, Failure, FailureKind, LoopTarget, LoopView, Settings};

use super::common::{self, OnLoop};
use super::dialects::{self, DialectWord};
use crate::output::{self, Audience, CommandResult};
use crate::stores::STORES;

/// End a loop for good, with its running checks, from any shell
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Every running loop, including those in other tools' files
    #[arg(long, conflicts_with_all = ["name", "session"])]
    all: bool,
    /// The loop is kept in another tool's files
    #[arg(long, value_enum, value_name = "D", conflicts_with_all = ["all", "name", "session"])]
    dialect: Option<DialectWord>,
    #[command(flatten)]
    on: OnLoop,
}

/// Cancels one loop or all of them.
pub(crate) fn run(args: &Args) -> CommandResult {
    cancel(args).map_err(|mut failure| {
        if matches!(failure.kind, FailureKind::Store | FailureKind::Fault) {
            let home = Settings.home().map(|home| home.directory().join("STOP"));
            let stop = home.map_or_else(|_| "STOP".into(), |path| path.display().to_string());
            let exits = format!(
                "every agent may stop while this file exists: touch {stop}; or start the agent \
                 with STOPGATE_DISABLE=1"
            );
            failure.hint = Some(match failure.hint {
                Some(hint) => format!("{hint}; {exits}"),
                None => exits,
            });
        }
        failure
    })
}

fn cancel(args: &Args) -> CommandResult {
    if let Some(dialect) = args.dialect {
        return dialects::cancel(dialect.into(), args.on.json.into());
    }
    let (mut engine, trouble) = Engine::open_leniently(Settings, STORES)?;
    if let Some(failure) = trouble {
        output::warn(&failure.story());
    }
    if args.all {
        return all(&mut engine, args.on.json.into());
    }
    let target = args.on.target()?;
    if let LoopTarget::Here(directory) = &target
        && let Some(dialect) = only_dialect(&mut engine, &target, directory)?
    {
        drop(engine);
        return dialects::cancel(dialect, args.on.json.into());
    }
    let was_over = engine.loops().resolve(&target)?.state.outcome().is_some();
    let stored = engine.loops().cancel(&target)?;
    // What it waited for need not be watched any more.
    stopgate_daemon::poke(Settings);
    Ok(args.on.show(&mut engine, &stored, |view| match view.outcome {
        Some(outcome) if was_over && outcome != LoopOutcome::Cancelled => {
            format!("Loop {} is over already ({outcome}); nothing to cancel.", view.id)
        }
        Some(_) | None => format!("Loop {} is cancelled; its agent may stop.", view.id),
    }))
}

/// The dialect whose loop is meant, because no loop of our own runs here.
fn only_dialect(
    engine: &mut Engine,
    target: &LoopTarget,
    directory: &Path,
) -> Result<Option<Dialect>, Failure> {
    let own = match engine.loops().resolve_all(target) {
        Ok(found) => found.iter().any(|stored| {
            stored.state.policy.order.is_native() && stored.state.outcome().is_none()
        }),
        Err(failure) if failure.kind == FailureKind::NoLoop => false,
        Err(failure) => return Err(failure),
    };
    if own {
        return Ok(None);
    }
    match DialectCall::running_in(Settings, STORES, directory)?.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(*only)),
        several => {
            let words: Vec<&str> = several.iter().map(|dialect| dialect.word()).collect();
            Err(Failure::usage("loops in several tools' files run here")
                .hint(format!("say which: stopgate cancel --dialect {}", words.join("|"))))
        }
    }
}

fn all(engine: &mut Engine, to: Audience) -> CommandResult {
    let mut places: Vec<(Dialect, PathBuf)> = engine.loops().trails()?;
    // From a directory that is gone, too.
    if let Ok(here) = common::directory() {
        places.extend(Dialect::ALL.map(|dialect| (dialect, here.clone())));
    }
    let mut loops: Vec<LoopView> =
        engine.loops().cancel_all()?.iter().map(|stored| engine.views().view(stored)).collect();
    stopgate_daemon::poke(Settings);
    loops.extend(DialectCall::cancel_everywhere(Settings, STORES, &places)?);
    if to == Audience::Programs {
        output::json_member("loops", &loops);
    } else {
        output::line(&match loops.len() {
            0 => "No loop runs: nothing to cancel.".into(),
            1 => "1 loop cancelled.".into(),
            many => format!("{many} loops cancelled."),
        });
    }
    Ok(ExitCode::SUCCESS)
}
