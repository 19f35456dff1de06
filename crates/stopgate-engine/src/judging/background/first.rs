//! First runs of checks that take longer than `start` waits: they go on in a process of their own,
//! on a copy of the tree as it was then.
//!
//! What they say is appended to the journal, once for each check that waits for it. It proves
//! nothing about the work: it says how many tests ran before it, whether they passed already, and
//! how long they take. A process that is killed leaves nothing.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use stopgate_core::{Criterion, Event, LoopId, Receipt, State};
use stopgate_verify::{ProcessMark, ProofRequest, StartCopy, launch_self_heard, while_watched};

use super::run::whole_time;
use super::{BACKGROUND_CHECKS, ProofParts};
use crate::checking::{BackgroundNote, CheckingNote, first_run_process};
use crate::context::Context;
use crate::failure::Failure;
use crate::home::Home;
use crate::judging::wait_note::started_anew;
use crate::trust::Trust;

/// Asks the process for first runs.
pub(super) const FIRST_RUNS: &str = "first";
/// What the process says when the copy is made; anything else is the reason why it is not.
const COPIED: &str = "copied";
/// No reason is longer.
const REASON_BYTES_MAX: u64 = 4096;

/// Starts the process that goes on with the first runs of a loop, and waits until the tree is copied;
/// the reason where it is not.
pub(crate) fn start_first_runs(home: &Home, id: &LoopId) -> Result<(), String> {
    let arguments = [BACKGROUND_CHECKS, id.as_str(), FIRST_RUNS];
    let child = launch_self_heard(&arguments, home.directory(), &started_anew());
    let child = child.map_err(|error| format!("no process can be started: {error}"))?;
    let mut said = String::new();
    if let Some(output) = child.stdout {
        let mut lines = BufReader::new(output.take(REASON_BYTES_MAX));
        // What can't be read was not said.
        let _ = lines.read_line(&mut said);
    }
    match said.trim() {
        COPIED => Ok(()),
        "" => Err("the process that makes it ended".into()),
        why => Err(why.into()),
    }
}

/// The process that runs checks of the loop for the first time, if one does. It is looked for only
/// where the loop waits for one.
pub(crate) fn first_run_of(home: &Home, state: &State) -> Option<ProcessMark> {
    if !state.criteria.iter().any(Criterion::awaits_first_run) {
        return None;
    }
    first_run_process(home, &state.id).and_then(ProcessMark::of)
}

/// Where the output of first runs goes.
pub(crate) fn first_run_logs(home: &Home, id: &LoopId) -> PathBuf {
    home.check_logs(id).join("start")
}

/// Goes on with the first runs of a loop. `tell` is heard by the process that asked for it.
pub(super) fn run(
    context: &mut Context,
    id: &LoopId,
    tell: &mut dyn FnMut(&str),
) -> Result<(), Failure> {
    let Some(mut state) = load(context, id)? else { return Ok(()) };
    state.criteria.retain(Criterion::awaits_first_run);
    if state.criteria.is_empty() {
        return Ok(());
    }
    let tree = state.criteria.iter().find_map(|own| own.first.as_ref()?.tree.clone());
    let Some(tree) = tree else {
        tell("the files can't be told apart");
        return Ok(());
    };
    let logs = first_run_logs(&context.home, id);
    let parts = ProofParts::of(context, logs.clone());
    let request = parts.request(&state, None, whole_time(&state));
    let copy = match StartCopy::make(&request, &tree) {
        Ok(copy) => copy,
        Err(why) => {
            tell(&why.replace('\n', " "));
            return Ok(());
        }
    };
    let note = BackgroundNote { key: None, logs: logs.display().to_string(), first: true };
    let note = CheckingNote::begin(&context.home, &state, context.now(), Some(note));
    tell(COPIED);
    // Who cancelled it before there was a note could not ask us to end.
    if load(context, id)?.is_none() {
        return Ok(());
    }
    let receipts = ran(context, &state, &copy, &request, note.as_ref());
    drop(copy);
    if let Some(receipts) = receipts {
        let preflighted = Event::Preflighted { receipts };
        context.update(&mut |context| Ok(context.journal.load(id)?), &mut |state, _| {
            let is_over = state.outcome().is_some();
            Ok(if is_over { Vec::new() } else { vec![preflighted.clone()] })
        })?;
    }
    // Only now: a stop that sees no note finds what it stands for in the journal.
    drop(note);
    Ok(())
}

fn ran(
    context: &mut Context,
    state: &State,
    copy: &StartCopy,
    request: &ProofRequest<'_>,
    note: Option<&CheckingNote>,
) -> Option<Vec<Receipt>> {
    match note.map(|note| note.listener(state)) {
        Some(listener) => while_watched(listener, || context.world.measure_copy(copy, request)),
        None => context.world.measure_copy(copy, request),
    }
}

/// The loop, unless nobody wants its checks run.
fn load(context: &mut Context, id: &LoopId) -> Result<Option<State>, Failure> {
    let stored = context.journal.load(id)?;
    context.journal.end();
    let state = stored.map(|stored| stored.state);
    Ok(state.filter(|state| state.outcome().is_none() && !Trust::of(&context.home).lacks(state)))
}
