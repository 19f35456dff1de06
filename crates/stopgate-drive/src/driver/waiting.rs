//! The driver waits: for a limit to be over, or for a person's answer.

use std::time::Duration;

use stopgate_core::LoopState;
use stopgate_engine::{Failure, LoopView, RealWorld, Settings, World};

use super::{DriveEnd, Driver};
use crate::interrupt::Interrupt;
use crate::plan::DriveNews;
use crate::session::now;

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often the journal is asked meanwhile.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// How often what a parked loop waits for is looked at.
const CONDITION_EVERY: Duration = Duration::from_secs(5);
/// A shorter pause is work as well.
const REST_FROM: Duration = Duration::from_secs(30);

impl Driver<'_> {
    /// Waits, unless the person or the loop says otherwise.
    pub(super) fn wait(&mut self, wait: Duration) -> Result<Option<DriveEnd>, Failure> {
        if wait.is_zero() {
            self.files.write(&self.record)?;
            return Ok(None);
        }
        self.record.wait_until = now_seconds() + wait.as_secs();
        self.files.write(&self.record)?;
        (self.news)(&DriveNews::Waits { wait });
        let rests = wait >= REST_FROM;
        if rests {
            self.looped.rests()?;
        }
        let end = self.sleep(wait)?;
        // A wait that was interrupted stays a rest until somebody goes on.
        if end != Some(DriveEnd::Interrupted) {
            self.wake()?;
        }
        Ok(end)
    }

    /// The wait is over, and so is the loop's rest.
    fn wake(&mut self) -> Result<(), Failure> {
        self.record.wait_until = 0;
        self.files.write(&self.record)?;
        self.looped.wakes()
    }

    /// Waits for what an earlier driver waited for.
    pub(super) fn wait_on(&mut self) -> Result<Option<DriveEnd>, Failure> {
        if self.record.wait_until == 0 {
            return Ok(None);
        }
        let wait = Duration::from_secs(self.record.wait_until.saturating_sub(now_seconds()));
        if !wait.is_zero() {
            (self.news)(&DriveNews::Waits { wait });
        }
        let end = self.sleep(wait)?;
        if end != Some(DriveEnd::Interrupted) {
            self.wake()?;
        }
        Ok(end)
    }

    fn sleep(&mut self, wait: Duration) -> Result<Option<DriveEnd>, Failure> {
        let begun = now();
        let mut asked_at = now();
        while begun.elapsed() < wait {
            if self.interrupts.wish() != Interrupt::GoOn {
                return Ok(Some(DriveEnd::Interrupted));
            }
            let asks = asked_at.elapsed() >= ASK_EVERY;
            if asks && self.looped.view()?.outcome.is_some() {
                return Ok(Some(DriveEnd::Loop));
            }
            if asks {
                asked_at = now();
            }
            std::thread::sleep(LOOK_EVERY.min(wait.saturating_sub(begun.elapsed())));
        }
        Ok(None)
    }

    /// Waits with a loop that its agent parked; no session runs and nothing is spent meanwhile.
    pub(super) fn await_condition(&mut self, view: &LoopView) -> Result<Option<DriveEnd>, Failure> {
        let what = view.why.clone().unwrap_or_default();
        (self.news)(&DriveNews::Parked { what: &what });
        while !self.looped.unparks()? {
            let end = self.sleep(CONDITION_EVERY)?;
            if end.is_some() || self.looped.view()?.state == LoopState::Paused {
                return Ok(end.or(Some(DriveEnd::Loop)));
            }
        }
        Ok(self.looped.view()?.outcome.map(|_| DriveEnd::Loop))
    }

    /// Waits for an answer as long as the person wants; nothing where the loop goes on.
    pub(super) fn await_answer(&mut self, view: &LoopView) -> Result<Option<DriveEnd>, Failure> {
        let Some(within) = self.plan.answer.within else { return Ok(Some(DriveEnd::Loop)) };
        let question = view.why.clone().unwrap_or_default();
        (self.news)(&DriveNews::Asked { question: &question, within });
        let begun = now();
        while begun.elapsed() < within {
            if self.interrupts.wish() != Interrupt::GoOn {
                return Ok(Some(DriveEnd::Interrupted));
            }
            std::thread::sleep(ASK_EVERY.min(within.saturating_sub(begun.elapsed())));
            let view = self.looped.view()?;
            if view.waiting.is_none() {
                return Ok(view.outcome.map(|_| DriveEnd::Loop));
            }
        }
        let Some(default) = self.plan.answer.default.clone() else {
            return Ok(Some(DriveEnd::Loop));
        };
        self.looped.answer(&default)?;
        Ok(None)
    }
}

/// The time, in seconds since 1970.
pub(super) fn now_seconds() -> u64 {
    let now = RealWorld::new(Settings).now();
    u64::try_from(now.unix_millis() / 1000).unwrap_or(0)
}
