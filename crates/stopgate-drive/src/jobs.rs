//! Features of a list side by side: each has a loop, a branch and a worktree of its own, and what is
//! proven is merged one after another.
//!
//! A small file says which loop builds which feature. It is written before a session begins, and
//! an entry goes when its feature is marked in the list: so a killed run can be taken up.

mod ledger;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use stopgate_core::{Criterion, LoopId, Mode, Outcome, Proof};
use stopgate_engine::{
    CriterionDraft, DialectCall, Engine, Failure, FailureKind, FeatureFiles, Incumbent, LoopTarget,
    NextFeature, Preflight, RequestedLimits, Settings, StartRequest, Stores, project_of,
};
use stopgate_store::Stored;

use self::ledger::JobLedger;
use crate::driver::{DriveEnd, DriveEnded, drive, new_uuid};
use crate::feature::{FeatureDesk, FeaturePart};
use crate::interrupt::{Interrupt, Interrupts};
use crate::loops::NativeLoop;
use crate::plan::{DriveNews, DrivePlan, SessionScreen, WorkPlace};
use crate::record::DriverFiles;
use crate::worktree;

/// What a person is told of one job.
#[derive(Clone, Copy, Debug)]
pub struct JobNews<'a> {
    /// The feature.
    pub feature: &'a str,
    /// What happened.
    pub news: &'a DriveNews<'a>,
}

