//! Wakes the process at a time of the wall clock, and not before.
//!
//! On Linux the kernel keeps the time, also while the machine sleeps and when somebody sets the
//! clock. Elsewhere the process looks every few seconds.

use std::time::Duration;

use stopgate_core::Timestamp;

/// How often the clock is looked at where the kernel can't be asked to.
#[cfg(not(target_os = "linux"))]
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// An alarm.
#[derive(Debug)]
pub(crate) struct Alarm {
    #[cfg(target_os = "linux")]
    timer: rustix::fd::OwnedFd,
    #[cfg(not(target_os = "linux"))]
    at: Option<Timestamp>,
}

#[cfg(target_os = "linux")]
impl Alarm {
    /// An alarm that is not set.
    pub(crate) fn new() -> std::io::Result<Self> {
        use rustix::time::{TimerfdClockId, TimerfdFlags, timerfd_create};
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        Ok(Self { timer: timerfd_create(TimerfdClockId::Realtime, flags)? })
    }

    /// Sets it to a time, or off.
    pub(crate) fn set(&mut self, at: Option<Timestamp>) -> std::io::Result<()> {
        use rustix::time::{Itimerspec, TimerfdTimerFlags, Timespec, timerfd_settime};
        let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
        // A value of nothing would turn it off instead of ringing at once.
        let at = at.map_or(zero, |at| {
            let millis = at.unix_millis().max(1);
            Timespec { tv_sec: millis / 1000, tv_nsec: millis % 1000 * 1_000_000 }
        });
        let when = Itimerspec { it_interval: zero, it_value: at };
        let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        timerfd_settime(&self.timer, flags, &when)?;
        Ok(())
    }

    /// Becomes readable when it rings, or when somebody sets the clock.
    pub(crate) const fn handle(&self) -> Option<&rustix::fd::OwnedFd> {
        Some(&self.timer)
    }

    /// How long to wait at most.
    pub(crate) const fn patience(&self, _now: Timestamp) -> Option<Duration> {
        None
    }

    /// Takes note that it rang.
    pub(crate) fn hear(&mut self) {
        let mut count = [0; 8];
        // A clock that was set answers with an error, which is news all the same.
        let _ = rustix::io::read(&self.timer, &mut count);
    }
}

#[cfg(not(target_os = "linux"))]
impl Alarm {
    /// An alarm that is not set.
    pub(crate) const fn new() -> std::io::Result<Self> {
        Ok(Self { at: None })
    }

    /// Sets it to a time, or off.
    pub(crate) fn set(&mut self, at: Option<Timestamp>) -> std::io::Result<()> {
        self.at = at;
        Ok(())
    }

    /// There is nothing to wait for but the time itself.
    pub(crate) const fn handle(&self) -> Option<&rustix::fd::OwnedFd> {
        None
    }

    /// How long to wait at most.
    pub(crate) fn patience(&self, now: Timestamp) -> Option<Duration> {
        let left = u64::try_from(self.at?.since(now)).unwrap_or(0);
        Some(Duration::from_millis(left).min(LOOK_EVERY))
    }

    /// Takes note that it rang.
    pub(crate) const fn hear(&mut self) {}
}
