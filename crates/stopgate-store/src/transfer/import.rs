//! Lines as a journal.
//!
//! Everything is one delivery: the journal has all of it or none. States are made anew by
//! folding; only a few are kept in memory, for those that are not can be loaded again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};

use serde::Serialize;
use stopgate_core::{LoopId, Soundness, State, apply};

use super::{Exported, Exporter, Moved, Reader, TransferError};
use crate::chain::EventSeal;
use crate::journal::{
    Appended, Cursor, Delivered, Journal, JournalEntry, Recorded, Revision, Stored,
};

const PAGE: usize = 1000;
const RUN_MAX: usize = 256;
const STATES_MAX: usize = 2048;
const NAMES_SHOWN_MAX: usize = 5;

/// What an export holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// The loops in it.
    pub names: BTreeSet<LoopId>,
    /// How many events it has.
    pub events: u64,
    /// BLAKE3 of all its bytes.
    pub hash: String,
}

/// What became of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Loops that are new in the journal.
    pub loops: u64,
    /// Events that are new in the journal.
    pub events: u64,
    /// Events that were left out, because their loop or they themselves were there before.
    pub skipped: u64,
}

/// Reads an export to its end and changes nothing: whether it is whole, and what is in it.
pub fn scan(reader: &mut Reader<impl BufRead>) -> Result<Scanned, TransferError> {
    let mut scanned = Scanned::default();
    while let Some(moved) = reader.read()? {
        scanned.events += 1;
        scanned.names.insert(moved.id);
    }
    scanned.hash = reader.hash();
    Ok(scanned)
}

/// The names of all loops of a journal.
pub fn names(journal: &mut dyn Journal) -> Result<BTreeSet<LoopId>, TransferError> {
    let mut names = BTreeSet::new();
    let mut last = LoopId::new("");
    loop {
        let page = journal.names(&last, PAGE)?;
        let Some(end) = page.last() else { return Ok(names) };
        last = end.clone();
        names.extend(page);
    }
}

/// Which of `names` the journal has already.
pub fn existing(
    journal: &mut dyn Journal,
    names: &BTreeSet<LoopId>,
) -> Result<BTreeSet<LoopId>, TransferError> {
    let mut found = BTreeSet::new();
    let mut last = LoopId::new("");
    loop {
        let page = journal.names(&last, PAGE)?;
        let Some(end) = page.last() else { return Ok(found) };
        last = end.clone();
        found.extend(page.into_iter().filter(|id| names.contains(id)));
    }
}

/// Tells a journal's history to another one.
pub struct Import<'a> {
    journal: &'a mut dyn Journal,
    skip: BTreeSet<LoopId>,
    states: BTreeMap<LoopId, Stored>,
    running: BTreeSet<LoopId>,
    run: Option<Run>,
    imported: Imported,
}

/// Events of one loop that follow each other.
struct Run {
    expected: Revision,
    events: Vec<Recorded>,
    seals: Vec<Option<EventSeal>>,
    state: Option<State>,
}

impl<'a> Import<'a> {
    /// Begins; loops that are there already refuse it.
    pub fn begin(
        journal: &'a mut dyn Journal,
        existing: &BTreeSet<LoopId>,
    ) -> Result<Self, TransferError> {
        if !existing.is_empty() {
            return Err(exists(existing));
        }
        Self::begin_without(journal, BTreeSet::new())
    }

    /// Begins; events of the loops in `skip` are left out.
    pub fn begin_without(
        journal: &'a mut dyn Journal,
        skip: BTreeSet<LoopId>,
    ) -> Result<Self, TransferError> {
        journal.gather()?;
        let (states, running) = (BTreeMap::new(), BTreeSet::new());
        Ok(Self { journal, skip, states, running, run: None, imported: Imported::default() })
    }

    /// Takes the next event.
    pub fn put(&mut self, moved: Moved) -> Result<(), TransferError> {
        if self.skip.contains(&moved.id) {
            self.imported.skipped += 1;
            return Ok(());
        }
        let run = self.run_of(&moved.id)?;
        let known = run.expected.0 + run.events.len() as u64;
        if moved.revision.0 <= known {
            // An archive may tell a loop twice: what is known is not told again.
            self.imported.skipped += 1;
            return Ok(());
        }
        let Moved { id, revision, recorded, seal } = moved;
        if revision.0 != known + 1 {
            let id = id.as_str().into();
            return Err(TransferError::Gap { id, after: known, found: revision.0 });
        }
        let state = apply(run.state.take(), &recorded.event, recorded.at);
        let state = state.filter(|state| state.id == id);
        let state = state.ok_or_else(|| TransferError::NoStart { id: id.as_str().into() })?;
        run.state = Some(state);
        run.events.push(recorded);
        run.seals.push(seal);
        self.imported.events += 1;
        self.imported.loops += u64::from(revision.0 == 1);
        Ok(())
    }

