//! The reference model: what every engine must do, with nothing to go wrong.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stopgate_core::{LoopId, SessionId, Soundness, State};

use crate::StoreError;
use crate::journal::{
    Appended, Cursor, Delivered, EndedFilter, Filter, Journal, JournalEntry, Recorded, Revision,
    Stored,
};

/// A journal in memory; clones share it, as processes share a file.
#[derive(Clone, Debug, Default)]
pub struct MemoryJournal {
    shelf: Arc<Mutex<Shelf>>,
    gathered: Option<Gathered>,
}

#[derive(Clone, Debug, Default)]
struct Shelf {
    /// Loops in the order in which they began; nothing where one was removed.
    slots: Vec<Option<Stored>>,
    /// Which slot is whose.
    places: BTreeMap<LoopId, usize>,
    entries: Vec<JournalEntry>,
    newest: Cursor,
}

/// What was appended and not yet delivered, and how the shelf looks with it.
#[derive(Clone, Debug)]
struct Gathered {
    shelf: Shelf,
    appends: Vec<(Revision, Vec<Recorded>, State)>,
}

impl MemoryJournal {
    fn open(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the shelf as this user sees it.
    fn see<T>(&self, look: impl FnOnce(&Shelf) -> T) -> T {
        match &self.gathered {
            Some(gathered) => look(&gathered.shelf),
            None => look(&self.open()),
        }
    }
}

impl Shelf {
    fn get(&self, id: &LoopId) -> Option<&Stored> {
        self.slots.get(*self.places.get(id)?)?.as_ref()
    }

    fn running(&self) -> impl Iterator<Item = &Stored> {
        self.slots.iter().flatten().filter(|stored| stored.state.outcome().is_none())
    }

    fn revision(&self, id: &LoopId) -> Revision {
        self.get(id).map_or(Revision::NONE, |stored| stored.revision)
    }

    fn put(&mut self, stored: Stored) {
        let place = self.places.get(&stored.state.id).and_then(|at| self.slots.get_mut(*at));
        if let Some(slot) = place {
            *slot = Some(stored);
            return;
        }
        self.places.insert(stored.state.id.clone(), self.slots.len());
        self.slots.push(Some(stored));
    }

    fn is_taken(&self, state: &State) -> bool {
        state.outcome().is_none()
            && state.session.is_some()
            && self.running().any(|s| s.state.id != state.id && s.state.session == state.session)
    }

    fn append(&mut self, expected: Revision, events: &[Recorded], state: &State) -> Appended {
        if self.revision(&state.id) != expected {
            return Appended::Conflict;
        }
        let mut revision = expected;
        for recorded in events {
            revision = Revision(revision.0 + 1);
            self.newest = Cursor(self.newest.0 + 1);
            let (cursor, id) = (self.newest, state.id.clone());
            let recorded = recorded.clone();
            self.entries.push(JournalEntry { cursor, id, revision, recorded, seal: None });
        }
        self.put(Stored { state: state.clone(), revision, soundness: Soundness::Unchained });
        Appended::Stored(revision)
    }

    fn take(&mut self, id: &LoopId) -> Option<Stored> {
        let place = self.places.remove(id)?;
        self.slots.get_mut(place)?.take()
    }

    fn may_remove(&self, id: &LoopId, revision: Revision) -> bool {
        let found = self.get(id);
        found.is_some_and(|s| s.revision == revision && s.state.outcome().is_some())
    }
}

impl Journal for MemoryJournal {
    fn end(&mut self) {
        self.gathered = None;
    }

    fn load(&mut self, id: &LoopId) -> Result<Option<Stored>, StoreError> {
        Ok(self.see(|shelf| shelf.get(id).cloned()))
    }

    fn load_held(&mut self, session: &SessionId) -> Result<Option<Stored>, StoreError> {
        let holds = |stored: &&Stored| stored.state.session.as_ref() == Some(session);
        Ok(self.see(|shelf| shelf.running().find(holds).cloned()))
    }

