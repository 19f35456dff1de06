//! The record as it is read.

use stopgate_core::{Criterion, Proof, Standing, Timestamp};

use crate::json_text::{Document, JsonTextError, Node};

/// The circuit opens when the same criterion was unmet this often.
pub const STUCK_MAX: u32 = 5;

/// What the breaker notes where everything is met and only the exit signal is missing.
const EXIT_SIGNAL: &str = "exit_signal";

/// One loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriteriaRecord {
    /// What was asked for, verbatim.
    pub spec: String,
    /// The criteria in their order, and how each stands.
    pub criteria: Vec<(String, CriterionState)>,
    /// Whether the agent means to finish.
    pub exit_signal: bool,
    /// The planned steps.
    pub steps: Vec<String>,
    /// Those that are done.
    pub completed: Vec<String>,
    /// Those that are not.
    pub remaining: Vec<String>,
    /// How often the agent was sent on.
    pub iteration: u32,
    /// Whether it steers.
    pub status: CriteriaStatus,
    /// The circuit breaker.
    pub breaker: Breaker,
    /// Commands that verify criteria, by criterion.
    pub checks: Vec<(String, String)>,
}

/// How a criterion stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CriterionState {
    /// It was verified.
    Met,
    /// It was not, or nobody can tell.
    Unmet,
    /// Somebody assumed it.
    Assumed,
}

stopgate_core::words! {
    /// Whether a loop steers its agent.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CriteriaStatus {
        /// It does; also where the file does not say, or says something unknown.
        InProgress = "in_progress",
        /// Somebody paused it.
        Paused = "paused",
        /// It is over.
        Completed = "completed",
        /// Somebody called it off.
        Cancelled = "cancelled",
    }
}

/// What was unmet, and how often in a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Breaker {
    /// How often the same criterion was unmet again.
    pub stuck: u32,
    /// The first one that was unmet.
    pub last_unmet: String,
}

/// Why a record could not be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It is not JSON.
    #[error("read the state file")]
    NotJson(#[from] JsonTextError),
    /// It is JSON, but not an object.
    #[error("find an object in the state file")]
    NoObject,
}

impl CriteriaRecord {
    /// Reads a record; what it lacks has a default.
    pub fn read(text: &str) -> Result<Self, RecordError> {
        let document = Document::read(text)?;
        let root = document.root();
        if !root.is_object() {
            return Err(RecordError::NoObject);
        }
        let text = |key: &str| root.key(key).and_then(Node::text).unwrap_or_default();
        let breaker = root.key("circuitBreaker");
        let within = |key: &str| breaker.and_then(|breaker| breaker.key(key));
        Ok(Self {
            spec: text("spec").into(),
            criteria: criteria(root),
            exit_signal: root.key("exit_signal").and_then(Node::flag) == Some(true),
            steps: texts(root.key("steps")),
            completed: texts(root.key("completedSteps")),
            remaining: texts(root.key("remainingSteps")),
            iteration: root.key("iteration").map_or(0, count),
            status: CriteriaStatus::named(text("status")).unwrap_or(CriteriaStatus::InProgress),
            breaker: Breaker {
                stuck: within("stuckCount").map_or(0, count),
                last_unmet: within("lastUnmet").and_then(Node::text).unwrap_or_default().into(),
            },
            checks: checks(root),
        })
    }

    /// The names of the criteria that are not met, in order.
    pub fn unmet(&self) -> Vec<&str> {
        let unmet = self.criteria.iter().filter(|(_, mark)| *mark != CriterionState::Met);
        unmet.map(|(name, _)| &**name).collect()
    }

    /// Whether something is listed, and all of it is met.
    pub fn all_met(&self) -> bool {
        !self.criteria.is_empty() && self.unmet().is_empty()
    }

    /// The breaker after one more iteration that left things as they are.
    #[must_use]
    pub fn next_breaker(&self) -> Breaker {
        let unmet = self.unmet();
        // An agent that never says that it is done would be held for ever otherwise.
        let waits = if self.all_met() && !self.exit_signal { EXIT_SIGNAL } else { "" };
        let first = unmet.first().copied().unwrap_or(waits);
        let same = !first.is_empty() && first == self.breaker.last_unmet;
        let stuck = if same { self.breaker.stuck.saturating_add(1) } else { 0 };
        Breaker { stuck, last_unmet: first.into() }
    }

    /// The criteria in the core's words.
    pub fn core_criteria(&self, now: Timestamp) -> Vec<Criterion> {
        let criterion = |(name, mark): &(String, CriterionState)| {
            let status = match mark {
                CriterionState::Met => stopgate_core::Status::Pass,
                CriterionState::Unmet | CriterionState::Assumed => stopgate_core::Status::Fail,
            };
            let last = Standing {
                status,
                exit_code: None,
                duration_ms: 0,
                at: now,
                log: None,
                kept: None,
            };
            Criterion { last: Some(last), ..Criterion::new(name, Proof::Attest) }
        };
        self.criteria.iter().map(criterion).collect()
    }
}

/// What is listed, and what only has a status; a listed one without a status is unmet.
fn criteria(root: Node<'_>) -> Vec<(String, CriterionState)> {
    let status = root.key("criteriaStatus");
    let mut criteria: Vec<(String, CriterionState)> = Vec::new();
    for name in texts(root.key("criteria")) {
        if criteria.iter().all(|(known, _)| *known != name) {
            let mark =
                status.and_then(|status| status.key(&name)).map_or(CriterionState::Unmet, mark);
            criteria.push((name, mark));
        }
    }
    for (name, _) in status.into_iter().flat_map(Node::members) {
        if criteria.iter().all(|(known, _)| known != name) {
            let mark =
                status.and_then(|status| status.key(name)).map_or(CriterionState::Unmet, mark);
            criteria.push((name.into(), mark));
        }
    }
    criteria
}

/// `checks: {"tests pass": "make test"}`: what is not a command for a listed criterion is none.
fn checks(root: Node<'_>) -> Vec<(String, String)> {
    let listed = criteria(root);
    let members = root.key("checks").into_iter().flat_map(Node::members);
    members
        .filter_map(|(name, _)| {
            let command = root.key("checks")?.key(name)?.text()?;
            Some((name.to_string(), command.to_string()))
        })
        .filter(|(name, command)| {
            !command.trim().is_empty() && listed.iter().any(|(known, _)| known == name)
        })
        .collect()
}

/// Only a plain `true` is met, or an object that says so and how it was verified.
fn mark(node: Node<'_>) -> CriterionState {
    let met = node.flag().or_else(|| node.key("met").and_then(Node::flag));
    let verification = node.key("verification").and_then(Node::text).unwrap_or_default();
    match met {
        Some(true) if verification.trim().eq_ignore_ascii_case("assumption") => {
            CriterionState::Assumed
        }
        Some(true) => CriterionState::Met,
        Some(false) | None => CriterionState::Unmet,
    }
}

fn texts(node: Option<Node<'_>>) -> Vec<String> {
    node.into_iter().flat_map(Node::elements).filter_map(Node::plain).map(String::from).collect()
}

/// A count that can't be read counts from nothing; one that is too large is large.
fn count(node: Node<'_>) -> u32 {
    node.count().map_or(0, |count| u32::try_from(count).unwrap_or(u32::MAX))
}
