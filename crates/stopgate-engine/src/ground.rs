//! What is fixed when a loop begins: its criteria, what failed before, and what judges it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use stopgate_core::{Criterion, Ground, Status};
use stopgate_verify::{
    Files, Freshness, Measured, Place, Request, Seal, Strangers, content_fingerprint,
};

use crate::engine::Engine;
use crate::failure::Failure;
use crate::project_file::{AtStart, Draft, ProjectFile};

/// The first run of checks may take as long as a person is willing to wait.
const MEASURE_BUDGET: Duration = Duration::from_hours(1);

/// What a loop begins with.
pub(crate) struct Laid {
    pub(crate) criteria: Vec<Criterion>,
    pub(crate) ground: Ground,
    /// What was run at the start, and how it came out.
    pub(crate) measured: Vec<Counted>,
}

/// A check that was run at the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The criterion.
    pub criterion: String,
    /// How many failures were there already, where they are not counted later.
    pub known: Option<usize>,
    /// How many tests it ran.
    pub tests: Option<u32>,
}

impl Engine {
    /// Fixes what the loop is judged by; runs what must be known before it begins.
    pub(crate) fn lay_ground(
        &mut self,
        project: &Path,
        file: Option<&ProjectFile>,
        drafts: Vec<Draft>,
    ) -> Result<Laid, Failure> {
        let mut ground = Ground {
            seal: None,
            source: file.map(|file| file.source.clone()),
            roots: file.map(|file| file.roots.clone()).unwrap_or_default(),
            jobs: file.map_or(0, |file| file.jobs),
        };
        let (criteria, measured) = self.measure(project, &ground, drafts)?;
        ground.seal = self.seal(project, &criteria)?;
        Ok(Laid { criteria, ground, measured })
    }

    /// Runs the checks whose first outcome matters later.
    fn measure(
        &mut self,
        project: &Path,
        ground: &Ground,
        drafts: Vec<Draft>,
    ) -> Result<(Vec<Criterion>, Vec<Counted>), Failure> {
        let wanted: Vec<AtStart> = drafts.iter().map(|draft| draft.start).collect();
        let mut criteria: Vec<Criterion> = drafts.into_iter().map(|d| d.criterion).collect();
        let due: Vec<usize> = (0..wanted.len()).filter(|at| wanted[*at] != AtStart::Rest).collect();
        if due.is_empty() {
            return Ok((criteria, Vec::new()));
        }
        let asked: Vec<Criterion> = due.iter().map(|at| criteria[*at].clone()).collect();
        let place = Place { home: self.home.folder().into(), logs: self.home.start_logs() };
        let pass = self.passed_variables();
        let request = Request {
            criteria: &asked,
            root: project,
            ground,
            message: None,
            place: &place,
            freshness: Freshness::Fresh,
            files: Files::Countable,
            since: None,
            budget: MEASURE_BUDGET,
            strangers: Strangers::Spare,
            pass: &pass,
        };
        let measured = self.world.measure(&request);
        let measured =
            measured.ok_or_else(|| Failure::interrupted("interrupted while the checks ran"))?;
        let mut counted = Vec::new();
        for (at, measured) in due.into_iter().zip(measured) {
            counted.push(settle(&mut criteria[at], wanted[at], measured)?);
        }
        Ok((criteria, counted))
    }

    /// Notes what the checks are judged by, outside the work tree.
    pub(crate) fn seal(
        &self,
        project: &Path,
        criteria: &[Criterion],
    ) -> Result<Option<String>, Failure> {
        if !criteria.iter().any(Criterion::is_checked) {
            return Ok(None);
        }
        let place = self.place(PathBuf::new());
        let taken = Seal::take(project, criteria, &place.objects(), &place.trees());
        let seal = match taken {
            Ok(seal) => seal,
            // Nothing was asked to be protected: a folder too large to look through is no reason
            // to refuse.
            Err(_) if criteria.iter().all(|c| c.terms.protect.is_empty()) => return Ok(None),
            Err(error) => {
                return Err(
                    Failure::fault("could not note what the checks are judged by").because(error)
                );
            }
        };
        let text = seal.to_text();
        let fingerprint = content_fingerprint(text.as_bytes());
        write_note(&place.seal(&fingerprint), &text)?;
        Ok(Some(fingerprint))
    }

    /// Where checks keep their things.
    pub(crate) fn place(&self, logs: PathBuf) -> Place {
        Place { home: self.home.folder().into(), logs }
    }

    /// Variables that the person passes on to checks.
    pub(crate) fn passed_variables(&self) -> Vec<String> {
        self.choice.pass.clone()
    }
}

fn settle(
    criterion: &mut Criterion,
    wanted: AtStart,
    measured: Measured,
) -> Result<Counted, Failure> {
    let name = criterion.name.clone();
    let receipt = &measured.receipt;
    if !matches!(receipt.status, Status::Pass | Status::Fail) {
        let why = receipt.trouble.as_deref().unwrap_or("it could not be run");
        return Err(Failure::usage(format!("check \"{name}\" can't be run: {why}"))
            .hint("mend the check first: nothing could be proven with it"));
    }
    criterion.tests = receipt.evidence.tests;
    let tests = criterion.tests.map(|tests| tests.collected);
    if wanted != AtStart::Baseline {
        return Ok(Counted { criterion: name, known: None, tests });
    }
    let baseline = measured.baseline.map_err(|many| {
        Failure::usage(format!("check \"{name}\" can't have a baseline: {many}"))
    })?;
    let known = Some(baseline.failures.len());
    criterion.terms.baseline = Some(baseline);
    Ok(Counted { criterion: name, known, tests })
}

fn write_note(path: &Path, text: &str) -> Result<(), Failure> {
    let failed =
        |error| Failure::fault(format!("could not write {}", path.display())).because(error);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    // The name is the content's fingerprint: whoever writes it at the same time writes the same.
    let own = path.with_extension(format!("{}.new", std::process::id()));
    std::fs::write(&own, text).and_then(|()| std::fs::rename(&own, path)).map_err(failed)
}
