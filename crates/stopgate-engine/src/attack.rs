//! Attacks a project's own criteria on a copy of it: would a known exploit end as done?
//!
//! The work is broken first, so that an honest check fails. Each exploit then tries to make the
//! check pass all the same. The real tree is only read.

mod apply;
mod breaking;
mod catalogue;
mod exploit;
mod fit;
mod report;
mod trial;

use std::path::PathBuf;
use std::time::Duration;

use stopgate_core::{Criterion, Ground, Proof, Receipt, Status};
use stopgate_verify::{ProjectCopy, ProofStorage};

pub use self::exploit::Ecosystem;
pub use self::report::{
    AttackAdvice, AttackReport, AttackStep, AttackedCriterion, AttemptResult, ExploitTrial,
};

use self::apply::{Edits, Grounds};
use self::exploit::Exploit;
use self::trial::{Trial, TrialRoom, TriedCriterion};
use crate::context::Context;
use crate::failure::Failure;
use crate::project_file::{CriterionDraft, ProjectFile};
use crate::trust::{Trust, untrusted};

/// How long the project may take to be copied.
const COPY_WITHIN: Duration = Duration::from_mins(5);
/// How many files are broken, one after the other, until the check fails.
const BREAKS_MAX: usize = 8;

/// What is attacked.
#[derive(Clone, Debug)]
pub struct AttackRequest {
    /// The project's root.
    pub project: PathBuf,
    /// Checks to attack instead of those of the project's file, each with a name.
    pub checks: Vec<(String, String)>,
    /// How long one of these may take.
    pub timeout_ms: u64,
    /// Whether only a few exploits are tried that stand for the rest.
    pub quick: bool,
    /// How long it may take.
    pub within: Duration,
}

/// An attack under way.
struct Attack<'a, 'w> {
    trial: Trial<'w>,
    request: &'a AttackRequest,
    report: AttackReport,
    told: &'a mut dyn FnMut(AttackStep<'_>),
}

/// An exploit that got through, with the files it touched.
struct Hole {
    exploit: Exploit,
    files: Vec<PathBuf>,
}

/// Attempts to pass checks without doing the work.
pub struct Attacks<'a> {
    pub(crate) context: &'a mut Context,
}

impl Attacks<'_> {
    /// Attacks a project's criteria on a copy of it; `told` hears of each step.
    pub fn attack(
        &mut self,
        request: &AttackRequest,
        told: &mut dyn FnMut(AttackStep<'_>),
    ) -> Result<AttackReport, Failure> {
        self.context.prepare()?;
        let (drafts, ground) = self.targets(request)?;
        let copies = self.context.place(PathBuf::new()).copies();
        let copy = ProjectCopy::make(&request.project, &copies, COPY_WITHIN).map_err(|why| {
            Failure::usage(format!("could not copy {}: {why}", request.project.display()))
        })?;
        told(AttackStep::Copied);
        let place = ProofStorage { home: copy.home(), logs: copy.home().join("logs") };
        let pass = self.context.passed_variables();
        let only_place = self.context.settings.test_place();
        let begun_micros = self.context.world.micros();
        let world = self.context.world.as_mut();
        let room = TrialRoom { root: copy.root(), place, ground, pass, only_place };
        let trial = Trial { copy: &copy, world, begun_micros, within: request.within, room };
        let report = AttackReport {
            project: request.project.display().to_string(),
            applicable: 0,
            caught: 0,
            not_tried: 0,
            criteria: Vec::new(),
            attempts: Vec::new(),
            advice: Vec::new(),
        };
        let mut attack = Attack { trial, request, report, told };
        for draft in &drafts {
            attack.criterion(draft)?;
        }
        attack.trial.heed()?;
        let mut report = attack.report;
        report.count();
        Ok(report)
    }

    /// The criteria that run something: those that were given, else the project's own.
    fn targets(&self, request: &AttackRequest) -> Result<(Vec<CriterionDraft>, Ground), Failure> {
        let file = ProjectFile::read(&request.project)?;
        let given = request.checks.iter().map(|(name, command)| {
            let (command, timeout_ms) = (command.clone(), request.timeout_ms);
            CriterionDraft::at_rest(Criterion::new(name, Proof::Check { command, timeout_ms }))
        });
        let mut drafts: Vec<CriterionDraft> = given.collect();
        let mut ground = Ground::default();
        if let Some(file) = file.filter(|_| drafts.is_empty()) {
            if file.needs_trust() && !Trust::of(&self.context.home).has(&file.source) {
                return Err(untrusted());
            }
            let outer = |root: &String| request.project.join(root).display().to_string();
            ground.roots = file.roots.iter().map(outer).collect();
            ground.jobs = file.jobs;
            drafts = file.criteria;
        }
        drafts.retain(|draft| draft.criterion.command().is_some());
        if drafts.is_empty() {
            return Err(Failure::usage("there is nothing to attack: no criterion runs a command")
                .hint("name one: stopgate attack --check NAME=COMMAND, or write a stopgate.toml"));
        }
        Ok((drafts, ground))
    }
}

