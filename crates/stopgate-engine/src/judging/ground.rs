//! What is fixed when a loop begins: its criteria, what failed before, and what judges it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_core::{Author, Criterion, FirstRun, Ground, LoopId, Receipt, Status};
use stopgate_verify::files::{Durable, replace_private};
use stopgate_verify::{
    Basis, BasisStore, Files, FirstWrites, Freshness, JudgeLine, Measured, PlaceReport,
    ProofRequest, ProofStorage, Strangers, content_fingerprint, place_report, steering_variables,
};

use crate::config::Config;
use crate::context::Context;
use crate::failure::Failure;
use crate::judging::background::{longest_ms, start_first_runs};
use crate::project_file::{AtStart, CriterionDraft, ProjectFile};

/// What must be known before a loop begins may take as long as a person is willing to wait.
const MEASURE_BUDGET: Duration = Duration::from_hours(1);
/// The first run of everything else.
const PREFLIGHT_BUDGET: Duration = Duration::from_mins(2);

/// A check that takes less fits into the time of any stop.
const LONG_MS: u64 = 20_000;

/// Whether each check is run once before a loop begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preflight {
    /// It is.
    Run,
    /// It is not: a person said so.
    Skip,
}

/// What a loop begins with.
#[derive(Default)]
pub(crate) struct PreparedLoop {
    pub(crate) criteria: Vec<Criterion>,
    pub(crate) ground: Ground,
    /// The commit that is checked out.
    pub(crate) commit: Option<String>,
    /// What was run at the start, and how it came out.
    pub(crate) measured: Vec<Preflighted>,
    /// The files that judge each criterion.
    pub(crate) judges: Vec<JudgesOf>,
    /// Why nothing could be noted to judge by, where nothing could.
    pub(crate) no_basis: Option<String>,
    /// What a person should know about the checks.
    pub(crate) warnings: Vec<String>,
    /// Where original runs take place, where any check runs something.
    pub(crate) place: Option<PlaceReport>,
    /// Variables that steer the checks' runners.
    pub(crate) steering: Vec<String>,
}

/// What is known about checks that a running loop is given.
pub(crate) struct PreparedChecks {
    pub(crate) basis: Option<Basis>,
    pub(crate) measured: Vec<Preflighted>,
    pub(crate) judges: Vec<JudgesOf>,
}

/// Whether the commands of the project's file may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProjectCommands {
    /// They may: a person trusts the file, or it asks for nothing that needs trust.
    Allowed,
    /// They may not.
    Untrusted,
}

/// A check that was run before the loop began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preflighted {
    /// The criterion.
    pub criterion: String,
    /// How it came out.
    pub receipt: Receipt,
    /// How many failures were there already, where they are not counted later.
    pub known: Option<usize>,
    /// What the check writes itself.
    pub writes: FirstWrites,
    /// Whether it had come to its end when `start` stopped waiting.
    pub finish: PreflightFinish,
    /// Whether it takes longer than a stop waits, so that it goes on in the background there.
    pub is_long: bool,
    /// The fingerprint of the tree afterwards.
    tree: Option<String>,
}

/// Whether the first run of a check has come to its end, and what becomes of it where not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PreflightFinish {
    /// It has ended, by itself or because its own time was over.
    Ended,
    /// It was ended after this time, for this reason.
    Cut {
        /// How long it was waited for.
        after: Duration,
        /// Why it does not go on in the background, where that was tried.
        why: Option<String>,
    },
    /// It was not over after this time, and goes on in the background on a copy of the tree.
    GoesOn {
        /// How long it was waited for.
        after: Duration,
    },
}

/// The files that judge one criterion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgesOf {
    /// The criterion.
    pub criterion: String,
    /// Its judges.
    pub judges: Vec<JudgeLine>,
}

/// Fixes what the loop is judged by; runs what must be known before it begins.
pub(crate) fn prepare_loop(
    context: &mut Context,
    project: &Path,
    file: Option<&ProjectFile>,
    drafts: Vec<CriterionDraft>,
    preflight: Preflight,
    commands: ProjectCommands,
) -> Result<PreparedLoop, Failure> {
    let mut ground = Ground {
        source: file.map(|file| file.source.clone()),
        roots: file.map(|file| file.roots.clone()).unwrap_or_default(),
        jobs: file.map_or(0, |file| file.jobs),
        ..Ground::default()
    };
    let wanted: Vec<AtStart> =
        drafts.iter().map(|draft| wanted(draft, preflight, commands)).collect();
    let mut criteria: Vec<Criterion> = drafts.into_iter().map(|d| d.criterion).collect();
    let measured = measure(context, project, &ground, &mut criteria, &wanted)?;
    await_first_runs(&mut criteria, &measured);
    let writes: Vec<FirstWrites> = criteria
        .iter()
        .map(|criterion| {
            let own = measured.iter().find(|one| one.criterion == criterion.name);
            own.map(|one| one.writes.clone()).unwrap_or_default()
        })
        .collect();
    let (basis, no_basis) = take_basis(context, project, &criteria, &writes)?;
    let judges = basis.as_ref().map(|basis| judges_of(basis, &criteria)).unwrap_or_default();
    let commit = basis.as_ref().and_then(|basis| basis.commit()).map(String::from);
    ground.seal = basis.map(|basis| keep_basis(context, &basis)).transpose()?;
    let warnings = criteria.iter().flat_map(stopgate_verify::check_warnings).collect();
    let runs = criteria.iter().any(|criterion| criterion.command().is_some());
    let copies = context.place(PathBuf::new()).copies();
    let place = runs.then(|| place_report(project, &copies));
    let steering = if runs { steering_variables() } else { Vec::new() };
    Ok(PreparedLoop {
        criteria,
        ground,
        commit,
        measured,
        judges,
        no_basis,
        warnings,
        place,
        steering,
    })
}

