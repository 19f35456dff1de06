//! When a server tidies up: once it is quiet, so that no call waits for a disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::desk::ToolHandler;

/// How long nobody must have called.
const QUIET: Duration = Duration::from_millis(200);
/// How often it is put off where calls never end.
const PUT_OFF_MAX: usize = 5;

/// Chores that are put off from call to call.
#[derive(Debug, Default)]
pub(crate) struct Chores {
    calls: AtomicU64,
    is_due: AtomicBool,
}

impl Chores {
    /// Notes a call; tidies up on this thread once there was none for a while.
    pub(crate) fn put_off(self: &Arc<Self>, desk: &Arc<dyn ToolHandler>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if self.is_due.swap(true, Ordering::Relaxed) {
            return;
        }
        let (own, desk) = (Arc::clone(self), Arc::clone(desk));
        tokio::spawn(async move {
            own.wait_for_quiet().await;
            own.is_due.store(false, Ordering::Relaxed);
            desk.settle();
        });
    }

    async fn wait_for_quiet(&self) {
        for _ in 0..PUT_OFF_MAX {
            let before = self.calls.load(Ordering::Relaxed);
            tokio::time::sleep(QUIET).await;
            if self.calls.load(Ordering::Relaxed) == before {
                return;
            }
        }
    }
}
