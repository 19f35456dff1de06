//! Checks that take longer than a stop can wait go on in a process of their own.
//!
//! That process runs the whole proof of one loop, as a stop would, and leaves a signed result
//! in the state directory: these receipts, for exactly these files and definitions. A later stop
//! uses it where nothing is different, and never twice. It writes nothing to the journal and
//! decides nothing, so it may be killed at any moment: then there is no result.

mod first;
mod run;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stopgate_core::{Criterion, LoopId, Receipt, State, Status, Verified, verified};
use stopgate_verify::files::{Durable, read_text, replace_private};
use stopgate_verify::{
    Fit, Freshness, Key, ProcessMark, ProofRequest, ProofStorage, Strangers, fits, launch_self,
    proof_fingerprint,
};

pub(crate) use self::first::{first_run_logs, first_run_of, start_first_runs};
pub use self::run::run_in_background;
pub(crate) use self::run::whole_time;
use crate::checking::{background_checks, end_background_checks};
use crate::context::Context;
use crate::home::Home;
use crate::judging::look::{began, files};
use crate::judging::wait_note::started_anew;

/// The word that makes the program the process that runs checks in the background.
pub const BACKGROUND_CHECKS: &str = "__checks";

/// A run that leaves no result is begun anew this often; after that, stops run the checks as far
/// as their time goes.
pub(crate) const TRIES_MAX: u32 = 3;

/// How often the checks are run anew because files changed while they ran and failed.
const MOVED_TRIES_MAX: u32 = 2;
/// No note and no result is longer.
const BYTES_MAX: u64 = 64 * 1024 * 1024;
/// How long a run that is not wanted any more may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What a proof needs beside the loop itself.
pub(crate) struct ProofParts {
    place: ProofStorage,
    pass: Vec<String>,
    only_place: Option<String>,
    strangers: Strangers,
}

impl ProofParts {
    /// With logs in this directory.
    pub(crate) fn of(context: &Context, logs: PathBuf) -> Self {
        Self {
            place: context.place(logs),
            pass: context.passed_variables(),
            only_place: context.settings.test_place(),
            strangers: context.strangers,
        }
    }

    /// Where things are kept.
    pub(crate) const fn place(&self) -> &ProofStorage {
        &self.place
    }

    /// Variables that the person passes on to checks.
    pub(crate) fn pass(&self) -> &[String] {
        &self.pass
    }

    /// A request for a fresh proof of all criteria of a loop.
    pub(crate) fn request<'a>(
        &'a self,
        state: &'a State,
        message: Option<&'a str>,
        budget: Duration,
    ) -> ProofRequest<'a> {
        ProofRequest {
            criteria: &state.criteria,
            root: Path::new(state.root()),
            ground: &state.ground,
            message,
            place: &self.place,
            freshness: Freshness::Fresh,
            files: files(state),
            since: began(state),
            budget,
            strangers: self.strangers,
            pass: &self.pass,
            only_place: self.only_place.as_deref(),
            later: &[],
        }
    }
}

/// What a stop asks of the process that runs checks in the background, and what is remembered of
/// earlier ones.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct BackgroundNotes {
    /// What is to be proven.
    key: Option<String>,
    /// The agent's last message.
    message: Option<String>,
    /// Where the output goes.
    pub(crate) logs: PathBuf,
    /// The process.
    process: Option<String>,
    /// How often it was begun for the same work without a result.
    pub(crate) tries: u32,
    /// Checks that once took longer than a stop could wait.
    pub(crate) long: Vec<String>,
}

/// What a run in the background came to.
#[derive(Debug, Serialize, Deserialize)]
struct ResultWire {
    id: LoopId,
    /// What was proven, or not.
    key: String,
    /// Whether that was the same before the run and after it.
    still: bool,
    receipts: Vec<Receipt>,
}

#[derive(Serialize, Deserialize)]
struct SignedResult {
    text: String,
    signature: String,
}

/// What a stop finds of checks that were to run in the background.
pub(crate) enum BackgroundFound {
    /// They run for the work as it is.
    Running(ProcessMark),
    /// They have ended, and this is what they say about the work as it is.
    Ended(Vec<Receipt>),
    /// Nothing that counts.
    Nothing(BackgroundNotes),
}

