//! What people look at: stories, replays, statistics, reports, and what is new.
//!
//! Reading only: nothing here changes a loop. The room `stopgate-view` tells; this one fetches,
//! and hides from an agent's shell what an agent is not shown.

pub(crate) mod explain;
pub(crate) mod history;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use stopgate_core::{Baseline, Criterion, LoopId, Outcome, State};
use stopgate_store::{Cursor, EndedFilter, Filter, Soundness, Stored};
use stopgate_verify::files::{is_missing, open_regular, read_text};
use stopgate_verify::{Basis, GitFilters, git, redact};
use stopgate_view::{
    Counterfactual, DiffStat, Happened, LoopReport, LoopRow, LoopStats, LoopStory, PolicyChange,
    ReplayResult, ReplayedStop, ReportedLoop, RowGroup, back_test, loop_stats, replay,
};

use crate::checking::checking;
use crate::context::{Context, LoopTarget};
use crate::failure::Failure;
use crate::judging::certificate::Signed;
use crate::judging::gates;
use crate::metering::Metering;
use crate::project_file::{AtStart, CriterionDraft, ProjectFile};
use crate::veil::veil;
use crate::view::Views;

const POLICY_BYTES_MAX: u64 = 1024 * 1024;
const BASIS_BYTES_MAX: u64 = 64 * 1024 * 1024;
const GIT_TIME: Duration = Duration::from_secs(10);
/// How much of a running check's output is shown.
const OUTPUT_BYTES: u64 = 4096;
/// Events looked at in one go.
const PAGE: usize = 500;

/// One loop's stops, decided again.
#[derive(Clone, Debug, Serialize)]
pub struct ReplayView {
    /// The loop.
    #[serde(rename = "loop")]
    pub id: String,
    /// Each stop.
    pub stops: Vec<ReplayedStop>,
    /// Stops that are decided as they were.
    pub same: usize,
    /// Stops that are decided otherwise.
    pub differs: usize,
    /// Stops that can't be decided again.
    pub not_known: usize,
}

/// What a changed policy would have done.
#[derive(Clone, Debug, Serialize)]
pub struct BackTestView {
    /// Each loop, the newest first.
    pub loops: Vec<BackTestedLoop>,
    /// How many loops came out how, and what was saved.
    pub total: BackTestTotal,
}

/// One loop under a changed policy.
#[derive(Clone, Debug, Serialize)]
pub struct BackTestedLoop {
    /// The loop.
    #[serde(rename = "loop")]
    pub id: String,
    /// What it is for.
    pub goal: String,
    /// How it ended; `None` while it runs.
    pub outcome: Option<Outcome>,
    /// What would have happened.
    #[serde(flatten)]
    pub found: Counterfactual,
}

/// A back-test in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BackTestTotal {
    /// Loops that would have gone as they did.
    pub same: u64,
    /// Loops that would have ended earlier.
    pub ends_earlier: u64,
    /// Loops that would have gone on.
    pub goes_on: u64,
    /// Loops of which it is not known.
    pub not_known: u64,
    /// Continuations that would not have happened.
    pub iterations_saved: u64,
    /// Milliseconds of work that would not have been done.
    pub ms_saved: i64,
    /// Money that would not have been spent, in millionths of a dollar, where it was counted.
    pub micros_saved: u64,
    /// Proven ends that would have been lost.
    pub proofs_lost: u64,
}

/// What happened to loops, as people and programs read it.
pub struct Records<'a> {
    pub(crate) context: &'a mut Context,
}

