//! The one door to other programs: each has a time limit, and pipes of its own.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use stopgate_engine::Failure;

const LIMIT: Duration = Duration::from_secs(20);
const LOOK_FIRST: Duration = Duration::from_millis(1);
const LOOK_LAST: Duration = Duration::from_millis(20);
/// How long output may still come after the program has ended.
const DRAIN_GRACE: Duration = Duration::from_secs(1);
const OUTPUT_BYTES_MAX: u64 = 1024 * 1024;

/// What a program left behind.
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    /// Its exit code; nothing where a signal ended it.
    pub(crate) exit_code: Option<i32>,
    /// What it printed.
    pub(crate) stdout: String,
    /// What it complained about.
    pub(crate) stderr: String,
    /// How long it took.
    pub(crate) took: Duration,
}

/// Why a program left nothing behind.
#[derive(Debug)]
pub(crate) enum ProgramTrouble {
    /// It could not be started.
    NotStarted(io::Error),
    /// It took too long and was ended.
    TimedOut,
    /// Something that it started still holds its output: the client would refuse the answer.
    Clings,
    /// It was lost.
    Lost(io::Error),
    /// The person interrupted it.
    Interrupted,
}

impl fmt::Display for ProgramTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted(error) => write!(f, "it could not be started: {error}"),
            Self::TimedOut => write!(f, "it took longer than {} s", LIMIT.as_secs()),
            Self::Clings => f.write_str("something that it started still holds its output"),
            Self::Lost(error) => write!(f, "its result was lost: {error}"),
            Self::Interrupted => f.write_str("it was interrupted"),
        }
    }
}

/// Rises when the person interrupts a command that has something to clean up.
static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on an interrupt is noted instead of ending this process at once.
pub(super) fn note_interrupts() {
    let flag = INTERRUPTED.get_or_init(Arc::default);
    for signal in stopgate_system::END_SIGNALS {
        // Without it the process ends at once, and leaves its directory behind.
        let _ = signal_hook::flag::register(signal, Arc::clone(flag));
    }
}

/// Whether the person interrupted this command.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// What a shell command prints when it is given `input`.
pub(crate) fn ask_shell(line: &str, input: &str) -> Option<String> {
    let mut shell = command(OsStr::new("sh"));
    shell.args(["-c", line]);
    run(shell, input.into()).ok().map(|ran| ran.stdout)
}

/// What a client says about its version.
pub(crate) fn version_of(program: &std::path::Path) -> Option<String> {
    let mut asked = command(program.as_os_str());
    asked.arg("--version");
    // A client that is asked by us must not ask us back.
    asked.env("STOPGATE_DISABLE", "1");
    let ran = run(asked, String::new()).ok()?;
    let line = stopgate_core::clean(ran.stdout.lines().next()?.trim());
    (!line.is_empty()).then(|| stopgate_core::clip(&line, 60))
}

/// Opens a file in a person's editor, and waits until they are done.
pub(crate) fn open_in(editor: &str, file: &Path) -> Result<(), Failure> {
    let mut shell = command(OsStr::new("sh"));
    // An editor may have arguments of its own: `code --wait`.
    shell.args(["-c", &format!("{editor} \"$1\""), "stopgate"]).arg(file);
    match shell.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(Failure::usage(format!("{editor} ended with an error"))),
        Err(error) => Err(Failure::usage(format!("could not start {editor}")).because(error)),
    }
}

/// A program about to be started.
#[expect(clippy::disallowed_methods, reason = "the door")]
pub(super) fn command(program: &OsStr) -> Command {
    Command::new(program)
}

/// Runs a program with `input`, in a process group of its own.
#[expect(clippy::disallowed_methods, reason = "the door that waits")]
pub(super) fn run(mut command: Command, input: String) -> Result<ProgramOutput, ProgramTrouble> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    stopgate_system::apart(&mut command);
    let begun = Instant::now();
    let mut child = command.spawn().map_err(ProgramTrouble::NotStarted)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program that does not read must not hold us up.
        std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    }
    let (stdout, stderr) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let status = wait(&mut child, &|| begun.elapsed())?;
    let took = begun.elapsed();
    let drain = |output: Receiver<String>| {
        output.recv_timeout(DRAIN_GRACE).map_err(|_| ProgramTrouble::Clings)
    };
    Ok(ProgramOutput {
        exit_code: status.code(),
        stdout: drain(stdout)?,
        stderr: drain(stderr)?,
        took,
    })
}

fn wait(child: &mut Child, elapsed: &dyn Fn() -> Duration) -> Result<ExitStatus, ProgramTrouble> {
    let mut look = LOOK_FIRST;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if is_interrupted() => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(ProgramTrouble::Interrupted);
            }
            Ok(None) if elapsed() < LIMIT => std::thread::sleep(look),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(ProgramTrouble::TimedOut);
            }
            Err(error) => return Err(ProgramTrouble::Lost(error)),
        }
        look = (look * 2).min(LOOK_LAST);
    }
}

fn collect(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            let _ = pipe.take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes);
        }
        // Nobody waits any more: the program was given up.
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receiver
}
