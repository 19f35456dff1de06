//! A limit on the size of files is a full disk, not the end of the program.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGXFSZ;

/// Lets a write beyond the limit on a file's size fail like any other.
///
/// Left alone, the system's signal would end the hook without a word. Children do
/// not inherit this.
pub fn survive_size_limit() {
    // Without the handler the hook still lets the agent stop, only not politely.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}
