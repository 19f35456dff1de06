//! Verification on request: what the hook would find now, and a person's word on it.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use stopgate_core::{
    Criterion, Event, Ground, Leave, Outcome, Phase, Proof, Receipt, Ruling, Seen, State, Status,
    Verdict, Verified, Waiting, conclude, verified,
};
use stopgate_store::{Soundness, Stored};
use stopgate_verify::{ChangedJudges, Files, Freshness, ProofRequest, Proved, Strangers};

use crate::engine::{Engine, Stocked};
use crate::failure::Failure;
use crate::project_file::{ProjectFile, content_at};
use crate::reviewing::ReviewSubject;
use crate::stop::{began, files};
use crate::target::LoopTarget;
use crate::trust::Trust;
use crate::view::{CriterionView, SCHEMA_VERSION, criterion_view};

/// A person who asks is willing to wait.
const BUDGET: Duration = Duration::from_hours(1);
const TRIES_MAX: usize = 8;

/// What a verification found.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// [`SCHEMA_VERSION`]
    pub schema_version: u32,
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

/// What a person is asked about.
#[derive(Clone, Debug, Default)]
pub struct ApprovalAsked {
    /// The criteria that only a person can attest.
    pub criteria: Vec<String>,
    /// Tests of the start that fail now.
    pub failing: Vec<String>,
    /// Why the judges of the start could not be asked, where they could not.
    pub reasons: Vec<String>,
    /// What changed of the judges.
    pub changed: ChangedJudges,
    /// Identifies exactly these changes, where there are any.
    pub digest: Option<String>,
    /// Whether all that is asked for is a word on criteria that an agent chose.
    pub agents_choice: bool,
}

impl Engine {
    /// Runs a loop's criteria now, as the hook would; nothing is recorded.
    pub fn verify(&mut self, target: &LoopTarget) -> Result<Verification, Failure> {
        let stored = self.resolve(target)?;
        let state = &stored.state;
        if matches!(target, LoopTarget::Here(_)) && state.outcome().is_some() {
            return Err(Failure::no_loop("no loop runs here"));
        }
        if Trust::of(&self.home).lacks(state) {
            return Err(untrusted());
        }
        let id = Some(state.id.as_str().to_string());
        if self.journal.soundness(&state.id)? == Soundness::Forged {
            // What a forged record asks for is not run.
            return Ok(Verification {
                schema_version: SCHEMA_VERSION,
                id,
                project: state.project.clone(),
                result: Verified::Tampered,
                criteria: state.criteria.iter().map(|c| criterion_view(c, None)).collect(),
            });
        }
        let receipts = self.look_at_loop(state)?;
        verification(id, &state.project, &state.criteria, &receipts)
    }

    /// Runs the criteria of the project's file now; nothing where it has none.
    pub fn verify_project(&mut self, project: &Path) -> Result<Option<Verification>, Failure> {
        let Some(file) = ProjectFile::read(project)? else { return Ok(None) };
        if file.criteria.is_empty() {
            return Ok(None);
        }
        if file.needs_trust() && !Trust::of(&self.home).has(&file.source) {
            return Err(untrusted());
        }
        self.prepare()?;
        let ground = Ground {
            source: Some(file.source.clone()),
            roots: file.roots.clone(),
            jobs: file.jobs,
            ..Ground::default()
        };
        let criteria: Vec<Criterion> = file.criteria.into_iter().map(|d| d.criterion).collect();
        let logs = self.home.start_logs();
        let place = self.place(logs.clone());
        let receipts = self.look(&criteria, &ground, project, logs, (Files::Countable, None))?;
        let reviewed = ReviewSubject {
            goal: "what stopgate.toml asks for",
            criteria: &criteria,
            root: project,
            place: &place,
            base: None,
            budget: BUDGET,
        };
        let receipts = self.with_opinions(reviewed, receipts).ok_or_else(interrupted)?;
        verification(None, &project.display().to_string(), &criteria, &receipts).map(Some)
    }

    pub(crate) fn look_at_loop(&mut self, state: &State) -> Result<Vec<Receipt>, Failure> {
        let logs = self.home.check_logs(&state.id);
        let since = (files(state), began(state));
        let place = self.place(logs.clone());
        let project = Path::new(state.root());
        let receipts = self.look(&state.criteria, &state.ground, project, logs, since)?;
        self.review_loop(state, &place, receipts, BUDGET).ok_or_else(interrupted)
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
        let only_place = self.settings.test_place();
        let request = ProofRequest {
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
            only_place: only_place.as_deref(),
        };
        match self.while_told(criteria, |world| world.prove(&request)) {
            Proved::Receipts(receipts) => Ok(receipts),
            Proved::Interrupted => Err(interrupted()),
        }
    }

