//! The audit trail of loops whose truth is in another tool's files.
//!
//! A loop in the journal that holds nobody, can't be claimed, and leaves no sign. No fault
//! here changes an answer: it costs a line in the log.

use stopgate_core::{Event, Frame, LoopId, Outcome, Started, State, apply};
use stopgate_store::{Appended, Recorded, Revision, Stored};

use super::DialectCall;
use super::memory::Memory;
use crate::context::Context;
use crate::failure::Failure;

const TRIES_MAX: usize = 8;

/// Adds what happened at a stop, with the loop as the file had it before.
pub(super) fn record(desk: &DialectCall, memory: &mut Memory, before: &State, events: &[Event]) {
    if events.is_empty() {
        return;
    }
    let told = with_context(desk, |context| {
        try_record(context, desk, memory.trail.as_deref(), before, events)
    });
    match told {
        Ok(id) => memory.trail = Some(id.as_str().into()),
        Err(failure) => desk.note(&format!("no audit trail of this stop: {}", failure.story())),
    }
}

/// Ends the trail of a loop that is in the file no more.
pub(super) fn replaced(desk: &DialectCall, memory: &Memory) {
    ended(desk, memory, Outcome::Aborted, "another loop took its place in the file");
}

/// Ends a trail by command.
pub(super) fn ended(desk: &DialectCall, memory: &Memory, outcome: Outcome, why: &str) {
    let Some(id) = memory.trail.as_deref() else { return };
    let end = Event::Ended { outcome, why: why.into() };
    let ended = with_context(desk, |context| {
        let Some(stored) = context.journal.load(&LoopId::new(id))? else { return Ok(()) };
        append(context, desk, Some(stored), &[end]).map(|_| ())
    });
    if let Err(failure) = ended {
        desk.note(&format!("the audit trail {id} was not ended: {}", failure.story()));
    }
}

/// Opens the journal once for all that a call has to tell.
pub(super) fn with_context<T>(
    desk: &DialectCall,
    act: impl FnOnce(&mut Context) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut opened = desk.context.borrow_mut();
    match &mut *opened {
        Some(context) => act(context),
        None => act(opened.insert(Context::open(desk.settings, desk.stores)?)),
    }
}

fn try_record(
    context: &mut Context,
    desk: &DialectCall,
    trail: Option<&str>,
    before: &State,
    events: &[Event],
) -> Result<LoopId, Failure> {
    for _ in 0..TRIES_MAX {
        let known = match trail {
            Some(id) => context.journal.load(&LoopId::new(id))?,
            None => None,
        };
        // A trail that somebody ended or removed is followed by a new one.
        let running = known.filter(|stored| stored.state.outcome().is_none());
        let told = tell(context, running.as_ref(), before, events);
        if let Some(id) = append(context, desk, running, &told)? {
            return Ok(id);
        }
    }
    Err(Failure::fault("could not append to the journal: other processes kept changing the loop"))
}

/// What the journal must hear: that the loop began, or what the file says meanwhile, and then
/// what happened.
fn tell(
    context: &mut Context,
    running: Option<&Stored>,
    before: &State,
    events: &[Event],
) -> Vec<Event> {
    let mut told = Vec::new();
    if running.is_none() {
        told.push(begun(context, before));
    }
    let first = before.frames.get(..1).unwrap_or_default();
    let known = running.map_or(first, |stored| &stored.state.frames);
    if known != before.frames && !before.frames.is_empty() {
        told.push(Event::Synced { frames: before.frames.clone() });
    }
    told.extend_from_slice(events);
    told
}

fn begun(context: &mut Context, before: &State) -> Event {
    let blank = Frame {
        mode: stopgate_core::Mode::Loop,
        iteration: 0,
        max: 0,
        prompt: before.goal.clone(),
    };
    let frame = before.frames.first().cloned().unwrap_or(blank);
    Event::Started(Box::new(Started {
        policy: before.policy,
        criteria: before.criteria.clone(),
        ..Started::new(context.world.new_id(), &before.goal, &before.project, frame)
    }))
}

/// Stores the events; nothing where another process was faster. Writes no sign file: nobody is held.
fn append(
    context: &mut Context,
    desk: &DialectCall,
    stored: Option<Stored>,
    events: &[Event],
) -> Result<Option<LoopId>, Failure> {
    let (state, revision) = match stored {
        Some(stored) => (Some(stored.state), stored.revision),
        None => (None, Revision::NONE),
    };
    let at = desk.now;
    let recorded: Vec<Recorded> =
        events.iter().map(|event| Recorded { event: event.clone(), at }).collect();
    let state = events.iter().fold(state, |state, event| apply(state, event, at));
    let Some(state) = state else {
        return Err(Failure::fault("could not apply the event to the loop"));
    };
    context.journal.begin()?;
    let appended = context.journal.append(revision, &recorded, &state);
    context.journal.end();
    Ok(match appended? {
        Appended::Stored(_) => Some(state.id),
        Appended::Conflict | Appended::SessionTaken => None,
    })
}
