//! The real Claude Code client, pinned to one version.
//!
//! It is found, or installed once into the workspace's target folder; it is
//! never updated and never looked for on the PATH.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::door;
use crate::error::LabError;

/// The version that the lab's expectations were seen on.
pub const CLIENT_VERSION: &str = "2.1.325";

/// Names a client to use instead of the installed one.
pub const CLIENT_VARIABLE: &str = "STOPGATE_LAB_CLAUDE";

const PROGRAM_IN_FOLDER: &str = "node_modules/.bin/claude";
const SAID_CHARS_MAX: usize = 1_000;

/// A client that is there.
#[derive(Clone, Debug)]
pub struct Client {
    path: PathBuf,
}

impl Client {
    /// The client named by [`CLIENT_VARIABLE`], else the one installed before.
    pub fn find() -> Result<Self, LabError> {
        let named = door::variable(CLIENT_VARIABLE).map(PathBuf::from);
        Self::at(named.unwrap_or_else(|| install_folder().join(PROGRAM_IN_FOLDER)))
    }

    /// The client as [`Client::find`] finds it, else installed with npm first.
    ///
    /// Test processes that come at the same time wait for one another, and
    /// none ever sees a half-installed client.
    pub fn install() -> Result<Self, LabError> {
        if let Ok(client) = Self::find() {
            return Ok(client);
        }
        if let Some(named) = door::variable(CLIENT_VARIABLE) {
            return Err(LabError::ClientMissing { path: named.into() });
        }
        let parent = lab_folder();
        fs::create_dir_all(&parent).map_err(LabError::file("create", &parent))?;
        let lock_path = parent.join(format!("claude-{CLIENT_VERSION}.lock"));
        let lock = File::create(&lock_path).map_err(LabError::file("create", &lock_path))?;
        lock.lock().map_err(LabError::file("lock", &lock_path))?;
        // Whoever held the lock before us may have installed it.
        Self::find().or_else(|_| install_into(&parent, &install_folder()))
    }

    /// The client's program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn at(path: PathBuf) -> Result<Self, LabError> {
        if path.is_file() { Ok(Self { path }) } else { Err(LabError::ClientMissing { path }) }
    }
}

fn lab_folder() -> PathBuf {
    door::workspace().join("target/lab")
}

fn install_folder() -> PathBuf {
    lab_folder().join(format!("claude-{CLIENT_VERSION}"))
}

fn install_into(parent: &Path, folder: &Path) -> Result<Client, LabError> {
    let place = tempfile::Builder::new().prefix("installing-").tempdir_in(parent);
    let place = place.map_err(LabError::file("create a folder in", parent))?;
    // Without a package file of its own npm would look for one further up.
    let package = place.path().join("package.json");
    fs::write(&package, "{\"private\": true}\n").map_err(LabError::file("write", &package))?;
    npm_install(place.path())?;
    Client::at(place.path().join(PROGRAM_IN_FOLDER))?;
    fs::rename(place.path(), folder).map_err(LabError::file("move the client to", folder))?;
    Client::at(folder.join(PROGRAM_IN_FOLDER))
}

fn npm_install(place: &Path) -> Result<(), LabError> {
    let output = door::command("npm")
        .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
        .arg(format!("@anthropic-ai/claude-code@{CLIENT_VERSION}"))
        .current_dir(place)
        .output()
        .map_err(LabError::run(Path::new("npm")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let skipped = said.chars().count().saturating_sub(SAID_CHARS_MAX);
    Err(LabError::Install { said: said.chars().skip(skipped).collect() })
}
