//! The stopgate program under test.

use std::path::{Path, PathBuf};

use crate::door;
use crate::error::LabError;
use crate::hook::HookLaunch;

/// Names the program to test instead of the release build.
pub const PROGRAM_VARIABLE: &str = "STOPGATE_BIN";

/// A stopgate program that is there.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
}

impl Program {
    /// The program named by [`PROGRAM_VARIABLE`], else `target/release/stopgate`.
    pub fn find() -> Result<Self, LabError> {
        let named = door::variable(PROGRAM_VARIABLE).map(PathBuf::from);
        let path = named.unwrap_or_else(|| door::workspace().join("target/release/stopgate"));
        Self::at(path)
    }

    pub(crate) fn at(path: PathBuf) -> Result<Self, LabError> {
        // Relative names would mean another file from inside a stage.
        let path = path.canonicalize().unwrap_or(path);
        if path.is_file() { Ok(Self { path }) } else { Err(LabError::ProgramMissing { path }) }
    }

    /// Where the program is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The program as a hook of Claude Code, run by a shell.
    pub fn shell_hook(&self) -> HookLaunch {
        HookLaunch::Shell(format!("'{}' hook claude", self.path.display()))
    }

    /// The program as a hook of Claude Code, started directly.
    pub fn exec_hook(&self) -> HookLaunch {
        let args = vec!["hook".into(), "claude".into()];
        HookLaunch::Exec { program: self.path.clone(), args }
    }
}
