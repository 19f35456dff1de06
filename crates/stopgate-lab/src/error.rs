//! Why the lab could not do what was asked.

use std::io;
use std::path::{Path, PathBuf};

use crate::cluster::PG_VARIABLE;
use crate::pinned::LabAgent;
use crate::program::PROGRAM_VARIABLE;

/// Why the lab could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// No port for the fake model.
    #[error("listen on loopback for the fake model")]
    Listen {
        /// What the system said.
        source: io::Error,
    },
    /// No client where it was looked for.
    #[error(
        "find {} at {}: set {} to its program, or unset it to have it installed",
        agent.name(), path.display(), agent.variable()
    )]
    ClientMissing {
        /// Which client.
        agent: LabAgent,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The package manager did not deliver the client.
    #[error("install {name} {version} with npm: {said}")]
    Install {
        /// Which client, or its Node.
        name: &'static str,
        /// In which version.
        version: &'static str,
        /// The end of what npm printed.
        said: String,
    },
    /// No stopgate where it was looked for.
    #[error(
        "find the stopgate program at {}: run `cargo build --release`, or set {PROGRAM_VARIABLE}",
        path.display()
    )]
    ProgramMissing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// No PostgreSQL on this machine.
    #[error(
        "find PostgreSQL's programs: install the package postgresql, or set {PG_VARIABLE} to the \
         directory with initdb and postgres"
    )]
    PostgresMissing,
    /// A server that did not come up, or not as it was wanted.
    #[error("have the PostgreSQL server {wanted}: {said}")]
    Server {
        /// What it should have done.
        wanted: &'static str,
        /// The end of its log.
        said: String,
    },
    /// A file or directory of the lab.
    #[error("{action} {}", path.display())]
    File {
        /// What was tried, as a verb.
        action: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A program that did not start, or could not be waited for.
    #[error("run {}", program.display())]
    Run {
        /// Which program.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A program that ran and refused.
    #[error("have {program} do its part: {said}")]
    Refused {
        /// The command line, for people.
        program: String,
        /// What it printed.
        said: String,
    },
}

impl LabError {
    /// For `map_err`: what was tried on which path.
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { action, path, source }
    }

    /// For `map_err`: which program would not run.
    pub(crate) fn run(program: &Path) -> impl FnOnce(io::Error) -> Self {
        let program = program.to_path_buf();
        move |source| Self::Run { program, source }
    }
}
