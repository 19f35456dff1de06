//! Verification on request: what the hook would find now, and a person's word on it.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use stopgate_core::{
    Criterion, Event, Ground, Leave, Outcome, Proof, Receipt, Ruling, State, Status,
};
use stopgate_store::{Soundness, Stored};
use stopgate_verify::{Files, Freshness, Proved, Request, Strangers};

use crate::engine::Engine;
use crate::failure::Failure;
use crate::project_file::{ProjectFile, content_at};
use crate::stop::{began, files};
use crate::target::Target;
use crate::trust::Trust;
use crate::view::{CriterionView, SCHEMA_VERSION, criterion_view};

/// A person who asks is willing to wait.
const BUDGET: Duration = Duration::from_hours(1);

/// What a verification found.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// [`SCHEMA_VERSION`]
    pub schema_version: u32,
    /// The loop whose criteria they are; none where they are the project's.
    #[serde(rename = "loop")]
    pub id: Option<String>,
    /// The folder it is about.
    pub project: String,
    /// `pass`, `fail` or `tampered`.
    pub result: &'static str,
    /// Each criterion, with what was found now.
    pub criteria: Vec<CriterionView>,
}

/// What a person's word led to.
#[derive(Debug)]
pub struct Approval {
    /// The loop as it is now.
    pub stored: Stored,
    /// What was said to be all right.
    pub accepted: Vec<String>,
    /// What still stands in the way, where something does.
    pub left: Option<String>,
}

impl Engine {
    /// Runs a loop's criteria now, as the hook would; nothing is recorded.
    pub fn verify(&mut self, target: &Target) -> Result<Verification, Failure> {
        let stored = self.resolve(target)?;
        let state = &stored.state;
        if Trust::of(&self.home).lacks(state) {
            return Err(untrusted());
        }
        let id = Some(state.id.as_str().to_string());
        if self.journal.soundness(&state.id)? == Soundness::Forged {
            // What a forged record asks for is not run.
            let found = verification(id, &state.project, &state.criteria, &[]);
            return Ok(Verification { result: "tampered", ..found });
        }
        let logs = self.home.check_logs(&state.id);
        let project = PathBuf::from(&state.project);
        let since = (files(state), began(state));
        let receipts = self.look(&state.criteria, &state.ground, &project, logs, since)?;
        Ok(verification(id, &state.project, &state.criteria, &receipts))
    }

    /// Runs the criteria of the project's file now; nothing where it has none.
    pub fn verify_project(&mut self, project: &Path) -> Result<Option<Verification>, Failure> {
        let Some(file) = ProjectFile::read(project)? else { return Ok(None) };
        if file.criteria.is_empty() {
            return Ok(None);
        }
        if file.has_commands() && !Trust::of(&self.home).has(&file.source) {
            return Err(untrusted());
        }
        self.prepare()?;
        let ground = Ground {
            seal: None,
            source: Some(file.source.clone()),
            roots: file.roots.clone(),
            jobs: file.jobs,
        };
        let criteria: Vec<Criterion> = file.criteria.into_iter().map(|d| d.criterion).collect();
        let logs = self.home.start_logs();
        let receipts = self.look(&criteria, &ground, project, logs, (Files::Countable, None))?;
        Ok(Some(verification(None, &project.display().to_string(), &criteria, &receipts)))
    }

    pub(crate) fn look(
        &mut self,
        criteria: &[Criterion],
        ground: &Ground,
        project: &Path,
        logs: PathBuf,
        (files, since): (Files, Option<SystemTime>),
    ) -> Result<Vec<Receipt>, Failure> {
        let place = self.place(logs);
        let pass = self.passed_variables();
        let request = Request {
            criteria,
            root: project,
            ground,
            message: None,
            place: &place,
            freshness: Freshness::Fresh,
            files,
            since,
            budget: BUDGET,
            strangers: Strangers::Spare,
            pass: &pass,
        };
        match self.world.prove(&request) {
            Proved::Receipts(receipts) => Ok(receipts),
            Proved::Interrupted => Err(Failure::fault("interrupted while the checks ran")),
        }
    }

    /// A person attests a criterion that waits for them, or all of them.
    pub fn approve(&mut self, target: &Target, name: Option<&str>) -> Result<Approval, Failure> {
        self.as_person("approve")?;
        let found = self.resolve(target)?;
        if name.is_none() && self.lacks_word(&found.state) {
            return self.vouch(found);
        }
        let mut accepted = Vec::new();
        let stored = self.on_running(target, &mut |state| {
            accepted = waiting(state, name)?;
            Ok(accepted.iter().map(|name| Event::Approved { criterion: name.clone() }).collect())
        })?;
        self.conclude(stored, accepted)
    }

    /// Ends a loop that waited for nothing but a person's word, if everything else still holds.
    fn conclude(&mut self, stored: Stored, accepted: Vec<String>) -> Result<Approval, Failure> {
        let state = &stored.state;
        let open = |c: &&Criterion| {
            c.is_required() && c.proof == Proof::Approve && c.approved_at.is_none()
        };
        if let Some(criterion) = state.criteria.iter().find(open) {
            let left = Some(format!("\"{}\" waits for a person's word, too", criterion.name));
            return Ok(Approval { stored, accepted, left });
        }
        if !self.waited_for_approval(state)? {
            let left = Some("the agent works on; the loop ends when its checks pass".into());
            return Ok(Approval { stored, accepted, left });
        }
        let project = PathBuf::from(&state.project);
        let logs = self.home.check_logs(&state.id);
        let since = (files(state), began(state));
        let receipts = self.look(&state.criteria, &state.ground, &project, logs, since)?;
        let unmet = state
            .criteria
            .iter()
            .find(|c| c.is_required() && c.is_checked() && !passed(&receipts, &c.name));
        if let Some(criterion) = unmet {
            let left = Some(format!("\"{}\" does not pass any more", criterion.name));
            return Ok(Approval { stored, accepted, left });
        }
        let id = stored.state.id.clone();
        let ended =
            self.end(&id, Outcome::Attested, "a person approved it, and every check passes")?;
        Ok(Approval { stored: ended, accepted, left: None })
    }