impl Attack<'_, '_> {
    fn criterion(&mut self, draft: &CriterionDraft) -> Result<(), Failure> {
        let name = draft.criterion.name.clone();
        (self.told)(AttackStep::Began(&name));
        let tried = self.trial.begin(draft)?;
        let grounds = self.grounds(&tried)?;
        let broken = match tried.first.status {
            Status::Fail => Ok(Edits::default()),
            Status::Pass => self.broken(&tried, &grounds)?,
            _ => Err(tried.first.trouble.clone().unwrap_or_else(|| "it can't be run".into())),
        };
        let file = broken.as_ref().ok().and_then(|edits| edits.paths().first().cloned());
        self.report.criteria.push(AttackedCriterion {
            criterion: name.clone(),
            broken: file.map(|path| path.display().to_string()),
            skipped: broken.as_ref().err().cloned(),
        });
        let Ok(broken) = broken else { return Ok(()) };
        let holes = self.exploits(&name, &tried, &grounds)?;
        if !holes.is_empty() {
            let sources: Vec<(PathBuf, String)> = broken
                .paths()
                .into_iter()
                .filter_map(|path| grounds.text(&path).map(|text| (path, text)))
                .collect();
            taken_back(broken, &grounds)?;
            let again = self.advise(draft, &holes, &tried, &sources)?;
            return taken_back(again, &grounds);
        }
        taken_back(broken, &grounds)
    }

    fn grounds(&self, tried: &TriedCriterion) -> Result<Grounds, Failure> {
        let command = tried.criterion.command().unwrap_or_default();
        let files = self.trial.files()?;
        Ok(Grounds { root: self.trial.room.root.clone(), files, command })
    }

    /// Breaks the work until the check fails; why not, where it never does.
    fn broken(
        &mut self,
        tried: &TriedCriterion,
        grounds: &Grounds,
    ) -> Result<Result<Edits, String>, Failure> {
        let mut second_best = None;
        for (path, text) in
            breaking::candidates(grounds, &tried.judges).into_iter().take(BREAKS_MAX)
        {
            let edits = break_one(grounds, &path, &text)?;
            let receipt = self.trial.prove(tried)?;
            let tests = |receipt: &Receipt| receipt.evidence.tests.is_some_and(|t| t.ran() > 0);
            if receipt.status == Status::Fail && (tests(&receipt) || !tests(&tried.first)) {
                return Ok(Ok(edits));
            }
            if receipt.status == Status::Fail && second_best.is_none() {
                second_best = Some((path, text));
            }
            taken_back(edits, grounds)?;
        }
        Ok(match second_best {
            Some((path, text)) => Ok(break_one(grounds, &path, &text)?),
            None => Err("the work could not be broken so that the check fails".into()),
        })
    }

    /// Tries every exploit that fits; those that got through.
    fn exploits(
        &mut self,
        name: &str,
        tried: &TriedCriterion,
        grounds: &Grounds,
    ) -> Result<Vec<Hole>, Failure> {
        let ecosystems = fit::ecosystems(grounds);
        let fits = |exploit: &Exploit| {
            ecosystems.contains(&exploit.ecosystem) && (exploit.quick || !self.request.quick)
        };
        let chosen: Vec<Exploit> = catalogue::all().filter(fits).collect();
        let mut holes = Vec::new();
        for exploit in chosen {
            let (result, why, files) = self.attempt(&exploit, tried, grounds)?;
            let shown = files.iter().map(|path| path.display().to_string()).collect();
            let attempt = ExploitTrial {
                criterion: name.to_string(),
                exploit: exploit.name,
                ecosystem: exploit.ecosystem,
                result,
                why,
                files: shown,
            };
            (self.told)(AttackStep::Tried(&attempt));
            self.report.attempts.push(attempt);
            if result == AttemptResult::Passed {
                holes.push(Hole { exploit, files });
            }
        }
        Ok(holes)
    }

