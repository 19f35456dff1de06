//! Unix: a child has its own process group, and no descriptor of the hook.

use std::ffi::OsString;
use std::io::{self, PipeWriter};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use signal_hook::consts::SIGCHLD;

use crate::env::Variable;
use crate::orphans;

/// Becomes readable when a program ends.
pub(crate) type EndHandle = OwnedFd;

/// A running program, or one that ended and keeps its number until it is let go.
#[derive(Debug)]
pub(crate) struct Child {
    process: std::process::Child,
    group: Pid,
    handle: Option<OwnedFd>,
}

impl Child {
    /// Starts a program in `directory`, with `variables` and nothing else around it.
    #[expect(clippy::disallowed_methods, reason = "the door")]
    pub(crate) fn spawn(
        argv: &[OsString],
        directory: &Path,
        variables: Vec<Variable>,
        (out, err): (PipeWriter, PipeWriter),
    ) -> io::Result<Self> {
        let (program, arguments) =
            argv.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
        let mut command = Command::new(program);
        command.args(arguments).current_dir(directory).process_group(0);
        command.env_clear().envs(variables);
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        notice_ends();
        // What the agent left open for us is not for the check.
        close_fds::set_fds_cloexec_threadsafe(3, &[]);
        // The pipes close only when our own copies of their writing ends are gone.
        let process = orphans::adopt(move || command.spawn())?;
        let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
        let group = pid.ok_or_else(|| io::Error::other("it has no number"))?;
        Ok(Self { process, group, handle: handle(group) })
    }

    /// Its number.
    pub(crate) fn pid(&self) -> i32 {
        self.group.as_raw_nonzero().get()
    }

    /// Becomes readable when the program ends, where the system has such a thing.
    pub(crate) fn handle(&self) -> Option<&OwnedFd> {
        self.handle.as_ref()
    }

    /// Whether it has ended; its number stays taken.
    pub(crate) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // What can't be waited for is not there any more.
        !matches!(waitid(WaitId::Pid(self.group), options), Ok(None))
    }

    /// Asks its group to end.
    pub(crate) fn ask_to_end(&self) {
        self.signal(Signal::TERM);
        // Who was stopped can't hear the first one.
        self.signal(Signal::CONT);
    }

    /// Ends its group at once.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Sends a signal to its group; only while its number is taken.
    fn signal(&self, signal: Signal) {
        // No such group: everybody has left.
        let _ = kill_process_group(self.group, signal);
    }

    /// Lets it go, and says how it ended.
    pub(crate) fn release(&mut self) -> io::Result<ExitStatus> {
        orphans::release(&mut self.process)
    }
}

/// Sees to it that the system keeps how a child ended until it was asked.
///
/// An agent that ignores the ends of its own children has us ignore ours.
fn notice_ends() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Without the handler such a check is lost, which is an error and no proof.
        let _ = signal_hook::flag::register(SIGCHLD, Arc::new(AtomicBool::new(false)));
    });
}

#[cfg(target_os = "linux")]
fn handle(pid: Pid) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn handle(_: Pid) -> Option<OwnedFd> {
    None
}
