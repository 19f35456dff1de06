//! One program on its way from the start to the last of its descendants.
//!
//! Every step looks and never waits, so that one loop can lead many. When time is up
//! the whole group goes, politely at first; after that, whatever is left of it.

use std::process::ExitStatus;
use std::time::{Duration, Instant};
use std::{io, mem};

use crate::capture::{Capture, Captured};
use crate::child::{Child, EndHandle};
use crate::orphans::{Keeper, OrphanMark, SweepResult};
use crate::output_pipe::OutputPipe;

/// How long a program may take to end when asked to.
const TERM_GRACE: Duration = Duration::from_secs(2);
/// How long it may take where somebody waits for us to end, too.
const INTERRUPT_GRACE: Duration = Duration::from_millis(700);
/// How long a program may take to end when killed.
const KILL_GRACE: Duration = Duration::from_millis(500);
/// How long a pipe is read after its program ended.
const DRAIN_GRACE: Duration = Duration::from_millis(300);
/// How long what is left of a program is hunted.
const SWEEP_GRACE: Duration = Duration::from_secs(1);
/// How often it is looked for.
const SWEEP_EVERY: Duration = Duration::from_millis(2);

/// A program that runs.
#[derive(Debug)]
pub(crate) struct Attempt {
    child: Child,
    capture: Capture,
    mark: OrphanMark,
    phase: Phase,
    /// When it has to be done.
    deadline: Instant,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) enum End {
    Exited(ExitStatus),
    TimedOut,
    Interrupted,
    Lost(io::Error),
}

/// Why a program is ended.
#[derive(Clone, Copy, Debug)]
enum Cause {
    TimedOut,
    Interrupted,
}

#[derive(Debug)]
enum Phase {
    Running,
    /// It was asked to end.
    Asked {
        cause: Cause,
        kill_at: Instant,
    },
    /// It was killed.
    Killed {
        cause: Cause,
        give_up_at: Instant,
    },
    /// It is gone; what it left behind goes, too.
    Sweeping {
        end: Ending,
        since: Instant,
        look_at: Instant,
        rounds: Rounds,
    },
    Over,
}

/// What is known about the end before the program is let go.
#[derive(Clone, Copy, Debug)]
enum Ending {
    ByItself,
    By(Cause),
}

/// How far the hunt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounds {
    /// Nothing was ever found, or nothing was looked for yet.
    Begun,
    /// Somebody was found the last time.
    Struck,
    /// Nobody is left.
    Clean,
}

/// What the world is like at a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) now: Instant,
    pub(crate) interrupted: Interrupted,
}

/// Whether somebody asked this program to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupted {
    Not,
    Asked,
}

impl Attempt {
    /// Leads `child` until `deadline`.
    pub(crate) fn new(child: Child, capture: Capture, token: String, deadline: Instant) -> Self {
        let mark = OrphanMark { token, leader: child.pid() };
        Self { child, capture, mark, phase: Phase::Running, deadline }
    }

    /// The output, to be read when there is some.
    pub(crate) fn capture(&mut self) -> &mut Capture {
        &mut self.capture
    }

    /// What tells that the output has news.
    pub(crate) fn output(&self) -> Option<&OutputPipe> {
        self.capture.reader()
    }

    /// What tells that the program has ended, while that is awaited.
    pub(crate) fn handle(&self) -> Option<&EndHandle> {
        match self.phase {
            Phase::Running | Phase::Killed { .. } => self.child.handle(),
            // Once it has ended, the handle would never be silent again.
            Phase::Asked { .. } | Phase::Sweeping { .. } | Phase::Over => None,
        }
    }

