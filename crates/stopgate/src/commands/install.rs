//! `install`: an agent's settings come to name this program.

use std::process::ExitCode;

use stopgate_agents::claude::settings::{ExitRules, StatusLine};
use stopgate_engine::{Failure, Settings, Wishes};

use super::claude_files::{self, OnAgent};
use super::common;
use crate::output::{self, DIM, Outcome, styled};

/// Put the hook into an agent's settings; nobody else's entries are touched
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Don't let agents run stopgate done, blocked, impossible, ask, status, push and pop without
    /// asking
    #[arg(long)]
    no_allow_rules: bool,
    /// Show the loop in Claude Code's status line, behind the one that you have
    #[arg(long)]
    statusline: bool,
    #[command(flatten)]
    on: OnAgent,
}

/// Installs the hook and what the agent is told about it.
pub(crate) fn run(args: &Args) -> Outcome {
    let on = &args.on;
    let place = on.place()?;
    let program = claude_files::installable()?;
    let wishes = wishes(args);
    let mut plan = place.install_with(Settings, &common::folder()?, &program, wishes)?;
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

/// What the flags say, or else the person.
fn wishes(args: &Args) -> Wishes {
    let asks = !args.on.is_json() && !args.on.is_rehearsal() && common::has_person();
    let exits = !args.no_allow_rules
        && (!asks
            || common::agrees(
                "Let agents run stopgate done, blocked, impossible, ask, status, push and pop \
                 without a permission dialog? [Y/n] ",
                common::Default::Yes,
            ));
    let statusline = args.statusline
        || (asks
            && common::agrees(
                "Show the loop in Claude Code's status line? [y/N] ",
                common::Default::No,
            ));
    Wishes {
        exits: if exits { ExitRules::Allow } else { ExitRules::Leave },
        statusline: if statusline { StatusLine::Show } else { StatusLine::Leave },
    }
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
    output::line("\nSessions that are open pick the hooks up by themselves.");
    row("prove it", "stopgate doctor");
    row("begin", "stopgate start \"GOAL\" --check NAME=COMMAND");
    row("or in the agent", "/stopgate GOAL");
}

fn row(label: &str, command: &str) {
    output::line(&format!("  {}  {command}", styled(DIM, &format!("{label:<15}"))));
}
