//! The reference model: what a journal must answer and hold, told by nothing but what was appended.
//!
//! It shares no code with any journal, and keeps its states by folding the events itself, so that
//! what a writer says its state is gets compared at every append.

use stopgate_core::{LoopId, Soundness, State, advance, fold};
use stopgate_store::{Appended, JournalEntry, Recorded, Revision, Stored};

/// All loops, in the order in which they began. A history has few of them.
#[derive(Debug, Default)]
pub(crate) struct Model {
    loops: Vec<ModelLoop>,
}

#[derive(Debug)]
struct ModelLoop {
    state: State,
    events: Vec<Recorded>,
}

/// What the model says about an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ModelAnswer {
    /// What a journal has to answer.
    Answers(Appended),
    /// A journal has to store it, but the state that came with it is not the fold of the events.
    OtherState(Appended),
}

impl Model {
    /// Appends as a journal does.
    pub(crate) fn append(
        &mut self,
        expected: Revision,
        events: &[Recorded],
        state: &State,
    ) -> ModelAnswer {
        let known = self.loops.iter().position(|one| one.state.id == state.id);
        if known.map_or(Revision::NONE, |at| self.loops[at].revision()) != expected {
            return ModelAnswer::Answers(Appended::Conflict);
        }
        if self.is_taken(state) {
            return ModelAnswer::Answers(Appended::SessionTaken);
        }
        let same = match known {
            Some(at) => self.loops[at].go_on(events, state),
            None => self.begin(events, state),
        };
        let stored = Appended::Stored(Revision(expected.0 + count(events.len())));
        if same { ModelAnswer::Answers(stored) } else { ModelAnswer::OtherState(stored) }
    }

    /// Whether a journal that holds this of a loop holds what was appended to it.
    pub(crate) fn agrees(
        &self,
        id: &LoopId,
        stored: Option<&Stored>,
        history: &[JournalEntry],
    ) -> bool {
        match (self.find(id), stored) {
            (Some(own), Some(stored)) => {
                stored.state == own.state
                    && stored.revision == own.revision()
                    && stored.soundness == Soundness::Unchained
                    && own.events.iter().eq(history.iter().map(|entry| &entry.recorded))
            }
            (own, stored) => own.is_none() && stored.is_none() && history.is_empty(),
        }
    }

    /// How many events a loop has.
    pub(crate) fn events(&self, id: &LoopId) -> usize {
        self.find(id).map_or(0, |own| own.events.len())
    }

    fn find(&self, id: &LoopId) -> Option<&ModelLoop> {
        self.loops.iter().find(|one| one.state.id == *id)
    }

    fn is_taken(&self, state: &State) -> bool {
        let holds = |other: &ModelLoop| {
            other.state.session == state.session
                && other.state.outcome().is_none()
                && other.state.id != state.id
        };
        state.session.is_some() && state.outcome().is_none() && self.loops.iter().any(holds)
    }

    /// Says whether the events make this state.
    fn begin(&mut self, events: &[Recorded], state: &State) -> bool {
        let folded = fold(events.iter().map(|recorded| (&recorded.event, recorded.at)));
        let same = folded.as_ref() == Some(state);
        let state = folded.unwrap_or_else(|| state.clone());
        self.loops.push(ModelLoop { state, events: events.to_vec() });
        same
    }
}

impl ModelLoop {
    fn revision(&self) -> Revision {
        Revision(count(self.events.len()))
    }

    /// Says whether the events make this state.
    fn go_on(&mut self, events: &[Recorded], state: &State) -> bool {
        for recorded in events {
            advance(&mut self.state, &recorded.event, recorded.at);
        }
        self.events.extend_from_slice(events);
        self.state == *state
    }
}

fn count(events: usize) -> u64 {
    u64::try_from(events).unwrap_or(u64::MAX)
}
