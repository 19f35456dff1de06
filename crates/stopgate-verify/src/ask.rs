//! Asks another program something, and listens for a while.
//!
//! Nothing of it can reach the agent: it has no standard input, its complaints are dropped,
//! and its answer is caught here, up to a limit.

use std::io::{self, ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// More than this is no answer.
const ANSWER_BYTES_MAX: u64 = 8 * 1024 * 1024;
const LOOK: Duration = Duration::from_millis(2);

/// What a program answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Whether it ended well.
    pub success: bool,
    /// What it printed.
    pub stdout: Vec<u8>,
}

/// Runs `program` in `folder`, in this environment, for at most `patience`.
pub fn ask(
    program: &str,
    arguments: &[&str],
    folder: &Path,
    patience: Duration,
) -> io::Result<Told> {
    let mut child = spawn(program, arguments, folder)?;
    let heard = listen(&mut child)?;
    let ended = wait(&mut child, patience);
    end_group(&child);
    let _ = child.wait();
    let success = ended?;
    let late = || io::Error::new(ErrorKind::TimedOut, "its output did not end");
    let stdout = heard.recv_timeout(patience).map_err(|_| late())??;
    Ok(Told { success, stdout })
}

#[expect(clippy::disallowed_methods, reason = "the door")]
fn spawn(program: &str, arguments: &[&str], folder: &Path) -> io::Result<Child> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn()
}

/// Reads on a thread that is left behind where somebody keeps the pipe open.
fn listen(child: &mut Child) -> io::Result<mpsc::Receiver<io::Result<Vec<u8>>>> {
    let (done, heard) = mpsc::channel();
    let pipe = child.stdout.take();
    std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        let mut bytes = Vec::new();
        let read = pipe.map_or(Ok(0), |pipe| pipe.take(ANSWER_BYTES_MAX).read_to_end(&mut bytes));
        // Nobody listens any more: the answer came too late.
        let _ = done.send(read.map(|_| bytes));
    })?;
    Ok(heard)
}

#[expect(clippy::disallowed_methods, reason = "the door that waits")]
fn wait(child: &mut Child, patience: Duration) -> io::Result<bool> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if begun.elapsed() >= patience {
            return Err(io::Error::new(ErrorKind::TimedOut, "it took too long"));
        }
        std::thread::sleep(LOOK);
    }
}

/// Whoever is left in the group has no business after the answer.
fn end_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(test)]
mod tests;
