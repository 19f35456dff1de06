//! Unix: straight from the descriptor.

use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::hook::PAYLOAD_BYTES_USUAL;

/// This process's standard input.
pub(crate) struct StandardInput;

impl StandardInput {
    pub(crate) const fn open() -> Self {
        Self
    }

    /// Reads what is there. Straight from the file: a cold process pays for every buffer.
    #[expect(clippy::unused_self, reason = "other systems keep something")]
    pub(crate) fn read_more(&mut self, payload: &mut Vec<u8>) -> rustix::io::Result<usize> {
        if payload.len() == payload.capacity() {
            payload.reserve(payload.len().max(PAYLOAD_BYTES_USUAL));
        }
        loop {
            let room = rustix::buffer::spare_capacity(payload);
            match rustix::io::read(rustix::stdio::stdin(), room) {
                Err(Errno::INTR) => {}
                read => return read,
            }
        }
    }

    /// Waits for more to read, or the end; says whether one of them came in time.
    #[expect(clippy::disallowed_methods, reason = "a door that waits")]
    #[expect(clippy::unused_self, reason = "other systems keep something")]
    pub(crate) fn has_more(&mut self, patience: Duration) -> bool {
        let input = rustix::stdio::stdin();
        let mut watched = [PollFd::new(&input, PollFlags::IN)];
        let begun = Instant::now();
        loop {
            let rest = patience.saturating_sub(begun.elapsed());
            let rest = Timespec::try_from(rest).ok();
            match poll(&mut watched, rest.as_ref()) {
                Ok(0) => return false,
                Err(Errno::INTR) => {}
                // What can't be waited for is read as it is.
                Ok(_) | Err(_) => return true,
            }
        }
    }
}

/// Writes not by `io::stdout`: nobody knows who holds its lock.
pub(crate) fn write_unlocked(text: &[u8]) {
    let _ = rustix::io::write(rustix::stdio::stdout(), text);
}
