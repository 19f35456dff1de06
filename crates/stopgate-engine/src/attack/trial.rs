//! Takes a basis on a copy of the project, and proves a criterion there as the hook would.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use stopgate_core::{Criterion, Ground, Receipt, Timestamp, Weight};
use stopgate_verify::files::{Durable, replace_private};
use stopgate_verify::{
    Basis, BasisStore, Files, Freshness, ProjectCopy, ProofRequest, ProofStorage, Proved,
    Strangers, TreeScope, content_fingerprint, fingerprint,
};

use crate::failure::Failure;
use crate::project_file::{AtStart, CriterionDraft};
use crate::world::World;

/// Why a source file judges that is work for the rest.
const SECTIONS_OF_SOURCE: [&str; 2] = ["#[cfg(test)]", "tests and examples in source"];

/// Criteria under trial, as long as there is time.
pub(super) struct Trial<'w> {
    /// The copy on which they are tried.
    pub(super) copy: &'w ProjectCopy,
    pub(super) world: &'w mut dyn World,
    pub(super) begun_micros: u64,
    pub(super) within: Duration,
    pub(super) room: TrialRoom,
}

/// Where criteria are tried.
pub(super) struct TrialRoom {
    /// The copy.
    pub(super) root: PathBuf,
    /// A state directory for it.
    pub(super) place: ProofStorage,
    /// What the project's file says beyond criteria.
    pub(super) ground: Ground,
    pub(super) pass: Vec<String>,
    pub(super) only_place: Option<String>,
}

/// A criterion with what it is judged by.
pub(super) struct TriedCriterion {
    pub(super) criterion: Criterion,
    ground: Ground,
    /// When what judges it was noted.
    since: Timestamp,
    /// How its first run came out.
    pub(super) first: Receipt,
    /// Files of which everything judges.
    pub(super) judges: Vec<PathBuf>,
}

impl Trial<'_> {
    /// What is left of the time.
    pub(super) fn left(&mut self) -> Duration {
        let micros = self.world.micros().saturating_sub(self.begun_micros);
        self.within.saturating_sub(Duration::from_micros(micros))
    }

    /// Goes no further where the program was asked to end.
    pub(super) fn heed(&self) -> Result<(), Failure> {
        if self.copy.is_interrupted() { Err(interrupted()) } else { Ok(()) }
    }

    /// The files of the copy.
    pub(super) fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        let tree = fingerprint(&[&self.room.root], TreeScope::Whole, &self.room.place.trees());
        let tree = tree.map_err(|error| {
            Failure::fault("could not look at the copy of the project").because(error)
        })?;
        Ok(tree.files().map(|file| file.path).collect())
    }

    /// Begins as `start` does: one run, then a basis.
    pub(super) fn begin(&mut self, draft: &CriterionDraft) -> Result<TriedCriterion, Failure> {
        let mut criterion = draft.criterion.clone();
        criterion.weight = Weight::Required;
        let ground = self.room.ground.clone();
        let mut asked = vec![criterion.clone()];
        let budget = self.left();
        self.heed()?;
        let request = self.room.request(&asked, &ground, None, budget);
        let measured = self.world.measure(&request).and_then(|mut all| all.pop());
        let measured = measured.ok_or_else(interrupted)?;
        criterion.tests = measured.receipt.evidence.tests;
        if draft.start == AtStart::Baseline {
            criterion.terms.baseline = measured.baseline.ok();
        }
        asked[0] = criterion.clone();
        let (objects, trees) = (self.room.place.objects(), self.room.place.trees());
        let store = BasisStore { objects: &objects, trees: &trees };
        let basis = Basis::take(&self.room.root, &asked, &[measured.writes], store);
        let basis = basis.map_err(|error| {
            Failure::fault("could not record the files that judge the work").because(error)
        })?;
        let judges = basis.judges(&criterion.name).into_iter();
        // Source files with tests inside are work as well.
        let is_work = |why: &str| SECTIONS_OF_SOURCE.iter().any(|own| why.starts_with(own));
        let judges = judges.filter(|line| !is_work(&line.why));
        let judges = judges.map(|line| line.path).collect();
        let seal = self.keep(&basis)?;
        let ground = Ground { seal: Some(seal), ..ground };
        let since = self.world.now();
        Ok(TriedCriterion { criterion, ground, since, first: measured.receipt, judges })
    }

    /// Proves a criterion as the hook would.
    pub(super) fn prove(&mut self, tried: &TriedCriterion) -> Result<Receipt, Failure> {
        let criteria = [tried.criterion.clone()];
        let budget = self.left();
        self.heed()?;
        let since = u64::try_from(tried.since.unix_millis()).ok();
        let since = since.map(|millis| UNIX_EPOCH + Duration::from_millis(millis));
        let request = self.room.request(&criteria, &tried.ground, since, budget);
        match self.world.prove(&request) {
            Proved::Receipts(mut receipts) | Proved::TooLong(mut receipts) => receipts
                .pop()
                .ok_or_else(|| Failure::fault("a check on the copy of the project gave no result")),
            Proved::Interrupted => Err(interrupted()),
        }
    }

    fn keep(&self, basis: &Basis) -> Result<String, Failure> {
        let text = basis.to_text();
        let name = content_fingerprint(text.as_bytes());
        let path = self.room.place.basis(&name);
        write(&path, text.as_bytes())?;
        Ok(name)
    }
}

impl TrialRoom {
    fn request<'a>(
        &'a self,
        criteria: &'a [Criterion],
        ground: &'a Ground,
        since: Option<SystemTime>,
        budget: Duration,
    ) -> ProofRequest<'a> {
        ProofRequest {
            criteria,
            root: &self.root,
            ground,
            message: None,
            place: &self.place,
            freshness: Freshness::Fresh,
            files: Files::Countable,
            since,
            budget,
            strangers: Strangers::Spare,
            pass: &self.pass,
            only_place: self.only_place.as_deref(),
            later: &[],
        }
    }
}

pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    replace_private(path, bytes, Durable::Buffered).map_err(|error| {
        Failure::fault(format!("could not write {}", path.display())).because(error)
    })
}

fn interrupted() -> Failure {
    Failure::interrupted("interrupted while the project's copy was attacked")
}
