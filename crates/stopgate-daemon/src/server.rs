//! The loop of the background process: waits for news, and has somebody ask.
//!
//! In a quiet minute nothing wakes it: times, processes and paths are told by the system. It opens
//! the journal only to learn what there is to watch, and closes it again.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use stopgate_core::{LoopId, Timestamp};
use stopgate_engine::{
    Engine, Failure, ProcessMark, RealWorld, Settings, Stores, WatchList, World,
};

use crate::alarm::Alarm;
use crate::files::FileWatches;
use crate::peer::{Listening, VERSION, is_own, read_line};
use crate::terms::{DaemonState, Served, Stay};
use crate::waker::{self, HELD, OPEN};
use crate::watched::{ParkedWatch, Sight, WaitMark, handle_of};

/// How long it stays with nothing to watch.
const QUIET: Duration = Duration::from_mins(5);
/// How long a journal that can't be read is left alone.
const TROUBLE_PAUSE_MS: i64 = 10_000;
/// Nobody keeps it from its work for longer.
const PEER_PATIENCE: Duration = Duration::from_millis(500);

/// Watches until it is no longer needed, or somebody asks it to end.
pub fn serve(settings: Settings, stores: Stores, stay: Stay) -> Result<Served, Failure> {
    let home = settings.home()?;
    home.check()?;
    home.create().map_err(|error| trouble("make the state directory", error))?;
    let Some(listening) =
        Listening::begin(&home).map_err(|error| trouble("listen for commands", error))?
    else {
        return Ok(Served::Elsewhere);
    };
    let signals = signals().map_err(|error| trouble("hear signals", error))?;
    let alarm = Alarm::new().map_err(|error| trouble("set an alarm", error))?;
    let quiet = match stay {
        Stay::WhileNeeded => Some(settings.test_quiet().unwrap_or(QUIET)),
        Stay::Always => None,
    };
    let mut server = Server {
        settings,
        stores,
        quiet,
        alarm,
        listening,
        signals,
        watched: Vec::new(),
        files: FileWatches::default(),
        wakers: Vec::new(),
        woken: Vec::new(),
        quiet_since: None,
        retry_at: None,
    };
    server.refresh();
    server.run();
    Ok(Served::Done)
}

/// What there is to watch; of clients that are gone without a stop, the person is told.
fn learn(mut engine: Engine) -> Result<WatchList, Failure> {
    let list = engine.waits().watch_list()?;
    let is_gone = |process: &str| ProcessMark::read(process).is_none_or(|mark| !mark.is_alive());
    for (id, _) in list.woken.iter().filter(|(_, woken)| is_gone(&woken.process)) {
        engine.waits().look_after_woken(id)?;
    }
    Ok(list)
}

fn trouble(what: &str, error: std::io::Error) -> Failure {
    Failure::fault(format!("could not {what}")).because(error)
}

/// Becomes readable when somebody asks this process to end.
fn signals() -> std::io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::low_level::pipe::register(signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

struct Server {
    settings: Settings,
    stores: Stores,
    /// How long it stays with nothing to watch; for ever without it.
    quiet: Option<Duration>,
    alarm: Alarm,
    listening: Listening,
    signals: UnixStream,
    watched: Vec<ParkedWatch>,
    files: FileWatches,
    wakers: Vec<Waker>,
    /// Clients that others woke and that have not come to a stop yet.
    woken: Vec<(LoopId, OwnedFd)>,
    /// Since when there is nothing to watch.
    quiet_since: Option<Timestamp>,
    /// When the journal is read again that could not be read.
    retry_at: Option<Timestamp>,
}

/// A process of ours that asks about a loop, or has become its client.
struct Waker {
    id: LoopId,
    /// Which of the loop's waits it asks about.
    wait: WaitMark,
    child: Child,
    handle: Option<OwnedFd>,
}

/// One that has ended, and what it said by that.
struct EndedWaker {
    wait: WaitMark,
    code: Option<i32>,
}

/// What there is news of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    Signal,
    Peer,
    Alarm,
    Files,
    Process(usize),
    Waker(usize),
    Woken(usize),
}

/// Whether it goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Onward {
    Yes,
    No,
}

impl Server {
    fn run(&mut self) {
        loop {
            self.start_due();
            let now = self.now();
            if self.is_over(now) || self.set_alarm(now).is_err() {
                return;
            }
            let news = self.wait(now);
            if self.hear(&news) == Onward::No {
                return;
            }
        }
    }

    fn now(&self) -> Timestamp {
        RealWorld::new(self.settings).now()
    }

