//! `install`: the settings of agents come to name this program.

use std::process::ExitCode;

use stopgate_agents::Agent;
use stopgate_agents::settings::{ExitRules, StatusLine};
use stopgate_engine::{Failure, HookTrust, Settings, Wishes, agents_here};

use super::agent_files::{self, OnAgents};
use super::common;
use crate::output::{self, CommandResult, DIM, styled};

/// Add the hook to the settings of agents; other entries stay as they are
///
/// Without a name, the agents on this machine are found and you are asked about each.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct Args {
    /// Don't let agents run stopgate done, blocked, impossible, ask, status, push and pop without
    /// asking (Claude Code)
    #[arg(long)]
    no_allow_rules: bool,
    /// Show the loop in Claude Code's status line, behind the one that you have
    #[arg(long)]
    statusline: bool,
    /// Let Codex run the hooks without your review in /hooks
    #[arg(long)]
    accept_trust: bool,
    #[command(flatten)]
    on: OnAgents,
}

/// Installs the hooks and what the agents are told about them.
pub(crate) fn run(args: &Args) -> CommandResult {
    let on = &args.on;
    let directory = common::directory()?;
    let mut agents = on.agents.clone();
    if agents.is_empty() {
        let here = agents_here(Settings, &directory).into_iter().filter_map(|(_, here)| here);
        agents = on.choose(here.map(|here| here.agent).collect(), "Install the hook for")?;
    }
    let program = agent_files::installable()?;
    let plan = |agent: Agent| {
        let place = on.place(agent)?;
        let mut plan = place.install_with(Settings, &directory, &program, &wishes(args, agent))?;
        plan.notes.extend(agent_files::may_vanish(&program));
        Ok((place, plan))
    };
    let plans: Result<Vec<_>, Failure> = agents.iter().copied().map(plan).collect();
    let plans = plans?;
    if !on.is_rehearsal() {
        make_home()?;
    }
    on.perform(&plans, "Already installed, nothing to do")?;
    let changed = plans.iter().any(|(_, plan)| !plan.changes.is_empty());
    if !on.is_json() && !on.is_rehearsal() && changed {
        show_next(&agents);
    }
    Ok(ExitCode::SUCCESS)
}

/// What the flags say, or else the person.
fn wishes(args: &Args, agent: Agent) -> Wishes {
    let has_more = agent.has_skill() && args.on.dialect.is_none();
    let asks = has_more && !args.on.is_json() && !args.on.is_rehearsal() && common::has_person();
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
        dialect: args.on.dialect.clone(),
        trust: if args.accept_trust { HookTrust::Accept } else { HookTrust::Ask },
    }
}

fn make_home() -> Result<(), Failure> {
    let home = Settings.home()?;
    home.create().map_err(|error| {
        Failure::store(format!("could not make {}", home.directory().display()))
            .hint("set STOPGATE_HOME to a directory that you may write to")
            .because(error)
    })
}

fn show_next(agents: &[Agent]) {
    let has_skill = agents.iter().any(|agent| agent.has_skill());
    output::line(if has_skill {
        "\nSessions that are open pick the hooks up by themselves."
    } else {
        "\nSessions that begin from now on have the hooks."
    });
    row("prove it", "stopgate doctor");
    row("begin", "stopgate start \"GOAL\" --check NAME=COMMAND");
    if has_skill {
        row("or in the agent", "/stopgate GOAL");
    }
}

fn row(label: &str, command: &str) {
    output::line(&format!("  {}  {command}", styled(DIM, &format!("{label:<15}"))));
}
