//! Two small roles of our own program: one watches over a session, one gives it a terminal.
//!
//! A driver that is killed can end nobody. So a guard holds the end of a pipe that only the driver
//! has open: when the pipe closes, it ends the session's group and everybody with its mark.

use std::ffi::OsString;
use std::io::{self, PipeWriter, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use stopgate_verify::own_program;

use crate::mark;

/// The word by which the program is asked to be a guard.
pub const SESSION_GUARD: &str = "session-guard";
/// The word by which the program is asked to become a client with a terminal of its own.
pub const SESSION_TERMINAL: &str = "session-terminal";
/// How long a group may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Watches over a session until it is dropped.
#[derive(Debug)]
pub(crate) struct SessionGuard {
    process: Child,
    _pipe: PipeWriter,
}

impl SessionGuard {
    /// A guard over the group and the mark.
    pub(crate) fn over(group: i32, mark: &str) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let mut command = own_program()?;
        command.args([SESSION_GUARD, &group.to_string(), mark]);
        command.env_clear().current_dir("/").process_group(0);
        let process = command.stdin(reader).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        Ok(Self { process, _pipe: writer })
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        // The session has ended in order: there is nobody to watch over.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What a guard does; `arguments` are those after [`SESSION_GUARD`].
pub fn guard_session(mut arguments: impl Iterator<Item = OsString>) {
    let group = arguments.next().and_then(|group| group.to_str()?.parse().ok());
    let mark = arguments.next().and_then(|mark| mark.into_string().ok());
    let (Some(group), Some(mark)) = (group, mark) else { return };
    // Nothing is ever written: the read returns when nobody holds the other end.
    let _ = io::stdin().lock().read(&mut [0]);
    end_group(group);
    mark::end_marked(&mark);
}

/// Ends a process group: asks first, then makes sure.
pub(crate) fn end_group(group: i32) {
    let Some(group) = Pid::from_raw(group) else { return };
    let _ = kill_process_group(group, Signal::TERM);
    let looks = GRACE.as_millis() / LOOK_EVERY.as_millis();
    for _ in 0..looks {
        if rustix::process::test_kill_process_group(group).is_err() {
            return;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    let _ = kill_process_group(group, Signal::KILL);
}

/// Becomes the program in `arguments`, in a session of its own whose terminal is standard input.
///
/// Returns only where that fails.
pub fn become_client(arguments: impl Iterator<Item = OsString>) -> io::Error {
    let argv: Vec<OsString> = arguments.collect();
    let Some((program, rest)) = argv.split_first() else {
        return io::Error::other("the command is empty");
    };
    if let Err(error) = rustix::process::setsid() {
        return error.into();
    }
    if let Err(error) = rustix::process::ioctl_tiocsctty(rustix::stdio::stdin()) {
        return error.into();
    }
    command(program).args(rest).exec()
}

/// A program about to be started.
#[expect(clippy::disallowed_methods, reason = "the door")]
pub(crate) fn command(program: &std::ffi::OsStr) -> Command {
    Command::new(program)
}
