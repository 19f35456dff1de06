//! Who belongs to a session: everybody who carries its mark in the environment.
//!
//! Tools start their children in sessions of their own, which a signal to the client's group does
//! not reach. Where there is no `/proc`, nobody is seen and only the group is ended.

use std::fs;
use std::io::Read;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// The variable that marks a session's processes.
pub(crate) const MARK: &str = "STOPGATE_RUN_SESSION";
/// More than this of an environment is not read.
const ENVIRONMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Ends everybody with this mark but our own program's processes: those send notices and end alone.
pub(crate) fn end_marked(mark: &str) {
    let own = fs::read_link("/proc/self/exe").ok();
    for pid in marked(mark) {
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok();
        if program.is_some() && program == own {
            continue;
        }
        if let Some(pid) = Pid::from_raw(pid) {
            // It may be gone by now.
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// The processes that carry a mark.
fn marked(mark: &str) -> Vec<i32> {
    let line = format!("{MARK}={mark}");
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| *pid != own && carries(*pid, line.as_bytes())).collect()
}

fn carries(pid: i32, line: &[u8]) -> bool {
    let mut environment = Vec::new();
    let Ok(file) = fs::File::open(format!("/proc/{pid}/environ")) else { return false };
    // Another user's is not ours to read.
    let _ = file.take(ENVIRONMENT_BYTES_MAX).read_to_end(&mut environment);
    environment.split(|byte| *byte == 0).any(|one| one == line)
}

/// When a process began, in the system's ticks: with its number, this names it for good.
pub(crate) fn began(pid: i32) -> Option<u64> {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(19)?.parse().ok()
}