    /// Whether the loop had stopped for nothing but a person's word.
    fn waited_for_approval(&mut self, state: &State) -> Result<bool, Failure> {
        let history = self.journal.history(&state.id)?;
        let last = history.iter().rev().find_map(|entry| match &entry.recorded.event {
            Event::Stopped(stopped) => Some(stopped.ruling),
            _other => None,
        });
        Ok(last == Some(Ruling::Allow(Leave::Approval)))
    }

    /// A person accepts what was changed of that which the checks are judged by.
    pub fn approve_change(&mut self, target: &Target) -> Result<Approval, Failure> {
        self.as_person("approve --change")?;
        let stored = self.resolve(target)?;
        let state = &stored.state;
        let can_resume = state.outcome().is_none_or(Outcome::can_resume);
        if !can_resume {
            return Err(Failure::usage(format!("loop {} is over", state.id)));
        }
        let project = PathBuf::from(&state.project);
        let changes = self.changes(state, &project)?;
        if changes.is_empty() {
            return Err(Failure::usage("nothing that judges the work was changed"));
        }
        let seal = self
            .seal(&project, &state.criteria)?
            .ok_or_else(|| Failure::fault("could not note what the checks are judged by"))?;
        let source = state.ground.source.as_ref().and_then(|s| content_at(Path::new(&s.path)));
        let event = Event::Resealed { seal, changes: changes.clone(), source };
        let revive = state.outcome() == Some(Outcome::Tampered);
        let id = state.id.clone();
        let stored = self.on_loop(&Target::Named(id.as_str().into()), &mut |_, _| {
            let mut events = vec![event.clone()];
            if revive {
                events.push(Event::Resumed { max_iterations: None });
            }
            Ok(events)
        })?;
        Ok(Approval { stored, accepted: changes, left: None })
    }

    /// What was changed of that which the checks are judged by.
    fn changes(&self, state: &State, project: &Path) -> Result<Vec<String>, Failure> {
        let place = self.place(PathBuf::new());
        let request = Request {
            criteria: &state.criteria,
            root: project,
            ground: &state.ground,
            message: None,
            place: &place,
            freshness: Freshness::Fresh,
            files: Files::Countable,
            since: None,
            budget: BUDGET,
            strangers: Strangers::Spare,
            pass: &[],
        };
        stopgate_verify::changes(&request)
            .map_err(|why| Failure::fault(format!("could not tell what was changed: {why}")))
    }

    /// Refuses what only a person may do where an agent asks for it.
    pub(crate) fn as_person(&self, what: &str) -> Result<(), Failure> {
        if self.settings.is_agents_shell() {
            return Err(Failure::usage(format!(
                "only a person can {what}, and this is an agent's shell"
            ))
            .hint("ask them: stopgate ask QUESTION"));
        }
        Ok(())
    }
}

/// The criteria that wait for a person's word and are meant.
fn waiting(state: &State, name: Option<&str>) -> Result<Vec<String>, Failure> {
    let waits = |c: &&Criterion| c.proof == Proof::Approve && c.approved_at.is_none();
    let all: Vec<String> = state.criteria.iter().filter(waits).map(|c| c.name.clone()).collect();
    let Some(name) = name else {
        if all.is_empty() {
            return Err(Failure::usage("no criterion waits for a person's word")
                .hint("a changed protected file: stopgate approve --change"));
        }
        return Ok(all);
    };
    if all.iter().any(|waiting| waiting == name) {
        return Ok(vec![name.into()]);
    }
    Err(Failure::usage(format!("\"{name}\" does not wait for a person's word")))
}

fn verification(
    id: Option<String>,
    project: &str,
    criteria: &[Criterion],
    receipts: &[Receipt],
) -> Verification {
    let found: Vec<CriterionView> = criteria
        .iter()
        .map(|criterion| {
            let mut looked = criterion.clone();
            let receipt = receipts.iter().find(|receipt| receipt.criterion == criterion.name);
            looked.last = receipt.map(stopgate_core::Standing::of);
            criterion_view(&looked, receipt)
        })
        .collect();
    let required = || criteria.iter().filter(|c| c.is_required() && c.is_checked());
    let tampered = required()
        .any(|c| receipts.iter().any(|r| r.criterion == c.name && r.status == Status::Tampered));
    let result = match (tampered, required().all(|c| passed(receipts, &c.name))) {
        (true, _) => "tampered",
        (false, true) => "pass",
        (false, false) => "fail",
    };
    Verification {
        schema_version: SCHEMA_VERSION,
        id,
        project: project.into(),
        result,
        criteria: found,
    }
}

fn passed(receipts: &[Receipt], name: &str) -> bool {
    receipts.iter().any(|receipt| receipt.criterion == name && receipt.status == Status::Pass)
}

pub(crate) fn untrusted() -> Failure {
    Failure::usage("nobody trusted this project's stopgate.toml, so its checks are not run")
        .hint("look at it, then: stopgate trust")
}
