//! Windows: a pipe can't be asked whether it has something, so a thread reads it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::windows::io::AsHandle;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use crate::hook::PAYLOAD_BYTES_USUAL;

/// This process's standard input.
pub(crate) struct StandardInput {
    blocks: Receiver<io::Result<Vec<u8>>>,
    next: Option<io::Result<Vec<u8>>>,
}

impl StandardInput {
    pub(crate) fn open() -> Self {
        let (sender, blocks) = mpsc::sync_channel(16);
        // Left behind where the end does not come: the process ends all the same.
        std::thread::spawn(move || {
            let mut input = io::stdin().lock();
            loop {
                let mut block = vec![0; PAYLOAD_BYTES_USUAL];
                let read = input.read(&mut block).map(|read| {
                    block.truncate(read);
                    block
                });
                let is_last = !matches!(&read, Ok(block) if !block.is_empty());
                if sender.send(read).is_err() || is_last {
                    return;
                }
            }
        });
        Self { blocks, next: None }
    }

    /// Takes what was read; nothing at the end.
    pub(crate) fn read_more(&mut self, payload: &mut Vec<u8>) -> io::Result<usize> {
        let block = self.next.take().unwrap_or_else(|| Ok(Vec::new()))?;
        payload.extend_from_slice(&block);
        Ok(block.len())
    }

    /// Waits for more to read, or the end; says whether one of them came in time.
    pub(crate) fn has_more(&mut self, patience: Duration) -> bool {
        if self.next.is_none() {
            self.next = self.blocks.recv_timeout(patience).ok();
        }
        self.next.is_some()
    }
}

/// Writes not by `io::stdout`: nobody knows who holds its lock.
pub(crate) fn write_unlocked(text: &[u8]) {
    if let Ok(own) = io::stdout().as_handle().try_clone_to_owned() {
        let _ = File::from(own).write_all(text);
    }
}