/// Runs checks that a running loop is given, and notes what judges them.
pub(crate) fn prepare_checks(
    context: &mut Context,
    project: &Path,
    ground: &Ground,
    drafts: Vec<CriterionDraft>,
) -> Result<(Vec<Criterion>, PreparedChecks), Failure> {
    let commands = ProjectCommands::Allowed;
    let wanted: Vec<AtStart> =
        drafts.iter().map(|draft| wanted(draft, Preflight::Run, commands)).collect();
    let mut criteria: Vec<Criterion> = drafts.into_iter().map(|d| d.criterion).collect();
    let measured = measure(context, project, ground, &mut criteria, &wanted)?;
    let writes: Vec<FirstWrites> = measured.iter().map(|one| one.writes.clone()).collect();
    let (basis, _) = take_basis(context, project, &criteria, &writes)?;
    let judges = basis.as_ref().map(|basis| judges_of(basis, &criteria)).unwrap_or_default();
    Ok((criteria, PreparedChecks { basis, measured, judges }))
}

/// Runs the checks whose first outcome matters later.
pub(crate) fn measure(
    context: &mut Context,
    project: &Path,
    ground: &Ground,
    criteria: &mut [Criterion],
    wanted: &[AtStart],
) -> Result<Vec<Preflighted>, Failure> {
    let due: Vec<usize> = (0..wanted.len()).filter(|at| wanted[*at] != AtStart::Rest).collect();
    if due.is_empty() {
        return Ok(Vec::new());
    }
    let asked: Vec<Criterion> = due.iter().map(|at| criteria[*at].clone()).collect();
    let place =
        ProofStorage { home: context.home.directory().into(), logs: context.home.start_logs() };
    let pass = context.passed_variables();
    let must = wanted.iter().any(|wanted| matches!(wanted, AtStart::Count | AtStart::Baseline));
    let budget = if must { MEASURE_BUDGET } else { preflight_budget(context)? };
    let request = ProofRequest {
        criteria: &asked,
        root: project,
        ground,
        message: None,
        place: &place,
        freshness: Freshness::Fresh,
        files: Files::Countable,
        since: None,
        budget,
        strangers: Strangers::Spare,
        pass: &pass,
        only_place: None,
        later: &[],
    };
    let measured = context.while_told(&asked, |world| world.measure(&request));
    let measured =
        measured.ok_or_else(|| Failure::interrupted("interrupted while the checks ran"))?;
    let mut preflighted = Vec::new();
    for (at, measured) in due.into_iter().zip(measured) {
        let mut one = settle(&mut criteria[at], wanted[at], measured)?;
        one.is_long = Duration::from_millis(one.receipt.duration_ms) > context.hook_time();
        if is_cut(&criteria[at], &one.receipt) {
            one.finish = PreflightFinish::Cut { after: budget, why: None };
        }
        preflighted.push(one);
    }
    Ok(preflighted)
}

/// How long `start` waits for first runs.
fn preflight_budget(context: &Context) -> Result<Duration, Failure> {
    Ok(Config::read(context.settings)?.preflight_time.unwrap_or(PREFLIGHT_BUDGET))
}

/// Whether a check was ended although it might have gone on.
fn is_cut(criterion: &Criterion, receipt: &Receipt) -> bool {
    receipt.status == Status::Timeout && receipt.duration_ms < criterion.timeout_ms()
}

/// Notes which checks had not come to their end: what their first run says may come later.
fn await_first_runs(criteria: &mut [Criterion], measured: &[Preflighted]) {
    for one in measured.iter().filter(|one| one.finish != PreflightFinish::Ended) {
        let criterion = criteria.iter_mut().find(|criterion| criterion.name == one.criterion);
        if let Some(criterion) = criterion {
            criterion.first = Some(FirstRun { tree: one.tree.clone(), result: None });
        }
    }
}

/// Goes on in the background with the first runs that are not over, on a copy of the tree as it is.
pub(crate) fn go_on_with_first_runs(context: &Context, id: &LoopId, measured: &mut [Preflighted]) {
    let open = |one: &Preflighted| matches!(one.finish, PreflightFinish::Cut { .. });
    if !measured.iter().any(open) {
        return;
    }
    let begun = start_first_runs(&context.home, id);
    for one in measured.iter_mut().filter(|one| open(one)) {
        if let PreflightFinish::Cut { after, .. } = one.finish {
            one.finish = match &begun {
                Ok(()) => PreflightFinish::GoesOn { after },
                Err(why) => PreflightFinish::Cut { after, why: Some(why.clone()) },
            };
        }
    }
}

