//! The server's process.

use std::fs::{self, File, OpenOptions};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use rustix::process::{Pid, Signal, kill_process};

use crate::error::LabError;

/// How to stop a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerStop {
    /// Clients are sent away, the shutdown is orderly.
    Fast,
    /// Everything is dropped; the next start recovers.
    Immediate,
    /// The main process is killed, as by a power switch.
    Kill,
}

/// A server that was started.
#[derive(Debug)]
pub(super) struct ClusterServer {
    child: Mutex<Child>,
    pid: Pid,
}

impl ClusterServer {
    /// Starts it with its output at the end of `log`, out of reach of the terminal's signals.
    pub(super) fn launch(mut command: Command, log: &Path) -> Result<Self, LabError> {
        let out = OpenOptions::new().create(true).append(true).open(log);
        let out = out.map_err(LabError::file("open", log))?;
        let err = out.try_clone().map_err(LabError::file("open", log))?;
        let program = PathBuf::from(command.get_program());
        command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
        let child = command.spawn().map_err(LabError::run(&program))?;
        let pid = Pid::from_child(&child);
        Ok(Self { child: Mutex::new(child), pid })
    }

    /// Whether it is still there.
    pub(super) fn is_running(&self) -> Result<bool, LabError> {
        let mut child = self.child.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let ended = child.try_wait().map_err(LabError::run(Path::new("postgres")))?;
        Ok(ended.is_none())
    }

    /// Sends a signal to the main process and all its children.
    pub(super) fn signal_all(&self, signal: Signal) {
        for child in children(self.pid) {
            // A child may have gone meanwhile.
            kill_process(child, signal).ok();
        }
        kill_process(self.pid, signal).ok();
    }

    /// Stops it and waits for its end.
    pub(super) fn stop(self, how: ServerStop) -> Result<(), LabError> {
        let signal = match how {
            ServerStop::Fast => Signal::INT,
            ServerStop::Immediate => Signal::QUIT,
            ServerStop::Kill => Signal::KILL,
        };
        let mut child = self.child.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        if matches!(child.try_wait(), Ok(None)) {
            // It may have gone by itself, which is what was wanted.
            kill_process(self.pid, signal).ok();
        }
        child.wait().map(drop).map_err(LabError::run(Path::new("postgres")))
    }
}

/// The processes whose parent this is.
fn children(parent: Pid) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    numbers.filter(|pid| parent_of(*pid) == Some(parent)).filter_map(Pid::from_raw).collect()
}

/// The fourth field of a process's status, after its name in brackets.
fn parent_of(pid: i32) -> Option<Pid> {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = status.rsplit_once(')')?;
    Pid::from_raw(fields.split_whitespace().nth(1)?.parse().ok()?)
}

/// Runs a program to its end; gives what it printed.
pub(super) fn said(command: &mut Command) -> Result<String, LabError> {
    let program = PathBuf::from(command.get_program());
    let nothing =
        File::open("/dev/null").map_err(LabError::file("open", Path::new("/dev/null")))?;
    let ran = command.stdin(nothing).output().map_err(LabError::run(&program))?;
    if ran.status.success() {
        return Ok(String::from_utf8_lossy(&ran.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&ran.stderr).trim().to_string();
    Err(LabError::Refused { program: program.display().to_string(), said })
}