impl Records<'_> {
    /// Everything that happened to a loop, as the asker may see it.
    pub fn chronicle(&mut self, id: &str) -> Result<Vec<Happened>, Failure> {
        let stored = self.context.resolve(&LoopTarget::Named(id.into()))?;
        let veil = veil(self.context, &stored.state);
        let mut events = self.happened(&stored.state.id)?;
        for (event, _) in &mut events {
            veil.draw(event);
        }
        Ok(events)
    }

    /// Decides every recorded stop of a loop again.
    pub fn replay(&mut self, target: &LoopTarget) -> Result<ReplayView, Failure> {
        let id = self.context.resolve(target)?.state.id;
        let stops = replay(&self.happened(&id)?);
        let count = |wanted: fn(&ReplayResult) -> bool| {
            stops.iter().filter(|stop| wanted(&stop.result)).count()
        };
        Ok(ReplayView {
            id: id.as_str().into(),
            same: count(|result| *result == ReplayResult::Same),
            differs: count(|result| matches!(result, ReplayResult::Differs { .. })),
            not_known: count(|result| matches!(result, ReplayResult::NotKnown { .. })),
            stops,
        })
    }

    /// Tries the limits, gates and criteria in a policy file on loops that were touched in the last `since_ms`.
    pub fn back_test(
        &mut self,
        policy: &Path,
        since_ms: Option<u64>,
    ) -> Result<BackTestView, Failure> {
        let change = read_policy(policy)?;
        let mut view = BackTestView { loops: Vec::new(), total: BackTestTotal::default() };
        for stored in self.touched(since_ms)? {
            let found = back_test(&self.happened(&stored.state.id)?, &change);
            view.total.add(&found);
            view.loops.push(BackTestedLoop {
                id: stored.state.id.as_str().into(),
                outcome: stored.state.outcome(),
                goal: stored.state.goal,
                found,
            });
        }
        Ok(view)
    }

    /// Counts over the loops that were touched in the last `since_ms`.
    pub fn loop_stats(&mut self, since_ms: Option<u64>) -> Result<LoopStats, Failure> {
        let mut stories = Vec::new();
        for stored in self.touched(since_ms)? {
            stories.extend(LoopStory::tell(&self.chronicle(stored.state.id.as_str())?));
        }
        Ok(loop_stats(&stories))
    }

    /// A report over the loop that is meant; over all that run here, where several do.
    pub fn report_on(&mut self, target: &LoopTarget) -> Result<LoopReport, Failure> {
        let mut loops = Vec::new();
        for stored in self.context.resolve_all(target)? {
            loops.extend(self.reported(&stored)?);
        }
        Ok(LoopReport { made_at: self.context.now(), since: None, loops })
    }

    /// A report over the loops that were touched in the last `since_ms`.
    pub fn report_since(&mut self, since_ms: u64) -> Result<LoopReport, Failure> {
        let mut loops = Vec::new();
        for stored in self.touched(Some(since_ms))? {
            loops.extend(self.reported(&stored)?);
        }
        let since = self.context.now().plus(-i64::try_from(since_ms).unwrap_or(i64::MAX));
        Ok(LoopReport { made_at: self.context.now(), since: Some(since), loops })
    }

    /// Every loop as a line.
    pub fn loop_rows(&mut self) -> Result<Vec<LoopRow>, Failure> {
        let (mut rows, now) = (Vec::new(), self.context.now());
        self.context.journal.each(&Filter::default(), &mut |stored| {
            rows.push(LoopRow::of(&stored.state, now));
        })?;
        let running = self.all_checks_running();
        for row in rows.iter_mut().filter(|row| row.group == RowGroup::Running) {
            row.checking = running.get(&row.id).cloned();
        }
        Ok(rows)
    }

    /// Whether any loop may be running, as far as that is known without the journal.
    pub fn may_have_running(&self) -> bool {
        self.context.signs.any_held() || self.context.signs.any_pending()
    }

    /// How many loops that have not ended are in each group; the journal is not opened where
    /// there are none.
    pub fn count_running(&mut self) -> Result<Vec<(RowGroup, usize)>, Failure> {
        let mut counts: Vec<_> = RowGroup::ALL.iter().map(|group| (*group, 0)).collect();
        if !self.may_have_running() {
            return Ok(counts);
        }
        let now = self.context.now();
        let running = Filter { standing: EndedFilter::Running, ..Filter::default() };
        self.context.journal.each(&running, &mut |stored| {
            let group = LoopRow::of(&stored.state, now).group;
            let count = counts.iter_mut().find(|(known, _)| *known == group);
            if let Some((_, count)) = count {
                *count += 1;
            }
        })?;
        Ok(counts)
    }

    /// One loop as a line; `None` where it is gone.
    pub fn loop_row(&mut self, id: &str) -> Result<Option<LoopRow>, Failure> {
        let stored = self.context.journal.load(&LoopId::new(id))?;
        Ok(stored.map(|stored| self.row(&stored.state)))
    }

    /// Which loops something happened to after `cursor`, and where the journal ends now.
    pub fn changed_since(&mut self, cursor: u64) -> Result<(u64, BTreeSet<String>), Failure> {
        let (mut cursor, mut names) = (cursor, BTreeSet::new());
        loop {
            let page = self.context.journal.tail(Cursor(cursor), PAGE)?;
            let Some(last) = page.last() else { return Ok((cursor, names)) };
            cursor = last.cursor.0;
            names.extend(page.into_iter().map(|entry| entry.id.as_str().to_string()));
        }
    }

    /// Where the journal ends now, found without reading it.
    pub fn newest_cursor(&mut self) -> Result<u64, Failure> {
        let mut follows = |cursor: u64| -> Result<bool, Failure> {
            Ok(!self.context.journal.tail(Cursor(cursor), 1)?.is_empty())
        };
        let mut high = 1;
        while follows(high)? && high < u64::MAX / 4 {
            high *= 2;
        }
        let mut low = high / 2;
        while low < high {
            let middle = low + (high - low) / 2;
            if follows(middle)? {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// The loops whose checks run now, and which checks.
    pub fn all_checks_running(&self) -> BTreeMap<String, String> {
        let entries = fs::read_dir(self.context.home.all_running()).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.filter_map(|id| self.checks_running(&id).map(|checks| (id, checks))).collect()
    }

    /// The checks of a loop that run now, by name.
    pub fn checks_running(&self, id: &str) -> Option<String> {
        let runs = checking(&self.context.home, &LoopId::new(id), self.context.now());
        runs.map(|runs| runs.checks.join(", "))
    }

    /// The end of what a check of a loop prints right now, for people; `None` where none runs.
    pub fn running_output(&self, id: &str) -> Option<String> {
        // Which criteria are hidden can't be told from a log.
        if self.context.settings.is_agents_shell() || self.checks_running(id).is_none() {
            return None;
        }
        let log = newest_log(&self.context.home.check_logs(&LoopId::new(id)))?;
        let mut file = open_regular(&log).ok()?;
        let length = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(OUTPUT_BYTES))).ok()?;
        let mut end = Vec::new();
        file.take(OUTPUT_BYTES).read_to_end(&mut end).ok()?;
        Some(redact(&String::from_utf8_lossy(&end)).into())
    }

    fn row(&self, state: &State) -> LoopRow {
        let mut row = LoopRow::of(state, self.context.now());
        if row.group == RowGroup::Running {
            row.checking = self.checks_running(state.id.as_str());
        }
        row
    }

    fn happened(&mut self, id: &LoopId) -> Result<Vec<Happened>, Failure> {
        let entries = self.context.journal.history(id)?;
        Ok(entries.into_iter().map(|entry| (entry.recorded.event, entry.recorded.at)).collect())
    }

    fn touched(&mut self, since_ms: Option<u64>) -> Result<Vec<Stored>, Failure> {
        let now = self.context.now();
        let since = since_ms.map(|ms| now.plus(-i64::try_from(ms).unwrap_or(i64::MAX)));
        let mut found = self.context.journal.list(&Filter::default())?;
        found.retain(|stored| since.is_none_or(|since| stored.state.updated_at >= since));
        Ok(found)
    }

    fn reported(&mut self, stored: &Stored) -> Result<Option<ReportedLoop>, Failure> {
        let id = stored.state.id.as_str().to_string();
        let Some(mut story) = LoopStory::tell(&self.chronicle(&id)?) else { return Ok(None) };
        story.update_spend(&Metering { context: self.context }.with_spend_now(&stored.state));
        let view = Views { context: self.context }.view_checked(stored)?;
        let diff = self.diff_stat(&stored.state, story.commit.as_deref());
        Ok(Some(ReportedLoop {
            story,
            record: view.record.map_or("", Soundness::word),
            signature: view.signature.map(Signed::words),
            diff,
        }))
    }

    /// What the work tree has beyond the commit of the start; `None` where that is not known.
    fn diff_stat(&self, state: &State, noted: Option<&str>) -> Option<DiffStat> {
        let commit = match noted {
            Some(commit) => commit.to_string(),
            None => self.commit_of_basis(state)?,
        };
        let commit = commit.as_str();
        let ask = |words: &[&str]| -> Option<String> {
            let said = git(words, Path::new(state.root()), GitFilters::OwnOnly, GIT_TIME).ok()?;
            said.is_fine().then(|| String::from_utf8_lossy(&said.stdout).into_owned())
        };
        let changed =
            ask(&["diff", "--no-ext-diff", "--no-textconv", "--numstat", "-z", commit, "--"])?;
        let new = ask(&["ls-files", "--others", "--exclude-standard", "-z"])?;
        Some(DiffStat::parse(commit, &changed).with_new_files(&new))
    }
}

