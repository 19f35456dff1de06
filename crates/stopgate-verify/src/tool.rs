//! Runs a small program, such as git, quietly and within bounds.

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::child::Child;
use crate::env::{Variable, tool_environment};
use crate::output_pipe::{OutputPipe, output_of, wait_for_news};

/// More than this of an answer is an error.
const OUTPUT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// More than this of a complaint is not kept.
const COMPLAINT_BYTES_MAX: usize = 64 * 1024;
/// A clock can't be read beyond its end.
const TIME_MAX: Duration = Duration::from_hours(24 * 365);
const BLOCK_BYTES: usize = 64 * 1024;
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// What a tool said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// The exit code; none if a signal ended it.
    pub status_code: Option<i32>,
    /// All of its standard output.
    pub stdout: Vec<u8>,
    /// The beginning of its standard error.
    pub stderr: Vec<u8>,
}

impl ToolOutput {
    /// Whether the tool ended well.
    pub fn is_fine(&self) -> bool {
        self.status_code == Some(0)
    }

    /// All of its standard output, for a tool that prints one line.
    pub(crate) fn line(&self) -> String {
        String::from_utf8_lossy(&self.stdout).trim().to_string()
    }
}

/// Runs `argv` in `directory`, with the variables that checks may see.
///
/// A tool that fails has an answer; one that can't be started, takes longer than
/// `timeout` or says more than can be held has none.
pub fn tool<S: AsRef<OsStr>>(
    argv: &[S],
    directory: &Path,
    timeout: Duration,
) -> io::Result<ToolOutput> {
    run(argv, directory, timeout, tool_environment(crate::environment::variables()))
}

/// Runs `argv` the same way, with some variables of its own.
pub(crate) fn tool_with<S: AsRef<OsStr>>(
    argv: &[S],
    directory: &Path,
    timeout: Duration,
    own: &[Variable],
) -> io::Result<ToolOutput> {
    let mut variables = tool_environment(crate::environment::variables());
    variables.extend(own.iter().cloned());
    run(argv, directory, timeout, variables)
}

/// Runs a command that the person chose for themselves, with all of their variables.
pub fn own_tool<S: AsRef<OsStr>>(
    argv: &[S],
    directory: &Path,
    timeout: Duration,
) -> io::Result<ToolOutput> {
    run(argv, directory, timeout, crate::environment::variables().collect())
}

fn run<S: AsRef<OsStr>>(
    argv: &[S],
    directory: &Path,
    timeout: Duration,
    variables: Vec<Variable>,
) -> io::Result<ToolOutput> {
    let argv: Vec<OsString> = argv.iter().map(|word| word.as_ref().to_os_string()).collect();
    let (out, out_writer) = io::pipe()?;
    let (err, err_writer) = io::pipe()?;
    let mut child = Child::spawn(&argv, directory, variables, (out_writer, err_writer))?;
    let mut streams = [Stream::new(out, OUTPUT_BYTES_MAX), Stream::new(err, COMPLAINT_BYTES_MAX)];
    let heard = listen(&child, &mut streams, timeout);
    child.kill();
    let status = wait_for(&mut child);
    heard?;
    let [out, err] = streams;
    Ok(ToolOutput { status_code: status?.code(), stdout: out.text, stderr: err.text })
}

struct Stream {
    reader: Option<OutputPipe>,
    text: Vec<u8>,
    bytes_max: usize,
    bytes: usize,
}

impl Stream {
    fn new(reader: PipeReader, bytes_max: usize) -> Self {
        Self { reader: Some(output_of(reader)), text: Vec::new(), bytes_max, bytes: 0 }
    }

    fn read(&mut self, block: &mut [u8]) {
        let Some(reader) = &mut self.reader else { return };
        match reader.read(block) {
            Ok(read @ 1..) => {
                self.bytes += read;
                let room = self.bytes_max - self.text.len();
                self.text.extend_from_slice(&block[..read.min(room)]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => self.reader = None,
        }
    }
}

/// Reads until both streams end, or the tool has ended and says no more.
#[expect(clippy::disallowed_methods, reason = "the door that waits")]
fn listen(child: &Child, streams: &mut [Stream; 2], timeout: Duration) -> io::Result<()> {
    let deadline = Instant::now() + timeout.min(TIME_MAX);
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        // Asked before the wait: what it printed until then is in the pipe.
        let ended = child.has_ended();
        let rest = deadline.saturating_duration_since(Instant::now());
        let time = if ended { Duration::ZERO } else { rest };
        let news = wait(child, streams, time)?;
        for (stream, news) in streams.iter_mut().zip(news) {
            if news {
                stream.read(&mut block);
            }
        }
        if streams[0].bytes > OUTPUT_BYTES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if ended && news == [false, false] {
            return Ok(());
        }
        if rest.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
}

/// Which of the streams have something to be read, after `time` at the latest.
fn wait(child: &Child, streams: &[Stream; 2], time: Duration) -> io::Result<[bool; 2]> {
    let readers = streams.each_ref().map(|stream| stream.reader.as_ref());
    // Without a handle on the child nothing would tell that it has ended.
    let time = if child.handle().is_some() { time } else { time.min(LOOK_EVERY) };
    let news = wait_for_news(&readers, child.handle().into_iter(), time)?;
    Ok([news[0], news[1]])
}

/// Waits for a tool that has ended or was killed.
fn wait_for(child: &mut Child) -> io::Result<std::process::ExitStatus> {
    for _ in 0..250 {
        if child.has_ended() {
            break;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    child.release()
}

#[cfg(test)]
mod tests;
