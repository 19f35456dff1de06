//! One turn of a client in the terminal that the person looks at: their keys go through.
//!
//! A client with a screen does not end when its turn is over. Its stop hook tells the journal, and
//! then we end it; without the hook the person does.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};
use stopgate_agents::{ClientExit, FailureClass, SessionFailure, SessionReach, SessionReport};
use stopgate_engine::Failure;
use stopgate_verify::own_program;

use crate::command::StartedCommand;
use crate::guard::{SESSION_TERMINAL, SessionGuard};
use crate::interrupt::Interrupt;
use crate::mark;
use crate::process::{ClientPlace, around, end_child, exit};
use crate::session::{SessionWatch, TurnCut, TurnResult, TurnStage, now};

const LOOK_EVERY: Duration = Duration::from_millis(50);
const WATCH_EVERY: Duration = Duration::from_secs(1);
/// How long a client is left to show its last words after its stop was judged.
const LAST_WORDS: Duration = Duration::from_millis(1500);
/// So many pieces of output may wait to be shown: who prints faster is made to wait.
const CHUNKS_WAITING_MAX: usize = 64;
/// What the client left running may print for ever: nobody looks longer than this.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// Runs one turn in a terminal of its own, between the person and the client.
pub(crate) fn run_in_terminal(
    started: &StartedCommand,
    place: &ClientPlace<'_>,
    stage: &mut TurnStage<'_>,
) -> Result<TurnResult, Failure> {
    let could_not = |error: io::Error| {
        let program = started.argv.first().map_or("", String::as_str);
        Failure::usage(format!("could not run {program} in a terminal"))
            .hint("run it without one: --headless")
            .because(error)
    };
    let (master, slave) = open_pair().map_err(could_not)?;
    let mut host = own_program().map_err(could_not)?;
    host.arg(SESSION_TERMINAL).args(&started.argv).current_dir(place.directory);
    around(&mut host, started, place);
    let ends = slave.try_clone().and_then(|out| Ok((out, slave.try_clone()?)));
    let (out, error) = ends.map_err(could_not)?;
    let mut child = host.stdin(slave).stdout(out).stderr(error).spawn().map_err(could_not)?;
    drop(host);
    let pid = i32::try_from(child.id()).unwrap_or(i32::MAX);
    let guard = SessionGuard::over(pid, place.mark).ok();
    let raw = RawTerminal::enter();
    let followed = follow(&master, stage, pid, &mut || child.try_wait().ok().flatten().map(exit));
    drop(raw);
    let ended = end_child(&mut child);
    mark::end_marked(place.mark);
    drop(guard);
    let cut = followed?;
    Ok(unread(stage, cut, Some(ended)))
}

/// What is known of a session that a person sees and nobody reads: how it ended.
pub(crate) fn unread(
    stage: &TurnStage<'_>,
    cut: Option<TurnCut>,
    ended: Option<ClientExit>,
) -> TurnResult {
    let end = match (cut, ended) {
        (Some(TurnCut::HandedOver), _) | (None, Some(ClientExit::Code(0))) => Ok(()),
        (Some(TurnCut::Interrupted | TurnCut::Unwanted) | None, _) => {
            Err(SessionFailure::new(FailureClass::Killed, "the client ended with an error"))
        }
    };
    let report = SessionReport {
        session: Some(stage.session.to_owned()),
        end,
        said: String::new(),
        reach: SessionReach::Model,
        can_resume: stage.headless.is_some(),
        context: None,
        usage: None,
        question: None,
    };
    TurnResult { report, cut: cut.filter(|cut| *cut != TurnCut::HandedOver) }
}

fn open_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let name = ptsname(&master, Vec::new())?;
    let name = name.to_str().map_err(io::Error::other)?.to_owned();
    let slave = File::options().read(true).write(true).open(Path::new(&name))?;
    fit(&master);
    Ok((master, slave.into()))
}

/// Gives the client's terminal the size of ours.
fn fit(master: &OwnedFd) {
    if let Ok(size) = tcgetwinsize(rustix::stdio::stdout()) {
        let _ = tcsetwinsize(master, size);
    }
}