/// Notes what the checks are judged by; the reason where that can't be noted.
fn take_basis(
    context: &Context,
    project: &Path,
    criteria: &[Criterion],
    writes: &[FirstWrites],
) -> Result<(Option<Basis>, Option<String>), Failure> {
    if !criteria.iter().any(Criterion::is_checked) {
        return Ok((None, None));
    }
    let place = context.place(PathBuf::new());
    let (objects, trees) = (place.objects(), place.trees());
    let store = BasisStore { objects: &objects, trees: &trees };
    match Basis::take(project, criteria, writes, store) {
        Ok(basis) => Ok((Some(basis), None)),
        // Nothing was asked to be protected: a project too large to look through is no
        // reason to refuse.
        Err(error) if criteria.iter().all(|c| c.terms.protect.is_empty()) => {
            Ok((None, Some(Failure::fault(format!("could not {error}")).because(error).story())))
        }
        Err(error) => {
            Err(Failure::fault("could not record the files that judge the work").because(error))
        }
    }
}

/// Keeps a basis outside the work tree; gives its fingerprint.
pub(crate) fn keep_basis(context: &Context, basis: &Basis) -> Result<String, Failure> {
    let text = basis.to_text();
    let fingerprint = content_fingerprint(text.as_bytes());
    write_note(&context.place(PathBuf::new()).basis(&fingerprint), &text)?;
    Ok(fingerprint)
}

/// Notes what judges the work now, as a new basis; gives its fingerprint.
pub(crate) fn new_basis(
    context: &Context,
    project: &Path,
    criteria: &[Criterion],
) -> Result<String, Failure> {
    let (basis, why) = take_basis(context, project, criteria, &[])?;
    let basis = basis.ok_or_else(|| {
        Failure::fault(
            why.unwrap_or_else(|| "could not record the files that judge the work".into()),
        )
    })?;
    keep_basis(context, &basis)
}

/// What is done with a check before the loop begins.
fn wanted(draft: &CriterionDraft, preflight: Preflight, commands: ProjectCommands) -> AtStart {
    let forbidden =
        commands == ProjectCommands::Untrusted && draft.criterion.terms.author == Author::Project;
    match (draft.start, preflight) {
        (AtStart::Rest, Preflight::Run) if draft.criterion.command().is_some() && !forbidden => {
            AtStart::Try
        }
        (start, _) => start,
    }
}

fn judges_of(basis: &Basis, criteria: &[Criterion]) -> Vec<JudgesOf> {
    let runs = criteria.iter().filter(|criterion| criterion.command().is_some());
    runs.map(|criterion| JudgesOf {
        criterion: criterion.name.clone(),
        judges: basis.judges(&criterion.name),
    })
    .collect()
}

fn settle(
    criterion: &mut Criterion,
    wanted: AtStart,
    measured: Measured,
) -> Result<Preflighted, Failure> {
    let name = criterion.name.clone();
    let Measured { receipt, baseline, writes, tree } = measured;
    let ran = matches!(receipt.status, Status::Pass | Status::Fail);
    if !ran && wanted != AtStart::Try {
        let why = receipt.trouble.as_deref().unwrap_or("it could not be run");
        return Err(Failure::usage(format!("check \"{name}\" can't be run: {why}"))
            .hint("fix the check first: nothing could be proven with it"));
    }
    criterion.tests = receipt.evidence.tests;
    criterion.takes_ms = takes_ms(criterion, &receipt);
    let finish = PreflightFinish::Ended;
    let is_long = false;
    if wanted != AtStart::Baseline {
        let known = None;
        return Ok(Preflighted { criterion: name, receipt, known, writes, finish, is_long, tree });
    }
    let baseline = baseline.map_err(|many| {
        Failure::usage(format!("check \"{name}\" can't have a baseline: {many}"))
    })?;
    let known = Some(baseline.failures.len());
    criterion.terms.baseline = Some(baseline);
    Ok(Preflighted { criterion: name, receipt, known, writes, finish, is_long, tree })
}

/// How long a check takes, where that is worth knowing; one that did not end may take as long as
/// it is allowed to.
fn takes_ms(criterion: &Criterion, receipt: &Receipt) -> Option<u64> {
    let ms = match receipt.status {
        Status::Timeout => longest_ms(criterion),
        _ => receipt.duration_ms,
    };
    (ms >= LONG_MS).then_some(ms)
}

fn write_note(path: &Path, text: &str) -> Result<(), Failure> {
    if path.exists() {
        // The name is the content's fingerprint: what is there is the same.
        return Ok(());
    }
    replace_private(path, text.as_bytes(), Durable::Buffered).map_err(|error| {
        Failure::fault(format!("could not write {}", path.display())).because(error)
    })
}

pub(crate) fn kept_basis(context: &Context, seal: &str) -> Option<Basis> {
    let path = context.place(PathBuf::new()).basis(seal);
    let text = std::fs::read_to_string(Path::new(&path)).ok()?;
    Basis::from_text(&text).ok()
}