    /// Learns from the journal what there is to watch.
    fn refresh(&mut self) {
        let list = Engine::open(self.settings, self.stores).and_then(learn);
        let now = self.now();
        self.retry_at = list.is_err().then(|| now.plus(TROUBLE_PAUSE_MS));
        let Ok(list) = list else { return };
        let mut known: Vec<ParkedWatch> = std::mem::take(&mut self.watched);
        for parked in list.parked {
            let earlier = known.iter().position(|watched| watched.id == parked.id);
            match earlier.map(|at| known.swap_remove(at)) {
                Some(mut watched) => {
                    watched.renew(parked, now);
                    self.watched.push(watched);
                }
                None => self.watched.push(ParkedWatch::new(parked, now)),
            }
        }
        self.watch_woken(&list.woken);
        self.watch_files(now);
    }

    /// Watches the clients that a process of another time woke.
    fn watch_woken(&mut self, woken: &[(LoopId, stopgate_core::WokenClient)]) {
        self.woken.clear();
        for (id, client) in woken {
            let is_ours = self.wakers.iter().any(|waker| waker.id == *id);
            let process = ProcessMark::read(&client.process).filter(ProcessMark::is_alive);
            let handle = process.filter(|_| !is_ours).and_then(|process| handle_of(process.pid));
            self.woken.extend(handle.map(|handle| (id.clone(), handle)));
        }
    }

    /// Watches the paths that count now; what happened meanwhile is looked at.
    fn watch_files(&mut self, now: Timestamp) {
        let paths: Vec<_> = self.watched.iter().map(|watched| watched.paths.clone()).collect();
        let (files, blind) = FileWatches::over(&paths);
        let before = std::mem::replace(&mut self.files, files);
        // What the new watches came too late for was told to those before them.
        let is_late = !before.news().is_empty();
        for (at, watched) in self.watched.iter_mut().enumerate() {
            let sight = if blind.contains(&at) { Sight::Blind } else { Sight::Told };
            watched.see(sight, now);
            watched.look(now);
            // A look can't tell whether a reference moved.
            watched.is_due |= is_late && watched.paths.len() > 1 && !watched.is_settled;
        }
    }

    /// Has somebody ask about each loop for which it is time.
    fn start_due(&mut self) {
        let (settings, now) = (self.settings, self.now());
        for watched in &mut self.watched {
            if !watched.is_due || watched.is_settled || watched.is_asked {
                continue;
            }
            watched.is_due = false;
            let Ok(child) = waker::start(settings, &watched.id) else {
                watched.pause(now);
                continue;
            };
            let handle = i32::try_from(child.id()).ok().and_then(handle_of);
            watched.is_asked = true;
            self.wakers.push(Waker { id: watched.id.clone(), wait: watched.wait(), child, handle });
        }
    }

    /// Whether nothing was to be watched for long enough.
    fn is_over(&mut self, now: Timestamp) -> bool {
        let is_busy = self.watched.iter().any(|watched| !watched.is_settled)
            || !self.woken.is_empty()
            || self.retry_at.is_some()
            || self.watched.iter().any(|watched| watched.is_asked);
        if is_busy {
            self.quiet_since = None;
            return false;
        }
        let since = *self.quiet_since.get_or_insert(now);
        let quiet_ms = self.quiet.map(|quiet| i64::try_from(quiet.as_millis()).unwrap_or(i64::MAX));
        quiet_ms.is_some_and(|quiet| now.since(since) >= quiet)
    }

    fn set_alarm(&mut self, now: Timestamp) -> std::io::Result<()> {
        let times = self.watched.iter().filter_map(ParkedWatch::wakes_at);
        let quiet = self.quiet.and_then(|quiet| i64::try_from(quiet.as_millis()).ok());
        let leaves = self.quiet_since.zip(quiet).map(|(since, quiet)| since.plus(quiet));
        // Without a handle on a child nothing else tells that it has ended.
        let is_blind = self.wakers.iter().any(|waker| waker.handle.is_none());
        let look = is_blind.then(|| now.plus(1000));
        self.alarm.set(times.chain(leaves).chain(self.retry_at).chain(look).min())
    }

    /// What may have news, beside signals and commands.
    fn sources(&self) -> Vec<(News, &OwnedFd)> {
        let own = [(News::Alarm, self.alarm.handle()), (News::Files, self.files.handle())];
        let processes = self.watched.iter().enumerate();
        let processes = processes.map(|(at, one)| (News::Process(at), one.handle()));
        let wakers = self.wakers.iter().enumerate();
        let wakers = wakers.map(|(at, one)| (News::Waker(at), one.handle.as_ref()));
        let woken = self.woken.iter().enumerate().map(|(at, (_, fd))| (News::Woken(at), Some(fd)));
        let all = own.into_iter().chain(processes).chain(wakers).chain(woken);
        all.filter_map(|(kind, handle)| Some((kind, handle?))).collect()
    }