impl Records<'_> {
    /// The commit of the start, for loops of versions that noted it in the basis only.
    fn commit_of_basis(&self, state: &State) -> Option<String> {
        let path = self.context.place(PathBuf::new()).basis(state.ground.seal.as_ref()?);
        let basis = Basis::from_text(&read_text(&path, BASIS_BYTES_MAX).ok()?).ok()?;
        basis.commit().map(String::from)
    }
}

impl BackTestTotal {
    fn add(&mut self, found: &Counterfactual) {
        match found {
            Counterfactual::Same { .. } => self.same += 1,
            Counterfactual::GoesOn { .. } => self.goes_on += 1,
            Counterfactual::NotKnown { .. } => self.not_known += 1,
            Counterfactual::EndsEarlier {
                iterations_saved,
                ms_saved,
                micros_saved,
                loses_proof,
                ..
            } => {
                self.ends_earlier += 1;
                self.iterations_saved += u64::from(*iterations_saved);
                self.ms_saved = self.ms_saved.saturating_add(*ms_saved);
                self.micros_saved = self.micros_saved.saturating_add(micros_saved.unwrap_or(0));
                self.proofs_lost += u64::from(*loses_proof);
            }
        }
    }
}

/// The log that was written to last, in the directories of a loop's stops.
fn newest_log(logs: &Path) -> Option<PathBuf> {
    let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    let all = entries(logs).flat_map(|stop| entries(&stop.path()));
    let written = all.filter_map(|log| Some((log.metadata().ok()?.modified().ok()?, log.path())));
    written.max_by_key(|(at, _)| *at).map(|(_, path)| path)
}

