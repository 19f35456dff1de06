//! One client's process without a terminal: its own group, its lines, its end.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::time::{Duration, Instant};
use std::{io, thread};

use stopgate_agents::ClientExit;

use crate::command::{CommandInput, StartedCommand};
use crate::guard::{SessionGuard, command, end_group};
use crate::mark::{self, MARK};

/// A longer line is cut: no event that is read is as long.
const LINE_BYTES_MAX: u64 = 16 << 20;
/// So many lines may wait to be read: a client that prints faster is made to wait.
const LINES_WAITING_MAX: usize = 8;
/// How long output may still come after the client has ended.
const DRAIN_GRACE: Duration = Duration::from_millis(500);
/// What the client left running may print for ever: nobody listens longer than this.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// A line of a client's output.
#[derive(Debug)]
pub(crate) enum OutputLine {
    /// On standard output.
    Out(Vec<u8>),
    /// On standard error.
    Error(Vec<u8>),
}

/// A client that runs.
pub(crate) struct ClientProcess {
    child: Child,
    mark: String,
    lines: Receiver<OutputLine>,
    guard: Option<SessionGuard>,
    /// Goes to its standard input, which closes with this.
    replies: Option<Sender<String>>,
}

/// Around a client.
pub(crate) struct ClientPlace<'a> {
    pub(crate) directory: &'a Path,
    /// Marks everybody whom the client starts.
    pub(crate) mark: &'a str,
    /// Variables to set.
    pub(crate) env: &'a [(String, String)],
}

impl ClientProcess {
    /// Starts a client.
    pub(crate) fn start(started: &StartedCommand, place: &ClientPlace<'_>) -> io::Result<Self> {
        let mut client = prepared(started, place)?;
        client.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        client.stdin(if started.input.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = client.spawn()?;
        let replies = match (child.stdin.take(), started.input.clone()) {
            (Some(stdin), Some(CommandInput::Whole(text))) => {
                told(stdin, text);
                None
            }
            (Some(stdin), Some(CommandInput::Open(line))) => Some(told(stdin, line + "\n")),
            (Some(_) | None, _) => None,
        };
        let (sender, lines) = mpsc::sync_channel(LINES_WAITING_MAX);
        read_lines(child.stdout.take(), sender.clone(), OutputLine::Out);
        read_lines(child.stderr.take(), sender, OutputLine::Error);
        let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
        // Without a guard the session is ended all the same, unless we are killed.
        let guard = SessionGuard::over(pid, place.mark).ok();
        Ok(Self { child, mark: place.mark.to_owned(), lines, guard, replies })
    }

    /// Tells the client a line, where it listens.
    pub(crate) fn reply(&self, line: &str) {
        if let Some(replies) = &self.replies {
            // One that has ended hears nothing.
            let _ = replies.send(format!("{line}\n"));
        }
    }

    /// The client is told no more.
    pub(crate) fn hang_up(&mut self) {
        self.replies = None;
    }

    /// Its number, which is also that of its group.
    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap_or(i32::MAX)
    }

    /// The next line, if one comes within `wait`; an error where no more will come.
    pub(crate) fn line(&self, wait: Duration) -> Result<Option<OutputLine>, ()> {
        match self.lines.recv_timeout(wait) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(()),
        }
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ClientExit> {
        self.child.try_wait().ok().flatten().map(exit)
    }

    /// Ends what is left of the session, and says how the client ended.
    pub(crate) fn end(mut self) -> ClientExit {
        // Nobody reads its last words, but a full pipe must not keep it from ending in order.
        let (_, nothing) = mpsc::sync_channel(0);
        let lines = std::mem::replace(&mut self.lines, nothing);
        thread::spawn(move || lines.into_iter().for_each(drop));
        let exit = end_child(&mut self.child);
        mark::end_marked(&self.mark);
        drop(self.guard.take());
        exit
    }

