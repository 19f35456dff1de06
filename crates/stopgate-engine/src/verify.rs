//! Verification on request: what the hook would find now, and a person's word on it.

mod approve;
mod vouch;

use std::path::Path;

use serde::Serialize;
use stopgate_core::{Criterion, Ground, Receipt, Verified, verified};
use stopgate_store::Soundness;
use stopgate_verify::Files;

pub use self::approve::{Approval, ApprovalAsked, Approvals};
use crate::context::{Context, LoopTarget};
use crate::failure::Failure;
use crate::judging::look::{BUDGET, interrupted, look, look_at_loop};
use crate::judging::reviewing::{ReviewSubject, with_opinions};
use crate::project_file::ProjectFile;
use crate::trust::{Trust, untrusted};
use crate::view::{CriterionView, criterion_view};

/// What a verification found.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// The loop whose criteria they are; none where they are the project's.
    #[serde(rename = "loop")]
    pub id: Option<String>,
    /// The directory it is about.
    pub project: String,
    /// What the checks come to.
    pub result: Verified,
    /// Each criterion, with what was found now.
    pub criteria: Vec<CriterionView>,
}

/// Runs criteria on demand; nothing is recorded.
pub struct Verifier<'a> {
    pub(crate) context: &'a mut Context,
}

impl Verifier<'_> {
    /// Runs a loop's criteria now, as the hook would; nothing is recorded.
    pub fn verify(&mut self, target: &LoopTarget) -> Result<Verification, Failure> {
        let stored = self.context.resolve(target)?;
        let state = &stored.state;
        if matches!(target, LoopTarget::Here(_)) && state.outcome().is_some() {
            return Err(Failure::no_loop("no loop runs here"));
        }
        if Trust::of(&self.context.home).lacks(state) {
            return Err(untrusted());
        }
        let id = Some(state.id.as_str().to_string());
        if self.context.journal.soundness(&state.id)? == Soundness::Forged {
            // What a forged record asks for is not run.
            return Ok(Verification {
                id,
                project: state.project.clone(),
                result: Verified::Tampered,
                criteria: state.criteria.iter().map(|c| criterion_view(c, None)).collect(),
            });
        }
        let receipts = look_at_loop(self.context, state)?;
        verification(id, &state.project, &state.criteria, &receipts)
    }

    /// Runs the criteria of the project's file now; nothing where it has none.
    pub fn verify_project(&mut self, project: &Path) -> Result<Option<Verification>, Failure> {
        let Some(file) = ProjectFile::read(project)? else { return Ok(None) };
        if file.criteria.is_empty() {
            return Ok(None);
        }
        if file.needs_trust() && !Trust::of(&self.context.home).has(&file.source) {
            return Err(untrusted());
        }
        self.context.prepare()?;
        let ground = Ground {
            source: Some(file.source.clone()),
            roots: file.roots.clone(),
            jobs: file.jobs,
            ..Ground::default()
        };
        let criteria: Vec<Criterion> = file.criteria.into_iter().map(|d| d.criterion).collect();
        let logs = self.context.home.start_logs();
        let place = self.context.place(logs.clone());
        let receipts =
            look(self.context, &criteria, &ground, project, logs, (Files::Countable, None))?;
        let reviewed = ReviewSubject {
            goal: "what stopgate.toml asks for",
            criteria: &criteria,
            root: project,
            place: &place,
            base: None,
            budget: BUDGET,
        };
        let receipts = with_opinions(self.context, reviewed, receipts).ok_or_else(interrupted)?;
        verification(None, &project.display().to_string(), &criteria, &receipts).map(Some)
    }
}

fn verification(
    id: Option<String>,
    project: &str,
    criteria: &[Criterion],
    receipts: &[Receipt],
) -> Result<Verification, Failure> {
    let result = verified(criteria, receipts);
    if result == Verified::Nothing {
        return Err(Failure::usage("there is nothing to verify: no criterion can be checked")
            .hint("give the loop a check: stopgate start --check NAME=COMMAND"));
    }
    let found: Vec<CriterionView> = criteria
        .iter()
        .map(|criterion| {
            let mut looked = criterion.clone();
            let receipt = receipts.iter().find(|receipt| receipt.criterion == criterion.name);
            looked.last = receipt.map(stopgate_core::Standing::of);
            criterion_view(&looked, receipt)
        })
        .collect();
    Ok(Verification { id, project: project.into(), result, criteria: found })
}
