//! One run of iterations over a task, and the guards that end it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use stopgate_core::{GateAction, Timestamp};

use crate::words::{PromiseType, ValidationResult};

/// A file that so many failed iterations changed is being thrashed.
const THRASHING: usize = 5;
/// Quality that falls this many times in a row is a regression.
const REGRESSION: usize = 2;

/// Iterations over one task, from their start to their end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Iteration {
    /// Its name.
    pub id: String,
    /// The current iteration, from 1.
    pub number: u32,
    /// How many there may be.
    pub max: u32,
    /// What the agent may promise.
    pub promises: Vec<PromiseType>,
    /// What each iteration is validated by, as it was given.
    pub rules: Vec<Value>,
    /// How many failures in a row open the breaker.
    pub breaker: u32,
    /// Whether it runs.
    #[serde(default)]
    pub status: IterationStatus,
    /// The iterations that are over.
    #[serde(default)]
    pub history: Vec<HistoryEntry>,
    /// How much of the history guards look past, since somebody looked and let it go on.
    #[serde(default)]
    pub forgiven: usize,
    /// How the rules came out in this iteration; nothing where nobody asked yet.
    pub results: Option<Vec<ValidationResult>>,
    /// Files changed in this iteration.
    #[serde(default)]
    pub files: Vec<String>,
    /// The gate that was heard last, and what it said.
    pub heard: Option<(String, GateAction)>,
    /// The gate whose `complete` still stands.
    pub believed: Option<String>,
    /// How often this iteration was validated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub validations: u32,
    /// When it began.
    pub started_at: Timestamp,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

stopgate_core::words! {
    /// Whether iterations run.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum IterationStatus {
        /// They do.
        #[default]
        Running = "running",
        /// They ended with a promise of completion.
        Completed = "completed",
        /// They ended with a call for a person.
        Blocked = "blocked",
    }
}

/// One iteration that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryEntry {
    /// Its number.
    pub iteration: u32,
    /// Whether its validation passed; nothing where nobody asked.
    pub passed: Option<bool>,
    /// How many rules passed.
    #[serde(default)]
    pub met: u32,
    /// How many rules were asked.
    #[serde(default)]
    pub rules: u32,
    /// Files that it changed.
    #[serde(default)]
    pub files: Vec<String>,
    /// When it ended.
    pub at: Timestamp,
}

stopgate_core::words! {
    /// What ends iterations that lead nowhere.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum IterationGuard {
        /// There were as many as allowed.
        MaxIterations = "max_iterations",
        /// Too many in a row failed.
        CircuitBreaker = "circuit_breaker",
        /// Fewer rules pass each time.
        QualityRegression = "quality_regression",
        /// The same file is changed again and again.
        Thrashing = "thrashing",
    }
}

impl Iteration {
    /// How many iterations are left after this one.
    pub const fn remaining(&self) -> u32 {
        self.max.saturating_sub(self.number)
    }

    /// The guard that ends these iterations now, and why.
    pub fn guard(&self) -> Option<(IterationGuard, String)> {
        if self.number > self.max {
            let why = format!("Maximum iterations exceeded: {} of {}", self.number, self.max);
            return Some((IterationGuard::MaxIterations, why));
        }
        self.breaker_open().or_else(|| self.regression()).or_else(|| self.thrashing())
    }

    fn looked_at(&self) -> &[HistoryEntry] {
        self.history.get(self.forgiven..).unwrap_or_default()
    }

    fn breaker_open(&self) -> Option<(IterationGuard, String)> {
        let known = self.looked_at().iter().rev().filter_map(|entry| entry.passed);
        let failed = known.take_while(|passed| !passed).count();
        let open = u32::try_from(failed).unwrap_or(u32::MAX) >= self.breaker;
        open.then(|| {
            let why = format!(
                "Circuit breaker OPEN: {failed} consecutive failed iterations (threshold {}); \
                 another approach or a person is needed",
                self.breaker
            );
            (IterationGuard::CircuitBreaker, why)
        })
    }

    /// Falls twice in a row: a smaller share of the rules passed than in the one before.
    fn regression(&self) -> Option<(IterationGuard, String)> {
        let asked: Vec<&HistoryEntry> =
            self.looked_at().iter().filter(|entry| entry.rules > 0).collect();
        let last = asked.get(asked.len().checked_sub(REGRESSION + 1)?..)?;
        // Shares are compared crosswise, without a division.
        let share = |met: u32, of: u32| u64::from(met) * u64::from(of);
        let falls = last.windows(2).all(|pair| match pair {
            [before, after] => share(after.met, before.rules) < share(before.met, after.rules),
            _ => false,
        });
        falls.then(|| {
            let shares: Vec<String> =
                last.iter().map(|entry| format!("{}/{}", entry.met, entry.rules)).collect();
            let why =
                format!("Quality regression detected: rules passed {}", shares.join(", then "));
            (IterationGuard::QualityRegression, why)
        })
    }

    fn thrashing(&self) -> Option<(IterationGuard, String)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for entry in self.looked_at().iter().filter(|entry| entry.passed != Some(true)) {
            for file in &entry.files {
                *counts.entry(file).or_default() += 1;
            }
        }
        let thrashed: Vec<&str> = counts
            .iter()
            .filter(|(_, count)| **count >= THRASHING)
            .map(|(file, _)| *file)
            .collect();
        (!thrashed.is_empty()).then(|| {
            let why = format!(
                "Thrashing detected: {} file(s) changed in {THRASHING} or more failed iterations: {}",
                thrashed.len(),
                thrashed.join(", ")
            );
            (IterationGuard::Thrashing, why)
        })
    }
}
