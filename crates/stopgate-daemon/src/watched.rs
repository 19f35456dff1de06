//! One loop that is watched for, and when it is to be asked about next.

use std::path::PathBuf;

use rustix::fd::OwnedFd;
use stopgate_core::{LoopId, Parking, Timestamp, WaitCondition};
use stopgate_engine::{ParkedLoop, ProcessMark, holds_at_a_look, watch_points};

/// How often something that must be asked for is asked for: at first, and at last.
const FIRST_PAUSE_MS: i64 = 5_000;
const LAST_PAUSE_MS: i64 = 60_000;

/// One wait of one loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WaitMark {
    id: LoopId,
    condition: WaitCondition,
    deadline: Timestamp,
}

/// Whether the system tells when a path changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// It does.
    Told,
    /// It does not: the path is looked at from time to time.
    Blind,
}

/// A loop that is watched for.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is asked for on its own")]
pub(crate) struct ParkedWatch {
    pub(crate) id: LoopId,
    pub(crate) parking: Parking,
    /// The paths whose changes count.
    pub(crate) paths: Vec<PathBuf>,
    /// The process whose end counts: the one that is waited for, or the client that must go first.
    process: Option<ProcessMark>,
    handle: Option<OwnedFd>,
    /// When it is asked about whatever happens.
    next: Option<Timestamp>,
    pause_ms: i64,
    /// Whether it is to be asked about at once.
    pub(crate) is_due: bool,
    /// Whether its paths can't be watched, so that they are looked at from time to time.
    is_blind: bool,
    /// Whether a process asks about it now.
    pub(crate) is_asked: bool,
    /// Whether it has happened and nothing is left to watch.
    pub(crate) is_settled: bool,
}

impl ParkedWatch {
    /// Begins to watch.
    pub(crate) fn new(parked: ParkedLoop, now: Timestamp) -> Self {
        let ParkedLoop { id, parking, client } = parked;
        let paths = watch_points(&parking.condition);
        let mut watched = Self {
            id,
            paths,
            process: None,
            handle: None,
            next: None,
            pause_ms: FIRST_PAUSE_MS,
            is_due: false,
            is_blind: false,
            is_asked: false,
            is_settled: parking.held_at.is_some() && parking.driver.is_some(),
            parking,
        };
        watched.aim(client);
        // What must be asked for is asked for once at the beginning: it may have happened before.
        watched.is_due = !watched.is_settled && watched.needs_asking(now);
        watched
    }

    /// The same loop as the journal has it now.
    pub(crate) fn renew(&mut self, parked: ParkedLoop, now: Timestamp) {
        if self.parking == parked.parking {
            let gone =
                self.parking.held_at.is_some() && self.process.is_some() && parked.client.is_none();
            self.aim(parked.client);
            self.is_due |= gone && !self.is_settled;
            return;
        }
        let (is_asked, wait) = (self.is_asked, self.wait());
        *self = Self::new(parked, now);
        self.is_asked = is_asked && self.wait() == wait;
    }

    /// Which of the loop's waits it is.
    pub(crate) fn wait(&self) -> WaitMark {
        let Parking { condition, deadline, .. } = self.parking.clone();
        WaitMark { id: self.id.clone(), condition, deadline }
    }

    /// Watches for the end of the process that counts now.
    fn aim(&mut self, client: Option<ProcessMark>) {
        let wanted = match (&self.parking.condition, self.parking.held_at) {
            (_, Some(_)) => client,
            (WaitCondition::Process { pid, began }, None) => {
                Some(ProcessMark { pid: *pid, began: *began })
            }
            (_, None) => None,
        };
        if wanted == self.process && (wanted.is_none() || self.handle.is_some()) {
            return;
        }
        self.process = wanted;
        self.handle = wanted.and_then(|process| handle_of(process.pid));
        self.pause_ms = FIRST_PAUSE_MS;
    }

