//! Windows: what the system says about a process.

use super::{Life, Process};

/// This process as it is now.
pub(crate) fn process(pid: i32) -> Option<Process> {
    let facts = stopgate_system::process_facts(pid)?;
    let parent = facts.parent.unwrap_or(0);
    Some(Process { pid, parent, group: 0, session: 0, began: facts.began, life: Life::Alive })
}

/// The name of its program, without its ending.
pub(crate) fn name(pid: i32) -> Option<String> {
    let name = stopgate_system::process_facts(pid)?.name.to_ascii_lowercase();
    Some(name.trim_end_matches(".exe").to_owned())
}

/// The variables that it was started with: others' are not shown here.
pub(crate) const fn environment(_pid: i32) -> Vec<u8> {
    Vec::new()
}

/// Which numbers of processes are meant: there is only one kind here.
pub(crate) const fn own_space() -> u64 {
    0
}
