//! Sees to it that a hook answers in time, and ends, whatever keeps it.
//!
//! A thread of its own waits. When nothing was answered in time it claims the answer, and the
//! program lets the agent stop. An answer is claimed once: what comes later is never printed.
//! What still has to be done after the answer has its own time, and then the program ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use stopgate_agents::Reply;

/// How long a call may take beside the time of its checks, and then to end.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// How long a word about a late call may take to be written down.
const BRIEFLY: Duration = Duration::from_millis(300);

/// What a hook is too late for.
#[derive(Clone, Copy, Debug)]
pub enum TooLate<'a> {
    /// To answer: the agent gets this instead.
    ToAnswer(&'a Reply),
    /// To end: it was answered, and something that came after that hangs.
    ToEnd,
}

/// Prints the answer of a hook that was too late, and ends the program.
pub type Late = fn(TooLate<'_>);

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
    allow(Duration::ZERO);
}

/// Lets a thread wait until `PATIENCE` has passed since `begun`, and call `unanswered` unless the
/// answer was claimed by then; else it waits once more, and calls `unended`.
///
/// Without a thread there is no watchdog, and everything else goes on.
pub(crate) fn start(
    begun: Instant,
    unanswered: impl FnOnce() + Send + 'static,
    unended: impl FnOnce() + Send + 'static,
) {
    *deadline() = Some(begun + PATIENCE);
    let thread = std::thread::Builder::new().stack_size(256 * 1024);
    let _ = thread.spawn(move || {
        wait();
        if CLAIMED.swap(true, Ordering::SeqCst) {
            unended();
        } else {
            unanswered();
        }
    });
}

/// Gives the call this much time beside its usual patience, from now on.
pub(crate) fn allow(time: Duration) {
    let mut deadline = deadline();
    if let Some(before) = *deadline {
        let until = now() + time + PATIENCE;
        *deadline = Some(until);
        // Who waits for an earlier moment looks again then; to wake it would cost every stop.
        if until < before {
            MOVED.notify_all();
        }
    }
}

/// Does `work` on a thread that is left behind where it hangs.
pub(crate) fn briefly(work: impl FnOnce() + Send + 'static) {
    let (done, waiting) = mpsc::channel();
    let thread = std::thread::Builder::new().stack_size(256 * 1024);
    let begun = thread.spawn(move || {
        work();
        let _ = done.send(());
    });
    if begun.is_ok() {
        let _ = waiting.recv_timeout(BRIEFLY);
    }
}

/// Waits until the deadline has passed, wherever it is moved to meanwhile.
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
