//! What is counted over many loops: outcomes, rules, checks, and loops in shadow mode.

use std::collections::BTreeMap;

use serde::Serialize;
use stopgate_core::{Enforcement, Order, Outcome, Receipt, RulingWord, Status};

use crate::story::{LoopStory, StopStory};
use crate::when::iso_week;

/// What is counted over many loops.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoopStats {
    /// Loops in all.
    pub loops: u64,
    /// Loops that have not ended.
    pub running: u64,
    /// Stops in all.
    pub stops: u64,
    /// Continuations in all.
    pub continuations: u64,
    /// How loops ended, by outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Which rules answered stops.
    pub rules: BTreeMap<&'static str, u64>,
    /// The same loops by project, by agent and by the week in which they began.
    pub by_project: BTreeMap<String, GroupStats>,
    /// By what showed which agent it was; `unknown` where nothing did.
    pub by_agent: BTreeMap<String, GroupStats>,
    /// By ISO week.
    pub by_week: BTreeMap<String, GroupStats>,
    /// What agents used, by model, as far as it was counted.
    pub by_model: BTreeMap<String, ModelStats>,
    /// Checks, those that failed most often first.
    pub checks: Vec<CheckStats>,
    /// Loops whose verdicts did not bind.
    pub shadow: ShadowStats,
}

/// Some of the loops.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct GroupStats {
    /// Loops in all.
    pub loops: u64,
    /// Stops in all.
    pub stops: u64,
    /// Milliseconds of work.
    pub used_ms: i64,
    /// How they ended, by outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Which rules answered their stops.
    pub rules: BTreeMap<&'static str, u64>,
}

/// What calls of one model used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ModelStats {
    /// Loops in which it was called.
    pub loops: u64,
    /// How often it was called.
    pub calls: u64,
    /// All its tokens, cached ones included.
    pub tokens: u64,
    /// What they cost, in millionths of a dollar, as far as a price is known.
    pub cost_micros: u64,
    /// Tokens whose price is not known.
    pub unpriced_tokens: u64,
}

/// One check, in one project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckStats {
    /// The project.
    pub project: String,
    /// The criterion.
    pub name: String,
    /// How often it ran; a result that was used again is not a run.
    pub runs: u64,
    /// Runs that passed.
    pub passed: u64,
    /// Runs that failed or ran out of time.
    pub failed: u64,
    /// Runs that could not take place.
    pub errors: u64,
    /// Passes that needed a retry, and results that changed although no file did.
    pub flaky: u64,
    /// Stops at which it was the only required check that did not pass.
    pub caught_alone: u64,
    /// Milliseconds in all.
    pub total_ms: u64,
    /// Milliseconds of the longest run.
    pub max_ms: u64,
}

/// Loops whose verdicts did not bind: what would have been.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShadowStats {
    /// Loops in shadow mode.
    pub loops: u64,
    /// Stops that would have been refused.
    pub would_hold: u64,
    /// Of these, stops at which the agent said that it was done.
    pub would_catch: u64,
    /// Loops that would have been let go by a brake.
    pub would_end: u64,
}

/// Counts over `stories`.
pub fn loop_stats<'a>(stories: impl IntoIterator<Item = &'a LoopStory>) -> LoopStats {
    let mut stats = LoopStats::default();
    let mut checks: BTreeMap<(String, String), CheckCount> = BTreeMap::new();
    for story in stories {
        count(&mut stats, story);
        count_checks(&mut checks, story);
    }
    stats.checks = checks.into_values().map(|count| count.stats).collect();
    stats.checks.sort_by(|a, b| {
        (b.failed, b.caught_alone, &a.project, &a.name).cmp(&(
            a.failed,
            a.caught_alone,
            &b.project,
            &b.name,
        ))
    });
    stats
}

fn count(stats: &mut LoopStats, story: &LoopStory) {
    stats.loops += 1;
    stats.running += u64::from(story.outcome.is_none());
    stats.stops += length(&story.stops);
    stats.continuations += story.stops.iter().filter(|stop| is_refused(stop)).count() as u64;
    add_outcome(&mut stats.outcomes, story.outcome);
    add_rules(&mut stats.rules, &story.stops);
    add(stats.by_project.entry(story.project.clone()).or_default(), story);
    add(stats.by_agent.entry(agent(story)).or_default(), story);
    add(stats.by_week.entry(iso_week(story.started_at)).or_default(), story);
    for model in story.models.iter().filter(|model| model.calls > 0) {
        let found = stats.by_model.entry(model.model.clone()).or_default();
        found.loops += 1;
        found.calls = found.calls.saturating_add(model.calls);
        found.tokens = found.tokens.saturating_add(model.tokens.total());
        found.cost_micros = found.cost_micros.saturating_add(model.nanos.div_ceil(1000));
        found.unpriced_tokens = found.unpriced_tokens.saturating_add(model.unpriced);
    }
    if story.enforcement == Enforcement::Shadow {
        let shadow = &mut stats.shadow;
        shadow.loops += 1;
        for stop in story.stops.iter().filter(|stop| is_refused(stop)) {
            shadow.would_hold += 1;
            shadow.would_catch += u64::from(stop.is_claim && has_failure(stop));
        }
        shadow.would_end +=
            u64::from(story.stops.iter().any(|stop| stop.verdict == RulingWord::Escalate));
    }
}