    fn attempt(
        &mut self,
        exploit: &Exploit,
        tried: &TriedCriterion,
        grounds: &Grounds,
    ) -> Result<(AttemptResult, Option<String>, Vec<PathBuf>), Failure> {
        if self.trial.left().is_zero() {
            return Ok((AttemptResult::NotTried, None, Vec::new()));
        }
        let mut edits = Edits::default();
        let mut changed = false;
        for edit in exploit.edits {
            changed |= edits.apply(grounds, exploit.ecosystem, edit).map_err(unwritable)?;
        }
        if !changed {
            taken_back(edits, grounds)?;
            let why = Some("it finds nothing to edit here".into());
            return Ok((AttemptResult::NotApplicable, why, Vec::new()));
        }
        let files = edits.paths();
        let receipt = self.trial.prove(tried);
        taken_back(edits, grounds)?;
        let (result, why) = judged(&receipt?);
        Ok((result, why, files))
    }

    /// Says which files to protect, and tries whether that helps; the work stays broken.
    fn advise(
        &mut self,
        draft: &CriterionDraft,
        holes: &[Hole],
        tried: &TriedCriterion,
        sources: &[(PathBuf, String)],
    ) -> Result<Edits, Failure> {
        let name = draft.criterion.name.as_str();
        (self.told)(AttackStep::Advising(name));
        let mut draft = draft.clone();
        let protect = &mut draft.criterion.terms.protect;
        for path in holes.iter().flat_map(|hole| &hole.files) {
            let path = path.display().to_string();
            if !tried.judges.iter().any(|judge| judge.display().to_string() == path)
                && !protect.contains(&path)
            {
                protect.push(path);
            }
        }
        let line = protect_line(protect);
        let tried = self.trial.begin(&draft)?;
        let grounds = self.grounds(&tried)?;
        let mut broken = Edits::default();
        for (path, text) in sources {
            let old = grounds.text(path).unwrap_or_default();
            broken.replace(&grounds, path, &old, text).map_err(unwritable)?;
        }
        let mut still_pass = Vec::new();
        for hole in holes {
            let (result, _, _) = self.attempt(&hole.exploit, &tried, &grounds)?;
            if !matches!(result, AttemptResult::Caught | AttemptResult::NotApplicable) {
                still_pass.push(hole.exploit.name);
            }
        }
        let exploits = holes.iter().map(|hole| hole.exploit.name).collect();
        let criterion = name.to_string();
        self.report.advice.push(AttackAdvice { criterion, exploits, line, still_pass });
        Ok(broken)
    }
}

fn break_one(grounds: &Grounds, path: &std::path::Path, text: &str) -> Result<Edits, Failure> {
    let mut edits = Edits::default();
    let old = grounds.text(path).unwrap_or_default();
    edits.replace(grounds, path, &old, text).map_err(unwritable)?;
    Ok(edits)
}

fn taken_back(edits: Edits, grounds: &Grounds) -> Result<(), Failure> {
    edits.undo(&grounds.root).map_err(unwritable)
}

/// What a receipt says about an exploit.
fn judged(receipt: &Receipt) -> (AttemptResult, Option<String>) {
    let why = || receipt.trouble.clone();
    match receipt.status {
        Status::Pass if receipt.evidence.word => {
            (AttemptResult::Caught, Some("it would end as attested, not as done".into()))
        }
        Status::Pass => (AttemptResult::Passed, None),
        Status::NeedsApproval | Status::Tampered => (AttemptResult::Caught, why()),
        // The check itself was content.
        Status::Fail | Status::Error | Status::Timeout if receipt.exit_code == Some(0) => {
            (AttemptResult::Caught, why())
        }
        Status::Fail | Status::Error | Status::Timeout => {
            (AttemptResult::NotApplicable, Some("the check fails all the same".into()))
        }
    }
}

fn protect_line(patterns: &[String]) -> String {
    let quoted: Vec<String> =
        patterns.iter().map(|own| serde_json::Value::from(own.as_str()).to_string()).collect();
    format!("protect = [{}]", quoted.join(", "))
}

fn unwritable(error: std::io::Error) -> Failure {
    Failure::fault("could not edit the copy of the project").because(error)
}
