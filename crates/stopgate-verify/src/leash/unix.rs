//! Unix: a process of our own.
//!
//! A hook that is killed can end nobody. So a small process of our own holds the end of a pipe
//! that only the hook has open: when the pipe closes, it ends every process of that run, by
//! its mark or because it was seen below the hook, and removes the temporary files. A run
//! that ends in order takes its leash off.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::LEASH;
use crate::launch::own_program;
use crate::orphans::{adopt_leash, release_leash};
use crate::place;
use crate::proc::{self, Life};
use crate::scratch;

/// How often the leash looks who is below the hook.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How long it hunts.
const HUNT: Duration = Duration::from_secs(5);

/// Whether this program answers to [`LEASH`].
static PROVIDED: AtomicBool = AtomicBool::new(false);

/// Says that this program, started with [`LEASH`], calls [`hold_leash`].
pub fn provide_leash() {
    PROVIDED.store(true, Ordering::Relaxed);
}

/// A leash on one run of checks; taken off when dropped.
#[derive(Debug)]
pub(crate) struct Leash {
    process: std::process::Child,
    _pipe: PipeWriter,
}

impl Leash {
    /// Puts the run called `run` on a leash, where this program can be one.
    ///
    /// `scratch` is removed with it, and what this process keeps in private places.
    pub(crate) fn fasten(run: &str, scratch: &Path) -> Option<Self> {
        if !PROVIDED.load(Ordering::Relaxed) {
            return None;
        }
        let (reader, writer) = io::pipe().ok()?;
        let process = adopt_leash(|| start(run, scratch, reader)).ok()?;
        Some(Self { process, _pipe: writer })
    }
}

impl Drop for Leash {
    fn drop(&mut self) {
        // Everything of the run is gone, so there is nothing to hunt.
        release_leash(&mut self.process);
    }
}

fn start(run: &str, scratch: &Path, pipe: PipeReader) -> io::Result<std::process::Child> {
    let mut command = own_program()?;
    command.arg(LEASH).arg(run).arg(proc::own_pid().to_string()).arg(scratch);
    command.args(place::private_roots());
    command.env_clear().current_dir("/").process_group(0);
    command.stdin(pipe).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}

/// What a leash does until its run is over; `arguments` are those after [`LEASH`].
///
/// It ends when its holder closes the pipe on standard input.
pub fn hold_leash(mut arguments: impl Iterator<Item = OsString>) {
    let run = arguments.next().and_then(|run| run.into_string().ok());
    let hook = arguments.next().and_then(|pid| pid.to_str()?.parse().ok());
    let (Some(run), Some(hook)) = (run.filter(|run| !run.is_empty()), hook) else { return };
    let mut seen = BTreeSet::new();
    while !is_closed() {
        seen.extend(proc::below(hook).into_iter().map(|process| (process.pid, process.began)));
    }
    hunt(&run, &seen);
    if let Some(directory) = arguments.next() {
        scratch::remove_all(Path::new(&directory), now() + HUNT);
    }
    for root in arguments {
        place::remove_orphans(Path::new(&root));
    }
}

/// Waits a little, and says whether nobody holds the other end any more.
fn is_closed() -> bool {
    let input = rustix::stdio::stdin();
    let mut watched = [PollFd::new(&input, PollFlags::IN)];
    let time = Timespec::try_from(LOOK_EVERY).ok();
    match poll(&mut watched, time.as_ref()) {
        Ok(0) | Err(rustix::io::Errno::INTR) => false,
        // Nothing is ever written: news means the end.
        Ok(_) | Err(_) => true,
    }
}

/// Ends everybody who carries the run's mark or was seen below the hook, and their children.
fn hunt(run: &str, seen: &BTreeSet<(i32, u64)>) {
    let until = now() + HUNT;
    let mut quiet = 0;
    while quiet < 2 && now() < until {
        quiet = if strike(run, seen) { 0 } else { quiet + 1 };
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Ends whom it finds; says whether there was anybody.
pub(crate) fn strike(run: &str, seen: &BTreeSet<(i32, u64)>) -> bool {
    let own = proc::own_pid();
    let mut theirs = BTreeSet::new();
    let mut found = false;
    let mut everybody = proc::everybody();
    // Parents before their children, as far as numbers tell.
    everybody.sort_by_key(|process| process.began);
    for process in everybody {
        let is_theirs = seen.contains(&(process.pid, process.began))
            || theirs.contains(&process.parent)
            || proc::carries(process.pid, run);
        if is_theirs && process.pid != own && process.life == Life::Alive {
            theirs.insert(process.pid);
            proc::kill(&process);
            found = true;
        }
    }
    found
}

#[expect(clippy::disallowed_methods, reason = "a door that waits")]
fn now() -> Instant {
    Instant::now()
}
