//! Gates that live as long as their server, for those who want them forgotten.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stopgate_core::LoopId;
use stopgate_gates::{GATES_MAX, Registered};

use super::HookUpdate;

/// The gates of one server's life; clones share them.
#[derive(Clone, Debug, Default)]
pub struct SessionGates {
    inner: Arc<Mutex<Store>>,
}

#[derive(Debug, Default)]
struct Store {
    named: u64,
    gates: BTreeMap<LoopId, Vec<Placed>>,
}

/// A gate, and how many stored ones were registered before it.
#[derive(Clone, Debug)]
struct Placed {
    after: usize,
    gate: Registered,
}

impl SessionGates {
    /// Registers a gate under a name that `name` makes; nothing where there is no room.
    pub(super) fn add(
        &self,
        id: &LoopId,
        after: usize,
        make: impl FnOnce(u64) -> Registered,
    ) -> Option<Registered> {
        let mut store = self.open();
        let room = store.gates.get(id).map_or(0, Vec::len) + after < GATES_MAX;
        if !room {
            return None;
        }
        store.named += 1;
        let gate = make(store.named);
        store.gates.entry(id.clone()).or_default().push(Placed { after, gate: gate.clone() });
        Some(gate)
    }

    /// All gates of a task, stored ones and these, in the order they were registered.
    pub(super) fn among(&self, id: &LoopId, stored: &[Registered]) -> Vec<Registered> {
        let mut all = stored.to_vec();
        let store = self.open();
        let placed = store.gates.get(id).map(Vec::as_slice).unwrap_or_default();
        for (n, placed) in placed.iter().enumerate() {
            all.insert((placed.after + n).min(all.len()), placed.gate.clone());
        }
        all
    }

    /// Whether the gate is one of these.
    pub(super) fn has(&self, id: &LoopId, gate: &str) -> bool {
        self.open().gates.get(id).is_some_and(|placed| placed.iter().any(|p| p.gate.id == gate))
    }

    /// Enables or disables a gate; the gate, if it is one of these.
    pub(super) fn switch(&self, id: &LoopId, ask: &HookUpdate) -> Option<Registered> {
        let mut store = self.open();
        let placed = store.gates.get_mut(id)?.iter_mut().find(|p| p.gate.id == ask.hook_id)?;
        placed.gate.enabled = ask.enabled;
        Some(placed.gate.clone())
    }

    /// Removes one gate; whether it was one of these.
    pub(super) fn remove(&self, id: &LoopId, gate: &str) -> bool {
        let mut store = self.open();
        let Some(placed) = store.gates.get_mut(id) else { return false };
        let before = placed.len();
        placed.retain(|placed| placed.gate.id != gate);
        placed.len() < before
    }

    /// Takes all gates of a task down; how many there were.
    pub(super) fn clear(&self, id: &LoopId) -> usize {
        self.open().gates.remove(id).map_or(0, |placed| placed.len())
    }

    /// How many gates a task has here.
    pub(super) fn count(&self, id: &LoopId) -> usize {
        self.open().gates.get(id).map_or(0, Vec::len)
    }

    fn open(&self) -> MutexGuard<'_, Store> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