    /// What a person is asked about, as it stands now.
    pub fn approval_asked(
        &mut self,
        target: &LoopTarget,
        name: Option<&str>,
    ) -> Result<ApprovalAsked, Failure> {
        self.as_person("approve")?;
        let stored = self.resolve(target)?;
        let state = &stored.state;
        let mut asked = ApprovalAsked { criteria: waiting(state, name)?, ..Default::default() };
        for disputed in disputed(state) {
            asked.digest = Some(disputed.digest.clone());
            asked.failing.extend(disputed.failing.iter().cloned());
            asked.reasons.extend(disputed.reason.clone());
        }
        if asked.digest.is_some() {
            asked.changed = self.changed(state)?;
        }
        if asked.criteria.is_empty() && asked.digest.is_none() {
            asked.agents_choice = name.is_none() && self.lacks_word(state);
            if !asked.agents_choice {
                return Err(Failure::usage(format!(
                    "loop {} does not wait for a person",
                    state.id
                ))
                .hint("to make today's judges the ones to go by: stopgate approve --change"));
            }
        }
        Ok(asked)
    }

    /// A person attests criteria and accepts changed judges, exactly as they were shown.
    pub fn approve(
        &mut self,
        target: &LoopTarget,
        asked: &ApprovalAsked,
    ) -> Result<Approval, Failure> {
        self.as_person("approve")?;
        if asked.agents_choice {
            let found = self.resolve(target)?;
            return self.vouch(found);
        }
        let by = self.settings.person();
        let stored = self.on_running(target, &mut |_| {
            let attested =
                asked.criteria.iter().map(|name| Event::Approved { criterion: name.clone() });
            let judges = asked.digest.clone();
            let judges = judges.map(|digest| Event::JudgesApproved { digest, by: by.clone() });
            Ok(attested.chain(judges).collect())
        })?;
        let accepted = asked.criteria.iter().chain(&asked.changed.texts).cloned().collect();
        self.conclude(stored, accepted)
    }

