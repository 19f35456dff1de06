//! `cancel`: a person ends a loop, for good.

use std::process::ExitCode;

use stopgate_engine::{Kind, ListView, SCHEMA_VERSION, Settings};

use super::common::{self, OnLoop};
use super::dialects::{self, DialectWord};
use crate::output::{self, Outcome};

/// End a loop for good; wins over everything, from any shell
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Every loop that runs
    #[arg(long, conflicts_with_all = ["name", "session"])]
    all: bool,
    /// The loop is kept in somebody else's files
    #[arg(long, value_enum, value_name = "D", conflicts_with_all = ["all", "name", "session"])]
    dialect: Option<DialectWord>,
    #[command(flatten)]
    on: OnLoop,
}

/// Cancels one loop or all of them.
pub(crate) fn run(args: &Args) -> Outcome {
    cancel(args).map_err(|mut failure| {
        if matches!(failure.kind, Kind::Store | Kind::Fault) {
            let home = Settings.home().map(|home| home.folder().join("STOP"));
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

fn cancel(args: &Args) -> Outcome {
    if let Some(dialect) = args.dialect {
        return dialects::cancel(dialect.into(), args.on.json.into());
    }
    let mut engine = common::engine()?;
    if args.all {
        let ended = engine.cancel_all()?;
        let loops = ended.iter().map(|stored| engine.view(stored)).collect::<Vec<_>>();
        if args.on.json {
            output::json(&ListView { schema_version: SCHEMA_VERSION, loops });
        } else {
            output::line(&format!("{} loops cancelled.", loops.len()));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let stored = engine.cancel(&args.on.target()?)?;
    Ok(args.on.show(&engine, &stored, |view| {
        format!("Loop {} is cancelled; its agent may stop.", view.id)
    }))
}
