//! `agents`: every supported agent, and how it stands here.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use stopgate_agents::{Agent, Provenance};
use stopgate_engine::{AgentHere, Settings, agents_here};

use super::common;
use crate::output::{self, BOLD, CommandResult, DIM, GOOD, styled};

/// List every supported agent: found here? hook installed? tested with the real client?
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct AgentView {
    agent: &'static str,
    title: &'static str,
    found: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<PathBuf>,
    hooks: Vec<PathBuf>,
    /// The version of the real client that it was tested with; null where only documentation is known.
    tested_with: Option<&'static str>,
}

/// Prints the list.
pub(crate) fn run(args: &Args) -> CommandResult {
    let here = agents_here(Settings, &common::directory()?);
    let agents: Vec<AgentView> = here.into_iter().map(|(agent, here)| view(agent, here)).collect();
    if args.json {
        output::json_member("agents", &agents);
        return Ok(ExitCode::SUCCESS);
    }
    for agent in &agents {
        output::line(&line(agent));
    }
    output::line("\nstopgate install AGENT adds the hook; stopgate doctor proves that it fires.");
    Ok(ExitCode::SUCCESS)
}

fn view(agent: Agent, here: Option<AgentHere>) -> AgentView {
    let found = here.is_some();
    let (program, hooked) = here.map(|here| (here.program, here.hooked)).unwrap_or_default();
    AgentView {
        agent: agent.word(),
        title: agent.title(),
        found,
        program,
        hooks: hooked.into_iter().map(|place| place.settings).collect(),
        tested_with: match agent.evidence() {
            Provenance::Tested(version) => Some(version),
            Provenance::Documented => None,
        },
    }
}

fn line(view: &AgentView) -> String {
    let state = match (view.found, view.hooks.is_empty()) {
        (_, false) => styled(GOOD, &format!("{:<10}", "hooked")),
        (true, true) => format!("{:<10}", "found"),
        (false, true) => styled(DIM, &format!("{:<10}", "not found")),
    };
    let known = match view.tested_with {
        Some(version) => format!("tested with the real client {version}"),
        None => "from documentation".into(),
    };
    let word = styled(BOLD, &format!("{:<12}", view.agent));
    format!("{word} {:<14} {state} {}", view.title, styled(DIM, &known))
}
