//! Loops and events to play with.

use stopgate_core::{
    Binding, Event, Frame, LoopId, Mode, Outcome, SessionId, Speaker, Started, State, Timestamp,
    apply,
};

use crate::journal::{Appended, Journal, Recorded, Revision, Stored};

/// A fixed moment.
pub(super) const NOON: Timestamp = Timestamp::from_unix_millis(1_750_000_000_000);

/// The name of a loop.
pub fn named(name: &str) -> LoopId {
    LoopId::new(name)
}

/// A loop begins, held by `session` or waiting to be claimed.
pub fn started(name: &str, project: &str, session: Option<&str>) -> Event {
    let session = session.and_then(SessionId::new);
    let frame = Frame { mode: Mode::Loop, iteration: 0, max: 20, prompt: "go".into() };
    Event::Started(Box::new(Started {
        claim_until: session.is_none().then_some(NOON),
        session,
        ..Started::new(named(name), format!("the goal of {name}"), project, frame)
    }))
}

/// A session is held.
pub fn bound(session: &str) -> Event {
    let session = SessionId::new(session).expect("a name");
    Event::Bound { session, how: Binding::Claimed }
}

/// A person speaks.
pub fn prompted(prompt: &str) -> Event {
    Event::Prompted { prompt_id: Some(prompt.into()), speaker: Speaker::Person }
}

/// A loop ends.
pub fn ended() -> Event {
    Event::Ended { outcome: Outcome::Cancelled, why: "enough".into() }
}

/// Begins a loop or fails the case.
pub(super) fn begin(journal: &mut dyn Journal, name: &str, project: &str, session: Option<&str>) {
    let appended = add(journal, name, &[started(name, project, session)]);
    assert_eq!(appended, Appended::Stored(Revision(1)), "{name} begins");
}

/// Appends events at the loop's present revision.
pub(super) fn add(journal: &mut dyn Journal, name: &str, events: &[Event]) -> Appended {
    let found = journal.load(&named(name)).expect("load");
    let revision = found.as_ref().map_or(Revision::NONE, |stored| stored.revision);
    add_at(journal, found, revision, events)
}

/// Appends events as if the loop were at `revision`.
pub(super) fn add_at(
    journal: &mut dyn Journal,
    found: Option<Stored>,
    revision: Revision,
    events: &[Event],
) -> Appended {
    let state = after(found.map(|stored| stored.state), events);
    let recorded: Vec<Recorded> =
        events.iter().map(|event| Recorded { event: event.clone(), at: NOON }).collect();
    journal.append(revision, &recorded, &state).expect("append")
}

/// The state after `events`.
pub(super) fn after(state: Option<State>, events: &[Event]) -> State {
    let state = events.iter().fold(state, |state, event| apply(state, event, NOON));
    state.expect("a loop that has begun")
}

/// Loads a loop that must be there.
pub(super) fn get(journal: &mut dyn Journal, name: &str) -> Stored {
    journal.load(&named(name)).expect("load").unwrap_or_else(|| panic!("{name} is there"))
}

/// The names of the loops in `found`.
pub(super) fn names(found: &[Stored]) -> Vec<&str> {
    found.iter().map(|stored| stored.state.id.as_str()).collect()
}
