//! Reads a check's output: all of it, keeping the end, and the beginning in a file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{PipeReader, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

const TAIL_BYTES_MAX: usize = 64 * 1024;
const LOG_BYTES_MAX: u64 = 4 * 1024 * 1024;
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// What was read so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured {
    /// The end of it.
    pub(crate) tail: Vec<u8>,
    /// How much there was.
    pub(crate) bytes: u64,
    /// Whether a log file holds it.
    pub(crate) logged: bool,
}

/// A thread that reads until the last writer is gone.
#[derive(Debug)]
pub(crate) struct Capture {
    shared: Arc<Mutex<Shared>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    tail: VecDeque<u8>,
    bytes: u64,
    log: Option<File>,
    logged: bool,
}

impl Capture {
    /// Begins to read; without a log file the tail is kept all the same.
    pub(crate) fn begin(mut reader: PipeReader, log: &Path) -> Self {
        let log = open_log(log);
        let shared = Shared { logged: log.is_some(), log, ..Shared::default() };
        let shared = Arc::new(Mutex::new(shared));
        let writer = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let mut block = [0; 16 * 1024];
            while let Ok(read @ 1..) = reader.read(&mut block) {
                lock(&writer).take(&block[..read]);
            }
        });
        Self { shared, thread: Some(thread) }
    }

    /// What was captured, after waiting up to `grace` for the last writer.
    ///
    /// A grandchild that keeps the pipe open is left behind, and so is the thread.
    pub(crate) fn finish(mut self, grace: Duration) -> Captured {
        let mut waited = Duration::ZERO;
        while self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) && waited < grace {
            std::thread::sleep(LOOK_EVERY);
            waited += LOOK_EVERY;
        }
        self.thread = None;
        let shared = lock(&self.shared);
        let tail = shared.tail.iter().copied().collect();
        Captured { tail, bytes: shared.bytes, logged: shared.logged }
    }
}

impl Shared {
    fn take(&mut self, block: &[u8]) {
        if let Some(log) = &mut self.log {
            let room = usize::try_from(LOG_BYTES_MAX.saturating_sub(self.bytes)).unwrap_or(0);
            let cut = block.len().min(room);
            if log.write_all(&block[..cut]).is_err() {
                self.log = None;
            } else if cut < block.len() {
                let _ = log.write_all(b"\n[the rest is not kept]\n");
                self.log = None;
            }
        }
        self.bytes += block.len() as u64;
        self.tail.extend(block);
        let surplus = self.tail.len().saturating_sub(TAIL_BYTES_MAX);
        self.tail.drain(..surplus);
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open_log(path: &Path) -> Option<File> {
    std::fs::create_dir_all(path.parent()?).ok()?;
    File::create(path).ok()
}