    /// When the next step is due at the latest; `look` is for systems without a handle.
    pub(crate) fn next_look(&self, now: Instant, look: Duration) -> Instant {
        let soon = now + look;
        match self.phase {
            Phase::Running if self.child.handle().is_some() => self.deadline,
            Phase::Running => self.deadline.min(soon),
            Phase::Asked { kill_at, .. } => kill_at.min(soon),
            Phase::Killed { give_up_at, .. } => give_up_at.min(soon),
            Phase::Sweeping { look_at, since, rounds, .. } => match rounds {
                Rounds::Clean => since + DRAIN_GRACE,
                Rounds::Begun | Rounds::Struck => look_at,
            },
            Phase::Over => now,
        }
    }

    /// Goes on as far as it can without waiting; says how the program ended once all is over.
    pub(crate) fn step(&mut self, moment: Moment, keeper: &mut Keeper) -> Option<End> {
        let now = moment.now;
        match mem::replace(&mut self.phase, Phase::Over) {
            Phase::Running => self.phase = self.watch(moment),
            Phase::Asked { cause, kill_at } => {
                // Those who hold the pipe are still at it: they have their grace, too.
                let all_gone = self.child.has_ended() && self.capture.reader().is_none();
                self.phase = if all_gone || now >= kill_at {
                    self.child.kill();
                    Phase::Killed { cause, give_up_at: now + KILL_GRACE }
                } else {
                    Phase::Asked { cause, kill_at }
                };
            }
            Phase::Killed { cause, give_up_at } => {
                self.phase = if self.child.has_ended() || now >= give_up_at {
                    self.sweeping(Ending::By(cause), now)
                } else {
                    Phase::Killed { cause, give_up_at }
                };
            }
            Phase::Sweeping { end, since, look_at, rounds } => {
                let rounds = if now >= look_at { self.sweep(rounds, keeper) } else { rounds };
                if self.is_over(rounds, now.saturating_duration_since(since)) {
                    return Some(self.let_go(end));
                }
                let look_at = if now >= look_at { now + SWEEP_EVERY } else { look_at };
                self.phase = Phase::Sweeping { end, since, look_at, rounds };
            }
            Phase::Over => {}
        }
        None
    }

    /// What was printed.
    pub(crate) fn finish(self) -> Captured {
        self.capture.finish()
    }

    fn watch(&self, moment: Moment) -> Phase {
        if self.child.has_ended() {
            return self.sweeping(Ending::ByItself, moment.now);
        }
        let (cause, grace) = match moment.interrupted {
            Interrupted::Asked => (Cause::Interrupted, INTERRUPT_GRACE),
            Interrupted::Not if moment.now >= self.deadline => (Cause::TimedOut, TERM_GRACE),
            Interrupted::Not => return Phase::Running,
        };
        self.child.ask_to_end();
        Phase::Asked { cause, kill_at: moment.now + grace }
    }

    fn sweeping(&self, end: Ending, now: Instant) -> Phase {
        // A process left in the group has no business after the check.
        self.child.kill();
        Phase::Sweeping { end, since: now, look_at: now, rounds: Rounds::Begun }
    }

    /// After a find, two looks in a row must find nobody: one may have been born meanwhile.
    fn sweep(&self, rounds: Rounds, keeper: &mut Keeper) -> Rounds {
        match (keeper.sweep(&self.mark), rounds) {
            (SweepResult::Somebody, _) => Rounds::Struck,
            (SweepResult::Nobody, Rounds::Struck) => Rounds::Begun,
            (SweepResult::Nobody, Rounds::Begun | Rounds::Clean) => Rounds::Clean,
        }
    }

    fn is_over(&self, rounds: Rounds, elapsed: Duration) -> bool {
        let drained = self.capture.reader().is_none() || elapsed >= DRAIN_GRACE;
        let swept = rounds == Rounds::Clean || elapsed >= SWEEP_GRACE;
        drained && swept
    }

    fn let_go(&mut self, end: Ending) -> End {
        match (end, self.child.release()) {
            (Ending::ByItself, Ok(status)) => End::Exited(status),
            (Ending::ByItself, Err(error)) => End::Lost(error),
            (Ending::By(Cause::TimedOut), _) => End::TimedOut,
            (Ending::By(Cause::Interrupted), _) => End::Interrupted,
        }
    }
}
