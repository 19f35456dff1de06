//! The reference model: what every engine must do, with nothing to go wrong.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stopgate_core::{LoopId, SessionId, State};

use crate::StoreError;
use crate::journal::{
    Appended, Cursor, Entry, Filter, Journal, Recorded, Revision, Standing, Stored,
};

/// A journal in memory; clones share it, as processes share a file.
#[derive(Clone, Debug, Default)]
pub struct MemoryJournal {
    shelf: Arc<Mutex<Shelf>>,
}

#[derive(Debug, Default)]
struct Shelf {
    order: Vec<LoopId>,
    loops: BTreeMap<LoopId, Stored>,
    entries: Vec<Entry>,
}

impl MemoryJournal {
    fn open(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn running(&self) -> impl Iterator<Item = &Stored> {
        let all = self.order.iter().filter_map(|id| self.loops.get(id));
        all.filter(|stored| stored.state.outcome().is_none())
    }

    fn is_taken(&self, state: &State) -> bool {
        state.outcome().is_none()
            && state.session.is_some()
            && self.running().any(|s| s.state.id != state.id && s.state.session == state.session)
    }
}

impl Journal for MemoryJournal {
    fn load(&mut self, id: &LoopId) -> Result<Option<Stored>, StoreError> {
        Ok(self.open().loops.get(id).cloned())
    }

    fn load_held(&mut self, session: &SessionId) -> Result<Option<Stored>, StoreError> {
        Ok(self.open().running().find(|s| s.state.session.as_ref() == Some(session)).cloned())
    }

    fn pending(&mut self, project: &str) -> Result<Vec<Stored>, StoreError> {
        let inner = self.open();
        let pending = inner.running().filter(|s| s.state.session.is_none());
        Ok(pending.filter(|s| s.state.project == project).cloned().collect())
    }

    fn find(&mut self, prefix: &str) -> Result<Vec<LoopId>, StoreError> {
        let inner = self.open();
        let names = inner.loops.keys().filter(|id| id.as_str().starts_with(prefix));
        Ok(names.take(3).cloned().collect())
    }

    fn list(&mut self, filter: &Filter<'_>) -> Result<Vec<Stored>, StoreError> {
        let inner = self.open();
        let newest = inner.order.iter().rev().filter_map(|id| inner.loops.get(id));
        let wanted = newest
            .filter(|s| filter.project.is_none_or(|project| s.state.project == project))
            .filter(|s| match filter.standing {
                Standing::Any => true,
                Standing::Running => s.state.outcome().is_none(),
            });
        let limit = if filter.limit == 0 { usize::MAX } else { filter.limit };
        Ok(wanted.take(limit).cloned().collect())
    }

    fn history(&mut self, id: &LoopId) -> Result<Vec<Entry>, StoreError> {
        Ok(self.open().entries.iter().filter(|entry| entry.id == *id).cloned().collect())
    }

    fn tail(&mut self, cursor: Cursor, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let inner = self.open();
        Ok(inner.entries.iter().filter(|e| e.cursor > cursor).take(limit).cloned().collect())
    }

    fn append(
        &mut self,
        expected: Revision,
        events: &[Recorded],
        state: &State,
    ) -> Result<Appended, StoreError> {
        let mut inner = self.open();
        let actual = inner.loops.get(&state.id).map_or(Revision::NONE, |stored| stored.revision);
        if actual != expected {
            return Ok(Appended::Conflict);
        }
        if inner.is_taken(state) {
            return Ok(Appended::SessionTaken);
        }
        let mut revision = expected;
        for recorded in events {
            revision = Revision(revision.0 + 1);
            let cursor = Cursor(inner.entries.len() as u64 + 1);
            let id = state.id.clone();
            inner.entries.push(Entry { cursor, id, revision, recorded: recorded.clone() });
        }
        if expected == Revision::NONE {
            inner.order.push(state.id.clone());
        }
        inner.loops.insert(state.id.clone(), Stored { state: state.clone(), revision });
        Ok(Appended::Stored(revision))
    }
}
