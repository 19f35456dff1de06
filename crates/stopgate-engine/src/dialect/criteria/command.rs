//! The lifecycle of a criteria loop by command, under the same lock as the hook.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;
use stopgate_core::Outcome;
use stopgate_dialects::criteria::{
    CriteriaRecord, CriteriaStatus, CriterionState, IterationChange, LifecycleRefusal, NewCriteria,
    advice, cancelled, completed, iterated, paused, resumed, started, status_block, verified,
};

use super::super::desk::Held;
use super::super::memory::Memory;
use super::super::{DialectCall, audit, files};
use super::checks::Checked;
use super::{file, sheet};
use crate::context::Incumbent;
use crate::failure::{Failure, chain};
use crate::lint::review_goal;
use crate::setup::DoctorFinding;
use crate::view::LoopView;

const UNTRUSTED: &str = "a person has to trust them with `stopgate trust --dialect criteria`";

/// A criteria loop as programs see it.
#[derive(Clone, Debug, Serialize)]
pub struct CriteriaView {
    /// Where it is kept.
    pub file: PathBuf,
    /// What was asked for.
    pub spec: String,
    /// `in_progress`, `paused`, `completed` or `cancelled`.
    pub status: &'static str,
    /// How often the agent was sent on.
    pub iteration: u32,
    /// The criteria in their order.
    pub criteria: Vec<MarkView>,
    /// Whether the agent means to finish.
    pub exit_signal: bool,
    /// Steps that are done.
    pub completed_steps: Vec<String>,
    /// Steps that are not.
    pub remaining_steps: Vec<String>,
    /// How often the same criterion was unmet in a row.
    pub stuck_count: u32,
    /// Commands that verify criteria, by criterion.
    pub checks: std::collections::BTreeMap<String, String>,
    /// Why its commands did not run, where they did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unrun: Option<&'static str>,
    /// The block that an iteration ends with.
    pub block: String,
    /// The loop in stopgate's own words.
    #[serde(skip)]
    pub found: LoopView,
}

/// How one criterion stands.
#[derive(Clone, Debug, Serialize)]
pub struct MarkView {
    /// Its name.
    pub name: String,
    /// `met`, `unmet` or `assumed`.
    pub mark: &'static str,
}

/// What came of the wish to complete a loop.
#[derive(Clone, Debug)]
pub enum Completion {
    /// It is complete.
    Completed(Box<CriteriaView>),
    /// It is not done, and stays as it was.
    Refused {
        /// Why, in a sentence.
        why: String,
        /// The loop.
        view: Box<CriteriaView>,
    },
}

impl DialectCall {
    /// Begins a criteria loop; one that still runs is kept unless it is to be replaced.
    pub fn criteria_start(
        &self,
        new: &NewCriteria<'_>,
        incumbent: Incumbent,
    ) -> Result<CriteriaView, Failure> {
        validate(new.spec, &new.names())?;
        let review = review_goal(new.spec, new.checks.len(), new.criteria.len());
        let new = NewCriteria { score: Some((review.score, review.shape)), ..*new };
        let path = file(self);
        let mut held = self.hold(&path)?;
        let known = held.read()?.map(|text| CriteriaRecord::read(&text));
        let runs = matches!(&known, Some(Ok(known)) if is_running(known.status));
        if incumbent == Incumbent::Keep && (runs || matches!(known, Some(Err(_)))) {
            let what = if runs { "a loop still runs in" } else { "could not read" };
            return Err(Failure::usage(format!("{what} {}", path.display()))
                .hint("end it: stopgate cancel --dialect criteria, or start --replace"));
        }
        let text = started(&new)
            .map_err(|error| Failure::fault("could not make the state file").because(error))?;
        audit::ended(self, &held.memory, Outcome::Cancelled, "replaced by a new loop");
        held.memory = Memory::default();
        held.write(&path, &text)?;
        held.save();
        let view = self.criteria_view(&text)?;
        self.criteria_trust_own(
            &CriteriaRecord::read(&text).map_err(|error| refused(&error.into()))?,
        )?;
        Ok(view)
    }

    /// Writes down what one iteration came to: what checks show beats what is said.
    pub fn criteria_iterate(&self, change: &IterationChange) -> Result<CriteriaView, Failure> {
        let checked = self.criteria_checked()?;
        let mut view = self.criteria_edit(|text| iterated_with(text, change, &checked))?;
        view.unrun = (checked == Checked::Untrusted).then_some(UNTRUSTED);
        Ok(view)
    }