    /// Takes note whether the system tells when its paths change.
    pub(crate) fn see(&mut self, sight: Sight, now: Timestamp) {
        // Where git could not name a reference's files, nothing would ever be told.
        let is_nameless = self.paths.is_empty()
            && matches!(self.parking.condition, WaitCondition::Reference { .. });
        self.is_blind = sight == Sight::Blind || is_nameless;
        if self.must_look() && self.next.is_none() {
            self.pause(now);
        }
    }

    /// Whether nothing would tell that it has happened.
    const fn must_look(&self) -> bool {
        self.is_blind || (self.process.is_some() && self.handle.is_none())
    }

    /// Whether it is time to ask, as far as a look can tell; what can't be told is asked.
    fn needs_asking(&self, now: Timestamp) -> bool {
        if self.parking.held_at.is_some() {
            return self.process.is_none_or(|process| !process.is_alive());
        }
        now >= self.parking.deadline
            || holds_at_a_look(&self.parking.condition, now).unwrap_or(true)
    }

    /// Looks, where a look can tell, and is due if it has happened.
    pub(crate) fn look(&mut self, now: Timestamp) {
        let is_polled = self.next.is_some_and(|next| now >= next);
        if self.is_settled || self.is_asked {
            return;
        }
        if is_polled {
            self.next = None;
            if self.must_look() {
                self.pause(now);
            }
        }
        let can_tell = holds_at_a_look(&self.parking.condition, now).is_some()
            || self.parking.held_at.is_some();
        let is_over = now >= self.parking.deadline && self.parking.held_at.is_none();
        self.is_due |= is_over || if can_tell { self.needs_asking(now) } else { is_polled };
    }

    /// The next moment at which something is to be done for it.
    pub(crate) fn wakes_at(&self) -> Option<Timestamp> {
        if self.is_settled || self.is_asked {
            return None;
        }
        let time = match (&self.parking.condition, self.parking.held_at) {
            (_, Some(_)) => return self.next,
            (WaitCondition::Time { at }, None) => Some(*at),
            (_, None) => None,
        };
        // After an answer that it has not happened, nothing is asked before the pause is over.
        match self.next {
            Some(next) if time.is_some_and(|time| time <= next) => Some(next),
            next => [time, next, Some(self.parking.deadline)].into_iter().flatten().min(),
        }
    }

    /// It has not happened: when is it asked about again?
    pub(crate) fn answered_open(&mut self, now: Timestamp) {
        let is_asked_for = match self.parking.condition {
            WaitCondition::Command { .. } | WaitCondition::Url { .. } => true,
            // The clock that the question was asked by differs from ours.
            WaitCondition::Time { at } => now >= at,
            WaitCondition::Process { .. }
            | WaitCondition::Path { .. }
            | WaitCondition::Reference { .. } => self.must_look(),
        };
        if is_asked_for || now >= self.parking.deadline {
            self.pause(now);
        }
    }

    /// Asks again after a pause, which grows.
    pub(crate) fn pause(&mut self, now: Timestamp) {
        self.next = Some(now.plus(self.pause_ms));
        self.pause_ms = (self.pause_ms * 2).min(LAST_PAUSE_MS);
    }

    /// It has happened, and another process goes on with the loop: is there anything left to watch?
    pub(crate) fn answered_held(&mut self) {
        self.is_settled = self.process.is_none();
    }

    /// Becomes readable when the process ends whose end counts.
    pub(crate) const fn handle(&self) -> Option<&OwnedFd> {
        self.handle.as_ref()
    }

    /// Takes note that the process has ended.
    pub(crate) fn process_ended(&mut self) {
        self.handle = None;
        self.process = None;
        self.is_due |= !self.is_settled;
    }
}

/// Becomes readable when the process ends.
#[cfg(target_os = "linux")]
pub(crate) fn handle_of(pid: i32) -> Option<OwnedFd> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
}

/// Nothing tells here that another's process ended.
#[cfg(not(target_os = "linux"))]
pub(crate) const fn handle_of(_pid: i32) -> Option<OwnedFd> {
    None
}
