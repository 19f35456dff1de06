//! One call of a hook, as a client makes it: a shell, three pipes, and patience up to a deadline.

#![expect(clippy::disallowed_methods, reason = "the suite starts hooks and waits for them")]

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// In how many pieces a slow client writes its payload, and how long it waits between them.
const PIECES: usize = 8;
const PAUSE: Duration = Duration::from_millis(25);

/// How often is looked whether a process ended.
const LOOK: Duration = Duration::from_millis(2);

/// What a hook finds on its standard input.
#[derive(Clone, Debug)]
pub(crate) enum ShotInput {
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// These bytes in pieces, then the end.
    Slowly(Vec<u8>),
    /// These bytes, and no end while the hook runs.
    NeverEnding(Vec<u8>),
    /// Not even a file.
    Closed,
}

/// What becomes of what a hook prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShotReader {
    /// It is read to its end.
    Reads,
    /// The client is gone.
    Gone,
}

/// A hook to be called.
#[derive(Clone, Debug)]
pub(crate) struct Shot {
    pub(crate) line: String,
    pub(crate) cwd: PathBuf,
    pub(crate) variables: Vec<(OsString, OsString)>,
    pub(crate) input: ShotInput,
    pub(crate) reader: ShotReader,
}

/// What a hook left behind.
#[derive(Clone, Debug)]
pub(crate) struct Heard {
    pub(crate) exit_code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) end: ShotEnd,
}

/// How a call came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShotEnd {
    /// The hook ended and its output, too.
    Complete,
    /// The hook did not end before the deadline.
    Running,
    /// It ended, and something that it started still holds its output.
    OutputHeld,
}

impl Shot {
    /// Calls the hook; nothing of its process group is left afterwards.
    pub(crate) fn fire(&self, deadline: Duration) -> std::io::Result<Heard> {
        let mut child = self.spawn()?;
        let stdin = child.stdin.take();
        let out = child.stdout.take().map(read_all);
        let err = child.stderr.take().map(read_all);
        let kept = stdin.and_then(|stdin| self.feed(stdin));
        let end = Instant::now() + deadline;
        let status = wait(&mut child, end)?;
        let (stdout, stderr) = (collect(out, end), collect(err, end));
        let complete = stdout.is_some() && stderr.is_some();
        kill_group(&child);
        if status.is_none() {
            child.wait()?;
        }
        drop(kept);
        Ok(Heard {
            exit_code: status.and_then(|status| status.code()),
            stdout: stdout.unwrap_or_default(),
            stderr: stderr.unwrap_or_default(),
            end: match (status, complete) {
                (None, _) => ShotEnd::Running,
                (Some(_), false) => ShotEnd::OutputHeld,
                (Some(_), true) => ShotEnd::Complete,
            },
        })
    }

    /// Calls the hook and kills it at once, with everything in its process group.
    pub(crate) fn fire_and_kill(&self) -> std::io::Result<()> {
        let mut child = self.spawn()?;
        let kept = child.stdin.take().and_then(|stdin| self.feed(stdin));
        kill_group(&child);
        child.wait()?;
        drop(kept);
        Ok(())
    }

    fn spawn(&self) -> std::io::Result<Child> {
        let closes = matches!(self.input, ShotInput::Closed);
        let line = if closes { format!("exec 0<&-; {}", self.line) } else { self.line.clone() };
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(line).current_dir(&self.cwd).env_clear();
        shell.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let (stdin, output) = (if closes { Stdio::null() } else { Stdio::piped() }, Stdio::piped());
        shell.stdin(stdin).stdout(output).stderr(Stdio::piped()).process_group(0);
        let mut child = shell.spawn()?;
        if self.reader == ShotReader::Gone {
            drop(child.stdout.take());
            drop(child.stderr.take());
        }
        Ok(child)
    }

    /// Writes the input; gives the pipe back where it must stay open.
    fn feed(&self, mut stdin: ChildStdin) -> Option<Receiver<ChildStdin>> {
        let (bytes, pieces, stays_open) = match &self.input {
            ShotInput::Bytes(bytes) => (bytes.clone(), 1, false),
            ShotInput::Slowly(bytes) => (bytes.clone(), PIECES, false),
            ShotInput::NeverEnding(bytes) => (bytes.clone(), 1, true),
            ShotInput::Closed => return None,
        };
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            // A hook may end without reading: that is its right.
            let written = write_pieces(&mut stdin, &bytes, pieces);
            if written.is_ok() && stays_open {
                // The receiver drops the pipe once the hook is gone.
                let _ = sender.send(stdin);
            }
        });
        Some(receiver)
    }
}

fn write_pieces(stdin: &mut ChildStdin, bytes: &[u8], pieces: usize) -> std::io::Result<()> {
    let size = bytes.len().div_ceil(pieces).max(1);
    for (at, piece) in bytes.chunks(size).enumerate() {
        if at > 0 {
            thread::sleep(PAUSE);
        }
        stdin.write_all(piece)?;
    }
    Ok(())
}

/// Reads a pipe to its end, beside everything else.
fn read_all(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What can't be read is as good as nothing.
        let _ = pipe.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}

fn collect(pipe: Option<Receiver<Vec<u8>>>, end: Instant) -> Option<Vec<u8>> {
    let Some(pipe) = pipe else { return Some(Vec::new()) };
    pipe.recv_timeout(end.saturating_duration_since(Instant::now())).ok()
}

fn wait(child: &mut Child, end: Instant) -> std::io::Result<Option<std::process::ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= end {
            return Ok(None);
        }
        thread::sleep(LOOK);
    }
}

/// Ends whatever is left of a call.
fn kill_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // An empty group is what we want.
        let _ = kill_process_group(group, Signal::KILL);
    }
}
