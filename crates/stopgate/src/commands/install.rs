//! `install`: an agent's settings come to name this program.

use std::process::ExitCode;

use stopgate_engine::{Failure, Settings};

use super::claude_files::{self, OnAgent};
use super::common;
use crate::output::{self, DIM, Outcome, styled};

/// Put the hook into an agent's settings; nobody else's entries are touched
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    on: OnAgent,
}

/// Installs the hook and what the agent is told about it.
pub(crate) fn run(args: &Args) -> Outcome {
    let on = &args.on;
    let place = on.place()?;
    let program = claude_files::installable()?;
    let mut plan = place.install(Settings, &common::folder()?, &program)?;
    plan.notes.extend(claude_files::may_vanish(&program));
    if !on.is_rehearsal() {
        make_home()?;
    }
    on.perform(&place, &plan, "Already installed, nothing to do")?;
    if !on.is_json() && !on.is_rehearsal() && !plan.changes.is_empty() {
        show_next();
    }
    Ok(ExitCode::SUCCESS)
}

fn make_home() -> Result<(), Failure> {
    let home = Settings.home()?;
    home.create().map_err(|error| {
        Failure::store(format!("could not make {}", home.folder().display()))
            .hint("set STOPGATE_HOME to a directory that you may write to")
            .because(error)
    })
}

fn show_next() {
    output::line("\nA session that is open picks this up by itself; nothing needs a restart.");
    row("prove it", "stopgate doctor");
    row("begin", "stopgate start \"GOAL\" --check NAME=COMMAND");
    row("or in the agent", "/stopgate GOAL");
}

fn row(label: &str, command: &str) {
    output::line(&format!("  {}  {command}", styled(DIM, &format!("{label:<15}"))));
}
