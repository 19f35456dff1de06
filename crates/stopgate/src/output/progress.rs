//! A line that says what is going on, on a terminal: it moves, and is gone in the end.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use super::span;

const TICK: Duration = Duration::from_secs(1);

/// Shows that something goes on, until it is dropped.
pub(crate) struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins to say `what` goes on. Without a terminal it is said once, as a plain line.
    pub(crate) fn begin(what: &'static str) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { running: None };
        }
        let (stop, stopped) = mpsc::channel();
        let line = std::thread::spawn(move || {
            let mut seconds: i64 = 0;
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                seconds += 1;
                let mut out = std::io::stderr().lock();
                let _ = write!(out, "\r\x1b[K{what}, {}", span(seconds * 1000));
                let _ = out.flush();
            }
            if seconds > 0 {
                let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
            }
        });
        Self { running: Some((stop, line)) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, line)) = self.running.take() {
            drop(stop);
            let _ = line.join();
        }
    }
}