    /// A line that still comes after the end, which was at `ended_at`.
    pub(crate) fn last_line(&self, ended_at: Instant) -> Option<OutputLine> {
        let is_over = ended_at.elapsed() >= DRAIN_MAX;
        if is_over { None } else { self.lines.recv_timeout(DRAIN_GRACE).ok() }
    }
}

/// Writes to a client's standard input what it is told first and then; a program that does not read
/// must not hold us up.
fn told(mut stdin: ChildStdin, first: String) -> Sender<String> {
    let (sender, lines) = mpsc::channel::<String>();
    thread::spawn(move || {
        let mut next = Some(first);
        while let Some(text) = next {
            if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                return;
            }
            next = lines.recv().ok();
        }
    });
    sender
}

/// A client with its variables, not started yet.
pub(crate) fn prepared(
    started: &StartedCommand,
    place: &ClientPlace<'_>,
) -> io::Result<std::process::Command> {
    let (program, args) =
        started.argv.split_first().ok_or_else(|| io::Error::other("the command is empty"))?;
    let mut client = command(program.as_ref());
    client.args(args).current_dir(place.directory);
    around(&mut client, started, place);
    Ok(client)
}

/// Gives a client its variables; the person's own win over what we know of the client.
pub(crate) fn around(
    client: &mut std::process::Command,
    started: &StartedCommand,
    place: &ClientPlace<'_>,
) {
    let is_set = |name: &str| stopgate_verify::variables().any(|(own, _)| own == name);
    for (name, value) in started.env.iter().filter(|(name, _)| !is_set(name)) {
        client.env(name, value);
    }
    client.envs(place.env.iter().map(|(name, value)| (name, value)));
    client.env(MARK, place.mark);
}

/// Ends a child with its group, and reaps it.
pub(crate) fn end_child(child: &mut Child) -> ClientExit {
    let group = i32::try_from(child.id()).unwrap_or(i32::MAX);
    // One that has ended keeps its number until it is asked, so the group is still its own.
    if let Ok(Some(status)) = child.try_wait() {
        end_rest(group);
        return exit(status);
    }
    thread::scope(|scope| {
        scope.spawn(|| end_group(group));
        child.wait().map_or(ClientExit::Signal, exit)
    })
}

/// Ends those of a group whose leader has ended.
fn end_rest(group: i32) {
    if let Some(group) = rustix::process::Pid::from_raw(group) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

pub(crate) fn exit(status: ExitStatus) -> ClientExit {
    match (status.code(), status.signal()) {
        (Some(code), _) => ClientExit::Code(code),
        (None, _) => ClientExit::Signal,
    }
}

fn read_lines(
    pipe: Option<impl Read + Send + 'static>,
    sender: SyncSender<OutputLine>,
    kind: fn(Vec<u8>) -> OutputLine,
) {
    let Some(pipe) = pipe else { return };
    thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        loop {
            let mut line = Vec::new();
            match (&mut pipe).take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            while line.last().is_some_and(u8::is_ascii_whitespace) {
                line.pop();
            }
            if sender.send(kind(line)).is_err() {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::now;

    fn started(script: &str) -> ClientProcess {
        let argv = ["sh", "-c", script].map(String::from).to_vec();
        let started = StartedCommand { argv, env: &[], input: None };
        let place = ClientPlace { directory: Path::new("/"), mark: "process-tests", env: &[] };
        ClientProcess::start(&started, &place).unwrap()
    }

    #[test]
    fn what_a_client_leaves_running_is_not_listened_to_for_ever() {
        let mut client = started("while :; do echo more; sleep 0.01; done & exit 3");
        while client.ended().is_none() {
            let _ = client.line(DRAIN_GRACE);
        }
        let ended_at = now();
        let heard = std::iter::from_fn(|| client.last_line(ended_at)).count();
        assert!(heard > 0, "what comes at once is heard");
        assert_eq!(client.end(), ClientExit::Code(3));
    }
}
