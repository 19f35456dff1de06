//! An empty home, and a PATH with little on it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use super::TrialRow;

/// How often a start is measured.
const STARTS: usize = 15;

/// A person's place on a machine that has just been set up.
pub(super) struct TrialRoom {
    root: TempDir,
}

impl TrialRoom {
    /// With these tools on the PATH, beside `sh` and `grep`.
    pub(super) fn new(names: &[&str]) -> Result<Self> {
        let room = Self { root: tempfile::Builder::new().prefix("stopgate-trial-").tempdir()? };
        for directory in ["home", "bin", "tmp"] {
            fs::create_dir(room.path(directory))?;
        }
        for name in ["sh", "grep"].iter().chain(names) {
            room.add(name, &real(name)?)?;
        }
        Ok(room)
    }

    /// Has a tool on the PATH.
    pub(super) fn add(&self, name: &str, tool: &Path) -> Result<()> {
        let link = self.path("bin").join(name);
        if !link.exists() {
            symlink(tool, link)?;
        }
        Ok(())
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A command in the empty home, with nothing of this machine's environment.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let program = program.as_ref();
        let own = self.path("bin").join(program);
        let mut command = Command::new(if own.exists() { own.as_os_str() } else { program });
        command.env_clear().current_dir(self.path("home"));
        command.env("HOME", self.path("home")).env("PATH", self.path("bin"));
        command.env("TMPDIR", self.path("tmp")).env("LANG", "C.UTF-8");
        command
    }

    /// `try` shows everything, and leaves nothing of a loop behind.
    pub(super) fn shows(&self, program: &Path, arguments: &[&str]) -> Result<()> {
        let said = self.command(program).args(arguments).args(["try", "--fast"]).output();
        let said = said.with_context(|| format!("start {}", program.display()))?;
        let text = String::from_utf8_lossy(&said.stdout);
        let error = String::from_utf8_lossy(&said.stderr);
        ensure!(said.status.success(), "run try: {text}\n{error}");
        ensure!(text.contains("one loop is done, proven by its check"), "see a proof: {text}");
        ensure!(!self.path("home/.local/state/stopgate").exists(), "leave the home as it was");
        Ok(())
    }

    /// The figures of this way; what was shown since `begun` is the first value.
    pub(super) fn row(
        &self,
        way: &'static str,
        fetched: u64,
        begun: Instant,
        program: &Path,
        arguments: &[&str],
    ) -> Result<TrialRow> {
        let first_value = begun.elapsed();
        let start_up = start_up(|| {
            let mut command = self.command(program);
            command.args(arguments).arg("--version");
            command
        })?;
        Ok(TrialRow { way, fetched, first_value, start_up })
    }
}

/// How long a program takes to say its version, the median.
pub(super) fn start_up(command: impl Fn() -> Command) -> Result<Duration> {
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let begun = Instant::now();
        let said = command().output()?;
        times.push(begun.elapsed());
        let text = String::from_utf8_lossy(&said.stdout);
        ensure!(text.starts_with("stopgate "), "ask for the version: {text}");
    }
    times.sort_unstable();
    Ok(times[STARTS / 2])
}

/// The tool itself: a shim of a version manager would look for its own files.
pub(super) fn real(name: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found = std::env::split_paths(&path).map(|directory| directory.join(name));
    let own = found.find(|path| path.is_file() && !path.iter().any(|part| part == "shims"));
    own.with_context(|| format!("find {name}"))
}

/// The file of a directory whose name has this part.
pub(super) fn find(directory: &Path, part: &str) -> Result<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory)?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let fits = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.contains(part)
            && !name.ends_with(".minisig")
            && !name.contains("arm64")
            && !name.contains("aarch64")
    };
    paths
        .into_iter()
        .find(fits)
        .with_context(|| format!("find *{part}* in {}", directory.display()))
}