/// By which client's variable an agent was known, or whose file keeps the loop.
fn agent(story: &LoopStory) -> String {
    let file = match story.order {
        Order::Native => None,
        Order::Idle => Some("idle"),
        Order::Features => Some("features"),
        Order::Criteria => Some("criteria"),
        Order::Task => Some("task"),
        Order::RalphLoop => Some("ralph-loop"),
    };
    match (file, &story.shown_by) {
        (Some(file), _) => format!("--dialect {file}"),
        (None, Some(shown)) => shown.clone(),
        (None, None) => "unknown".into(),
    }
}

fn add(group: &mut GroupStats, story: &LoopStory) {
    group.loops += 1;
    group.stops += length(&story.stops);
    group.used_ms = group.used_ms.saturating_add(story.used_ms);
    add_outcome(&mut group.outcomes, story.outcome);
    add_rules(&mut group.rules, &story.stops);
}

fn add_outcome(outcomes: &mut BTreeMap<&'static str, u64>, outcome: Option<Outcome>) {
    if let Some(outcome) = outcome {
        *outcomes.entry(outcome.word()).or_default() += 1;
    }
}

fn add_rules(rules: &mut BTreeMap<&'static str, u64>, stops: &[StopStory]) {
    for stop in stops {
        *rules.entry(stop.rule.word()).or_default() += 1;
    }
}

fn is_refused(stop: &StopStory) -> bool {
    stop.verdict == RulingWord::Continue
}

fn has_failure(stop: &StopStory) -> bool {
    stop.receipts.iter().any(|receipt| receipt.status != Status::Pass)
}

/// A check and the results that it had, by the files they were about.
#[derive(Default)]
struct CheckCount {
    stats: CheckStats,
    seen: BTreeMap<String, Status>,
}

fn count_checks(checks: &mut BTreeMap<(String, String), CheckCount>, story: &LoopStory) {
    for stop in &story.stops {
        for receipt in stop.receipts.iter().filter(|receipt| !receipt.evidence.reused) {
            let key = (story.project.clone(), receipt.criterion.clone());
            checks.entry(key).or_default().add(&story.project, receipt);
        }
        if let Some(name) = alone(story, stop) {
            let key = (story.project.clone(), name.to_string());
            if let Some(count) = checks.get_mut(&key) {
                count.stats.caught_alone += 1;
            }
        }
    }
}

impl CheckCount {
    fn add(&mut self, project: &str, receipt: &Receipt) {
        let stats = &mut self.stats;
        if stats.runs == 0 {
            stats.project = project.into();
            stats.name.clone_from(&receipt.criterion);
        }
        stats.runs += 1;
        stats.total_ms = stats.total_ms.saturating_add(receipt.duration_ms);
        stats.max_ms = stats.max_ms.max(receipt.duration_ms);
        match receipt.status {
            Status::Pass | Status::NeedsApproval => stats.passed += 1,
            Status::Fail | Status::Timeout | Status::Tampered => stats.failed += 1,
            Status::Error => stats.errors += 1,
        }
        let changed = receipt.evidence.tree.as_ref().is_some_and(|tree| {
            let command = receipt.evidence.command.as_deref().unwrap_or_default();
            let before = self.seen.insert(format!("{tree} {command}"), receipt.status);
            before.is_some_and(|before| before != receipt.status)
        });
        stats.flaky += u64::from(receipt.is_flaky() || changed);
    }
}

/// The only required check that did not pass at a stop.
fn alone<'a>(story: &LoopStory, stop: &'a StopStory) -> Option<&'a str> {
    let required = |name: &str| story.criteria.iter().any(|c| c.is_required && c.name == name);
    let mut failed =
        stop.receipts.iter().filter(|r| r.status != Status::Pass && required(&r.criterion));
    let first = failed.next()?;
    failed.next().is_none().then_some(first.criterion.as_str())
}

fn length(stops: &[StopStory]) -> u64 {
    stops.len() as u64
}

#[cfg(test)]
mod tests;