/// What a policy file asks for; it has the form of a project's file.
fn read_policy(path: &Path) -> Result<PolicyChange, Failure> {
    let shown = path.display();
    let text = read_text(path, POLICY_BYTES_MAX).map_err(|error| {
        let what = if is_missing(&error) { "does not exist" } else { "can't be read" };
        Failure::usage(format!("the policy {shown} {what}"))
            .hint("name a file that is written like stopgate.toml")
            .because(error)
    })?;
    let file = ProjectFile::parse(&text).map_err(|why| {
        Failure::usage(format!("could not understand the policy {shown}: {why}"))
            .hint("write it like stopgate.toml: limits under [loop], gates, [[criterion]]")
    })?;
    let limits = file.limits;
    let gates = file.gates.as_deref().map(gates::read_for_trial).transpose()?;
    let criteria = (!file.criteria.is_empty())
        .then(|| file.criteria.into_iter().map(tried_criterion).collect());
    let change = PolicyChange {
        max_iterations: limits.max_iterations,
        max_minutes: limits.max_minutes,
        max_idle: limits.max_idle,
        max_repeat: limits.max_repeat,
        max_tokens: limits.max_tokens,
        max_cost_micros: limits.max_cost_micros,
        stale_after_ms: limits.stale_after_ms,
        gates,
        criteria,
    };
    if change == PolicyChange::default() {
        return Err(Failure::usage(format!("the policy {shown} has nothing to try"))
            .hint("for example: [loop], then max_iterations = 10"));
    }
    Ok(change)
}

/// A criterion as it is tried; what was noted at a loop's start stands for what would be noted.
fn tried_criterion(draft: CriterionDraft) -> Criterion {
    let mut criterion = draft.criterion;
    criterion.terms.baseline = (draft.start == AtStart::Baseline).then(Baseline::default);
    criterion
}
