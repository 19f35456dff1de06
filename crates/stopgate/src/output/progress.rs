//! A line that says what is going on: on a terminal it moves and is gone in the end; elsewhere it
//! is said once.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use stopgate_engine::CheckingView;

use super::{cut, span, window};

const TICK: Duration = Duration::from_secs(1);
const COLUMNS: usize = 80;

/// Shows that something goes on, until it is dropped.
pub(crate) struct ProgressLine {
    shown: Arc<Mutex<CheckingLine>>,
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

/// What goes on, since when, and how long that usually takes.
struct CheckingLine {
    what: String,
    seconds: i64,
    usual_ms: Option<u64>,
}

/// Where what goes on is said once where there is no terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elsewhere {
    /// On standard error.
    Once,
    /// Nowhere.
    Silent,
}

impl ProgressLine {
    /// Begins to say `what` goes on.
    pub(crate) fn begin(what: &str) -> Self {
        let line = CheckingLine { what: what.into(), seconds: 0, usual_ms: None };
        let shown = Arc::new(Mutex::new(line));
        if !std::io::stderr().is_terminal() {
            return Self { shown, running: None };
        }
        let (stop, stopped) = mpsc::channel();
        let line = Arc::clone(&shown);
        let thread = std::thread::spawn(move || {
            let mut moved = false;
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                moved = true;
                let text = line.lock().unwrap_or_else(PoisonError::into_inner).tick();
                let columns = window().unwrap_or(COLUMNS).saturating_sub(1);
                let mut out = std::io::stderr().lock();
                let _ = write!(out, "\r\x1b[K{}", cut(&text, columns));
                let _ = out.flush();
            }
            if moved {
                let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
            }
        });
        Self { shown, running: Some((stop, thread)) }
    }

    /// Hears which check runs, and says so from then on.
    pub(crate) fn listener(&self, elsewhere: Elsewhere) -> impl FnMut(&CheckingView) + 'static {
        let shown = Arc::clone(&self.shown);
        let says = self.running.is_none() && elsewhere == Elsewhere::Once;
        move |checking| {
            let what = format!("checking {}", checking.checks.join(", "));
            let usual_ms = checking.usual_ms;
            let line = CheckingLine { what, seconds: 0, usual_ms };
            if says {
                let _ = writeln!(anstream::stderr().lock(), "{}{}", line.what, line.about());
            }
            *shown.lock().unwrap_or_else(PoisonError::into_inner) = line;
        }
    }
}

impl CheckingLine {
    /// The line a second later: `checking tests, 22 s of about 40 s`.
    fn tick(&mut self) -> String {
        self.seconds += 1;
        format!("{}, {}{}", self.what, span(self.seconds * 1000), self.about())
    }

    fn about(&self) -> String {
        let usual = self.usual_ms.and_then(|usual| i64::try_from(usual).ok());
        let usual = usual.filter(|usual| *usual >= 1000);
        match (usual, self.seconds) {
            (Some(usual), 0) => format!(", about {}", span(usual)),
            (Some(usual), _) => format!(" of about {}", span(usual)),
            (None, _) => String::new(),
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if let Some((stop, line)) = self.running.take() {
            drop(stop);
            let _ = line.join();
        }
    }
}
