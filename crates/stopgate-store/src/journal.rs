//! The one door to what is remembered.

use stopgate_core::{Event, FORMAT, LoopId, SessionId, Soundness, State, Timestamp};

use crate::StoreError;
use crate::chain::{EventSeal, KeySource};

/// Append-only events and the state they make, for many loops.
///
/// Correctness rests on [`Journal::append`]: it stores events only at the revision they
/// were decided at. [`Journal::begin`] only makes conflicts rare. [`Journal::remove`] is held
/// to the same: it takes a loop out only at the revision at which it was put elsewhere.
pub trait Journal {
    /// Takes a turn: until [`Journal::end`], an engine may keep other writers waiting.
    ///
    /// Never held while checks run.
    fn begin(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Ends the turn; what was not appended is dropped.
    fn end(&mut self) {}

    /// Chores that may wait until the answer is printed.
    fn settle(&mut self) {}

    /// Seals what is appended from now on as `writer`, and knows its seals when it loads.
    fn sign_as(&mut self, _writer: KeySource) {}

    /// Loads a loop by its name.
    fn load(&mut self, id: &LoopId) -> Result<Option<Stored>, StoreError>;

    /// Loads the loop that holds `session`, if one is running.
    fn load_held(&mut self, session: &SessionId) -> Result<Option<Stored>, StoreError>;

    /// The running loops of `project` that hold no session yet, the oldest first.
    fn pending(&mut self, project: &str) -> Result<Vec<Stored>, StoreError>;

    /// The names that begin with `prefix`, a few of them.
    fn find(&mut self, prefix: &str) -> Result<Vec<LoopId>, StoreError>;

    /// Loops, the newest first.
    fn list(&mut self, filter: &Filter<'_>) -> Result<Vec<Stored>, StoreError>;

    /// Shows `look` what [`Journal::list`] lists, one loop at a time, so that a caller who needs
    /// little of each need not hold them all.
    fn each(
        &mut self,
        filter: &Filter<'_>,
        look: &mut dyn FnMut(Stored),
    ) -> Result<(), StoreError> {
        self.list(filter)?.into_iter().for_each(look);
        Ok(())
    }

    /// Everything that happened to a loop, in order.
    fn history(&mut self, id: &LoopId) -> Result<Vec<JournalEntry>, StoreError>;

    /// What happened to any loop after `cursor`, in order, at most `limit` entries.
    fn tail(&mut self, cursor: Cursor, limit: usize) -> Result<Vec<JournalEntry>, StoreError>;

    /// Stores `events` and the `state` they lead to, if the loop is still at `expected`.
    ///
    /// A new loop begins at [`Revision::NONE`].
    fn append(
        &mut self,
        expected: Revision,
        events: &[Recorded],
        state: &State,
    ) -> Result<Appended, StoreError>;

    /// The same for events that another journal had: they keep the seals that they had there.
    fn append_kept(
        &mut self,
        expected: Revision,
        events: &[Recorded],
        _seals: &[Option<EventSeal>],
        state: &State,
    ) -> Result<Appended, StoreError> {
        self.append(expected, events, state)
    }

    /// Follows the chain of a loop's events up to its state: whether all of it is what its
    /// writers wrote.
    fn soundness(&mut self, _id: &LoopId) -> Result<Soundness, StoreError> {
        Ok(Soundness::Unchained)
    }

    /// The names of all loops in the order of their bytes, after `after`, at most `limit`.
    fn names(&mut self, after: &LoopId, limit: usize) -> Result<Vec<LoopId>, StoreError>;

    /// Takes a turn in which all appends are one: [`Journal::deliver`] keeps them, and
    /// [`Journal::end`] drops them.
    ///
    /// What is loaded meanwhile shows them. Whether a session is taken is asked only at the
    /// delivery, so that a history may be told again in which a session changed hands.
    fn gather(&mut self) -> Result<(), StoreError>;

    /// Keeps everything that was appended since [`Journal::gather`], or nothing; ends the turn.
    fn deliver(&mut self) -> Result<Delivered, StoreError>;

    /// Removes loops that have ended and are still at the revision given; how many it removed.
    ///
    /// A loop that runs, has moved on or is not there is left as it is. The order and the
    /// cursors of what remains do not change, and no cursor is ever used twice.
    fn remove(&mut self, loops: &[(LoopId, Revision)]) -> Result<u64, StoreError>;

    /// Gives back the room that removed loops took.
    fn reclaim(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// What is wrong with the engine's own structures, a sentence each.
    fn check(&mut self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    /// Brings the stored form to the one that this program writes.
    fn migrate(&mut self) -> Result<Migrated, StoreError> {
        self.find("").map(|_| Migrated { from: FORMAT, to: FORMAT })
    }
}

/// How many events a loop has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Revision(pub u64);

impl Revision {
    /// The revision of a loop that does not exist yet.
    pub const NONE: Self = Self(0);
}

/// A place in the order of all events of a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor(pub u64);

/// A loop as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The state.
    pub state: State,
    /// The revision it was read at.
    pub revision: Revision,
    /// What the seal under its state says.
    pub soundness: Soundness,
}

/// An event and when it happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// What happened.
    pub event: Event,
    /// When.
    pub at: Timestamp,
}

/// An event as it stands in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalEntry {
    /// Its place among all events.
    pub cursor: Cursor,
    /// The loop it belongs to.
    pub id: LoopId,
    /// Its number within the loop, from 1.
    pub revision: Revision,
    /// What happened, and when.
    pub recorded: Recorded,
    /// Who sealed it, where somebody did.
    pub seal: Option<EventSeal>,
}

/// What became of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Appended {
    /// It is stored; the loop is at this revision now.
    Stored(Revision),
    /// Another process wrote first; load and decide again.
    Conflict,
    /// Another running loop holds the session.
    SessionTaken,
}

/// What became of the appends that were gathered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Delivered {
    /// They are stored.
    Stored,
    /// Another process wrote to one of the loops; nothing is stored.
    Conflict,
    /// This loop would hold a session that another running loop holds; nothing is stored.
    SessionTaken(LoopId),
}

/// From which stored form to which a journal was brought; 0 is an empty place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// What was found.
    pub from: u32,
    /// What is there now.
    pub to: u32,
}

/// Which loops to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// Only those of this directory.
    pub project: Option<&'a str>,
    /// Only those that run or only those that ended.
    pub standing: EndedFilter,
    /// At most so many; 0 is all.
    pub limit: usize,
}

/// Whether loops that ended are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EndedFilter {
    /// All of them.
    #[default]
    Any,
    /// Those that have not ended.
    Running,
}
