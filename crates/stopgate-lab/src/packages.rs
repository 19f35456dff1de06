//! Packages from npm, each installed once below the workspace's target directory.
//!
//! Test processes that need the same package at the same time wait for one another, none ever
//! sees a half-installed one, and no more than two are fetched at once.

#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::door;
use crate::error::LabError;

/// The Node that runs the clients: some refuse to run on anything older than 22.19.
const NODE: Package =
    Package { name: "node", id: "node", version: "22.23.3", slot: FetchSlot::First };
const SAID_CHARS_MAX: usize = 1_000;

/// A program that npm brings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Package {
    /// What its directory and its program are called.
    pub(crate) name: &'static str,
    /// What npm calls it.
    pub(crate) id: &'static str,
    pub(crate) version: &'static str,
    pub(crate) slot: FetchSlot,
}

/// Packages in the same slot are fetched one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FetchSlot {
    First,
    Second,
}

impl Package {
    /// The program, installed first if needed; `first` comes first on npm's search path.
    pub(crate) fn install(&self, first: Option<&Path>) -> Result<PathBuf, LabError> {
        self.install_in(&door::workspace().join("target/lab"), first)
    }

    fn install_in(&self, parent: &Path, first: Option<&Path>) -> Result<PathBuf, LabError> {
        let path = self.program_in(&self.directory_in(parent));
        if path.is_file() {
            return Ok(path);
        }
        fs::create_dir_all(parent).map_err(LabError::file("create", parent))?;
        let _ours = locked(&parent.join(format!("{}-{}.lock", self.name, self.version)))?;
        // The process that held the lock before may have installed it.
        if path.is_file() {
            return Ok(path);
        }
        let _slot = locked(&parent.join(format!("fetching-{:?}.lock", self.slot)))?;
        self.fetch(parent, first)?;
        Ok(path)
    }

    fn directory_in(&self, parent: &Path) -> PathBuf {
        parent.join(format!("{}-{}", self.name, self.version))
    }

    fn program_in(&self, directory: &Path) -> PathBuf {
        directory.join("node_modules/.bin").join(self.name)
    }

    /// Has the whole package in its directory, or nothing of it.
    fn fetch(&self, parent: &Path, first: Option<&Path>) -> Result<(), LabError> {
        let place = tempfile::Builder::new().prefix("installing-").tempdir_in(parent);
        let place = place.map_err(LabError::file("create a directory in", parent))?;
        // Without a package file of its own npm would look for one further up.
        let package = place.path().join("package.json");
        fs::write(&package, "{\"private\": true}\n").map_err(LabError::file("write", &package))?;
        self.npm_install(place.path(), first)?;
        if !self.program_in(place.path()).is_file() {
            return Err(self.failed("the package has no such program"));
        }
        let directory = self.directory_in(parent);
        fs::rename(place.path(), &directory).map_err(LabError::file("move to", &directory))
    }

    fn npm_install(&self, place: &Path, first: Option<&Path>) -> Result<(), LabError> {
        let mut command = door::command("npm");
        command
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
            .arg(format!("{}@{}", self.id, self.version))
            .current_dir(place);
        if let Some(first) = first {
            command.env("PATH", door::search_path(first));
        }
        let output = command.output().map_err(LabError::run(Path::new("npm")))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let skipped = said.chars().count().saturating_sub(SAID_CHARS_MAX);
        Err(self.failed(&said.chars().skip(skipped).collect::<String>()))
    }

    fn failed(&self, said: &str) -> LabError {
        let (name, version) = (self.name, self.version);
        LabError::Install { name, version, said: said.into() }
    }
}

/// The directory with the Node that runs the clients.
pub(crate) fn node_directory() -> Result<PathBuf, LabError> {
    let mut path = NODE.install(None)?;
    path.pop();
    Ok(path)
}

/// Held until the file is dropped.
fn locked(path: &Path) -> Result<File, LabError> {
    let lock = File::create(path).map_err(LabError::file("create", path))?;
    lock.lock().map_err(LabError::file("lock", path))?;
    Ok(lock)
}
