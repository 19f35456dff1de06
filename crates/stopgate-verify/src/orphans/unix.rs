//! Unix: by process groups, sessions, parents and marks.
//!
//! While checks run, this process takes in every orphan below it, so a daemon can't
//! leave our sight by forking twice. Whose it is, its mark tells, or its group, or
//! its parent. Nobody else's process is touched: pids are compared with birth dates.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use rustix::process::{Pid, Rlimit, Signal, WaitOptions, kill_process_group, waitpid};

use super::{OrphanMark, Strangers, SweepResult};
use crate::limits;
use crate::proc::{self, Life, Process, RunName, SearchDepth};

/// What this process's threads must agree about.
static HOUSE: Mutex<House> = Mutex::new(House {
    runs: 0,
    children: BTreeSet::new(),
    leashes: BTreeSet::new(),
    before: None,
});

struct House {
    /// How many runs of checks are under way.
    runs: usize,
    /// Children that were started here and not yet waited for.
    children: BTreeSet<i32>,
    /// Those that end everybody else when we are gone.
    leashes: BTreeSet<i32>,
    /// What the first run found, for the last one to put back.
    before: Option<Before>,
}

#[derive(Clone, Copy)]
struct Before {
    takes_orphans: Orphans,
    core: Rlimit,
    secrecy: Option<Secrecy>,
}

/// Who takes in the orphans below this process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Orphans {
    Ours,
    Others,
}

/// One run of checks, as far as other processes are concerned.
#[derive(Debug)]
pub(crate) struct Keeper {
    /// Begins every token of this run.
    run: String,
    strangers: Strangers,
    /// Children that were there before.
    earlier: BTreeSet<(i32, u64)>,
    /// Whom we killed and may have to bury.
    killed: BTreeSet<(i32, u64)>,
}

impl Keeper {
    /// Begins to take in orphans.
    pub(crate) fn new(strangers: Strangers) -> Self {
        enter();
        let run = format!("{}.", RunName::new(RandomState::new().build_hasher().finish()));
        let earlier =
            own_children(SearchDepth::Quick).map(|child| (child.pid, child.began)).collect();
        Self { run, strangers, earlier, killed: BTreeSet::new() }
    }

    /// A name that no other run has.
    pub(crate) fn name(&self) -> &str {
        self.run.trim_end_matches('.')
    }

    /// The token of the check with this number.
    pub(crate) fn token(&self, number: usize) -> String {
        format!("{}{number}.", self.run)
    }

    /// Kills what is left of a check whose leader has ended but is not yet waited for.
    pub(crate) fn sweep(&mut self, mark: &OrphanMark) -> SweepResult {
        let mut theirs = BTreeSet::from([mark.leader]);
        let mut left = Vec::new();
        for process in visible() {
            let is_theirs = process.group == mark.leader
                || process.session == mark.leader
                || theirs.contains(&process.parent)
                || proc::carries(process.pid, &mark.token);
            if is_theirs && process.pid != mark.leader {
                theirs.insert(process.pid);
                left.push(process);
            }
        }
        self.end(&left)
    }

    /// Kills what is left of all checks; all of them must have been waited for.
    pub(crate) fn sweep_all(&mut self) -> SweepResult {
        // Nobody may start a child now: it would look like a stranger until it is noted.
        let house = house();
        let own = proc::own_pid();
        let is_strange = |process: &Process| {
            self.strangers == Strangers::End
                && process.parent == own
                && !house.children.contains(&process.pid)
                && !house.leashes.contains(&process.pid)
                && !self.earlier.contains(&(process.pid, process.began))
        };
        let mut theirs = BTreeSet::new();
        let mut left = Vec::new();
        for process in everybody_near() {
            let is_theirs = theirs.contains(&process.parent)
                || is_strange(&process)
                || proc::carries(process.pid, &self.run);
            if is_theirs {
                theirs.insert(process.pid);
                left.push(process);
            }
        }
        let found = self.end(&left);
        drop(house);
        found
    }

    fn end(&mut self, left: &[Process]) -> SweepResult {
        let mut found = SweepResult::Nobody;
        for process in left {
            self.killed.insert((process.pid, process.began));
            if process.life == Life::Alive {
                proc::kill(process);
                found = SweepResult::Somebody;
            }
        }
        self.bury();
        found
    }

    /// Waits for the dead, without waiting for the living.
    fn bury(&mut self) {
        self.killed.retain(|(pid, began)| match proc::process(*pid) {
            Some(process) if process.began == *began => {
                if process.life == Life::Zombie && process.parent == proc::own_pid() {
                    let _ = Pid::from_raw(*pid).map(|pid| waitpid(Some(pid), WaitOptions::NOHANG));
                    return false;
                }
                true
            }
            Some(_) | None => false,
        });
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        leave();
    }
}

