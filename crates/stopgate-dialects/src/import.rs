//! What a loop of another format becomes as one of stopgate's own, and what is lost on the way.
//!
//! Nothing here claims more than the file: what somebody ticked off there was never proven,
//! so it must be attested or checked anew.

#[cfg(test)]
mod tests;

use stopgate_core::{Frame, Mode, Timestamp, clean, clip};

use crate::idle::{self, IdleStanding, LastTouched};
use crate::{criteria, features, ralph_loop, task};

/// As many as a native loop takes.
const CRITERIA_MAX: usize = 64;
/// How often an agent may be sent back where the file sets no limit.
const ITERATIONS_DEFAULT: u32 = 20;
const NAME_BYTES_MAX: usize = 200;

/// A native loop to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// What it is for.
    pub goal: String,
    /// What the agent is asked to do, where that is more than the goal.
    pub prompt: Option<String>,
    /// How its outermost frame works.
    pub mode: Mode,
    /// How often the agent may still be sent back.
    pub max_iterations: u32,
    /// Frames on top of the outermost one.
    pub nested: Vec<Frame>,
    /// What the agent has to attest.
    pub criteria: Vec<String>,
    /// The session that it held.
    pub session: Option<String>,
    /// How long it may go without any activity, where the format says so.
    pub stale_after_ms: Option<i64>,
    /// What could not be carried over, a sentence each.
    pub lost: Vec<String>,
}

/// Why there is nothing to carry over, in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("import the loop: {0}")]
pub struct Nothing(String);

/// Carries a loop of the idle plugin over.
pub fn from_idle(found: &idle::IdleLoop, now: Timestamp) -> Result<Carried, Nothing> {
    match &found.standing {
        IdleStanding::Active => {}
        IdleStanding::Over(_, why) => return Err(Nothing(format!("it is over ({why})"))),
        IdleStanding::Off => return Err(Nothing("it is switched off".into())),
    }
    let Some((outermost, nested)) = found.frames.split_first() else {
        return Err(Nothing("its counts make no sense".into()));
    };
    let mut carried = Carried::of(&found.goal, Some(outermost))?;
    carried.nested = nested.iter().map(|frame| rest_of(frame, &mut carried.lost)).collect();
    carried.stale_after_ms = Some(idle::STALE_AFTER_MS);
    if let LastTouched::At(at) = found.touched
        && now.since(at) > idle::STALE_AFTER_MS
    {
        carried.lose("it was stale; the new loop is fresh");
    }
    if found.worktree.is_some() {
        carried.lose("the work tree of its frame on top: start the agent there");
    }
    Ok(carried)
}

/// Carries a loop of the widely used plugin over.
pub fn from_ralph_loop(found: &ralph_loop::RalphLoop) -> Result<Carried, Nothing> {
    if !found.active {
        return Err(Nothing("it is switched off".into()));
    }
    let frame = found.frame.as_ref();
    let frame = frame.map_err(|trouble| Nothing(format!("{} makes no sense", trouble.field)))?;
    let mut carried = Carried::of(&frame.prompt, Some(frame))?;
    carried.session = found.session.clone().filter(|session| !session.trim().is_empty());
    if let Some(promise) = found.promise.as_deref().filter(|promise| *promise != "COMPLETE") {
        carried.lose(&format!(
            "its promise \"{}\": the agent says <promise>COMPLETE</promise> instead",
            line(promise)
        ));
    }
    Ok(carried)
}

/// Carries a list of features over.
pub fn from_features(
    list: &features::FeatureList,
    progress: &features::ProgressFile,
) -> Result<Carried, Nothing> {
    let open: Vec<_> = list.features.iter().filter(|feature| !feature.passes).collect();
    if open.is_empty() {
        return Err(Nothing("no feature is left".into()));
    }
    let goal = format!("Complete the {} features that are left", open.len());
    let used = progress.iteration.saturating_sub(1);
    let frame = Frame {
        mode: Mode::Loop,
        iteration: used,
        max: progress.max,
        prompt: "Work on one feature at a time, in the order of the criteria.".into(),
    };
    let mut carried = Carried::of(&goal, Some(&frame))?;
    let name = |feature: &&features::Feature| format!("{}: {}", feature.id, feature.description);
    carried.attest(open.iter().map(name).collect());
    if list.complete() > 0 {
        carried.lose(&format!("{} finished features: nothing proves them", list.complete()));
    }
    if open.iter().any(|feature| feature.model.is_some()) {
        carried.lose("the models that features name");
    }
    if progress.compact_every > 0 || progress.per_session > 0 || progress.context_limit.is_some() {
        carried.lose("its settings for compaction, batches and the context window");
    }
    Ok(carried)
}

