//! A limit on the size of files is a full disk, not the end of the program.

/// Lets a write beyond the limit on a file's size fail like any other.
///
/// Left alone, the system's signal would end the hook without a word. Children do
/// not inherit this.
#[cfg(unix)]
pub fn survive_size_limit() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    // Without the handler the hook still lets the agent stop, only not politely.
    let flag = Arc::new(AtomicBool::new(false));
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, flag);
}

/// Windows has no such limit.
#[cfg(not(unix))]
pub const fn survive_size_limit() {}
