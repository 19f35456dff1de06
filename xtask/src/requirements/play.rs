//! Plays one row: a directory, a home, a few small commands on the path, and its script.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tempfile::TempDir;

use super::rows::RequirementRow;

const PRELUDE: &str = include_str!("prelude.sh");
const TIME_MAX: Duration = Duration::from_mins(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Small commands of scripts, carried out by this very program.
const HELPERS: [&str; 5] = ["payload", "tool", "like", "get", "ago"];

/// Runs a row's script; nothing where it holds, else why not.
pub(super) fn row(program: &Path, row: &RequirementRow) -> Result<Option<String>> {
    let room = TempDir::with_prefix("requirement-").context("make a directory")?;
    let path = |name: &str| room.path().join(name);
    for name in ["bin", "home", "user", "project/.git"] {
        fs::create_dir_all(path(name)).context("make a directory")?;
    }
    std::os::unix::fs::symlink(program, path("bin/stopgate")).context("link the program")?;
    let own = std::env::current_exe().context("find this program")?;
    for helper in HELPERS {
        let text =
            format!("#!/bin/sh\nexec '{}' requirements --helper {helper} \"$@\"\n", own.display());
        let file = path("bin").join(helper);
        fs::write(&file, text)?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
    }
    fs::write(path("script.sh"), format!("{PRELUDE}\n{}", row.run))?;
    let system = std::env::var("PATH").unwrap_or_default();
    let said = fs::File::create(path("said"))?;
    let mut shell = Command::new("sh");
    shell.arg("-eu").arg(path("script.sh")).current_dir(path("project")).env_clear();
    shell.env("PATH", format!("{}:{system}", path("bin").display()));
    shell.env("HOME", path("user")).env("STOPGATE_HOME", path("home")).env("ROOM", room.path());
    shell.process_group(0).stdin(Stdio::null()).stdout(said.try_clone()?).stderr(said);
    let child = shell.spawn().context("start sh")?;
    let Some(status) = ended(child)? else {
        return Ok(Some("it did not end within two minutes".into()));
    };
    if status.success() {
        return Ok(None);
    }
    let said = fs::read_to_string(path("said")).unwrap_or_default();
    let last = said.lines().rev().find(|line| !line.trim().is_empty());
    Ok(Some(last.unwrap_or("a command failed without a word").trim().into()))
}

/// Ends the script with everything that it started.
fn end_group(child: &Child) -> Result<()> {
    let group = format!("-{}", child.id());
    Command::new("kill").args(["-KILL", "--", &group]).status().context("end sh")?;
    Ok(())
}

fn ended(mut child: Child) -> Result<Option<ExitStatus>> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().context("wait for sh")? {
            return Ok(Some(status));
        }
        if begun.elapsed() > TIME_MAX {
            end_group(&child)?;
            child.wait().context("wait for sh")?;
            return Ok(None);
        }
        std::thread::sleep(LOOK_EVERY);
    }
}
