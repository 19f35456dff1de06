//! `.loop/state.json`: what it says, and how it changes.
//!
//! The agent owns the criteria and the steps; the hook owns the counters. Every edit is in
//! place, so that fields, comments and layout that nobody here knows survive.

mod advice;
mod lifecycle;
mod record;
mod words;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

pub use self::advice::{Advice, advice};
pub use self::lifecycle::{
    IterationChange, LifecycleRefusal, NewCriteria, cancelled, completed, iterated, paused,
    resumed, started, verified,
};
pub use self::record::{
    Breaker, CriteriaRecord, CriteriaStatus, CriterionState, RecordError, STUCK_MAX,
};
pub use self::words::{announcement, blocked, let_go, status_block};

use serde_json::Value;

use crate::json_text::{JsonTextError, PathStep, set};

/// The file with these counts and nothing else changed.
pub fn counted(text: &str, iteration: u32, breaker: &Breaker) -> Result<String, JsonTextError> {
    let text = set(text, &[PathStep::Key("iteration")], &Value::from(iteration))?;
    with_breaker(&text, breaker)
}

fn with_breaker(text: &str, breaker: &Breaker) -> Result<String, JsonTextError> {
    let at = |key| [PathStep::Key("circuitBreaker"), PathStep::Key(key)];
    let text = set(text, &at("stuckCount"), &Value::from(breaker.stuck))?;
    set(&text, &at("lastUnmet"), &Value::from(&*breaker.last_unmet))
}