    /// Waits for news.
    fn wait(&self, now: Timestamp) -> Vec<News> {
        let mut kinds = vec![News::Signal, News::Peer];
        let mut handles: Vec<BorrowedFd<'_>> =
            vec![self.signals.as_fd(), self.listening.listener.as_fd()];
        for (kind, handle) in self.sources() {
            kinds.push(kind);
            handles.push(handle.as_fd());
        }
        let mut polled: Vec<PollFd<'_>> =
            handles.iter().map(|handle| PollFd::new(handle, PollFlags::IN)).collect();
        let patience = self.alarm.patience(now).and_then(|time| Timespec::try_from(time).ok());
        if poll(&mut polled, patience.as_ref()).is_err() {
            return Vec::new();
        }
        let told = polled.iter().zip(&kinds).filter(|(one, _)| !one.revents().is_empty());
        told.map(|(_, kind)| *kind).collect()
    }

    fn hear(&mut self, news: &[News]) -> Onward {
        let now = self.now();
        let mut is_stale = self.retry_at.is_some_and(|at| now >= at);
        for one in news {
            match one {
                News::Signal => return Onward::No,
                News::Alarm => self.alarm.hear(),
                News::Process(at) => self.watched[*at].process_ended(),
                News::Files => self.hear_files(now),
                News::Peer => match self.hear_peer() {
                    Heard::Stop => return Onward::No,
                    Heard::Look => is_stale = true,
                    Heard::Nothing => {}
                },
                News::Waker(_) | News::Woken(_) => is_stale = true,
            }
        }
        let ended = self.bury();
        if is_stale || !ended.is_empty() {
            self.refresh();
            self.settle(&ended);
        }
        for watched in &mut self.watched {
            watched.look(now);
        }
        Onward::Yes
    }

    /// A path may lead elsewhere now, so all are watched anew.
    fn hear_files(&mut self, now: Timestamp) {
        let news = self.files.news();
        for at in &news {
            let watched = &mut self.watched[*at];
            // A look can't tell whether a reference moved.
            watched.is_due |= watched.paths.len() > 1 && !watched.is_settled;
        }
        if !news.is_empty() {
            self.watch_files(now);
        }
    }

    /// Takes the processes that have ended, with what they said.
    fn bury(&mut self) -> Vec<EndedWaker> {
        let mut ended = Vec::new();
        self.wakers.retain_mut(|waker| {
            let code = match waker.child.try_wait() {
                Ok(None) => return true,
                Ok(Some(status)) => status.code(),
                Err(_) => None,
            };
            ended.push(EndedWaker { wait: waker.wait.clone(), code });
            false
        });
        ended
    }

    /// Draws the conclusions from what processes said at their end.
    fn settle(&mut self, ended: &[EndedWaker]) {
        let now = self.now();
        for EndedWaker { wait, code } in ended {
            // One that has become a client has no word on a later wait of its loop.
            let Some(watched) = self.watched.iter_mut().find(|one| one.wait() == *wait) else {
                continue;
            };
            watched.is_asked = false;
            match code.and_then(|code| u8::try_from(code).ok()) {
                Some(OPEN) => watched.answered_open(now),
                Some(HELD) => watched.answered_held(),
                // It could not be found out, or it was ended: it is asked again later.
                Some(_) | None => watched.pause(now),
            }
        }
    }

    fn hear_peer(&self) -> Heard {
        let Ok((stream, _)) = self.listening.listener.accept() else { return Heard::Nothing };
        let prepared = stream
            .set_nonblocking(false)
            .and_then(|()| stream.set_read_timeout(Some(PEER_PATIENCE)))
            .and_then(|()| stream.set_write_timeout(Some(PEER_PATIENCE)));
        if prepared.is_err() || !is_own(&stream) {
            return Heard::Nothing;
        }
        let Ok(line) = read_line(&stream) else { return Heard::Nothing };
        let mut words = line.split(' ');
        let (name, version, word) = (words.next(), words.next(), words.next());
        if name != Some("stopgate") {
            return Heard::Nothing;
        }
        let heard = match word {
            // Understood from every version, so that a newer one can take over.
            Some("stop") => Heard::Stop,
            Some("look") if version == Some(VERSION) => Heard::Look,
            Some(_) | None => Heard::Nothing,
        };
        let waiting = self.watched.iter().filter(|watched| !watched.is_settled).count();
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        let state = DaemonState { version: VERSION.into(), pid, waiting };
        let text = serde_json::to_string(&state).unwrap_or_default();
        let _ = (&stream).write_all(format!("{text}\n").as_bytes());
        heard
    }
}

/// What somebody asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heard {
    Nothing,
    Look,
    Stop,
}
