//! Sees to it that a hook answers in time, whatever keeps it.
//!
//! A thread of its own waits. When nothing was answered in time it claims the answer, and the
//! program lets the agent stop. An answer is claimed once: what comes later is never printed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use stopgate_agents::Reply;

/// How long a call may take beside the time of its checks.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// Prints the answer of a hook that was too late, and ends the program.
pub type Late = fn(&Reply);

/// Whether the one answer of this process was claimed.
static CLAIMED: AtomicBool = AtomicBool::new(false);
static DEADLINE: Mutex<Option<Instant>> = Mutex::new(None);
static MOVED: Condvar = Condvar::new();

/// Claims the right to answer, for good. A call that came too late never returns from this.
pub fn claim_answer() {
    if CLAIMED.swap(true, Ordering::SeqCst) {
        loop {
            std::thread::park();
        }
    }
}

/// Lets a thread wait for `PATIENCE`, and call `late` unless the answer was claimed by then.
///
/// Without a thread there is no watchdog, and everything else goes on.
pub(crate) fn start(late: impl FnOnce() + Send + 'static) {
    *deadline() = Some(now() + PATIENCE);
    let thread = std::thread::Builder::new().stack_size(256 * 1024);
    let _ = thread.spawn(move || {
        wait();
        if !CLAIMED.swap(true, Ordering::SeqCst) {
            late();
        }
    });
}

/// Gives the call this much time beside its usual patience, from now on.
pub(crate) fn allow(time: Duration) {
    let mut deadline = deadline();
    if deadline.is_some() {
        *deadline = Some(now() + time + PATIENCE);
        MOVED.notify_all();
    }
}

fn wait() {
    let mut until = deadline();
    loop {
        let rest = until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now()));
        if rest.is_zero() {
            return;
        }
        let waited = MOVED.wait_timeout(until, rest);
        until = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

fn deadline() -> MutexGuard<'static, Option<Instant>> {
    DEADLINE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[expect(clippy::disallowed_methods, reason = "a door that waits")]
fn now() -> Instant {
    Instant::now()
}
