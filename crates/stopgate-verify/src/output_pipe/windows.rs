//! Windows: pipes can't be asked, so each has a thread that reads it.

use std::collections::VecDeque;
use std::io::{self, PipeReader, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::child::EndHandle;

/// More than this is not held: a program that prints faster waits.
const HELD_BYTES_MAX: usize = 1024 * 1024;
const BLOCK_BYTES: usize = 64 * 1024;
/// How often pipes are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// The end of a pipe that is read.
#[derive(Debug)]
pub(crate) struct OutputPipe {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    held: Mutex<Held>,
    /// Told when there is room again, or when nobody reads any more.
    room: Condvar,
}

#[derive(Debug, Default)]
struct Held {
    bytes: VecDeque<u8>,
    has_ended: bool,
    is_abandoned: bool,
}

/// The pipe that a child writes to, for reading.
pub(crate) fn output_of(reader: PipeReader) -> OutputPipe {
    reader.into()
}

impl From<PipeReader> for OutputPipe {
    fn from(reader: PipeReader) -> Self {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().spawn(move || pump(reader, &theirs));
        if thread.is_err() {
            shared.held().has_ended = true;
        }
        Self { shared }
    }
}

impl Read for OutputPipe {
    /// Reads what is there; an interrupted read is one that found nothing yet.
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        let mut held = self.shared.held();
        if held.bytes.is_empty() && !held.has_ended {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let read = held.bytes.read(block);
        self.shared.room.notify_one();
        read
    }
}

impl Drop for OutputPipe {
    fn drop(&mut self) {
        self.shared.held().is_abandoned = true;
        self.shared.room.notify_one();
    }
}

impl OutputPipe {
    fn has_news(&self) -> bool {
        let held = self.shared.held();
        held.has_ended || !held.bytes.is_empty()
    }
}

impl Shared {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads until the last writer is gone, or nobody wants to know any more.
fn pump(mut reader: PipeReader, shared: &Shared) {
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let read = match reader.read(&mut block) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        let is_full = |held: &mut Held| held.bytes.len() >= HELD_BYTES_MAX && !held.is_abandoned;
        let waited = shared.room.wait_while(shared.held(), is_full);
        let mut held = waited.unwrap_or_else(PoisonError::into_inner);
        if held.is_abandoned {
            break;
        }
        held.bytes.extend(&block[..read]);
    }
    shared.held().has_ended = true;
}

/// Waits for output up to `time`; says which pipes have news.
#[expect(clippy::disallowed_methods, reason = "the door that waits")]
#[expect(clippy::unnecessary_wraps, reason = "other systems may fail")]
pub(crate) fn wait_for_news<'a>(
    outputs: &[Option<&OutputPipe>],
    _: impl Iterator<Item = &'a EndHandle>,
    time: Duration,
) -> io::Result<Vec<bool>> {
    let until = Instant::now() + time;
    loop {
        let news: Vec<bool> =
            outputs.iter().map(|pipe| pipe.is_some_and(OutputPipe::has_news)).collect();
        if news.contains(&true) || Instant::now() >= until {
            return Ok(news);
        }
        std::thread::sleep(LOOK_EVERY.min(time));
    }
}
