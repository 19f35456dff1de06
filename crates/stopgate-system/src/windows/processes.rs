//! Processes by their numbers.

use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

/// What is known about a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessFacts {
    /// The process that started it, which may be gone.
    pub parent: Option<i32>,
    /// When it began, in seconds since 1970: with its number, this names it.
    pub began: u64,
    /// The name of its program's file.
    pub name: String,
}

/// This process's number.
pub fn own_pid() -> i32 {
    std::process::id().cast_signed()
}

/// The number of the process that started this one.
pub fn parent_pid() -> Option<i32> {
    process_facts(own_pid())?.parent
}

/// What is known about the process with this number; nothing where there is none.
pub fn process_facts(pid: i32) -> Option<ProcessFacts> {
    with_process(pid, |process| ProcessFacts {
        parent: process.parent().map(|parent| parent.as_u32().cast_signed()),
        began: process.start_time(),
        name: process.name().to_string_lossy().into_owned(),
    })
}

/// Whether a process has this number.
pub fn is_running(pid: i32) -> bool {
    process_facts(pid).is_some()
}

/// Ends a process: nobody can be asked to from outside here.
pub fn ask_to_end(pid: i32) {
    end_process(pid);
}

/// Ends a process at once.
pub fn end_process(pid: i32) {
    let _ = with_process(pid, sysinfo::Process::kill);
}

fn with_process<T>(pid: i32, ask: impl FnOnce(&sysinfo::Process) -> T) -> Option<T> {
    let pid = Pid::from_u32(pid.cast_unsigned());
    let mut system = System::new().ok()?;
    let wanted = ProcessesToUpdate::Some(&[pid]);
    system.refresh_processes_specifics(wanted, true, ProcessRefreshKind::nothing());
    system.process(pid).map(ask)
}
