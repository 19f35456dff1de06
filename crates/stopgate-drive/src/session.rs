//! One turn of a client without a terminal, from its start to what it came to.

use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use stopgate_agents::{
    Agent, ClientExit, FailureClass, Headless, SessionFailure, SessionReach, SessionRecord,
    SessionReport, StreamFact, StreamReader,
};
use stopgate_engine::{Failure, Settings};
use stopgate_verify::files::open_regular;

use crate::command::StartedCommand;
use crate::interrupt::{Interrupt, Interrupts};
use crate::process::{ClientPlace, ClientProcess, OutputLine};

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often the journal is asked whether the loop still wants the session.
const WATCH_EVERY: Duration = Duration::from_secs(1);
/// How much of what any command prints is its last message.
const SAID_BYTES_MAX: usize = 64 * 1024;
/// How much of a client's own record is read after a failure.
const RECORD_BYTES_MAX: u64 = 512 * 1024;
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
    loop {
        match process.line(LOOK_EVERY) {
            Ok(Some(line)) => {
                heard_at = now();
                take(reader, &line, log.as_mut(), stage)?;
            }
            Ok(None) => {}
            // Both ends are closed, and the client may still be about to end.
            Err(()) => std::thread::sleep(LOOK_EVERY),
        }
        if let Some(exit) = process.ended() {
            let ended_at = now();
            while let Some(line) = process.last_line(ended_at) {
                take(reader, &line, log.as_mut(), stage)?;
            }
            return Ok(Followed::Ended(exit));
        }
        if stage.interrupts.wish() == Interrupt::Now {
            return Ok(Followed::Cut(TurnCut::Interrupted));
        }
        let silent = heard_at.elapsed();
        if silent >= stage.hang_after {
            let message = format!("no output for {} s", silent.as_secs());
            return Ok(Followed::Failed(SessionFailure::new(FailureClass::Hang, message)));
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
) -> Result<(), Failure> {
    if let Some(log) = log {
        let (OutputLine::Out(bytes) | OutputLine::Error(bytes)) = line;
        // A log that can't be written must not end a session.
        let _ = log.write_all(bytes).and_then(|()| log.write_all(b"\n"));
    }
    for fact in reader.take(line) {
        if let StreamFact::Session(id) = &fact {
            (stage.named)(id)?;
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

/// Reads the client's own record of the session, which may say more than its output.
fn read_record(reader: &mut StreamReader, stage: &TurnStage<'_>) {
    let record = stage.headless.and_then(Headless::record);
    let (Some(record), Some(agent)) = (record, stage.agent) else { return };
    let Some(id) = reader.session().map(String::from) else { return };
    let Some(home) = Settings.agent_home(agent) else { return };
    let Some(file) = find_record(&home.join(record.below), &id, record, 0) else { return };
    for line in last_lines(&file) {
        reader.record_line(&line);
    }
}

fn find_record(below: &Path, id: &str, record: SessionRecord, depth: u8) -> Option<PathBuf> {
    let wanted = format!("{id}{}", record.suffix);
    let entries: Vec<PathBuf> =
        fs::read_dir(below).ok()?.flatten().map(|entry| entry.path()).collect();
    let is_it = |path: &&PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(&wanted))
    };
    if let Some(found) = entries.iter().find(is_it) {
        return Some(found.clone());
    }
    if depth >= 4 {
        return None;
    }
    let directories = entries.iter().filter(|path| path.is_dir());
    directories.into_iter().find_map(|path| find_record(path, id, record, depth + 1))
}

fn last_lines(file: &Path) -> Vec<Vec<u8>> {
    let read = || {
        let mut file = open_regular(file)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(RECORD_BYTES_MAX)))?;
        let mut bytes = Vec::new();
        file.take(RECORD_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    };
    let bytes = read().unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

#[expect(clippy::disallowed_methods, reason = "a door that waits")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