/// Starts a child of this process's own.
pub(crate) fn adopt(
    spawn: impl FnOnce() -> io::Result<std::process::Child>,
) -> io::Result<std::process::Child> {
    let mut house = house();
    let child = spawn()?;
    house.children.extend(i32::try_from(child.id()));
    Ok(child)
}

/// Starts a leash.
pub(crate) fn adopt_leash(
    spawn: impl FnOnce() -> io::Result<std::process::Child>,
) -> io::Result<std::process::Child> {
    let mut house = house();
    let leash = spawn()?;
    house.leashes.extend(i32::try_from(leash.id()));
    Ok(leash)
}

/// Ends a leash that has nothing to do.
pub(crate) fn release_leash(leash: &mut std::process::Child) {
    let _ = leash.kill();
    let _ = leash.wait();
    if let Ok(pid) = i32::try_from(leash.id()) {
        house().leashes.remove(&pid);
    }
}

/// Waits for a child that has ended or was killed; one that still lives is left alone.
pub(crate) fn release(child: &mut std::process::Child) -> io::Result<std::process::ExitStatus> {
    let mut house = house();
    let status = child.try_wait()?;
    if let Ok(pid) = i32::try_from(child.id()) {
        house.children.remove(&pid);
    }
    status.ok_or_else(|| io::Error::other("it would not end"))
}

/// Ends every program that this process started, at once: there is no time left to wait.
pub fn end_children() {
    // A thread that holds it may be the one that hangs.
    let house = match HOUSE.try_lock() {
        Ok(house) => house,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    for pid in &house.children {
        let group = Pid::from_raw(*pid);
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
    }
}

fn own_children(look: SearchDepth) -> impl Iterator<Item = Process> {
    let own = proc::own_pid();
    proc::descendants(look).into_iter().filter(move |process| process.parent == own)
}

/// Where our checks' processes can be: below us, if orphans come to us.
fn visible() -> Vec<Process> {
    match orphans() {
        Orphans::Ours => proc::descendants(SearchDepth::Quick),
        Orphans::Others => proc::everybody(),
    }
}

fn everybody_near() -> Vec<Process> {
    match orphans() {
        Orphans::Ours => proc::descendants(SearchDepth::Thorough),
        Orphans::Others => proc::everybody(),
    }
}

fn enter() {
    let mut house = house();
    house.runs += 1;
    if house.before.is_none() {
        house.before = Some(Before {
            takes_orphans: orphans(),
            core: limits::stop_core_dumps(),
            secrecy: hide_from_children(),
        });
        take_orphans(Orphans::Ours);
    }
}

fn leave() {
    let mut house = house();
    house.runs = house.runs.saturating_sub(1);
    if house.runs == 0
        && let Some(before) = house.before.take()
    {
        take_orphans(before.takes_orphans);
        limits::restore_core_dumps(before.core);
        show_again(before.secrecy);
    }
}

fn house() -> MutexGuard<'static, House> {
    HOUSE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether processes of the same user may look into this one.
#[cfg(target_os = "linux")]
type Secrecy = rustix::process::DumpableBehavior;
#[cfg(not(target_os = "linux"))]
type Secrecy = ();

/// A check must not read our environment, where the client's keys are, through `/proc`.
#[cfg(target_os = "linux")]
fn hide_from_children() -> Option<Secrecy> {
    let before = rustix::process::dumpable_behavior().ok()?;
    rustix::process::set_dumpable_behavior(Secrecy::NotDumpable).ok()?;
    Some(before)
}

#[cfg(target_os = "linux")]
fn show_again(before: Option<Secrecy>) {
    // The system refuses to set what only it may set: then it stays hidden.
    let _ = before.map(rustix::process::set_dumpable_behavior);
}

#[cfg(not(target_os = "linux"))]
fn hide_from_children() -> Option<Secrecy> {
    None
}

#[cfg(not(target_os = "linux"))]
fn show_again(_: Option<Secrecy>) {}

#[cfg(target_os = "linux")]
fn orphans() -> Orphans {
    match rustix::process::child_subreaper() {
        Ok(Some(_)) => Orphans::Ours,
        Ok(None) | Err(_) => Orphans::Others,
    }
}

#[cfg(target_os = "linux")]
fn take_orphans(orphans: Orphans) {
    let whose = match orphans {
        Orphans::Ours => Some(rustix::process::getpid()),
        Orphans::Others => None,
    };
    // Where that is refused, marks still tell whose a process is.
    let _ = rustix::process::set_child_subreaper(whose);
}

#[cfg(not(target_os = "linux"))]
fn orphans() -> Orphans {
    Orphans::Others
}

#[cfg(not(target_os = "linux"))]
fn take_orphans(_: Orphans) {}
