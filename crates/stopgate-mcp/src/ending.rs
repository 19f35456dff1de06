//! How a server ends: asked by a signal, and in time whatever it is doing.
//!
//! A thread of its own waits for signals, so that a busy or stuck server hears them too.
//! It raises the stop that every call's programs heed, tells the server, and ends the
//! process itself where the server does not.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use stopgate_verify::RunStop;
use tokio::sync::Notify;

/// How long calls may take to end their programs.
pub(crate) const CALLS_GRACE: Duration = Duration::from_millis(1600);
/// When the process ends, come what may. The caller was promised two seconds.
const GRACE: Duration = Duration::from_millis(1850);

/// Tells a server that it should end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shutdown {
    stop: RunStop,
    asked: Arc<Notify>,
}

impl Shutdown {
    /// One that signals bring about.
    pub(crate) fn by_signals() -> io::Result<Self> {
        let ending = Self::default();
        let told = ending.clone();
        let mut asked = signals()?;
        thread::Builder::new().name("signals".into()).spawn(move || {
            if asked() {
                told.begin();
                thread::sleep(GRACE);
                std::process::exit(0);
            }
        })?;
        Ok(ending)
    }

    /// Ends every call's programs and tells the server.
    pub(crate) fn begin(&self) {
        self.stop.raise();
        self.asked.notify_one();
    }

    /// Waits until somebody asks.
    pub(crate) async fn asked(&self) {
        self.asked.notified().await;
    }

    /// What ends one call's programs; raised when the server ends, too.
    pub(crate) fn stop(&self) -> RunStop {
        self.stop.child()
    }
}

/// Waits for a signal that asks this process to end.
#[cfg(unix)]
fn signals() -> io::Result<impl FnMut() -> bool + Send> {
    let mut signals = signal_hook::iterator::Signals::new(stopgate_system::END_SIGNALS)?;
    Ok(move || signals.forever().next().is_some())
}

/// Waits for a signal; on Windows it has to be looked for.
#[cfg(windows)]
fn signals() -> io::Result<impl FnMut() -> bool + Send> {
    use std::sync::atomic::{AtomicBool, Ordering};

    const LOOK_EVERY: Duration = Duration::from_millis(50);
    let flag = Arc::new(AtomicBool::new(false));
    for signal in stopgate_system::END_SIGNALS {
        signal_hook::flag::register(signal, Arc::clone(&flag))?;
    }
    Ok(move || {
        while !flag.load(Ordering::Relaxed) {
            thread::sleep(LOOK_EVERY);
        }
        true
    })
}
