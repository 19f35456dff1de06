//! A client at work, in a process group of its own.
//!
//! It never outlives its value: past the time limit, or dropped, the whole
//! group goes.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use std::os::unix::process::{CommandExt, ExitStatusExt};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::door;
use crate::error::LabError;
use crate::outcome::Exit;

const LOOK_EVERY: Duration = Duration::from_millis(10);
const GRACE: Duration = Duration::from_secs(1);

/// A started client whose output goes to files.
pub(crate) struct Running {
    child: Child,
    program: PathBuf,
    since: Instant,
}

impl Running {
    /// Starts a command with nothing on its stdin.
    pub(crate) fn start(
        mut command: Command,
        stdout: &Path,
        stderr: &Path,
    ) -> Result<Self, LabError> {
        let program = PathBuf::from(command.get_program());
        let out = File::create(stdout).map_err(LabError::file("create", stdout))?;
        let err = File::create(stderr).map_err(LabError::file("create", stderr))?;
        command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
        let child = command.spawn().map_err(LabError::run(&program))?;
        Ok(Self { child, program, since: door::now() })
    }

    /// Waits for the end, which comes at the limit at the latest.
    pub(crate) fn finish(mut self, limit: Duration) -> Result<Exit, LabError> {
        if let Some(exit) = self.wait_until(self.since + limit)? {
            return Ok(exit);
        }
        self.signal(Signal::TERM);
        if self.wait_until(door::now() + GRACE)?.is_none() {
            self.signal(Signal::KILL);
        }
        Ok(Exit::TimedOut)
    }

    fn wait_until(&mut self, deadline: Instant) -> Result<Option<Exit>, LabError> {
        loop {
            if let Some(status) = self.child.try_wait().map_err(LabError::run(&self.program))? {
                let signal = status.signal().unwrap_or_default();
                return Ok(Some(status.code().map_or(Exit::Signal(signal), Exit::Code)));
            }
            if door::now() >= deadline {
                return Ok(None);
            }
            thread::sleep(LOOK_EVERY);
        }
    }

    fn signal(&self, signal: Signal) {
        // The group may be gone already, which is what was wanted.
        kill_process_group(Pid::from_child(&self.child), signal).ok();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            self.signal(Signal::KILL);
            self.child.wait().ok();
        }
    }
}
