//! Journals with a fault in them: a simulator that does not find these finds nothing.

use stopgate_core::{LoopId, SessionId, State};
use stopgate_store::{
    Appended, Cursor, Delivered, Filter, Journal, JournalEntry, MemoryJournal, Recorded, Revision,
    StoreError, Stored,
};

/// What is wrong with a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It does not look at the revision that was read: the last writer wins.
    LastWriterWins,
    /// It says that it stored, and did not, once in a while.
    Forgets,
}

/// A journal in memory with a fault.
#[derive(Clone, Debug)]
pub struct Faulty {
    inner: MemoryJournal,
    fault: Fault,
}

impl Faulty {
    /// A journal over `inner`, with this fault.
    pub const fn new(inner: MemoryJournal, fault: Fault) -> Self {
        Self { inner, fault }
    }

    /// Appends to the loop as it is now, whatever the writer has read.
    fn overwrite(&mut self, events: &[Recorded], state: &State) -> Result<Appended, StoreError> {
        let now = self.inner.load(&state.id)?.map_or(Revision::NONE, |stored| stored.revision);
        self.inner.append(now, events, state)
    }
}

impl Journal for Faulty {
    fn end(&mut self) {
        self.inner.end();
    }

    fn load(&mut self, id: &LoopId) -> Result<Option<Stored>, StoreError> {
        self.inner.load(id)
    }

    fn load_held(&mut self, session: &SessionId) -> Result<Option<Stored>, StoreError> {
        self.inner.load_held(session)
    }

    fn pending(&mut self, project: &str) -> Result<Vec<Stored>, StoreError> {
        self.inner.pending(project)
    }

    fn find(&mut self, prefix: &str) -> Result<Vec<LoopId>, StoreError> {
        self.inner.find(prefix)
    }

    fn list(&mut self, filter: &Filter<'_>) -> Result<Vec<Stored>, StoreError> {
        self.inner.list(filter)
    }

    fn history(&mut self, id: &LoopId) -> Result<Vec<JournalEntry>, StoreError> {
        self.inner.history(id)
    }

    fn tail(&mut self, cursor: Cursor, limit: usize) -> Result<Vec<JournalEntry>, StoreError> {
        self.inner.tail(cursor, limit)
    }

    fn append(
        &mut self,
        expected: Revision,
        events: &[Recorded],
        state: &State,
    ) -> Result<Appended, StoreError> {
        match self.fault {
            Fault::LastWriterWins => self.overwrite(events, state),
            Fault::Forgets if expected.0 % 5 == 3 => Ok(Appended::Stored(Revision(expected.0 + 1))),
            Fault::Forgets => self.inner.append(expected, events, state),
        }
    }

    fn names(&mut self, after: &LoopId, limit: usize) -> Result<Vec<LoopId>, StoreError> {
        self.inner.names(after, limit)
    }

    fn gather(&mut self) -> Result<(), StoreError> {
        self.inner.gather()
    }

    fn deliver(&mut self) -> Result<Delivered, StoreError> {
        self.inner.deliver()
    }

    fn remove(&mut self, loops: &[(LoopId, Revision)]) -> Result<u64, StoreError> {
        self.inner.remove(loops)
    }
}
