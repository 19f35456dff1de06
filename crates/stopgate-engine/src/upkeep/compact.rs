//! Loops that are over for long go to an archive.
//!
//! A loop is removed only after it is in the archive and the archive is on the disk, and only
//! at the revision that was archived: what runs, or came back meanwhile, is never touched.

use std::fs::File;
use std::path::{Path, PathBuf};

use stopgate_core::{LoopId, Phase, State, Timestamp};
use stopgate_store::Revision;
use stopgate_store::transfer::Exporter;

use super::{CompactView, archive};
use crate::failure::Failure;
use crate::tidy::sweep::sweep;
use crate::upkeep::Upkeep;
use crate::view::time_text;

const PAGE: usize = 500;
const REMOVED_AT_ONCE: usize = 200;

/// A loop that may go.
struct Candidate {
    began: Timestamp,
    id: LoopId,
    revision: Revision,
}

impl Upkeep<'_> {
    /// Moves loops that ended more than `older_than_ms` ago to the archive at `path`.
    pub fn compact_store_to(
        &mut self,
        older_than_ms: i64,
        path: &Path,
    ) -> Result<CompactView, Failure> {
        self.context.prepare()?;
        let _turn = self.archive_turn()?;
        let before = self.context.now().plus(older_than_ms.saturating_neg());
        let candidates = self.ended_before(before)?;
        let mut view = CompactView { ended_before: time_text(before), ..CompactView::default() };
        if candidates.is_empty() {
            view.swept = sweep(self.context, &[])?;
            return Ok(view);
        }
        let mut archived = Vec::new();
        let exported = archive::add(path, &mut |out| {
            let mut exporter = Exporter::begin(out)?;
            archived = self.put(&candidates, &mut exporter)?;
            Ok(exporter.finish()?)
        })?;
        for loops in archived.chunks(REMOVED_AT_ONCE) {
            view.removed += self.context.journal.remove(loops)?;
        }
        self.context.journal.reclaim()?;
        let gone: Vec<LoopId> = archived.into_iter().map(|(id, _)| id).collect();
        view.swept = sweep(self.context, &gone)?;
        view.archived = exported.loops;
        view.events = exported.events;
        view.archive = Some(path.display().to_string());
        Ok(view)
    }

    /// The same, to today's archive in stopgate's own directory.
    pub fn compact_store(&mut self, older_than_ms: i64) -> Result<CompactView, Failure> {
        let path = self.archive_today();
        self.compact_store_to(older_than_ms, &path)
    }

    /// Writes the candidates that still are where they were; which ones those are.
    fn put(
        &mut self,
        candidates: &[Candidate],
        exporter: &mut Exporter<'_>,
    ) -> Result<Vec<(LoopId, Revision)>, Failure> {
        let mut archived = Vec::new();
        for Candidate { id, revision, .. } in candidates {
            let history = self.context.journal.history(id)?;
            // It came back, or another process removed it: not ours to move.
            if history.len() as u64 == revision.0 {
                history.iter().try_for_each(|entry| exporter.entry(entry))?;
                archived.push((id.clone(), *revision));
            }
        }
        Ok(archived)
    }

    fn archive_today(&self) -> PathBuf {
        let now = time_text(self.context.now());
        self.context.home.archive(now.get(..10).unwrap_or(&now))
    }

    /// Only one process at a time moves loops to an archive.
    fn archive_turn(&self) -> Result<File, Failure> {
        let path = self.context.home.archive_lock();
        let mut options = File::options();
        let opened = options.create(true).truncate(false).write(true).open(&path);
        let locked = opened.and_then(|file| file.lock().map(|()| file));
        locked.map_err(|error| {
            Failure::fault(format!("could not lock {}", path.display())).because(error)
        })
    }

    /// The loops that ended before then, the oldest first.
    fn ended_before(&mut self, then: Timestamp) -> Result<Vec<Candidate>, Failure> {
        let mut found = Vec::new();
        let mut last = LoopId::new("");
        loop {
            let page = self.context.journal.names(&last, PAGE)?;
            let Some(end) = page.last() else { break };
            last = end.clone();
            for id in page {
                found.extend(self.candidate(id, then)?);
            }
        }
        found.sort_by(|one, other| (one.began, &one.id).cmp(&(other.began, &other.id)));
        Ok(found)
    }

    fn candidate(&mut self, id: LoopId, then: Timestamp) -> Result<Option<Candidate>, Failure> {
        let stored =
            self.context.journal.load(&id)?.filter(|stored| has_ended(&stored.state, then));
        Ok(stored.map(|stored| {
            let (began, revision) = (stored.state.started_at, stored.revision);
            Candidate { began, id, revision }
        }))
    }
}

fn has_ended(state: &State, before: Timestamp) -> bool {
    match &state.phase {
        Phase::Ended { at, .. } => *at < before,
        Phase::Active | Phase::Completing | Phase::Waiting { .. } | Phase::Paused { .. } => false,
    }
}
