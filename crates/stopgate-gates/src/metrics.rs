//! How often a gate decided what, how long it took, and how often it was wrong.

use serde::Serialize;
use stopgate_core::{GateAction, GateTrace};

/// What is counted of one gate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Metrics {
    /// How often it judged.
    pub evaluations: u64,
    /// How often it said complete.
    pub complete: u64,
    /// How often it said continue.
    #[serde(rename = "continue")]
    pub carry_on: u64,
    /// How often it said escalate.
    pub escalate: u64,
    /// How often it failed; those count as escalate, too.
    pub failed: u64,
    /// How often it was disabled or its condition did not hold.
    pub skipped: u64,
    /// How long it took in all.
    pub total_micros: u64,
    /// How long it took at most.
    pub max_micros: u64,
    /// How often its complete was contradicted: the task was reopened, or a later validation failed.
    pub false_complete: u64,
    /// How often its continue was overruled: the task was completed by hand.
    pub false_continue: u64,
}

impl Metrics {
    /// Counts one look at the gate.
    pub fn count(&mut self, trace: &GateTrace) {
        let Some(action) = trace.action else {
            self.skipped += 1;
            return;
        };
        self.evaluations += 1;
        match action {
            GateAction::Complete => self.complete += 1,
            GateAction::Continue => self.carry_on += 1,
            GateAction::Escalate => self.escalate += 1,
        }
        self.failed += u64::from(trace.failed);
        self.total_micros = self.total_micros.saturating_add(trace.micros);
        self.max_micros = self.max_micros.max(trace.micros);
    }

    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.evaluations += other.evaluations;
        self.complete += other.complete;
        self.carry_on += other.carry_on;
        self.escalate += other.escalate;
        self.failed += other.failed;
        self.skipped += other.skipped;
        self.total_micros = self.total_micros.saturating_add(other.total_micros);
        self.max_micros = self.max_micros.max(other.max_micros);
        self.false_complete += other.false_complete;
        self.false_continue += other.false_continue;
    }

    /// The share of its decisions that nobody contradicted, in hundredths of a percent.
    pub fn accuracy(&self) -> Option<u64> {
        let decided = self.complete + self.carry_on;
        let wrong = self.false_complete + self.false_continue;
        (decided > 0).then(|| decided.saturating_sub(wrong) * 10_000 / decided)
    }
}
