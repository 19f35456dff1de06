//! Many histories, side by side.

use std::fmt;
use std::num::NonZero;
use std::ops::AddAssign;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use stopgate_store::{Journal, MemoryJournal};

use crate::chance::mix;
use crate::history::{HistorySetting, Oracle, SimulatedChecks, history};
use crate::rules::Violation;

/// How many histories a thread takes at once.
const BATCH: u64 = 256;

/// What happened, in numbers: histories in which nothing happens prove nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunTally {
    /// Histories.
    pub histories: u64,
    /// Acts of processes.
    pub steps: u64,
    /// Appends that were tried.
    pub appends: u64,
    /// Appends that came too late.
    pub conflicts: u64,
    /// Acts that died, or heard no answer.
    pub lost: u64,
    /// Stops that were sent back.
    pub continued: u64,
    /// Loops that were proven.
    pub done: u64,
    /// Cancels that were acknowledged.
    pub cancelled: u64,
}

impl AddAssign for RunTally {
    fn add_assign(&mut self, other: Self) {
        self.histories += other.histories;
        self.steps += other.steps;
        self.appends += other.appends;
        self.conflicts += other.conflicts;
        self.lost += other.lost;
        self.continued += other.continued;
        self.done += other.done;
        self.cancelled += other.cancelled;
    }
}

impl fmt::Display for RunTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} acts, {} lost or killed; {} appends, {} of them too late; {} stops sent back, \
             {} loops proven, {} cancels acknowledged",
            self.steps,
            self.lost,
            self.appends,
            self.conflicts,
            self.continued,
            self.done,
            self.cancelled
        )
    }
}

/// A history that broke a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenHistory {
    /// Replays it.
    pub seed: u64,
    /// What it broke.
    pub violation: Violation,
}

impl fmt::Display for BrokenHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the history of seed {} broke a rule: {}", self.seed, self.violation)
    }
}

/// The seed of the history with this number among those that `seed` begins.
pub const fn seed_of(seed: u64, number: u64) -> u64 {
    mix(seed ^ mix(number))
}

/// The usual setting: the memory engine, compared with another one.
pub(crate) fn usual(home: &Path) -> HistorySetting {
    let shelf = MemoryJournal::default();
    let shared = move || -> Box<dyn Journal> { Box::new(shelf.clone()) };
    HistorySetting {
        shared: Box::new(shared),
        oracle: Oracle::Compared,
        checks: SimulatedChecks::Honest,
        home: home.into(),
    }
}

/// Plays the histories that begin with `seed`, on every core; stops at the first that fails.
pub fn sweep(histories: u64, seed: u64, home: &Path) -> Result<RunTally, BrokenHistory> {
    let next = AtomicU64::new(0);
    let over = AtomicBool::new(false);
    let total = Mutex::new(RunTally::default());
    let failed = Mutex::new(None);
    let play = || {
        while !over.load(Ordering::Relaxed) {
            let begin = next.fetch_add(BATCH, Ordering::Relaxed);
            if begin >= histories {
                return;
            }
            match batch(begin..histories.min(begin + BATCH), seed, home) {
                Ok(tally) => *total.lock().unwrap_or_else(PoisonError::into_inner) += tally,
                Err(found) => {
                    over.store(true, Ordering::Relaxed);
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(play);
        }
    });
    match failed.into_inner().unwrap_or_default() {
        Some(failed) => Err(failed),
        None => Ok(total.into_inner().unwrap_or_default()),
    }
}

/// Plays the history of one seed again.
pub fn replay(seed: u64, home: &Path) -> Result<(), BrokenHistory> {
    history(seed, usual(home)).map(|_| ()).map_err(|violation| BrokenHistory { seed, violation })
}

fn batch(numbers: std::ops::Range<u64>, seed: u64, home: &Path) -> Result<RunTally, BrokenHistory> {
    let mut total = RunTally::default();
    for number in numbers {
        let seed = seed_of(seed, number);
        let played = history(seed, usual(home));
        total += played.map_err(|violation| BrokenHistory { seed, violation })?;
        total.histories += 1;
    }
    Ok(total)
}
