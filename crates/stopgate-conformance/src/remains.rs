//! Processes that a call left behind, as far as this system tells.

#![expect(clippy::disallowed_methods, reason = "the suite waits for what hooks leave behind")]

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

const LOOK: Duration = Duration::from_millis(5);
/// A process that forks while the others are looked at is found by a later look.
const QUIET_LOOKS: u32 = 6;

/// Waits until no process works in `dir` or carries `mark`; names those that still do at the
/// deadline, and ends them.
pub(crate) fn left_behind(dir: &Path, mark: &str, deadline: Duration) -> Vec<String> {
    let end = Instant::now() + deadline;
    let mut quiet = 0;
    loop {
        let found = processes(dir, mark);
        quiet = if found.is_empty() { quiet + 1 } else { 0 };
        if quiet == QUIET_LOOKS {
            return Vec::new();
        }
        if !found.is_empty() && Instant::now() >= end {
            return found.into_iter().map(end_process).collect();
        }
        thread::sleep(LOOK);
    }
}

/// Processes that work below `dir` or have `mark` among their variables. Empty where there is no
/// `/proc`.
fn processes(dir: &Path, mark: &str) -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter(|id| belongs(*id, dir, mark)).collect()
}

fn belongs(id: i32, dir: &Path, mark: &str) -> bool {
    let root = Path::new("/proc").join(id.to_string());
    let works_there = fs::read_link(root.join("cwd")).is_ok_and(|cwd| cwd.starts_with(dir));
    let is_marked = || {
        let variables = fs::read(root.join("environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    (works_there || is_marked()) && !is_dead(&root)
}

/// A process that ended and was not yet waited for.
fn is_dead(root: &Path) -> bool {
    let stat = fs::read_to_string(root.join("stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

fn end_process(id: i32) -> String {
    let name = fs::read_to_string(format!("/proc/{id}/comm")).unwrap_or_default();
    if let Some(process) = Pid::from_raw(id) {
        // It may be gone by now.
        let _ = kill_process(process, Signal::KILL);
    }
    format!("{} ({id})", name.trim())
}