    /// Completes the loop, if every criterion is met, and every check passes.
    pub fn criteria_complete(&self) -> Result<Completion, Failure> {
        let checked = self.criteria_checked()?;
        let (mut held, text) = self.criteria_hold()?;
        let text = match &checked {
            Checked::Ran(found) => {
                let text = verified(&text, found).map_err(|refusal| refused(&refusal))?;
                self.criteria_write(&mut held, &text)?;
                text
            }
            Checked::Nothing | Checked::Untrusted => text,
        };
        match completed(&text) {
            Ok(edited) => {
                self.criteria_write(&mut held, &edited)?;
                let why = "the agent said so; no check proved it";
                audit::ended(self, &held.memory, Outcome::Attested, why);
                held.memory = Memory::default();
                held.save();
                Ok(Completion::Completed(Box::new(self.criteria_view(&edited)?)))
            }
            Err(refusal @ (LifecycleRefusal::Unmet(_) | LifecycleRefusal::NothingListed)) => {
                let view = Box::new(self.criteria_view(&text)?);
                Ok(Completion::Refused { why: format!("could not {refusal}"), view })
            }
            Err(refusal) => Err(refused(&refusal)),
        }
    }

    /// Calls the loop off; its progress stays in the file.
    pub fn criteria_cancel(&self) -> Result<CriteriaView, Failure> {
        let (mut held, text) = self.criteria_hold()?;
        let edited = cancelled(&text).map_err(|refusal| refused(&refusal))?;
        self.criteria_write(&mut held, &edited)?;
        audit::ended(self, &held.memory, Outcome::Cancelled, "cancelled by command");
        held.memory = Memory::default();
        held.save();
        self.criteria_view(&edited)
    }

    /// Lets the agent stop until somebody resumes the loop.
    pub fn criteria_pause(&self) -> Result<CriteriaView, Failure> {
        self.criteria_edit(paused)
    }

    /// Lets the loop go on, also one whose breaker is open.
    pub fn criteria_resume(&self) -> Result<CriteriaView, Failure> {
        self.criteria_edit(resumed)
    }

    /// How the loop stands.
    pub fn criteria_status(&self) -> Result<CriteriaView, Failure> {
        let text = files::read(&file(self))?.ok_or_else(|| self.criteria_missing())?;
        self.criteria_view(&text)
    }

    /// What is odd about the loop in this directory; nothing where there is none.
    pub fn criteria_findings(&self) -> Vec<DoctorFinding> {
        let path = file(self);
        let text = match files::read(&path) {
            Ok(Some(text)) => text,
            Ok(None) => return Vec::new(),
            Err(failure) => {
                let hint = failure.hint.clone().unwrap_or_default();
                return vec![DoctorFinding::warning("criteria", failure.story(), hint)];
            }
        };
        let found = advice(&text);
        let unheard = self.criteria_unannounced();
        if found.is_empty() && unheard.is_none() {
            let text = format!("{} is as it should be", path.display());
            return vec![DoctorFinding::ok("criteria", text)];
        }
        let warn = |advice: stopgate_dialects::criteria::Advice| {
            DoctorFinding::warning("criteria", advice.text, advice.hint)
        };
        found.into_iter().map(warn).chain(unheard).collect()
    }

    /// A loop is announced to a new session only if the `SessionStart` event calls us, too.
    fn criteria_unannounced(&self) -> Option<DoctorFinding> {
        let of = |agent| crate::setup::ScopeFiles::all(self.settings, agent, &self.directory);
        let places: Vec<_> = stopgate_agents::Agent::ALL.into_iter().flat_map(of).collect();
        let texts = places.iter().filter_map(|place| place.read().ok().flatten());
        let mut calls = texts.filter_map(|text| serde_json::from_str::<Value>(&text).ok());
        let (mut stop, mut start) = (false, false);
        for settings in &mut calls {
            let has = |event: &str| {
                let entry = settings["hooks"][event].to_string();
                entry.contains("--dialect") && entry.contains("criteria")
            };
            stop |= has("Stop");
            start |= has("SessionStart");
        }
        (stop && !start).then(|| {
            DoctorFinding::warning(
                "criteria",
                "no SessionStart hook with --dialect criteria is set up: a new session is not told \
                 of the loop",
                "add it beside the Stop hook: stopgate hook claude --dialect criteria",
            )
        })
    }

    /// What the commands of the loop here show now.
    fn criteria_checked(&self) -> Result<Checked, Failure> {
        let text = files::read(&file(self))?.unwrap_or_default();
        match CriteriaRecord::read(&text) {
            Ok(record) if record.status == CriteriaStatus::InProgress => self.criteria_run(&record),
            Ok(_) | Err(_) => Ok(Checked::Nothing),
        }
    }

