//! A person's interrupts: the first one ends the run after this session, the second one now.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Counts interrupts.
#[derive(Clone, Debug, Default)]
pub struct Interrupts {
    count: Arc<AtomicUsize>,
}

/// What the person wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Go on.
    GoOn,
    /// Stop when this session is over.
    AfterSession,
    /// Stop now.
    Now,
}

impl Interrupts {
    /// Begins to count: from now on a signal no longer ends this process.
    pub fn listen() -> Self {
        let interrupts = Self::default();
        let count = Arc::clone(&interrupts.count);
        // Without it a signal ends us at once, and the guard ends the session.
        if let Ok(mut signals) = Signals::new([SIGINT, SIGTERM, SIGHUP]) {
            // Only the keyboard's is counted; the others mean it.
            let weight = |signal| if signal == SIGINT { 1 } else { 2 };
            let add = move |signal| {
                count.fetch_add(weight(signal), Ordering::Relaxed);
            };
            thread::spawn(move || signals.forever().for_each(add));
        }
        interrupts
    }

    pub(crate) fn wish(&self) -> Interrupt {
        match self.count.load(Ordering::Relaxed) {
            0 => Interrupt::GoOn,
            1 => Interrupt::AfterSession,
            _more => Interrupt::Now,
        }
    }
}