/// Hears what happens, from every job's thread.
pub type JobsListener<'a> = &'a (dyn Fn(&JobNews<'_>) + Sync);

/// How one feature ended.
#[derive(Debug)]
pub struct JobEnded {
    /// The feature.
    pub feature: NextFeature,
    /// How its loop stands; nothing where it was not begun.
    pub ended: Option<Result<DriveEnded, Failure>>,
}

/// Builds the open features of a list, so many at a time.
pub fn drive_jobs(
    (settings, stores): (Settings, Stores),
    directory: PathBuf,
    plan: &DrivePlan,
    jobs: usize,
    interrupts: &Interrupts,
    news: JobsListener<'_>,
) -> Result<Vec<JobEnded>, Failure> {
    let mut desk = FeatureDesk { settings, stores, directory };
    let opened = desk.open()?;
    opened.features_view()?;
    desk.directory = opened.directory().to_path_buf();
    let root = project_of(&desk.directory);
    worktree::branch_of(&root)?;
    let home = settings.home()?;
    home.create()
        .map_err(|error| Failure::store("could not make the state directory").because(error))?;
    let name = format!("jobs-{}", root.display());
    let place = home.directory().join("runs").join(&*stopgate_verify::file_name(&name));
    let files = DriverFiles::take(place, "the list of features")?;
    let listed = FeatureFiles::listed(&opened)?;
    let mut ledger = JobLedger::read(files.file("jobs.json"));
    ledger.keep_only(&listed);
    // One that was marked by its merge may still have a loop to end.
    let is_open =
        |(feature, passes): &(NextFeature, bool)| !passes || ledger.loop_of(feature).is_some();
    let features: Vec<NextFeature> =
        listed.into_iter().filter(is_open).map(|(feature, _)| feature).collect();
    if !plan.continues && !ledger.is_empty() {
        return Err(unfinished(&ledger));
    }
    let crew = JobCrew {
        desk: &desk,
        root: &root,
        plan,
        interrupts,
        news,
        ledger: Mutex::new(ledger),
        starting: Mutex::new(()),
        is_warned: AtomicBool::new(false),
    };
    Ok(crew.build(features, jobs, &opened))
}

fn unfinished(ledger: &JobLedger) -> Failure {
    Failure::usage(format!(
        "an earlier run left features unfinished: {}",
        ledger.features().join(", ")
    ))
    .hint("go on with them: stopgate run --jobs N --continue -- AGENT")
}

/// Features in the list's order, with their places in it.
type JobQueue = Mutex<VecDeque<(usize, NextFeature)>>;

/// All that the jobs share.
struct JobCrew<'a> {
    desk: &'a FeatureDesk,
    root: &'a Path,
    plan: &'a DrivePlan,
    interrupts: &'a Interrupts,
    news: JobsListener<'a>,
    ledger: Mutex<JobLedger>,
    /// Checks that are run before a loop begins are run one after another.
    starting: Mutex<()>,
    /// What is true of the repository is told once.
    is_warned: AtomicBool,
}

impl JobCrew<'_> {
    fn build(
        &self,
        features: Vec<NextFeature>,
        jobs: usize,
        opened: &DialectCall,
    ) -> Vec<JobEnded> {
        let files = FeatureFiles::of(opened, self.root);
        let workers = jobs.clamp(1, features.len().max(1));
        let queue = Mutex::new(features.into_iter().enumerate().collect());
        let ended = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| self.work(&queue, &files, &ended));
            }
        });
        let mut ended = ended.into_inner().unwrap_or_else(PoisonError::into_inner);
        ended.sort_by_key(|(at, _)| *at);
        ended.into_iter().map(|(_, job)| job).collect()
    }

    /// Takes feature after feature; after an interrupt none is begun.
    fn work(&self, queue: &JobQueue, files: &FeatureFiles, ended: &Mutex<Vec<(usize, JobEnded)>>) {
        while let Some((at, feature)) = next(queue) {
            let is_wanted = self.interrupts.wish() == Interrupt::GoOn;
            let part = FeaturePart {
                feature: feature.clone(),
                files: files.clone(),
                desk: self.desk.clone(),
            };
            let job = is_wanted.then(|| self.job(&part));
            hold(ended).push((at, JobEnded { feature, ended: job }));
        }
    }

    /// Builds one feature, or goes on with it.
    fn job(&self, part: &FeaturePart) -> Result<DriveEnded, Failure> {
        let feature = part.feature.clone();
        let mut engine = Engine::open(self.desk.settings, self.desk.stores)?;
        engine.spare_children();
        let tell = |news: &DriveNews<'_>| (self.news)(&JobNews { feature: &feature.id, news });
        let (mut stored, is_known) = match self.known(&mut engine, &feature)? {
            Some(stored) => (stored, true),
            None => (self.start(&mut engine, &feature)?, false),
        };
        if is_built(&stored) {
            return self.close(engine, part, &stored.state.id);
        }
        let warnings = worktree::place(&mut engine, &mut stored)?;
        let is_news = !warnings.is_empty() && !self.is_warned.swap(true, Ordering::Relaxed);
        for warning in warnings.into_iter().filter(|_| is_news) {
            tell(&DriveNews::Warning { text: &warning });
        }
        let home = engine.home().clone();
        let looped = NativeLoop::for_feature(engine, &stored, part.clone());
        let plan = DrivePlan {
            continues: is_known,
            screen: SessionScreen::Headless,
            place: WorkPlace::Worktree,
            log: self.plan.log.as_ref().map(|log| log.join(format!("feature-{}", feature.id))),
            ..self.plan.clone()
        };
        let ended = drive(Box::new(looped), &home, &plan, self.interrupts, &mut { tell })?;
        if matches!(ended.view.outcome, Some(Outcome::Done | Outcome::Attested)) {
            hold(&self.ledger).forget(&feature)?;
        }
        Ok(ended)
    }

    /// The loop that was begun for a feature, if there is one that may go on.
    fn known(&self, engine: &mut Engine, feature: &NextFeature) -> Result<Option<Stored>, Failure> {
        let Some(id) = hold(&self.ledger).loop_of(feature) else { return Ok(None) };
        let stored = match engine.loops().resolve(&LoopTarget::Named(id)) {
            Ok(stored) => stored,
            // A journal that was thinned out knows it no more.
            Err(failure) if failure.kind == FailureKind::NoLoop => return Ok(None),
            Err(failure) => return Err(failure),
        };
        let is_final = stored.state.outcome().is_some_and(|outcome| !outcome.can_resume());
        Ok((is_built(&stored) || !is_final).then_some(stored))
    }

    /// Begins the loop of a feature: the project's own criteria, and the agent's word for this one.
    fn start(&self, engine: &mut Engine, feature: &NextFeature) -> Result<Stored, Failure> {
        let _one = hold(&self.starting);
        let claim = Criterion::new(&format!("feature {} is built", feature.id), Proof::Attest);
        let begun = engine.loops().start(&StartRequest {
            goal: format!("feature {}: {}", feature.id, feature.description),
            prompt: None,
            mode: Mode::Loop,
            limits: RequestedLimits::default(),
            criteria: vec![CriterionDraft::at_rest(claim)],
            gates: Vec::new(),
            // Its own from the start: no session that comes by may claim it.
            session: Some(new_uuid()?),
            directory: self.root.to_path_buf(),
            claim_within_ms: 0,
            incumbent: Incumbent::Keep,
            preflight: Preflight::Run,
            tool: None,
            shape: None,
        })?;
        hold(&self.ledger).note(feature, begun.stored.state.id.as_str())?;
        Ok(begun.stored)
    }

    /// A feature whose loop ended before it was marked.
    fn close(
        &self,
        mut engine: Engine,
        part: &FeaturePart,
        id: &LoopId,
    ) -> Result<DriveEnded, Failure> {
        part.mark()?;
        hold(&self.ledger).forget(&part.feature)?;
        let stored = engine.driven().driven(id)?;
        let view = engine.views().view_checked(&stored)?;
        Ok(DriveEnded { end: DriveEnd::Loop, view, sessions: 0 })
    }
}

fn is_built(stored: &Stored) -> bool {
    matches!(stored.state.outcome(), Some(Outcome::Done | Outcome::Attested))
}

fn next(queue: &JobQueue) -> Option<(usize, NextFeature)> {
    hold(queue).pop_front()
}

fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
