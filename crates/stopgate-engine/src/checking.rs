//! Notes about checks that run now, so that people can see them and `cancel` can end them.
//!
//! A note is in stopgate's home directory for as long as the checks run, and is locked by the process
//! that runs them: one that is not locked is left over from a process that died.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_core::{Criterion, LoopId, State, Timestamp};
use stopgate_verify::files::{append_private, open_regular, read_regular};

use crate::home::Home;

/// No note is longer.
const NOTE_BYTES_MAX: u64 = 1024 * 1024;

/// Checks that run at most at the same time unless a project says otherwise.
const SIDE_BY_SIDE: u64 = 2;

/// What is being checked now, for people and programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckingView {
    /// The names of the checks that are due.
    pub checks: Vec<String>,
    /// How long they have been running.
    pub elapsed_ms: i64,
    /// How long they usually take, where that is known.
    pub usual_ms: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct NoteWire {
    pid: i32,
    since: i64,
    checks: Vec<String>,
    usual_ms: Option<u64>,
}

/// Says that checks run, until it is dropped.
pub(crate) struct CheckingNote {
    path: PathBuf,
    _locked: File,
}

impl CheckingNote {
    /// Notes that the checks of `state` begin; a note that can't be written does not keep them
    /// from running.
    pub(crate) fn begin(home: &Home, state: &State, now: Timestamp) -> Option<Self> {
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        let path = home.running(&state.id).join(format!("{pid}.json"));
        let mut file = append_private(&path).ok()?;
        file.try_lock().ok()?;
        // The number may have been another process's before.
        file.set_len(0).ok()?;
        let visible = || state.criteria.iter().filter(|criterion| criterion.is_checked());
        let note = NoteWire {
            pid,
            since: now.unix_millis(),
            checks: visible().map(name).collect(),
            usual_ms: usual_ms(visible(), u64::from(state.ground.jobs)),
        };
        file.write_all(&serde_json::to_vec(&note).ok()?).ok()?;
        Some(Self { path, _locked: file })
    }
}

impl Drop for CheckingNote {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        // Goes only when nobody else checks for the same loop.
        let _ = self.path.parent().map(fs::remove_dir);
    }
}

/// Which checks of a loop run now, if any.
pub(crate) fn checking(home: &Home, id: &LoopId, now: Timestamp) -> Option<CheckingView> {
    let note = notes(&home.running(id)).into_iter().next()?;
    Some(CheckingView {
        elapsed_ms: now.since(Timestamp::from_unix_millis(note.since)).max(0),
        checks: note.checks,
        usual_ms: note.usual_ms,
    })
}

/// What is about to be checked, for the person who waits for it.
pub(crate) fn about_to_check(criteria: &[Criterion], jobs: u32) -> CheckingView {
    let visible = || criteria.iter().filter(|criterion| criterion.is_checked());
    CheckingView {
        checks: visible().map(name).collect(),
        elapsed_ms: 0,
        usual_ms: usual_ms(visible(), u64::from(jobs)),
    }
}

/// Ends the checks of a loop that run now: the process that runs them cleans up and lets the agent go.
pub(crate) fn end_checks(home: &Home, id: &LoopId) {
    // The process that asks for the end runs no checks, and must not end itself.
    let own = rustix::process::getpid().as_raw_nonzero().get();
    for note in notes(&home.running(id)).into_iter().filter(|note| note.pid != own) {
        if let Some(pid) = rustix::process::Pid::from_raw(note.pid) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
    }
}

/// The notes whose writers are alive; the others are removed.
fn notes(directory: &Path) -> Vec<NoteWire> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    entries.flatten().filter_map(|entry| note(&entry.path())).collect()
}

fn note(path: &Path) -> Option<NoteWire> {
    let file = open_regular(path).ok()?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            serde_json::from_slice(&read_regular(path, NOTE_BYTES_MAX).ok()?).ok()
        }
        Ok(()) => {
            let _ = fs::remove_file(path);
            None
        }
        Err(TryLockError::Error(_)) => None,
    }
}

fn name(criterion: &Criterion) -> String {
    if criterion.is_hidden() { "a hidden check".into() } else { criterion.name.clone() }
}

/// How long the checks took last time, if all of them were run before.
fn usual_ms<'a>(checks: impl Iterator<Item = &'a Criterion>, jobs: u64) -> Option<u64> {
    let took: Option<Vec<u64>> =
        checks.map(|check| check.last.as_ref().map(|last| last.duration_ms)).collect();
    let took = took?;
    let jobs = if jobs == 0 { SIDE_BY_SIDE } else { jobs };
    Some((took.iter().sum::<u64>() / jobs).max(took.iter().copied().max()?))
}