/// Carries a file of criteria over.
pub fn from_criteria(record: &criteria::CriteriaRecord) -> Result<Carried, Nothing> {
    match record.status {
        criteria::CriteriaStatus::InProgress | criteria::CriteriaStatus::Paused => {}
        criteria::CriteriaStatus::Completed | criteria::CriteriaStatus::Cancelled => {
            return Err(Nothing(format!("it is {}", record.status.word())));
        }
    }
    let mut carried = Carried::of(&record.spec, None)?;
    carried.prompt = steps(&record.spec, &record.remaining);
    carried.attest(record.criteria.iter().map(|(name, _)| name.clone()).collect());
    let met =
        record.criteria.iter().filter(|(_, mark)| *mark == criteria::CriterionState::Met).count();
    if met > 0 {
        carried.lose(&format!("that {met} criteria were ticked off: nothing proves them"));
    }
    if record.iteration > 0 {
        carried.lose(&format!("its {} iterations: that format has no limit", record.iteration));
    }
    if !record.completed.is_empty() {
        carried.lose(&format!("{} steps that were done", record.completed.len()));
    }
    if record.status == criteria::CriteriaStatus::Paused {
        carried.lose("that it was paused: the new loop is active");
    }
    Ok(carried)
}

/// Carries a task over.
pub fn from_task(record: &task::TaskRecord) -> Result<Carried, Nothing> {
    if !matches!(record.status, task::TaskStanding::InProgress | task::TaskStanding::Paused) {
        return Err(Nothing(format!("the task is {}", record.status.word())));
    }
    let frame = Frame {
        mode: Mode::Loop,
        iteration: record.iteration,
        max: record.max_iterations,
        prompt: record.description.clone(),
    };
    let goal = if record.subject.is_empty() { &record.description } else { &record.subject };
    let mut carried = Carried::of(goal, Some(&frame))?;
    carried.prompt = steps(&record.description, &record.remaining).or(carried.prompt);
    if record.budget_micros.is_some() {
        carried.lose("its budget: watch the cost yourself");
    }
    if !record.completed.is_empty() {
        carried.lose(&format!("{} steps that were done", record.completed.len()));
    }
    if !record.errors.is_empty() {
        carried.lose(&format!("{} errors that were written down", record.errors.len()));
    }
    if record.pause().is_some() || record.status == task::TaskStanding::Paused {
        carried.lose("that it was paused: the new loop is active");
    }
    Ok(carried)
}

impl Carried {
    fn of(goal: &str, frame: Option<&Frame>) -> Result<Self, Nothing> {
        let goal = goal.trim();
        if goal.is_empty() {
            return Err(Nothing("it says nowhere what it is for".into()));
        }
        let mut lost = Vec::new();
        let rest = frame.map(|frame| rest_of(frame, &mut lost));
        let prompt = rest.as_ref().map(|frame| frame.prompt.trim().to_string());
        Ok(Self {
            goal: goal.into(),
            prompt: prompt.filter(|prompt| !prompt.is_empty() && prompt != goal),
            mode: rest.as_ref().map_or(Mode::Loop, |frame| frame.mode),
            max_iterations: rest.map_or(ITERATIONS_DEFAULT, |frame| frame.max),
            nested: Vec::new(),
            criteria: Vec::new(),
            session: None,
            stale_after_ms: None,
            lost,
        })
    }

    fn lose(&mut self, what: &str) {
        self.lost.push(what.into());
    }

    /// Names must differ, and a native loop takes only so many.
    fn attest(&mut self, names: Vec<String>) {
        let surplus = names.len().saturating_sub(CRITERIA_MAX);
        for name in names.into_iter().take(CRITERIA_MAX) {
            let name = line(&name);
            if name.is_empty() || self.criteria.contains(&name) {
                self.lose(&format!("a criterion without a name of its own: \"{name}\""));
            } else {
                self.criteria.push(name);
            }
        }
        if surplus > 0 {
            self.lose(&format!("{surplus} criteria beyond the {CRITERIA_MAX} that a loop takes"));
        }
    }
}

/// A frame with the iterations that are left to it.
fn rest_of(frame: &Frame, lost: &mut Vec<String>) -> Frame {
    let max = if frame.max == u32::MAX {
        lost.push(format!(
            "that it had no limit: the new loop has {ITERATIONS_DEFAULT} iterations"
        ));
        ITERATIONS_DEFAULT
    } else if frame.iteration >= frame.max {
        lost.push(format!(
            "its limit of {} iterations, which are used: it has one more",
            frame.max
        ));
        1
    } else {
        frame.max - frame.iteration
    };
    Frame { iteration: 0, max, ..frame.clone() }
}

/// What is asked for, with the steps that are left; nothing where there are none.
fn steps(asked: &str, remaining: &[String]) -> Option<String> {
    let listed: Vec<String> = remaining.iter().map(|step| format!("- {}", line(step))).collect();
    (!listed.is_empty()).then(|| format!("{}\n\nSteps:\n{}", asked.trim(), listed.join("\n")))
}

fn line(text: &str) -> String {
    clip(&clean(text).split_whitespace().collect::<Vec<_>>().join(" "), NAME_BYTES_MAX)
}
