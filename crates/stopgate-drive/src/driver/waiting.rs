//! The driver waits: for a limit to be over, or for a person's answer.

use std::time::Duration;

use stopgate_engine::{Failure, LoopView, RealWorld, Settings, World};

use super::{DriveEnd, Driver};
use crate::interrupt::Wish;
use crate::plan::DriveNews;
use crate::session::now;

const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often the journal is asked meanwhile.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// A shorter pause is work as well.
const REST_FROM: Duration = Duration::from_secs(30);

impl Driver<'_> {
    /// Waits, unless the person or the loop says otherwise.
    pub(super) fn wait(&mut self, wait: Duration) -> Result<Option<DriveEnd>, Failure> {
        self.record.wait_until = now_seconds() + wait.as_secs();
        self.files.write(&self.record)?;
        if wait.is_zero() {
            return Ok(None);
        }
        (self.news)(&DriveNews::Waits { wait });
        let rests = wait >= REST_FROM;
        if rests {
            self.looped.rests()?;
        }
        let end = self.sleep(wait)?;
        // A wait that was interrupted stays a rest until somebody goes on.
        if rests && end != Some(DriveEnd::Interrupted) {
            self.looped.wakes()?;
        }
        Ok(end)
    }

    /// Waits for what an earlier driver waited for.
    pub(super) fn wait_on(&mut self) -> Result<Option<DriveEnd>, Failure> {
        let left = self.record.wait_until.saturating_sub(now_seconds());
        if left == 0 {
            return Ok(None);
        }
        let wait = Duration::from_secs(left);
        (self.news)(&DriveNews::Waits { wait });
        self.sleep(wait)
    }

    fn sleep(&mut self, wait: Duration) -> Result<Option<DriveEnd>, Failure> {
        let begun = now();
        let mut asked_at = now();
        while begun.elapsed() < wait {
            if self.interrupts.wish() != Wish::GoOn {
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

    /// Waits for an answer as long as the person wants; nothing where the loop goes on.
    pub(super) fn await_answer(&mut self, view: &LoopView) -> Result<Option<DriveEnd>, Failure> {
        let Some(within) = self.plan.answer.within else { return Ok(Some(DriveEnd::Loop)) };
        let question = view.why.clone().unwrap_or_default();
        (self.news)(&DriveNews::Asked { question: &question, within });
        let begun = now();
        while begun.elapsed() < within {
            if self.interrupts.wish() != Wish::GoOn {
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
