//! Notes about checks that run now, so that people can see them and `cancel` can end them.
//!
//! A note is in stopgate's home directory for as long as the checks run, and is locked by the process
//! that runs them: one that is not locked is left over from a process that died.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stopgate_core::{Criterion, LoopId, State, Timestamp};
use stopgate_verify::RunningCheck;
use stopgate_verify::files::{append_private, open_regular, read_regular};

use crate::home::Home;

/// No note is longer.
const NOTE_BYTES_MAX: u64 = 1024 * 1024;

/// How often a note is read that is not whole.
const READS_MAX: u32 = 20;

/// Checks that run at most at the same time unless a project says otherwise.
const SIDE_BY_SIDE: u64 = 2;

/// What is being checked now, for people and programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckingView {
    /// The names of the checks that run now; of all that are due before the first one begins.
    pub checks: Vec<String>,
    /// How long they have been running.
    pub elapsed_ms: i64,
    /// How long they took last time, where that is known.
    pub usual_ms: Option<u64>,
    /// Where their output goes, where they run in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background_logs: Option<String>,
    /// Whether it is their first run, on a copy of the tree as it was at the start.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub first_run: bool,
}

#[derive(Serialize, Deserialize)]
struct NoteWire {
    pid: i32,
    since: i64,
    checks: Vec<String>,
    usual_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    background: Option<BackgroundNote>,
}

/// What is noted of checks that run in the background.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BackgroundNote {
    /// What they are to prove.
    pub(crate) key: Option<String>,
    /// Where their output goes.
    pub(crate) logs: String,
    /// Whether it is their first run, which proves nothing about the work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) first: bool,
}

/// Says that checks run, until it is dropped.
pub(crate) struct CheckingNote {
    path: PathBuf,
    locked: File,
    background: Option<BackgroundNote>,
}

