//! A journal as a process sees it: others write in between, it may be slow, and the process
//! may die at any call.

use std::rc::Rc;
use std::time::Duration;

use stopgate_core::{LoopId, SessionId, Soundness, State};
use stopgate_store::{
    Appended, Cursor, Delivered, Filter, Journal, JournalEntry, Recorded, Revision, StoreError,
    Stored,
};

use crate::history::SharedWorld;

/// Opens the journal that all processes of a history share, once more.
pub type Shared = Box<dyn Fn() -> Box<dyn Journal>>;

/// One process's journal.
pub(crate) struct ProcessJournal {
    inner: Box<dyn Journal>,
    scene: Rc<SharedWorld>,
    /// Whether the process has died: then nothing it does reaches the journal.
    is_dead: bool,
}

type Told<T> = Result<T, StoreError>;

impl ProcessJournal {
    pub(crate) fn new(inner: Box<dyn Journal>, scene: Rc<SharedWorld>) -> Self {
        Self { inner, scene, is_dead: false }
    }

    /// One call that reads: it may be slow, fail, and others may run right after it.
    fn read<T>(&mut self, call: impl FnOnce(&mut dyn Journal) -> Told<T>) -> Told<T> {
        self.risk()?;
        let found = call(&mut *self.inner)?;
        self.scene.let_others_run();
        Ok(found)
    }

    /// The process may die here, or the journal may take too long.
    fn risk(&mut self) -> Told<()> {
        if self.is_dead || self.scene.chance.once_in(96) {
            self.is_dead = true;
            return Err(lost());
        }
        if self.scene.chance.once_in(64) {
            self.scene.pass(5000);
            return Err(lost());
        }
        if self.scene.chance.once_in(32) {
            self.scene.pass(2000);
        }
        Ok(())
    }
}

/// No answer came.
fn lost() -> StoreError {
    StoreError::Late { address: String::new(), deadline: Duration::from_secs(5) }
}

impl Journal for ProcessJournal {
    fn begin(&mut self) -> Told<()> {
        self.risk()?;
        self.inner.begin()
    }

    fn end(&mut self) {
        self.inner.end();
    }

    fn load(&mut self, id: &LoopId) -> Told<Option<Stored>> {
        self.read(|journal| journal.load(id))
    }

    fn load_held(&mut self, session: &SessionId) -> Told<Option<Stored>> {
        self.read(|journal| journal.load_held(session))
    }

    fn pending(&mut self, project: &str) -> Told<Vec<Stored>> {
        self.read(|journal| journal.pending(project))
    }

    fn find(&mut self, prefix: &str) -> Told<Vec<LoopId>> {
        self.read(|journal| journal.find(prefix))
    }

    fn list(&mut self, filter: &Filter<'_>) -> Told<Vec<Stored>> {
        self.read(|journal| journal.list(filter))
    }

    fn history(&mut self, id: &LoopId) -> Told<Vec<JournalEntry>> {
        self.read(|journal| journal.history(id))
    }

    fn tail(&mut self, cursor: Cursor, limit: usize) -> Told<Vec<JournalEntry>> {
        self.read(|journal| journal.tail(cursor, limit))
    }

    fn append(&mut self, expected: Revision, events: &[Recorded], state: &State) -> Told<Appended> {
        self.risk()?;
        self.scene.let_others_run();
        let appended = self.inner.append(expected, events, state)?;
        self.scene.rules.borrow_mut().appended(expected, events, state, appended);
        self.scene.let_others_run();
        if self.scene.chance.once_in(48) {
            // It is stored, and nobody hears of it.
            self.is_dead = true;
            return Err(lost());
        }
        Ok(appended)
    }

    /// The journals of histories have no key; nobody forges anything there, so what they hold is
    /// taken for sound, and loops can end as done.
    fn soundness(&mut self, id: &LoopId) -> Told<Soundness> {
        self.risk()?;
        Ok(match self.inner.soundness(id)? {
            Soundness::Unchained => Soundness::Sound,
            found => found,
        })
    }

    fn names(&mut self, after: &LoopId, limit: usize) -> Told<Vec<LoopId>> {
        self.read(|journal| journal.names(after, limit))
    }

    fn gather(&mut self) -> Told<()> {
        self.risk()?;
        self.inner.gather()
    }

    fn deliver(&mut self) -> Told<Delivered> {
        self.risk()?;
        self.inner.deliver()
    }

    fn remove(&mut self, loops: &[(LoopId, Revision)]) -> Told<u64> {
        self.risk()?;
        self.inner.remove(loops)
    }
}
