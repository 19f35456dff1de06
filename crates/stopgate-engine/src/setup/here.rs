//! Which agents are on this machine.

use std::path::{Path, PathBuf};

use stopgate_agents::Agent;
use stopgate_agents::settings::InstalledEntry;

use super::ScopeFiles;
use crate::settings::Settings;

/// An agent that a person seems to use on this machine.
#[derive(Clone, Debug)]
pub struct AgentHere {
    /// The agent.
    pub agent: Agent,
    /// Its program, if it is on PATH.
    pub program: Option<PathBuf>,
    /// Where our hook is installed for it.
    pub hooked: Vec<ScopeFiles>,
}

/// Every agent: whether its program or its directory is here, and where it has our hook.
pub fn agents_here(settings: Settings, directory: &Path) -> Vec<(Agent, Option<AgentHere>)> {
    let look = |agent: Agent| {
        let programs = agent.files().programs.iter();
        let program = programs.into_iter().find_map(|name| settings.program(name));
        let hooked = |place: &ScopeFiles| {
            place.entries().is_ok_and(|entries| entries.iter().any(InstalledEntry::judges_stops))
        };
        let hooked: Vec<ScopeFiles> =
            ScopeFiles::all(settings, agent, directory).into_iter().filter(hooked).collect();
        let has_home = settings.agent_home(agent).is_some_and(|home| home.is_dir());
        let is_here = program.is_some() || has_home || !hooked.is_empty();
        (agent, is_here.then_some(AgentHere { agent, program, hooked }))
    };
    Agent::ALL.into_iter().map(look).collect()
}
