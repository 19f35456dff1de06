//! Whether a journal keeps its promises: what is stored can be told again from its events.
//!
//! Looks and never repairs. One loop is held in memory at a time.

use serde::Serialize;
use stopgate_core::{LoopId, Soundness, fold};

use crate::StoreError;
use crate::journal::{Journal, JournalEntry, Revision, Stored};

const PAGE: usize = 500;
/// A loop that others change between two looks is looked at again.
const LOOKS_MAX: usize = 5;

/// What was counted, and what was wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Audit {
    /// Loops.
    pub loops: u64,
    /// Those of them that have not ended.
    pub running: u64,
    /// Events of all loops.
    pub events: u64,
    /// Loops of which some part has no seal: older programs wrote it.
    pub unchained: u64,
    /// Loops of which some part was sealed by a writer whose key is not here.
    pub unknown: u64,
    /// What is wrong, a sentence each; nothing where all is well.
    pub findings: Vec<String>,
}

/// Looks at everything: the engine's own structures, and each loop against its events.
pub fn audit(journal: &mut dyn Journal) -> Result<Audit, StoreError> {
    let mut audit = Audit { findings: journal.check()?, ..Audit::default() };
    let mut last = LoopId::new("");
    loop {
        let page = journal.names(&last, PAGE)?;
        let Some(end) = page.last() else { return Ok(audit) };
        last = end.clone();
        for id in &page {
            look(journal, id, &mut audit)?;
        }
    }
}

fn look(journal: &mut dyn Journal, id: &LoopId, audit: &mut Audit) -> Result<(), StoreError> {
    let Some(read) = sound(id, read(journal, id), audit)? else { return Ok(()) };
    let Some((stored, history)) = read else { return Ok(()) };
    audit.loops += 1;
    audit.running += u64::from(stored.state.outcome().is_none());
    audit.events += history.len() as u64;
    audit.findings.extend(disagreements(id, &stored, &history));
    seals(journal, id, audit)
}

/// What the seals say. What can't be told is counted, and is not a finding.
fn seals(journal: &mut dyn Journal, id: &LoopId, audit: &mut Audit) -> Result<(), StoreError> {
    match journal.soundness(id)? {
        Soundness::Sound => {}
        Soundness::Unchained => audit.unchained += 1,
        Soundness::UnknownWriter => audit.unknown += 1,
        Soundness::Forged => {
            audit.findings.push(format!("loop {id}: its record was changed outside of stopgate"));
        }
    }
    Ok(())
}

/// A record that can't be read is a finding; a journal that can't be asked is an error.
fn sound<T>(
    id: &LoopId,
    read: Result<T, StoreError>,
    audit: &mut Audit,
) -> Result<Option<T>, StoreError> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(StoreError::Record { source, .. }) => {
            audit.loops += 1;
            audit.findings.push(format!("loop {id}: its record is damaged: {source}"));
            Ok(None)
        }
        Err(StoreError::Engine { source, .. }) => {
            audit.loops += 1;
            audit.findings.push(format!("loop {id}: its events can't be followed: {source}"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

type Read = Option<(Stored, Vec<JournalEntry>)>;

fn read(journal: &mut dyn Journal, id: &LoopId) -> Result<Read, StoreError> {
    let mut seen = None;
    for _ in 0..LOOKS_MAX {
        let Some(stored) = journal.load(id)? else { return Ok(None) };
        let history = journal.history(id)?;
        let settled = stored.revision.0 == history.len() as u64;
        let unchanged = seen == Some(stored.revision);
        if settled || unchanged {
            return Ok(Some((stored, history)));
        }
        seen = Some(stored.revision);
    }
    Ok(None)
}

fn disagreements(id: &LoopId, stored: &Stored, history: &[JournalEntry]) -> Vec<String> {
    let mut found = Vec::new();
    let count = history.len() as u64;
    if stored.revision.0 != count {
        let revision = stored.revision.0;
        found.push(format!("loop {id}: its revision is {revision}, but it has {count} events"));
    }
    let numbers = (1..).map(Revision);
    if let Some((entry, expected)) =
        history.iter().zip(numbers).find(|(entry, number)| entry.revision != *number)
    {
        let (is, should) = (entry.revision.0, expected.0);
        found.push(format!("loop {id}: event {should} is numbered {is}"));
    }
    if history.windows(2).any(|pair| pair[0].cursor >= pair[1].cursor) {
        found.push(format!("loop {id}: its events are out of order"));
    }
    match fold(history.iter().map(|entry| (&entry.recorded.event, entry.recorded.at))) {
        Some(state) if state == stored.state => {}
        Some(_) => found.push(format!("loop {id}: its state is not what its events lead to")),
        None => found.push(format!("loop {id}: its events do not begin with its start")),
    }
    found
}
