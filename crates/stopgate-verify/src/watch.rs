//! Who is told which checks run right now.
//!
//! A run tells the listener of the thread that began it, so that a person who waits can see the
//! check that runs instead of all that are due.

use std::cell::RefCell;
use std::rc::Rc;

use stopgate_core::Timestamp;

#[cfg(test)]
mod tests;

/// A check whose command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunningCheck<'a> {
    /// The criterion it proves.
    pub criterion: &'a str,
    /// When this try began.
    pub begun: Timestamp,
}

type Listener = Rc<RefCell<dyn FnMut(&[RunningCheck<'_>])>>;

thread_local! {
    static LISTENER: RefCell<Option<Listener>> = const { RefCell::new(None) };
}

/// Does `work`; while runs that it begins on this thread go on, `listener` is told which checks
/// run, each time that changes.
pub fn while_watched<T>(
    listener: impl FnMut(&[RunningCheck<'_>]) + 'static,
    work: impl FnOnce() -> T,
) -> T {
    let _before = Before(LISTENER.replace(Some(Rc::new(RefCell::new(listener)))));
    work()
}

/// Tells the listener of this thread, if there is one.
pub(crate) fn tell(running: &[RunningCheck<'_>]) {
    let listener = LISTENER.with_borrow(Clone::clone);
    // A listener that begins a run of its own is not told about it.
    if let Some(mut listener) = listener.as_ref().and_then(|one| one.try_borrow_mut().ok()) {
        listener(running);
    }
}

/// Brings back the listener from before, also after a panic.
struct Before(Option<Listener>);

impl Drop for Before {
    fn drop(&mut self) {
        LISTENER.set(self.0.take());
    }
}