    /// Takes every event of another journal; says what an export of that is.
    pub fn put_all(&mut self, from: &mut dyn Journal) -> Result<Exported, TransferError> {
        let mut nowhere = io::sink();
        let mut exporter = Exporter::begin(&mut nowhere)?;
        let mut cursor = Cursor(0);
        loop {
            let page = from.tail(cursor, PAGE)?;
            let Some(last) = page.last() else { return exporter.finish() };
            cursor = last.cursor;
            for entry in page {
                exporter.entry(&entry)?;
                let JournalEntry { id, revision, recorded, seal, .. } = entry;
                self.put(Moved { id, revision, recorded, seal })?;
            }
        }
    }

    /// The loops that will run; nothing is stored yet.
    pub fn running(&mut self) -> Result<Vec<State>, TransferError> {
        self.flush()?;
        let mut states = Vec::new();
        for id in &self.running {
            states.extend(self.journal.load(id)?.map(|stored| stored.state));
        }
        Ok(states)
    }

    /// Stores everything.
    pub fn finish(mut self) -> Result<Imported, TransferError> {
        self.flush()?;
        match self.journal.deliver()? {
            Delivered::Stored => Ok(self.imported),
            Delivered::Conflict => Err(TransferError::Conflict { id: "of another program".into() }),
            Delivered::SessionTaken(id) => {
                Err(TransferError::SessionTaken { id: id.as_str().into() })
            }
        }
    }

    /// The run of `id`, begun where another one or none was under way.
    fn run_of(&mut self, id: &LoopId) -> Result<&mut Run, TransferError> {
        let goes_on = self.run.as_ref().is_some_and(|run| {
            run.events.len() < RUN_MAX && run.state.as_ref().is_some_and(|s| s.id == *id)
        });
        if !goes_on {
            self.flush()?;
            let known = match self.states.remove(id) {
                Some(stored) => Some(stored),
                None => self.journal.load(id)?,
            };
            let expected = known.as_ref().map_or(Revision::NONE, |stored| stored.revision);
            let state = known.map(|stored| stored.state);
            self.run = Some(Run { expected, events: Vec::new(), seals: Vec::new(), state });
        }
        self.run.as_mut().ok_or_else(|| TransferError::NoStart { id: id.as_str().into() })
    }

    /// Appends the run that is under way.
    fn flush(&mut self) -> Result<(), TransferError> {
        let Some(Run { expected, events, seals, state }) = self.run.take() else { return Ok(()) };
        let Some(state) = state else { return Ok(()) };
        let revision = Revision(expected.0 + events.len() as u64);
        if !events.is_empty() {
            match self.journal.append_kept(expected, &events, &seals, &state)? {
                Appended::Stored(_) => {}
                Appended::Conflict => {
                    return Err(TransferError::Conflict { id: state.id.as_str().into() });
                }
                Appended::SessionTaken => {
                    return Err(TransferError::SessionTaken { id: state.id.as_str().into() });
                }
            }
            match state.outcome() {
                None => self.running.insert(state.id.clone()),
                Some(_) => self.running.remove(&state.id),
            };
        }
        if self.states.len() >= STATES_MAX {
            self.states.clear();
        }
        let soundness = Soundness::Unchained;
        self.states.insert(state.id.clone(), Stored { state, revision, soundness });
        Ok(())
    }
}

impl Drop for Import<'_> {
    /// What was not finished leaves nothing behind.
    fn drop(&mut self) {
        self.journal.end();
    }
}

fn exists(names: &BTreeSet<LoopId>) -> TransferError {
    let shown: Vec<&str> = names.iter().map(LoopId::as_str).take(NAMES_SHOWN_MAX).collect();
    let more = if names.len() > NAMES_SHOWN_MAX { ", …" } else { "" };
    TransferError::Exists { count: names.len(), names: format!("{}{more}", shown.join(", ")) }
}
