//! Ending a run of checks from outside, without ending the process.
//!
//! A run heeds the stop of the thread that began it, so that a server can end the
//! programs of one call while others go on. Without one, only signals end a run.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static HEEDED: RefCell<Option<RunStop>> = const { RefCell::new(None) };
}

/// Ends runs once it is raised. Clones share the flag; a child is raised with its parent.
#[derive(Clone, Debug, Default)]
pub struct RunStop {
    own: Arc<AtomicBool>,
    parent: Option<Arc<AtomicBool>>,
}

impl RunStop {
    /// One of its own that is raised with this one, too.
    #[must_use]
    pub fn child(&self) -> Self {
        Self { own: Arc::default(), parent: Some(Arc::clone(&self.own)) }
    }

    /// Ends every run that heeds this.
    pub fn raise(&self) {
        self.own.store(true, Ordering::Relaxed);
    }

    /// Whether runs should end.
    pub fn is_raised(&self) -> bool {
        let parent = self.parent.as_ref();
        self.own.load(Ordering::Relaxed)
            || parent.is_some_and(|parent| parent.load(Ordering::Relaxed))
    }

    /// Does `work`; runs that it begins on this thread heed this stop.
    pub fn while_heeded<T>(&self, work: impl FnOnce() -> T) -> T {
        let _before = Before(HEEDED.replace(Some(self.clone())));
        work()
    }

    /// What a run that begins now on this thread must heed.
    pub(crate) fn current() -> Option<Self> {
        HEEDED.with_borrow(Clone::clone)
    }
}

/// Brings back what was heeded before, also after a panic.
struct Before(Option<RunStop>);

impl Drop for Before {
    fn drop(&mut self) {
        HEEDED.set(self.0.take());
    }
}

#[cfg(test)]
mod tests;
