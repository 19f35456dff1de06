//! Unix: processes as `/proc` shows them.
//!
//! Where there is no `/proc`, nobody is seen and nobody is touched.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use stopgate_system::own_pid;

use super::{Life, Process};
use crate::env::MARK;

/// More than this of an environment is not read.
const ENVIRONMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// No line about a process is longer.
const STAT_BYTES_MAX: usize = 2048;

/// How thoroughly the descendants of this process are looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SearchDepth {
    /// By the lists of children that the system keeps; one that ends meanwhile may hide a sibling.
    Quick,
    /// By the parents of all processes there are.
    Thorough,
}

/// Everybody below this process, parents before their children.
pub(crate) fn descendants(look: SearchDepth) -> Vec<Process> {
    let quick = match look {
        SearchDepth::Quick => by_children(own_pid()),
        SearchDepth::Thorough => None,
    };
    quick.unwrap_or_else(by_parents)
}

/// Which numbers of processes are meant; 0 where there is only one kind.
pub(crate) fn own_space() -> u64 {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self/ns/pid").map_or(0, |found| found.ino())
}

/// Every process that can be seen.
pub(crate) fn everybody() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pid = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    entries.flatten().filter_map(pid).filter_map(process).collect()
}

/// This process as it is now.
pub(crate) fn process(pid: i32) -> Option<Process> {
    let mut stat = [0; STAT_BYTES_MAX];
    // One read gives all of it; there is one for every process of the system.
    let read = File::open(format!("/proc/{pid}/stat")).ok()?.read(&mut stat).ok()?;
    parse(pid, &String::from_utf8_lossy(&stat[..read]))
}

/// The name of its program, as the system keeps it.
pub(crate) fn name(pid: i32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(text.trim_end().to_owned())
}

/// Whether its environment has a mark with `token` in it.
pub(crate) fn carries(pid: i32, token: &str) -> bool {
    environment(pid).split(|byte| *byte == 0).any(|variable| has_token(variable, token))
}

/// The variables that it was started with, each with a zero at its end.
pub(crate) fn environment(pid: i32) -> Vec<u8> {
    let mut environment = Vec::new();
    if let Ok(file) = File::open(format!("/proc/{pid}/environ")) {
        // Of one that is ending, what was read counts.
        let _ = file.take(ENVIRONMENT_BYTES_MAX).read_to_end(&mut environment);
    }
    environment
}

/// Ends it for good, if it still is who it was.
pub(crate) fn kill(process: &Process) {
    let Some(pid) = Pid::from_raw(process.pid) else { return };
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        if let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) {
            // The handle refers to the process that has the pid now: compare, then strike.
            if is_same(process) {
                let _ = pidfd_send_signal(handle, Signal::KILL);
            }
            return;
        }
    }
    if is_same(process) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Whether the pid still belongs to this very process.
pub(crate) fn is_same(seen: &Process) -> bool {
    process(seen.pid).is_some_and(|now| now.began == seen.began)
}

fn has_token(variable: &[u8], token: &str) -> bool {
    let value = variable.strip_prefix(MARK.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
    value.is_some_and(|value| value.windows(token.len()).any(|part| part == token.as_bytes()))
}

/// `pid (name) state ppid pgrp session …`: a name may hold anything, so count from its end.
fn parse(pid: i32, stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<i32>().ok();
    let life = match *fields.first()? {
        "Z" | "X" | "x" => Life::Zombie,
        _ => Life::Alive,
    };
    let began = fields.get(19)?.parse().ok()?;
    Some(Process { pid, parent: number(1)?, group: number(2)?, session: number(3)?, began, life })
}

/// Everybody below a process, as far as the lists of children tell.
pub(crate) fn below(pid: i32) -> Vec<Process> {
    let own = own_pid();
    let mut found = by_children(pid).unwrap_or_default();
    found.retain(|process| process.pid != own);
    found
}

fn by_children(of: i32) -> Option<Vec<Process>> {
    let mut found: Vec<Process> = Vec::new();
    let mut known = BTreeSet::new();
    let mut pids = children(of)?;
    while let Some(pid) = pids.pop() {
        if known.insert(pid) {
            found.extend(process(pid));
            pids.extend(children(pid).unwrap_or_default());
        }
    }
    Some(found)
}

/// The children of a process; nothing where the system keeps no such list.
fn children(pid: i32) -> Option<Vec<i32>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let mut found = Vec::new();
    for thread in threads.flatten() {
        let list = read_list(&thread.path().join("children"))?;
        found.extend(list.split_whitespace().filter_map(|word| word.parse::<i32>().ok()));
    }
    Some(found)
}

/// A thread may be gone by now; a system without such lists is another matter.
fn read_list(path: &Path) -> Option<String> {
    match fs::read_to_string(path) {
        Ok(list) => Some(list),
        Err(_) if path.parent().is_some_and(Path::exists) => None,
        Err(_) => Some(String::new()),
    }
}

fn by_parents() -> Vec<Process> {
    let mut rest = everybody();
    let mut above = BTreeSet::from([own_pid()]);
    let mut found = Vec::new();
    loop {
        let (below, others): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|process| above.contains(&process.parent));
        if below.is_empty() {
            return found;
        }
        above = below.iter().map(|process| process.pid).collect();
        found.extend(below);
        rest = others;
    }
}

#[cfg(test)]
mod tests;