impl CheckingNote {
    /// Notes from now on which check runs.
    pub(crate) fn listener(&self, state: &State) -> impl FnMut(&[RunningCheck<'_>]) + 'static {
        let known = KnownCheck::all(&state.criteria);
        let file = self.locked.try_clone().ok();
        let background = self.background.clone();
        move |running| {
            let Some((since, view)) = now_running(&known, running) else { return };
            let note = NoteWire {
                pid: own_pid(),
                since: since.unix_millis(),
                checks: view.checks,
                usual_ms: view.usual_ms,
                background: background.clone(),
            };
            if let Some(file) = &file {
                // A note that can't be written does not keep checks from running.
                let _ = write(file, &note);
            }
        }
    }

    /// Notes that the checks of `state` begin; a note that can't be written does not keep them
    /// from running.
    pub(crate) fn begin(
        home: &Home,
        state: &State,
        now: Timestamp,
        background: Option<BackgroundNote>,
    ) -> Option<Self> {
        let pid = own_pid();
        let path = home.running(&state.id).join(format!("{pid}.json"));
        let file = append_private(&path).ok()?;
        file.try_lock().ok()?;
        let visible = || state.criteria.iter().filter(|criterion| criterion.is_checked());
        let note = NoteWire {
            pid,
            since: now.unix_millis(),
            checks: visible().map(name).collect(),
            usual_ms: usual_ms(visible(), u64::from(state.ground.jobs)),
            background: background.clone(),
        };
        write(&file, &note)?;
        Some(Self { path, locked: file, background })
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
    // What a stop waits for is told before a first run, which nobody waits for.
    let is_first = |note: &NoteWire| note.background.as_ref().is_some_and(|own| own.first);
    let note = notes(&home.running(id)).into_iter().min_by_key(is_first)?;
    Some(CheckingView {
        elapsed_ms: now.since(Timestamp::from_unix_millis(note.since)).max(0),
        checks: note.checks,
        usual_ms: note.usual_ms,
        first_run: note.background.as_ref().is_some_and(|background| background.first),
        background_logs: note.background.map(|background| background.logs),
    })
}

/// The checks of a loop that run in the background, if any do: their process, and what they are
/// to prove.
pub(crate) fn background_checks(home: &Home, id: &LoopId) -> Option<(i32, BackgroundNote)> {
    let mut all = notes(&home.running(id)).into_iter();
    all.find_map(|note| Some((note.pid, note.background.filter(|own| !own.first)?)))
}

/// The process that runs checks of a loop for the first time, if one does.
pub(crate) fn first_run_process(home: &Home, id: &LoopId) -> Option<i32> {
    let is_first = |note: &NoteWire| note.background.as_ref().is_some_and(|own| own.first);
    notes(&home.running(id)).into_iter().find(is_first).map(|note| note.pid)
}

/// Ends the checks of a loop that run in the background.
pub(crate) fn end_background_checks(home: &Home, id: &LoopId) {
    if let Some((pid, _)) = background_checks(home, id) {
        stopgate_system::ask_to_end(pid);
    }
}

/// What may be told of a check, by the name that a run uses for it.
pub(crate) struct KnownCheck {
    criterion: String,
    shown: String,
    usual_ms: Option<u64>,
}

impl KnownCheck {
    pub(crate) fn all(criteria: &[Criterion]) -> Vec<Self> {
        let known = |criterion: &Criterion| Self {
            criterion: criterion.name.clone(),
            shown: name(criterion),
            usual_ms: criterion.last.as_ref().map(|last| last.duration_ms),
        };
        criteria.iter().map(known).collect()
    }
}

/// What runs now, and since when; `None` between two checks.
pub(crate) fn now_running(
    known: &[KnownCheck],
    running: &[RunningCheck<'_>],
) -> Option<(Timestamp, CheckingView)> {
    let since = running.iter().map(|one| one.begun).min()?;
    let known = |one: &RunningCheck<'_>| known.iter().find(|k| k.criterion == one.criterion);
    let shown = |one| known(one).map_or_else(|| one.criterion.to_string(), |k| k.shown.clone());
    let usual: Option<Vec<u64>> = running.iter().map(|one| known(one)?.usual_ms).collect();
    let view = CheckingView {
        checks: running.iter().map(shown).collect(),
        elapsed_ms: 0,
        usual_ms: usual.and_then(|usual| usual.into_iter().max()),
        background_logs: None,
        first_run: false,
    };
    Some((since, view))
}

/// Writes a note in the place of the one before.
fn write(mut file: &File, note: &NoteWire) -> Option<()> {
    let text = serde_json::to_vec(note).ok()?;
    // The number may have been another process's before.
    file.set_len(0).ok()?;
    file.write_all(&text).ok()
}

fn own_pid() -> i32 {
    stopgate_system::own_pid()
}

/// Whether one of these processes runs checks for a loop.
pub(crate) fn is_any_checking(home: &Home, processes: &[i32]) -> bool {
    let entries = fs::read_dir(home.all_running()).into_iter().flatten().flatten();
    let has_note = |place: &Path| {
        processes.iter().any(|pid| note(&place.join(format!("{pid}.json"))).is_some())
    };
    entries.into_iter().any(|entry| has_note(&entry.path()))
}

/// Ends the checks of a loop that run now: the process that runs them cleans up and lets the agent go.
pub(crate) fn end_checks(home: &Home, id: &LoopId) {
    // The process that asks for the end runs no checks, and must not end itself.
    let own = own_pid();
    for note in notes(&home.running(id)).into_iter().filter(|note| note.pid != own) {
        stopgate_system::ask_to_end(note.pid);
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
            // It may be read just while it is written anew.
            let read = || read_regular(path, NOTE_BYTES_MAX).ok();
            (0..READS_MAX).find_map(|_| serde_json::from_slice(&read()?).ok())
        }
        Ok(()) => {
            let _ = fs::remove_file(path);
            None
        }
        Err(TryLockError::Error(_)) => None,
    }
}

pub(crate) fn name(criterion: &Criterion) -> String {
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
