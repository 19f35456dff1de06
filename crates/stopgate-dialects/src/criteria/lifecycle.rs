//! What commands do to the file: start, iterate, complete, cancel, pause and resume.

use serde_json::{Value, json};

use super::record::{Breaker, CriteriaRecord, CriteriaStatus, RecordError};
use super::with_breaker;
use crate::json_text::{Document, JsonTextError, Node, PathStep, find, push, remove, set};

/// What one iteration changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IterationChange {
    /// Criteria that were verified.
    pub met: Vec<String>,
    /// Criteria that turned out not to hold.
    pub unmet: Vec<String>,
    /// Steps that are done.
    pub steps_done: Vec<String>,
}

/// Why a record could not be changed as asked.
#[derive(Debug, thiserror::Error)]
pub enum LifecycleRefusal {
    /// It can't be read.
    #[error("use the state file")]
    Unreadable(#[from] RecordError),
    /// It can't be edited.
    #[error("change the state file")]
    NotJson(#[from] JsonTextError),
    /// It does not run.
    #[error("go on: the loop is {}", .0.word())]
    NotRunning(CriteriaStatus),
    /// Nothing of that name is listed.
    #[error("find a {kind} called \"{name}\"")]
    Unknown {
        /// What was looked for.
        kind: &'static str,
        /// Its name.
        name: String,
    },
    /// It is not done.
    #[error("complete the loop: unmet criteria: {}", .0.join(", "))]
    Unmet(Vec<String>),
    /// It lists nothing.
    #[error("complete the loop: no criteria are listed, so nothing is proven")]
    NothingListed,
}

/// What a new loop should be.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewCriteria<'a> {
    /// What was asked for, verbatim.
    pub spec: &'a str,
    /// What must hold at the end; each check's criterion is added.
    pub criteria: &'a [String],
    /// The planned steps.
    pub steps: &'a [String],
    /// Commands that verify criteria, by criterion.
    pub checks: &'a [(String, String)],
    /// How clear the request is, of ten, and how an agent should take it.
    pub score: Option<(u8, &'a str)>,
}

impl NewCriteria<'_> {
    /// The names of all criteria: those that are listed, then those that only have a check.
    pub fn names(&self) -> Vec<String> {
        let mut names = self.criteria.to_vec();
        for (name, _) in self.checks {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }
}

/// The file of a new loop.
pub fn started(new: &NewCriteria<'_>) -> Result<String, JsonTextError> {
    let NewCriteria { spec, steps, checks, score, .. } = *new;
    let criteria = new.names();
    let mut text = "{}\n".to_string();
    let mut put = |key: &str, value: Value| -> Result<(), JsonTextError> {
        text = set(&text, &[PathStep::Key(key)], &value)?;
        Ok(())
    };
    put("spec", json!(spec))?;
    put("criteria", json!(criteria))?;
    put("criteriaStatus", json!({}))?;
    put("exit_signal", json!(false))?;
    put("steps", json!(steps))?;
    put("completedSteps", json!([]))?;
    put("remainingSteps", json!(steps))?;
    put("iteration", json!(0))?;
    put("status", json!(CriteriaStatus::InProgress.word()))?;
    put("circuitBreaker", json!({}))?;
    for (name, command) in checks {
        text = set(&text, &[PathStep::Key("checks"), PathStep::Key(name)], &json!(command))?;
    }
    if let Some((score, shape)) = score {
        text = set(&text, &[PathStep::Key("score")], &json!(score))?;
        text = set(&text, &[PathStep::Key("shape")], &json!(shape))?;
    }
    for name in &criteria {
        text = set(&text, &[PathStep::Key("criteriaStatus"), PathStep::Key(name)], &json!(false))?;
    }
    with_breaker(&text, &Breaker::default())
}

/// The file after one iteration: what was verified, the counters, and the exit signal where
/// everything is met.
pub fn iterated(text: &str, change: &IterationChange) -> Result<String, LifecycleRefusal> {
    let record = running(text)?;
    let mut text = text.to_string();
    for name in &change.met {
        text = marked(&text, &record, name, &json!(true))?;
    }
    for name in &change.unmet {
        text = marked(&text, &record, name, &json!(false))?;
    }
    for step in &change.steps_done {
        text = stepped(&text, &record, step)?;
    }
    let now = CriteriaRecord::read(&text)?;
    let exit_signal = now.all_met();
    text = set(&text, &[PathStep::Key("exit_signal")], &json!(exit_signal))?;
    let breaker = CriteriaRecord { exit_signal, ..now.clone() }.next_breaker();
    let iteration = now.iteration.saturating_add(1);
    text = set(&text, &[PathStep::Key("iteration")], &json!(iteration))?;
    Ok(with_breaker(&text, &breaker)?)
}

/// The file after its checks were run; one that is gone meanwhile is left out.
pub fn verified(text: &str, found: &[(String, bool)]) -> Result<String, LifecycleRefusal> {
    let record = CriteriaRecord::read(text)?;
    let known = |name: &String| record.criteria.iter().any(|(known, _)| known == name);
    let mut text = text.to_string();
    for (name, holds) in found.iter().filter(|(name, _)| known(name)) {
        text = marked(&text, &record, name, &json!(holds))?;
    }
    Ok(text)
}

/// The file of a loop that is complete; refused while a criterion is unmet.
pub fn completed(text: &str) -> Result<String, LifecycleRefusal> {
    let record = running(text)?;
    if record.criteria.is_empty() {
        return Err(LifecycleRefusal::NothingListed);
    }
    if !record.all_met() {
        return Err(LifecycleRefusal::Unmet(
            record.unmet().into_iter().map(String::from).collect(),
        ));
    }
    let text = set(text, &[PathStep::Key("exit_signal")], &json!(true))?;
    with_status(&text, CriteriaStatus::Completed)
}

/// The file of a loop that was called off; its progress stays.
pub fn cancelled(text: &str) -> Result<String, LifecycleRefusal> {
    match CriteriaRecord::read(text)?.status {
        CriteriaStatus::InProgress | CriteriaStatus::Paused => {
            with_status(text, CriteriaStatus::Cancelled)
        }
        over @ (CriteriaStatus::Completed | CriteriaStatus::Cancelled) => {
            Err(LifecycleRefusal::NotRunning(over))
        }
    }
}

/// The file of a loop that stands aside.
pub fn paused(text: &str) -> Result<String, LifecycleRefusal> {
    running(text)?;
    with_status(text, CriteriaStatus::Paused)
}

/// The file of a loop that goes on; the person who resumes has looked at what it was stuck on.
pub fn resumed(text: &str) -> Result<String, LifecycleRefusal> {
    let record = CriteriaRecord::read(text)?;
    match record.status {
        CriteriaStatus::InProgress | CriteriaStatus::Paused => {}
        over @ (CriteriaStatus::Completed | CriteriaStatus::Cancelled) => {
            return Err(LifecycleRefusal::NotRunning(over));
        }
    }
    let text = with_status(text, CriteriaStatus::InProgress)?;
    let breaker = Breaker { stuck: 0, ..record.breaker };
    Ok(with_breaker(&text, &breaker)?)
}

fn running(text: &str) -> Result<CriteriaRecord, LifecycleRefusal> {
    let record = CriteriaRecord::read(text)?;
    match record.status {
        CriteriaStatus::InProgress => Ok(record),
        other
        @ (CriteriaStatus::Paused | CriteriaStatus::Completed | CriteriaStatus::Cancelled) => {
            Err(LifecycleRefusal::NotRunning(other))
        }
    }
}

fn with_status(text: &str, status: CriteriaStatus) -> Result<String, LifecycleRefusal> {
    Ok(set(text, &[PathStep::Key("status")], &json!(status.word()))?)
}

/// A status that is an object keeps what else it says; an assumption is no longer one.
fn marked(
    text: &str,
    record: &CriteriaRecord,
    name: &str,
    met: &Value,
) -> Result<String, LifecycleRefusal> {
    if record.criteria.iter().all(|(known, _)| known != name) {
        return Err(LifecycleRefusal::Unknown { kind: "criterion", name: name.into() });
    }
    let here = [PathStep::Key("criteriaStatus"), PathStep::Key(name)];
    let document = Document::read(text)?;
    if !find(&document, &here).is_some_and(Node::is_object) {
        return Ok(set(text, &here, met)?);
    }
    let inside = |key| [here[0], here[1], PathStep::Key(key)];
    let text = set(text, &inside("met"), met)?;
    Ok(remove(&text, &inside("verification"))?)
}

/// Moves a step from those that remain to those that are done.
fn stepped(text: &str, record: &CriteriaRecord, step: &str) -> Result<String, LifecycleRefusal> {
    let known = |steps: &[String]| steps.iter().any(|known| known == step);
    if known(&record.completed) {
        return Ok(text.into());
    }
    if !known(&record.remaining) && !known(&record.steps) {
        return Err(LifecycleRefusal::Unknown { kind: "step", name: step.into() });
    }
    let text = push(text, &[PathStep::Key("completedSteps")], &json!(step))?;
    let at = CriteriaRecord::read(&text)?.remaining.iter().position(|known| known == step);
    Ok(match at {
        Some(at) => remove(&text, &[PathStep::Key("remainingSteps"), PathStep::At(at)])?,
        None => text,
    })
}
