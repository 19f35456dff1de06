//! The one door to other programs.
//!
//! A child has its own process group, no standard input, and a pipe of its own:
//! nothing of it can reach the agent through the hook's output. When time is up
//! the whole group goes, politely at first.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::capture::{Capture, Captured};

const LOOK_FIRST: Duration = Duration::from_millis(1);
const LOOK_LAST: Duration = Duration::from_millis(20);
const TERM_GRACE: Duration = Duration::from_secs(2);
const DRAIN_GRACE: Duration = Duration::from_millis(300);

/// A running command.
pub(crate) struct Child {
    process: std::process::Child,
    capture: Capture,
}

/// How a command ended.
pub(crate) enum End {
    Exited(ExitStatus),
    TimedOut,
    Interrupted,
    Lost(io::Error),
}

impl Child {
    /// Starts `command` by the platform's shell in `folder`.
    #[expect(clippy::disallowed_methods, reason = "the door")]
    pub(crate) fn spawn(command: &str, folder: &Path, log: &Path) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(command).current_dir(folder).process_group(0);
        shell.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_private(name)) {
            shell.env_remove(name);
        }
        // A client that a check starts must not be held by the hook that started the check.
        shell.env("STOPGATE_DISABLE", "1");
        let process = shell.spawn()?;
        // The pipe closes only when our own copy of its writing end is gone.
        drop(shell);
        Ok(Self { process, capture: Capture::begin(reader, log) })
    }

    /// Waits for the end, or makes one.
    #[expect(clippy::disallowed_methods, reason = "the door that waits")]
    pub(crate) fn wait(mut self, timeout: Duration, interrupted: &AtomicBool) -> (End, Captured) {
        let begun = Instant::now();
        let mut look = LOOK_FIRST;
        let end = loop {
            match self.process.try_wait() {
                Ok(Some(status)) => break End::Exited(status),
                Err(error) => break End::Lost(error),
                Ok(None) if interrupted.load(Ordering::Relaxed) => break End::Interrupted,
                Ok(None) if begun.elapsed() >= timeout => break End::TimedOut,
                Ok(None) => std::thread::sleep(look.min(timeout)),
            }
            look = (look * 2).min(LOOK_LAST);
        };
        match end {
            End::TimedOut | End::Interrupted => self.end_group(),
            // Whoever is left in the group has no business after the check.
            End::Exited(_) | End::Lost(_) => self.signal(Signal::KILL),
        }
        (end, self.capture.finish(DRAIN_GRACE))
    }

    fn end_group(&mut self) {
        self.signal(Signal::TERM);
        let mut waited = Duration::ZERO;
        while waited < TERM_GRACE && matches!(self.process.try_wait(), Ok(None)) {
            std::thread::sleep(LOOK_LAST);
            waited += LOOK_LAST;
        }
        self.signal(Signal::KILL);
        let _ = self.process.wait();
    }

    fn signal(&self, signal: Signal) {
        let group = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            // No such group: everybody has left.
            let _ = kill_process_group(group, signal);
        }
    }
}

/// Whether a variable is the client's or a secret: none of a check's business.
fn is_private(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let prefixes = ["CLAUDE", "ANTHROPIC_", "OPENAI_", "AI_AGENT"];
    let suffixes = ["_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD"];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
        || suffixes.iter().any(|suffix| name.ends_with(suffix))
}