    fn criteria_edit(
        &self,
        edit: impl FnOnce(&str) -> Result<String, LifecycleRefusal>,
    ) -> Result<CriteriaView, Failure> {
        let (mut held, text) = self.criteria_hold()?;
        let edited = edit(&text).map_err(|refusal| refused(&refusal))?;
        self.criteria_write(&mut held, &edited)?;
        held.save();
        self.criteria_view(&edited)
    }

    fn criteria_hold(&self) -> Result<(Held<'_>, String), Failure> {
        let path = file(self);
        if !path.exists() {
            return Err(self.criteria_missing());
        }
        let held = self.hold(&path)?;
        let text = held.read()?.ok_or_else(|| self.criteria_missing())?;
        Ok((held, text))
    }

    fn criteria_write(&self, held: &mut Held<'_>, text: &str) -> Result<(), Failure> {
        held.write(&file(self), text)
    }

    pub(super) fn criteria_missing(&self) -> Failure {
        Failure::no_loop(format!("there is no loop in {}", file(self).display())).hint(
            "begin one: stopgate start --dialect criteria --criterion NAME \"what was asked for\"",
        )
    }

    fn criteria_view(&self, text: &str) -> Result<CriteriaView, Failure> {
        let record = CriteriaRecord::read(text).map_err(|error| {
            let path = file(self);
            Failure::fault(format!("{}: could not {}", path.display(), chain(&error)))
                .hint("repair its JSON; stopgate keeps copies in its home, under backups")
        })?;
        let found = self.view(&sheet(self, &record));
        Ok(view(file(self), record, found))
    }
}

/// One iteration, in which checks have the last word on their criteria.
fn iterated_with(
    text: &str,
    change: &IterationChange,
    checked: &Checked,
) -> Result<String, LifecycleRefusal> {
    let Checked::Ran(found) = checked else { return iterated(text, change) };
    let mut change = change.clone();
    let seen = |name: &String| found.iter().any(|(known, _)| known == name);
    change.met.retain(|name| !seen(name));
    change.unmet.retain(|name| !seen(name));
    for (name, holds) in found {
        let list = if *holds { &mut change.met } else { &mut change.unmet };
        list.push(name.clone());
    }
    iterated(text, &change)
}

fn view(file: PathBuf, record: CriteriaRecord, found: LoopView) -> CriteriaView {
    let block = status_block(&record);
    let mark = |(name, mark): (String, CriterionState)| {
        let mark = match mark {
            CriterionState::Met => "met",
            CriterionState::Unmet => "unmet",
            CriterionState::Assumed => "assumed",
        };
        MarkView { name, mark }
    };
    CriteriaView {
        file,
        spec: record.spec,
        status: record.status.word(),
        iteration: record.iteration,
        criteria: record.criteria.into_iter().map(mark).collect(),
        exit_signal: record.exit_signal,
        completed_steps: record.completed,
        remaining_steps: record.remaining,
        stuck_count: record.breaker.stuck,
        checks: record.checks.into_iter().collect(),
        unrun: None,
        block,
        found,
    }
}

fn validate(spec: &str, criteria: &[String]) -> Result<(), Failure> {
    if spec.trim().is_empty() {
        return Err(Failure::usage("the spec is empty").hint("say what was asked for, verbatim"));
    }
    if criteria.is_empty() {
        return Err(Failure::usage("a loop without criteria proves nothing")
            .hint("name at least one: --criterion \"tests pass\""));
    }
    for (at, name) in criteria.iter().enumerate() {
        if name.trim().is_empty() {
            return Err(Failure::usage("a criterion has no name"));
        }
        if criteria[..at].contains(name) {
            return Err(Failure::usage(format!("two criteria are called \"{name}\"")));
        }
    }
    Ok(())
}

const fn is_running(status: CriteriaStatus) -> bool {
    match status {
        CriteriaStatus::InProgress | CriteriaStatus::Paused => true,
        CriteriaStatus::Completed | CriteriaStatus::Cancelled => false,
    }
}

fn refused(refusal: &LifecycleRefusal) -> Failure {
    let failure = Failure::usage(format!("could not {}", chain(refusal)));
    match refusal {
        LifecycleRefusal::NotRunning(CriteriaStatus::Paused) => {
            failure.hint("let it go on: stopgate resume --dialect criteria")
        }
        LifecycleRefusal::NotRunning(_) => {
            failure.hint("begin another: stopgate start --dialect criteria")
        }
        LifecycleRefusal::Unknown { .. } => {
            failure.hint("see what is listed: stopgate status --dialect criteria")
        }
        LifecycleRefusal::Unreadable(_) | LifecycleRefusal::NotJson(_) => {
            failure.hint("repair its JSON; stopgate keeps copies in its home, under backups")
        }
        LifecycleRefusal::Unmet(_) | LifecycleRefusal::NothingListed => failure,
    }
}
