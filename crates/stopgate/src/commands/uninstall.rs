//! `uninstall`: the settings of agents forget this program.

use std::process::ExitCode;

use stopgate_engine::{Failure, Settings, agents_here};

use super::agent_files::OnAgents;
use super::common;
use crate::output::CommandResult;

/// Remove the hook from the settings of agents; loops and their journal stay
///
/// Without a name, every agent whose settings have the hook is asked about.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    on: OnAgents,
}

/// Removes our entries and our skill file.
pub(crate) fn run(args: &Args) -> CommandResult {
    let directory = common::directory()?;
    let mut agents = args.on.agents.clone();
    if agents.is_empty() {
        let here = agents_here(Settings, &directory).into_iter().filter_map(|(_, here)| here);
        let hooked = here.filter(|here| !here.hooked.is_empty()).map(|here| here.agent).collect();
        agents = args.on.choose(hooked, "Remove the hook from")?;
    }
    let plan = |agent| {
        let place = args.on.place(agent)?;
        let plan = place.uninstall(Settings, &directory, args.on.dialect.as_deref())?;
        Ok((place, plan))
    };
    let plans: Result<Vec<_>, Failure> = agents.into_iter().map(plan).collect();
    args.on.perform(&plans?, "Not installed, nothing to do")?;
    Ok(ExitCode::SUCCESS)
}