    fn pending(&mut self, project: &str) -> Result<Vec<Stored>, StoreError> {
        Ok(self.see(|shelf| {
            let pending = shelf.running().filter(|s| s.state.session.is_none());
            pending.filter(|s| s.state.project == project).cloned().collect()
        }))
    }

    fn find(&mut self, prefix: &str) -> Result<Vec<LoopId>, StoreError> {
        Ok(self.see(|shelf| {
            let names = shelf.places.keys().filter(|id| id.as_str().starts_with(prefix));
            names.take(3).cloned().collect()
        }))
    }

    fn list(&mut self, filter: &Filter<'_>) -> Result<Vec<Stored>, StoreError> {
        let limit = if filter.limit == 0 { usize::MAX } else { filter.limit };
        Ok(self.see(|shelf| {
            let newest = shelf.slots.iter().rev().flatten();
            let wanted = newest
                .filter(|s| filter.project.is_none_or(|project| s.state.project == project))
                .filter(|s| match filter.standing {
                    EndedFilter::Any => true,
                    EndedFilter::Running => s.state.outcome().is_none(),
                });
            wanted.take(limit).cloned().collect()
        }))
    }

    fn history(&mut self, id: &LoopId) -> Result<Vec<JournalEntry>, StoreError> {
        Ok(self.see(|shelf| shelf.entries.iter().filter(|e| e.id == *id).cloned().collect()))
    }

    fn tail(&mut self, cursor: Cursor, limit: usize) -> Result<Vec<JournalEntry>, StoreError> {
        Ok(self.see(|shelf| {
            let begin = shelf.entries.partition_point(|entry| entry.cursor <= cursor);
            shelf.entries[begin..].iter().take(limit).cloned().collect()
        }))
    }

    fn append(
        &mut self,
        expected: Revision,
        events: &[Recorded],
        state: &State,
    ) -> Result<Appended, StoreError> {
        if let Some(gathered) = &mut self.gathered {
            gathered.appends.push((expected, events.to_vec(), state.clone()));
            return Ok(gathered.shelf.append(expected, events, state));
        }
        let mut inner = self.open();
        if inner.revision(&state.id) == expected && inner.is_taken(state) {
            return Ok(Appended::SessionTaken);
        }
        Ok(inner.append(expected, events, state))
    }

    fn names(&mut self, after: &LoopId, limit: usize) -> Result<Vec<LoopId>, StoreError> {
        Ok(self.see(|shelf| {
            let names = shelf.places.keys().filter(|id| *id > after);
            names.take(limit).cloned().collect()
        }))
    }

    fn gather(&mut self) -> Result<(), StoreError> {
        let inner = self.open().clone();
        self.gathered = Some(Gathered { shelf: inner, appends: Vec::new() });
        Ok(())
    }

    fn deliver(&mut self) -> Result<Delivered, StoreError> {
        let Some(gathered) = self.gathered.take() else { return Ok(Delivered::Stored) };
        let mut shared = self.open();
        let mut inner = shared.clone();
        for (expected, events, state) in &gathered.appends {
            if inner.append(*expected, events, state) == Appended::Conflict {
                return Ok(Delivered::Conflict);
            }
        }
        let touched = gathered.appends.iter().filter_map(|(.., state)| inner.get(&state.id));
        if let Some(taken) = touched.into_iter().find(|stored| inner.is_taken(&stored.state)) {
            return Ok(Delivered::SessionTaken(taken.state.id.clone()));
        }
        *shared = inner;
        Ok(Delivered::Stored)
    }

    fn remove(&mut self, loops: &[(LoopId, Revision)]) -> Result<u64, StoreError> {
        let mut inner = self.open();
        let mut removed = 0;
        for (id, revision) in loops {
            if inner.may_remove(id, *revision) {
                inner.take(id);
                inner.entries.retain(|entry| entry.id != *id);
                removed += 1;
            }
        }
        Ok(removed)
    }
}
