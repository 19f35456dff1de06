//! One turn of a client without a terminal, from its start to what it came to.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use stopgate_agents::{
    Agent, ClientExit, FailureClass, Headless, QuestionHabit, SessionFailure, SessionReach,
    SessionReport, StreamFact, StreamReader,
};
use stopgate_engine::Failure;

use crate::command::StartedCommand;
use crate::interrupt::{Interrupt, Interrupts};
use crate::process::{ClientPlace, ClientProcess, OutputLine};
use crate::records::{last_lines, record_of};

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often the journal is asked whether the loop still wants the session.
const WATCH_EVERY: Duration = Duration::from_secs(1);
/// How often the record of a client that is silent is looked at.
const RECORD_EVERY: Duration = Duration::from_secs(10);
/// How much of what any command prints is its last message.
const SAID_BYTES_MAX: usize = 64 * 1024;
/// A program that ends with this asks to be tried later.
const TRY_LATER: i32 = 75;

/// What a turn came to.
#[derive(Debug)]
pub(crate) struct TurnResult {
    pub(crate) report: SessionReport,
    /// Why it was ended by us, where it was.
    pub(crate) cut: Option<TurnCut>,
}

/// Why we ended a session that would have gone on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnCut {
    /// The person interrupted twice.
    Interrupted,
    /// The loop no longer wants it.
    Unwanted,
    /// Its turn is over, and it would wait for a person.
    HandedOver,
}

/// What the loop says of a session that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionWatch {
    /// It goes on.
    GoOn,
    /// Its stop was judged.
    Judged,
    /// The loop was cancelled or paused meanwhile.
    Unwanted,
}

/// What a turn needs beside its command.
pub(crate) struct TurnStage<'a> {
    pub(crate) agent: Option<Agent>,
    pub(crate) headless: Option<Headless>,
    pub(crate) session: &'a str,
    /// What happens to questions in the middle of the turn.
    pub(crate) questions: QuestionHabit,
    pub(crate) hang_after: Duration,
    pub(crate) interrupts: &'a Interrupts,
    pub(crate) log: Option<PathBuf>,
    /// Hears that the process runs, with its number.
    pub(crate) started: &'a mut dyn FnMut(i32) -> Result<(), Failure>,
    /// Hears the session's id, where the client chose it.
    pub(crate) named: &'a mut dyn FnMut(&str) -> Result<(), Failure>,
    /// Asks the loop.
    pub(crate) watch: &'a mut dyn FnMut() -> SessionWatch,
    /// Hears what the stream tells.
    pub(crate) heard: &'a mut dyn FnMut(&StreamFact),
}

/// Reads the output of a client that is known, or of any program.
enum TurnReader {
    Known(Box<StreamReader>, PlainText),
    Any(PlainText),
}

/// What any program printed last.
#[derive(Default)]
struct PlainText {
    out: String,
    error: String,
}

impl PlainText {
    fn add(text: &mut String, line: &[u8]) {
        text.push_str(&String::from_utf8_lossy(line));
        text.push('\n');
        if text.len() > SAID_BYTES_MAX {
            let from = text.len() - SAID_BYTES_MAX;
            let from = (from..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(from);
            text.drain(..from);
        }
    }

    /// Any program is judged by its exit code; 75 asks for a later try.
    fn report(self, session: &str, exit: ClientExit) -> SessionReport {
        let words = self.error.trim();
        let end = match exit {
            ClientExit::Code(0) => Ok(()),
            ClientExit::Code(TRY_LATER) => Err(SessionFailure::new(FailureClass::RateLimit, words)),
            ClientExit::Code(code) => {
                let message =
                    if words.is_empty() { format!("exit code {code}") } else { words.into() };
                Err(SessionFailure::new(FailureClass::Unknown, message))
            }
            ClientExit::Signal => Err(SessionFailure::new(FailureClass::Killed, words)),
        };
        SessionReport {
            session: Some(session.to_owned()),
            end,
            said: self.out,
            reach: SessionReach::Model,
            can_resume: false,
            context: None,
            usage: None,
            question: None,
        }
    }
}

impl TurnReader {
    fn take(&mut self, line: &OutputLine) -> Vec<StreamFact> {
        let (plain, reader) = match self {
            Self::Known(reader, plain) => (plain, Some(reader)),
            Self::Any(plain) => (plain, None),
        };
        match line {
            OutputLine::Out(bytes) => {
                PlainText::add(&mut plain.out, bytes);
                reader.map(|reader| reader.line(bytes)).unwrap_or_default()
            }
            OutputLine::Error(bytes) => {
                PlainText::add(&mut plain.error, bytes);
                let text = String::from_utf8_lossy(bytes);
                reader.map(|reader| reader.error_line(&text)).unwrap_or_default()
            }
        }
    }

    fn hang(&self, silent: Duration) -> SessionFailure {
        match self {
            Self::Known(reader, _) => reader.hang(silent),
            Self::Any(_) => {
                let message = format!("no output for {} s", silent.as_secs());
                SessionFailure::new(FailureClass::Hang, message)
            }
        }
    }

    /// A client that is silent may have written down why.
    fn look_into_record(&mut self, stage: &TurnStage<'_>) {
        if let Self::Known(reader, _) = self {
            read_record(reader, stage);
        }
    }