/// Carries bytes both ways until the client ends or its turn is over.
fn follow(
    master: &OwnedFd,
    stage: &mut TurnStage<'_>,
    pid: i32,
    ended: &mut dyn FnMut() -> Option<ClientExit>,
) -> Result<Option<TurnCut>, Failure> {
    (stage.started)(pid)?;
    let mut log = stage.log.as_deref().and_then(|path| File::create(path).ok());
    let (to_screen, screen) = mpsc::sync_channel::<Vec<u8>>(CHUNKS_WAITING_MAX);
    if let Ok(reading) = master.try_clone() {
        thread::spawn(move || copy_output(File::from(reading), &to_screen));
    }
    let mut keys = master.try_clone().map(File::from).ok();
    let mut watched_at = now();
    let mut judged_at = None;
    loop {
        if let Some(bytes) = pressed() {
            let _ = keys.as_mut().map(|keys| keys.write_all(&bytes));
        }
        // Then the keys are looked at again, however much there is to show.
        for bytes in screen.try_iter().take(CHUNKS_WAITING_MAX) {
            show(&bytes, log.as_mut());
        }
        if ended().is_some() {
            show_rest(&screen, log.as_mut());
            return Ok(None);
        }
        if stage.interrupts.wish() == Interrupt::Now {
            return Ok(Some(TurnCut::Interrupted));
        }
        if judged_at.is_some_and(|at: std::time::Instant| at.elapsed() >= LAST_WORDS) {
            return Ok(Some(TurnCut::HandedOver));
        }
        if watched_at.elapsed() >= WATCH_EVERY {
            watched_at = now();
            fit(master);
            match (stage.watch)() {
                SessionWatch::GoOn => {}
                SessionWatch::Judged => judged_at = judged_at.or_else(|| Some(now())),
                SessionWatch::Unwanted => return Ok(Some(TurnCut::Unwanted)),
            }
        }
    }
}

fn copy_output(mut from: File, to: &mpsc::SyncSender<Vec<u8>>) {
    let mut buffer = vec![0; 8192];
    while let Ok(count) = from.read(&mut buffer) {
        if count == 0 || to.send(buffer[..count].to_vec()).is_err() {
            return;
        }
    }
}

/// What still comes after the client has ended.
fn show_rest(screen: &mpsc::Receiver<Vec<u8>>, mut log: Option<&mut File>) {
    let ended_at = now();
    while let Ok(bytes) = screen.recv_timeout(LOOK_EVERY)
        && ended_at.elapsed() < DRAIN_MAX
    {
        show(&bytes, log.as_deref_mut());
    }
}

fn show(bytes: &[u8], log: Option<&mut File>) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
    if let Some(log) = log {
        let _ = log.write_all(bytes);
    }
}

/// What the person typed, waited for a moment.
fn pressed() -> Option<Vec<u8>> {
    let input = rustix::stdio::stdin();
    let mut watched = [PollFd::new(&input, PollFlags::IN)];
    let time = Timespec::try_from(LOOK_EVERY).ok();
    if !matches!(poll(&mut watched, time.as_ref()), Ok(1..)) {
        return None;
    }
    let mut buffer = vec![0; 4096];
    let count = rustix::io::read(input, &mut buffer).ok().filter(|count| *count > 0);
    let Some(count) = count else {
        // The keyboard is gone: no more keys, and no busy waiting for them.
        thread::sleep(LOOK_EVERY);
        return None;
    };
    buffer.truncate(count);
    Some(buffer)
}

/// Our own terminal passes every key on, until this is dropped.
struct RawTerminal {
    before: Option<Termios>,
}

impl RawTerminal {
    fn enter() -> Self {
        let input = rustix::stdio::stdin();
        let before = tcgetattr(input.as_fd()).ok();
        if let Some(mut raw) = before.clone() {
            raw.make_raw();
            let _ = tcsetattr(input.as_fd(), OptionalActions::Now, &raw);
        }
        Self { before }
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_still_prints_after_the_end_is_not_shown_for_ever() {
        let (sender, screen) = mpsc::sync_channel(CHUNKS_WAITING_MAX);
        let printing = thread::spawn(move || {
            while sender.send(Vec::new()).is_ok() {
                thread::yield_now();
            }
        });
        show_rest(&screen, None);
        drop(screen);
        printing.join().unwrap();
    }
}
