//! `cancel`: a person ends a loop, for good.

use std::process::ExitCode;

use stopgate_engine::{ListView, SCHEMA_VERSION};

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
