//! Unix: resource limits.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::SIGXCPU;

/// What a shell adds to the number of the signal that ended its command.
const SHELL_SIGNAL: i32 = 128;

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

/// Whether a program ended because it kept a processor busy for too long.
pub(crate) fn ends_by_processor_limit(status: ExitStatus) -> bool {
    status.signal() == Some(SIGXCPU) || status.code() == Some(SHELL_SIGNAL + SIGXCPU)
}