    /// Ends a loop that waited for nothing but a person's word, if everything else still holds.
    fn conclude(&mut self, stored: Stored, accepted: Vec<String>) -> Result<Approval, Failure> {
        let open = |c: &&Criterion| {
            c.is_required() && c.proof == Proof::Approve && c.approved_at.is_none()
        };
        if let Some(criterion) = stored.state.criteria.iter().find(open) {
            let left = Some(format!("\"{}\" waits for a person's word, too", criterion.name));
            return Ok(Approval { stored, accepted, left });
        }
        if !self.waited_for_approval(&stored.state)? {
            let left = Some("the agent works on; the loop ends when its checks pass".into());
            return Ok(Approval { stored, accepted, left });
        }
        if Trust::of(&self.home).lacks(&stored.state) {
            return Err(untrusted());
        }
        let receipts = self.look_at_loop(&stored.state)?;
        let seen = Seen { receipts, ..Seen::default() };
        let id = stored.state.id.clone();
        for _ in 0..TRIES_MAX {
            let Some(stored) = self.journal.load(&id)? else { break };
            let Some(decision) = conclude(&stored.state, &seen) else {
                let left = Some(still_open(&stored.state, &seen));
                return Ok(Approval { stored, accepted, left });
            };
            let left = matches!(decision.verdict, Verdict::Allow(Leave::Merge)).then(|| {
                format!("the merge of its worktree is left: stopgate run {id} --continue -- AGENT")
            });
            let now = self.now();
            let mut events = decision.events;
            if matches!(decision.verdict, Verdict::Complete { outcome: Outcome::Done, .. }) {
                events.push(self.certify(&stored.state, &seen.receipts, now)?);
            }
            if let Stocked::Stored(stored) = self.store(stored, events, now)? {
                return Ok(Approval { stored: *stored, accepted, left });
            }
        }
        Err(Failure::fault("could not end the loop: it kept changing"))
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

    /// A person makes today's judges the ones to go by.
    pub fn approve_change(&mut self, target: &LoopTarget) -> Result<Approval, Failure> {
        self.as_person("approve --change")?;
        let stored = self.resolve(target)?;
        let state = &stored.state;
        if !state.outcome().is_none_or(Outcome::can_resume) {
            return Err(Failure::usage(format!("loop {} is over", state.id)));
        }
        let changes = self.changed(state)?.texts;
        if changes.is_empty() {
            return Err(Failure::usage("no judge has changed since the start"));
        }
        let seal = self.new_basis(Path::new(state.root()), &state.criteria)?;
        let source = state.ground.source.as_ref().and_then(|s| content_at(Path::new(&s.path)));
        let event = Event::Resealed { seal, changes: changes.clone(), source };
        let waits = matches!(state.phase, Phase::Waiting { on: Waiting::Approval, .. });
        let revive =
            waits || matches!(state.outcome(), Some(Outcome::Tampered | Outcome::NeedsApproval));
        let id = state.id.clone();
        let stored = self.on_loop(&LoopTarget::Named(id.as_str().into()), &mut |_, _| {
            let mut events = vec![event.clone()];
            if revive {
                events.push(Event::Resumed { max_iterations: None });
            }
            Ok(events)
        })?;
        Ok(Approval { stored, accepted: changes, left: None })
    }

    /// What changed of that which judges a loop's criteria, in words.
    pub(crate) fn judges_changed(&self, state: &State) -> Result<Vec<String>, Failure> {
        Ok(self.changed(state)?.texts)
    }

    /// What changed of that which judges a loop's criteria.
    fn changed(&self, state: &State) -> Result<ChangedJudges, Failure> {
        let place = self.place(PathBuf::new());
        let request = ProofRequest {
            criteria: &state.criteria,
            root: Path::new(state.root()),
            ground: &state.ground,
            message: None,
            place: &place,
            freshness: Freshness::Fresh,
            files: Files::Countable,
            since: began(state),
            budget: BUDGET,
            strangers: Strangers::Spare,
            pass: &[],
            only_place: None,
        };
        stopgate_verify::changed_judges(&request)
            .map_err(|why| Failure::fault(format!("could not tell what changed: {why}")))
    }

    /// Refuses what only a person may do where an agent asks for it.
    pub(crate) fn as_person(&self, what: &str) -> Result<(), Failure> {
        if self.settings.is_agents_shell() {
            return Err(Failure::usage(format!(
                "only a person can {what}, and this is an agent's shell"
            ))
            .hint("a person can run it in another terminal; to ask them: stopgate ask QUESTION"));
        }
        Ok(())
    }
}

fn interrupted() -> Failure {
    Failure::interrupted("interrupted while the checks ran")
}

/// A criterion whose judges changed, as it was last seen.
struct Disputed {
    digest: String,
    failing: Vec<String>,
    reason: Option<String>,
}

fn disputed(state: &State) -> Vec<Disputed> {
    let last = state.criteria.iter().filter_map(|criterion| criterion.last.as_ref());
    last.filter(|last| last.status == Status::NeedsApproval)
        .filter_map(|last| last.kept.as_ref())
        .filter_map(|kept| {
            let original = kept.evidence.original.as_ref()?;
            Some(Disputed {
                digest: original.digest.clone(),
                failing: original.failing.clone(),
                reason: kept.trouble.clone(),
            })
        })
        .collect()
}

/// What keeps a loop from ending although a person gave their word.
fn still_open(state: &State, seen: &Seen) -> String {
    let required = || state.criteria.iter().filter(|c| c.is_required() && c.is_checked());
    let changed = |c: &&Criterion| {
        seen.receipt(&c.name).is_some_and(|receipt| receipt.status == Status::NeedsApproval)
    };
    if let Some(criterion) = required().find(changed) {
        return format!(
            "the judges of \"{}\" changed since they were shown: run stopgate approve again",
            criterion.name
        );
    }
    match required().find(|criterion| !seen.passed(&criterion.name)) {
        Some(criterion) => format!("\"{}\" does not pass any more", criterion.name),
        None => "the agent has not said that it is finished".into(),
    }
}

/// The criteria that wait for a person's word and are meant.
fn waiting(state: &State, name: Option<&str>) -> Result<Vec<String>, Failure> {
    let waits = |c: &&Criterion| c.proof == Proof::Approve && c.approved_at.is_none();
    let all: Vec<String> = state.criteria.iter().filter(waits).map(|c| c.name.clone()).collect();
    match name {
        None => Ok(all),
        Some(name) if all.iter().any(|waiting| waiting == name) => Ok(vec![name.into()]),
        Some(name) => Err(Failure::usage(format!("\"{name}\" does not wait for a person's word"))),
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
    let schema_version = SCHEMA_VERSION;
    Ok(Verification { schema_version, id, project: project.into(), result, criteria: found })
}

pub(crate) fn untrusted() -> Failure {
    Failure::usage("this project's stopgate.toml is not trusted, so its checks are not run")
        .hint("read it, then: stopgate trust")
}