/// What there is of the checks of a loop that were to run in the background. A result is taken:
/// nobody finds it a second time.
pub(crate) fn find(home: &Home, state: &State, parts: &ProofParts) -> BackgroundFound {
    let Some(mut notes) = notes_of(home, &state.id) else {
        return BackgroundFound::Nothing(BackgroundNotes::default());
    };
    let key = proof_fingerprint(&parts.request(state, None, Duration::ZERO));
    if let Some(process) = running(home, &state.id, &notes) {
        if is_for(home, &state.id, &notes, key.as_deref()) {
            return BackgroundFound::Running(process);
        }
        // The work is not what it was: nobody would believe the result.
        if !ended(home, &state.id, process) {
            return BackgroundFound::Running(process);
        }
    }
    let result = take_result(home, &state.id).filter(|result| Some(&result.key) == key.as_ref());
    if notes.key != key && result.is_none() {
        notes.tries = 0;
    }
    (notes.process, notes.message) = (None, None);
    // A failure of files that moved meanwhile may be of files that nobody has any more; but
    // a check that writes to them itself would never be heard.
    let tries = notes.tries;
    let counts = |result: &ResultWire| {
        result.still
            || verified(&state.criteria, &result.receipts) == Verified::Pass
            || tries >= MOVED_TRIES_MAX
    };
    match result.filter(counts) {
        Some(result) => {
            keep(home, &state.id, &BackgroundNotes { tries: 0, ..notes });
            BackgroundFound::Ended(result.receipts)
        }
        None => BackgroundFound::Nothing(notes),
    }
}

/// Whether checks of a loop run in the background whose result nobody would believe, because the
/// work is not what it was.
pub(crate) fn is_stale(home: &Home, state: &State, parts: &ProofParts) -> bool {
    let Some(notes) = notes_of(home, &state.id) else { return false };
    let key = proof_fingerprint(&parts.request(state, None, Duration::ZERO));
    running(home, &state.id, &notes).is_some() && !is_for(home, &state.id, &notes, key.as_deref())
}

/// Starts the process that runs the checks of a loop.
pub(crate) fn start(
    home: &Home,
    state: &State,
    parts: &ProofParts,
    message: Option<&str>,
    earlier: BackgroundNotes,
) -> std::io::Result<ProcessMark> {
    let key = proof_fingerprint(&parts.request(state, None, Duration::ZERO));
    // What can't be told from other work could never be used.
    let key = key.ok_or_else(|| std::io::Error::other("the files can't be told apart"))?;
    let notes = BackgroundNotes {
        key: Some(key),
        message: message.map(String::from),
        logs: parts.place.logs.clone(),
        process: None,
        tries: earlier.tries.saturating_add(1),
        long: earlier.long,
    };
    write(home, &state.id, &notes)?;
    let arguments = [BACKGROUND_CHECKS, state.id.as_str()];
    let child = launch_self(&arguments, home.directory(), &started_anew())?;
    let pid = i32::try_from(child.id()).ok();
    let process = pid.and_then(ProcessMark::of);
    let process = process.ok_or_else(|| std::io::Error::other("it ended at once"))?;
    keep(home, &state.id, &BackgroundNotes { process: Some(process.to_string()), ..notes });
    Ok(process)
}

/// The names of checks that do not fit into the time of a stop, as far as that is known.
pub(crate) fn too_long(state: &State, time: Duration, known: &[String]) -> Vec<String> {
    let time_ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let mut usual: Vec<(u64, &Criterion)> = Vec::new();
    for criterion in state.criteria.iter().filter(|c| c.command().is_some()) {
        let is_known = known.contains(&criterion.name) && longest_ms(criterion) > time_ms;
        usual.push((if is_known { u64::MAX } else { usual_ms(criterion) }, criterion));
    }
    usual.sort_by_key(|(usual, _)| *usual);
    let mut all = 0_u64;
    let mut later = Vec::new();
    for (usual, criterion) in usual {
        all = all.saturating_add(usual);
        if all > time_ms {
            later.push(criterion.name.clone());
        }
    }
    later
}

/// How long a check takes, as far as that is known.
pub(crate) fn usual_ms(criterion: &Criterion) -> u64 {
    let last = criterion.last.as_ref().map_or(0, |last| last.duration_ms);
    last.max(first_ms(criterion).unwrap_or(0))
}

