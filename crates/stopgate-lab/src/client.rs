//! The real clients, each pinned to one version.
//!
//! A client is found, or installed once into the workspace's target directory; it is never
//! updated and never looked for on the PATH.

use std::path::{Path, PathBuf};

use crate::door;
use crate::error::LabError;
use crate::packages::{self, FetchSlot, Package};
use crate::pinned::LabAgent;

/// A client that is there.
#[derive(Clone, Debug)]
pub struct LabClient {
    agent: LabAgent,
    path: PathBuf,
    node: Option<PathBuf>,
}

impl LabClient {
    /// Claude Code, as [`LabClient::install_agent`] finds it.
    pub fn install() -> Result<Self, LabError> {
        Self::install_agent(LabAgent::Claude)
    }

    /// The client named by [`LabAgent::variable`], else the one installed before, else the one
    /// that npm brings now.
    pub fn install_agent(agent: LabAgent) -> Result<Self, LabError> {
        // Claude Code brings a runtime of its own.
        let node = match agent {
            LabAgent::Claude => None,
            _ => Some(packages::node_directory()?),
        };
        let named = door::variable(&agent.variable()).map(PathBuf::from);
        let path = match named {
            Some(path) if path.is_file() => path,
            Some(path) => return Err(LabError::ClientMissing { agent, path }),
            None => package(agent).install(node.as_deref())?,
        };
        Ok(Self { agent, path, node })
    }

    /// Which client it is.
    pub fn agent(&self) -> LabAgent {
        self.agent
    }

    /// The client's program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory of the Node that runs it, where it needs one.
    pub(crate) fn node(&self) -> Option<&Path> {
        self.node.as_deref()
    }
}

fn package(agent: LabAgent) -> Package {
    // Tests begin in the order of their names: neighbours are fetched at the same time.
    let slot = match agent {
        LabAgent::Claude | LabAgent::Copilot | LabAgent::Kimi | LabAgent::Pi => FetchSlot::First,
        LabAgent::Codex | LabAgent::Gemini | LabAgent::OpenCode | LabAgent::Qwen => {
            FetchSlot::Second
        }
    };
    let (name, id, version) = (agent.name(), agent.package(), agent.version());
    Package { name, id, version, slot }
}