    fn gives_up(&self, silent: Duration) -> Option<SessionFailure> {
        match self {
            Self::Known(reader, _) => reader.gives_up(silent),
            Self::Any(_) => None,
        }
    }
}

/// Runs one turn to its end.
pub(crate) fn run_turn(
    started: &StartedCommand,
    place: &ClientPlace<'_>,
    stage: &mut TurnStage<'_>,
) -> Result<TurnResult, Failure> {
    let mut process = ClientProcess::start(started, place).map_err(|error| {
        let program = started.argv.first().map_or("", String::as_str);
        Failure::usage(format!("could not start {program}"))
            .hint("name a program that is installed: stopgate agents lists those found here")
            .because(error)
    })?;
    let mut reader = match stage.headless {
        Some(headless) => {
            let known = headless.reader().with_session(stage.session);
            let known = known.with_questions(stage.questions);
            TurnReader::Known(Box::new(known), PlainText::default())
        }
        None => TurnReader::Any(PlainText::default()),
    };
    let followed = follow(&mut process, &mut reader, stage);
    // Whatever went wrong, nobody of the session stays behind.
    let exit = match &followed {
        Ok(Followed::Ended(exit)) => {
            let exit = *exit;
            process.end();
            exit
        }
        Ok(Followed::Failed(_) | Followed::Cut(_)) | Err(_) => process.end(),
    };
    Ok(match followed? {
        Followed::Ended(_) => TurnResult { report: report(reader, stage, exit), cut: None },
        Followed::Cut(cut) => {
            TurnResult { report: report(reader, stage, ClientExit::Signal), cut: Some(cut) }
        }
        Followed::Failed(failure) => {
            let mut report = report(reader, stage, ClientExit::Signal);
            let reset = report.end.err().and_then(|failure| failure.reset);
            report.end = Err(SessionFailure { reset: failure.reset.or(reset), ..failure });
            TurnResult { report, cut: None }
        }
    })
}

/// How following a client's output ended.
enum Followed {
    Ended(ClientExit),
    Failed(SessionFailure),
    Cut(TurnCut),
}

fn follow(
    process: &mut ClientProcess,
    reader: &mut TurnReader,
    stage: &mut TurnStage<'_>,
) -> Result<Followed, Failure> {
    (stage.started)(process.pid())?;
    let mut log = stage.log.as_deref().map(open_log).transpose()?;
    let mut heard_at = now();
    let mut watched_at = now();
    let mut looked_at = now();
    loop {
        match process.line(LOOK_EVERY) {
            Ok(Some(line)) => {
                heard_at = now();
                take(reader, &line, log.as_mut(), stage, process)?;
            }
            Ok(None) => {}
            // Both ends are closed, and the client may still be about to end.
            Err(()) => std::thread::sleep(LOOK_EVERY),
        }
        if let Some(exit) = process.ended() {
            let ended_at = now();
            while let Some(line) = process.last_line(ended_at) {
                take(reader, &line, log.as_mut(), stage, process)?;
            }
            return Ok(Followed::Ended(exit));
        }
        if stage.interrupts.wish() == Interrupt::Now {
            return Ok(Followed::Cut(TurnCut::Interrupted));
        }
        let silent = heard_at.elapsed();
        let hangs = silent >= stage.hang_after;
        if hangs || (silent >= RECORD_EVERY && looked_at.elapsed() >= RECORD_EVERY) {
            looked_at = now();
            reader.look_into_record(stage);
        }
        if hangs {
            return Ok(Followed::Failed(reader.hang(silent)));
        }
        if let Some(failure) = reader.gives_up(silent) {
            return Ok(Followed::Failed(failure));
        }
        if watched_at.elapsed() >= WATCH_EVERY {
            watched_at = now();
            if (stage.watch)() == SessionWatch::Unwanted {
                return Ok(Followed::Cut(TurnCut::Unwanted));
            }
        }
    }
}

fn take(
    reader: &mut TurnReader,
    line: &OutputLine,
    log: Option<&mut fs::File>,
    stage: &mut TurnStage<'_>,
    process: &mut ClientProcess,
) -> Result<(), Failure> {
    if let Some(log) = log {
        let (OutputLine::Out(bytes) | OutputLine::Error(bytes)) = line;
        // A log that can't be written must not end a session.
        let _ = log.write_all(bytes).and_then(|()| log.write_all(b"\n"));
    }
    for fact in reader.take(line) {
        match &fact {
            StreamFact::Session(id) => (stage.named)(id)?,
            StreamFact::Reply(line) => process.reply(line),
            StreamFact::Finished | StreamFact::Failed(_) => process.hang_up(),
            _other => {}
        }
        (stage.heard)(&fact);
    }
    Ok(())
}

fn open_log(path: &Path) -> Result<fs::File, Failure> {
    fs::OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
        Failure::usage(format!("could not write {}", path.display()))
            .hint("name a directory that you may write to: --log DIR")
            .because(error)
    })
}

fn report(reader: TurnReader, stage: &TurnStage<'_>, exit: ClientExit) -> SessionReport {
    match reader {
        TurnReader::Any(plain) => plain.report(stage.session, exit),
        TurnReader::Known(mut reader, plain) => {
            read_record(&mut reader, stage);
            let text = plain.out.trim().to_owned();
            let mut report = reader.report(exit);
            // A client that speaks no JSON at all is any program.
            let is_silent =
                !report.can_resume && report.said.is_empty() && !text.contains("\"type\"");
            if report.end.is_err() && exit == ClientExit::Code(0) && is_silent && !text.is_empty() {
                report.end = Ok(());
                report.said = text;
            }
            report
        }
    }
}

/// Reads the client's own record of the session where it says more than its output.
fn read_record(reader: &mut StreamReader, stage: &TurnStage<'_>) {
    let headless = stage.headless.filter(|headless| headless.explains_in_record());
    let (Some(headless), Some(agent)) = (headless, stage.agent) else { return };
    let Some(id) = reader.session().map(String::from) else { return };
    let Some(file) = record_of(agent, headless, &id) else { return };
    for line in last_lines(&file) {
        reader.record_line(&line);
    }
}

#[expect(clippy::disallowed_methods, reason = "a door that waits")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