/// How long a check takes, where a run of it came to its end.
pub(crate) fn known_ms(criterion: &Criterion) -> Option<u64> {
    let ended = |status| matches!(status, Status::Pass | Status::Fail | Status::NeedsApproval);
    let last = criterion.last.as_ref().filter(|last| ended(last.status));
    let first = first_ms(criterion).filter(|first| *first < longest_ms(criterion));
    last.map(|last| last.duration_ms).max(first)
}

/// How long the first run of a check took; one that did not end in time may take as long as it is
/// allowed to, until it is known better.
fn first_ms(criterion: &Criterion) -> Option<u64> {
    let result = criterion.first.as_ref().and_then(|first| first.result);
    let ended = result.filter(|result| matches!(result.status, Status::Pass | Status::Fail));
    ended.map(|result| result.duration_ms).or(criterion.takes_ms)
}

/// How long a check may take at most, its retries included.
pub(crate) fn longest_ms(criterion: &Criterion) -> u64 {
    let tries = u64::from(criterion.terms.retries).saturating_add(1);
    criterion.timeout_ms().saturating_mul(tries)
}

/// The process that runs the checks, if one does.
fn running(home: &Home, id: &LoopId, notes: &BackgroundNotes) -> Option<ProcessMark> {
    let begun = notes.process.as_deref().and_then(ProcessMark::read);
    let shown = || background_checks(home, id).and_then(|(pid, _)| ProcessMark::of(pid));
    begun.filter(ProcessMark::is_alive).or_else(shown)
}

/// Whether the checks that run are for the work that `key` identifies.
fn is_for(home: &Home, id: &LoopId, notes: &BackgroundNotes, key: Option<&str>) -> bool {
    let shown = background_checks(home, id).and_then(|(_, own)| own.key);
    key.is_some() && shown.or_else(|| notes.key.clone()).as_deref() == key
}

/// Asks a run to end, and waits until it has.
fn ended(home: &Home, id: &LoopId, process: ProcessMark) -> bool {
    end_background_checks(home, id);
    let looks = ENDS_WITHIN.as_millis() / LOOK_EVERY.as_millis();
    for _ in 0..looks {
        if !process.is_alive() {
            return true;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    false
}

fn notes_of(home: &Home, id: &LoopId) -> Option<BackgroundNotes> {
    serde_json::from_str(&read_text(&notes_path(home, id), BYTES_MAX).ok()?).ok()
}

fn write(home: &Home, id: &LoopId, notes: &BackgroundNotes) -> std::io::Result<()> {
    let text = serde_json::to_vec(notes)?;
    replace_private(&notes_path(home, id), &text, Durable::Buffered)
}

/// Notes that can't be kept cost another run, nothing else.
fn keep(home: &Home, id: &LoopId, notes: &BackgroundNotes) {
    let _ = write(home, id, notes);
}

/// The result of a run, where this home's key signed it.
fn take_result(home: &Home, id: &LoopId) -> Option<ResultWire> {
    let path = result_path(home, id);
    let text = read_text(&path, BYTES_MAX);
    let _ = fs::remove_file(path);
    let signed: SignedResult = serde_json::from_str(&text.ok()?).ok()?;
    let key = Key::existing(home.directory()).ok()?;
    if fits(&key.public(), signed.text.as_bytes(), &signed.signature) != Fit::Fits {
        return None;
    }
    serde_json::from_str(&signed.text).ok().filter(|result: &ResultWire| result.id == *id)
}

fn keep_result(home: &Home, result: &ResultWire) -> std::io::Result<()> {
    let text = serde_json::to_string(result)?;
    let signature = Key::of(home.directory())?.sign(text.as_bytes());
    let signed = serde_json::to_vec(&SignedResult { text, signature })?;
    replace_private(&result_path(home, &result.id), &signed, Durable::Buffered)
}

fn notes_path(home: &Home, id: &LoopId) -> PathBuf {
    home.background(id).join("notes.json")
}

fn result_path(home: &Home, id: &LoopId) -> PathBuf {
    home.background(id).join("result.json")
}

#[cfg(test)]
mod tests;
