//! The process that runs the checks of one loop in the background.

use std::ffi::OsString;
use std::time::Duration;

use stopgate_core::{LoopId, Phase, Receipt, State};
use stopgate_verify::files::FileLock;
use stopgate_verify::{Proved, leave_session, proof_fingerprint, while_watched};

use super::{BackgroundNotes, ProofParts, ResultWire, first, keep_result, longest_ms, notes_of};
use crate::checking::{BackgroundNote, CheckingNote};
use crate::context::Context;
use crate::failure::Failure;
use crate::judging::reviewing::review_loop;
use crate::log::log_failure;
use crate::settings::Settings;
use crate::stores::Stores;
use crate::trust::Trust;

/// How long another run of the same loop may take to end.
const PATIENCE: Duration = Duration::from_secs(10);
/// What is not run but looked at, and the places for runs apart from the tree, need no longer.
const LOOK_TIME: Duration = Duration::from_mins(10);
/// How often one check may run: in the tree, in a private place, with the judges of the start, as
/// their control, and on the base commit.
const RUNS_MAX: u32 = 6;

/// Runs the checks of the loop that the arguments name, and leaves their result. `tell` is heard by
/// the process that started this one, where it listens.
pub fn run_in_background(
    settings: Settings,
    stores: Stores,
    mut arguments: impl Iterator<Item = OsString>,
    mut tell: impl FnMut(&str),
) {
    leave_session();
    let Some(id) = arguments.next().and_then(|id| id.into_string().ok()) else { return };
    let id = LoopId::new(&id);
    let is_first = arguments.next().is_some_and(|word| word == first::FIRST_RUNS);
    let ran = Context::open(settings, stores).and_then(|mut context| {
        if is_first { first::run(&mut context, &id, &mut tell) } else { run(&mut context, &id) }
    });
    if let Err(failure) = ran {
        log_failure(settings, &failure);
    }
}

fn run(context: &mut Context, id: &LoopId) -> Result<(), Failure> {
    let directory = context.home.background(id);
    let Ok(_lock) = FileLock::take(&directory.join("lock"), PATIENCE) else { return Ok(()) };
    let Some(notes) = notes_of(&context.home, id) else { return Ok(()) };
    let Some(state) = load(context, id)? else { return Ok(()) };
    let parts = ProofParts::of(context, notes.logs.clone());
    let fingerprint = || proof_fingerprint(&parts.request(&state, None, Duration::ZERO));
    let before = fingerprint();
    let logs = notes.logs.display().to_string();
    let note = BackgroundNote { key: before.clone(), logs, first: false };
    let note = CheckingNote::begin(&context.home, &state, context.now(), Some(note));
    // Who cancelled it before there was a note could not ask us to end.
    if load(context, id)?.is_none() {
        return Ok(());
    }
    let Some(receipts) = proven(context, &state, &parts, &notes, note.as_ref()) else {
        return Ok(());
    };
    if let Some(key) = fingerprint() {
        let still = before.as_ref() == Some(&key);
        let result = ResultWire { id: id.clone(), key, still, receipts };
        keep_result(&context.home, &result).map_err(|error| {
            Failure::fault("could not keep the result of checks").because(error)
        })?;
    }
    drop(note);
    Ok(())
}

/// The loop, unless nobody wants its checks run.
fn load(context: &mut Context, id: &LoopId) -> Result<Option<State>, Failure> {
    let stored = context.journal.load(id)?;
    context.journal.end();
    let state = stored.map(|stored| stored.state);
    let wanted = |state: &State| {
        !matches!(state.phase, Phase::Ended { .. } | Phase::Paused { .. })
            && !Trust::of(&context.home).lacks(state)
    };
    Ok(state.filter(wanted))
}

fn proven(
    context: &mut Context,
    state: &State,
    parts: &ProofParts,
    notes: &BackgroundNotes,
    note: Option<&CheckingNote>,
) -> Option<Vec<Receipt>> {
    let budget = whole_time(state);
    let request = parts.request(state, notes.message.as_deref(), budget);
    let proved = match note.map(|note| note.listener(state)) {
        Some(listener) => while_watched(listener, || context.world.prove(&request)),
        None => context.world.prove(&request),
    };
    match proved {
        Proved::Receipts(receipts) | Proved::TooLong(receipts) => {
            review_loop(context, state, parts.place(), receipts, budget)
        }
        Proved::Interrupted => None,
    }
}

/// How long everything may take: what each check's own time-out allows.
pub(crate) fn whole_time(state: &State) -> Duration {
    let times = state.criteria.iter().map(longest_ms);
    let all = times.fold(0_u64, u64::saturating_add);
    Duration::from_millis(all).saturating_mul(RUNS_MAX).saturating_add(LOOK_TIME)
}
