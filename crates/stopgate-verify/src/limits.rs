//! Limits that the system holds a check to.
//!
//! They must stand before the check's first instruction, so a shell sets them and
//! then becomes the program. Each process of the check has them, not all together.

use std::ffi::OsString;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The program and its arguments, begun under limits where any is asked for.
pub(crate) fn limited(
    argv: Vec<OsString>,
    memory_bytes: Option<u64>,
    cpu_seconds: Option<u64>,
) -> Vec<OsString> {
    // Not every system knows all of them: there, a check has none.
    let memory = memory_bytes.map(|bytes| format!("ulimit -v {}", (bytes / 1024).max(1)));
    // The soft limit: the hard one would kill without saying why.
    let cpu = cpu_seconds.map(|seconds| format!("ulimit -S -t {}", seconds.max(1)));
    let limits: Vec<String> = memory.into_iter().chain(cpu).collect();
    if limits.is_empty() {
        return argv;
    }
    let script = format!("{{ {}; }} 2>/dev/null; exec \"$@\"", limits.join("; "));
    let shell = ["/bin/sh", "-c", &script, "sh"].map(OsString::from);
    shell.into_iter().chain(argv).collect()
}

/// Stops core dumps of this process and of its children; gives the limit that was.
pub(crate) fn stop_core_dumps() -> Rlimit {
    let before = getrlimit(Resource::Core);
    let none = Rlimit { current: Some(0), maximum: before.maximum };
    let _ = setrlimit(Resource::Core, none);
    before
}

/// Puts back what [`stop_core_dumps`] found.
pub(crate) fn restore_core_dumps(before: Rlimit) {
    let _ = setrlimit(Resource::Core, before);
}
