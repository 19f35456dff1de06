//! Open connections: as many as there is room for.
//!
//! Where one more comes, the one that has been idle for longest is closed for it, so that
//! nobody is kept out by connections that say nothing. Where all are busy, it waits.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How many there may be.
pub(crate) const CONNECTIONS_MAX: usize = 64;
/// How often an idle one is looked for while all are busy.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// All of them.
#[derive(Clone, Debug)]
pub(crate) struct Connections {
    room: Arc<Semaphore>,
    open: Arc<Mutex<Vec<Arc<Connection>>>>,
}

/// What is known about one.
#[derive(Debug, Default)]
struct Connection {
    requests: AtomicUsize,
    unwanted: Notify,
}

/// A place for one connection, given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    own: Arc<Connection>,
    open: Arc<Mutex<Vec<Arc<Connection>>>>,
    _permit: OwnedSemaphorePermit,
}

/// A request that is being answered; its connection is busy meanwhile.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Connection>);

impl Connections {
    /// None yet, of `most`.
    pub(crate) fn new(most: usize) -> Self {
        Self { room: Arc::new(Semaphore::new(most)), open: Arc::default() }
    }

    /// A place for one more, as soon as there is one.
    pub(crate) async fn seat(&self) -> Option<Seat> {
        let permit = loop {
            if self.room.available_permits() == 0 {
                self.make_room();
            }
            // A connection that is busy now may be idle at the next look.
            if let Ok(permit) = timeout(LOOK_EVERY, Arc::clone(&self.room).acquire_owned()).await {
                // The semaphore is never closed.
                break permit.ok()?;
            }
        };
        let own = Arc::new(Connection::default());
        self.open.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&own));
        Some(Seat { own, open: Arc::clone(&self.open), _permit: permit })
    }

    /// Closes the oldest connection that answers nothing.
    fn make_room(&self) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(idle) = open.iter().find(|one| one.requests.load(Ordering::Relaxed) == 0) {
            idle.unwanted.notify_one();
        }
    }
}

impl Seat {
    /// Waits until the place is wanted for another client.
    pub(crate) async fn unwanted(&self) {
        self.own.unwanted.notified().await;
    }

    /// Begins to answer requests of this connection.
    pub(crate) fn requests(&self) -> impl Fn() -> Busy + Clone + Send + use<> {
        let own = Arc::clone(&self.own);
        move || {
            own.requests.fetch_add(1, Ordering::Relaxed);
            Busy(Arc::clone(&own))
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|one| !Arc::ptr_eq(one, &self.own));
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}
