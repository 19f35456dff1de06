//! What may be asked of a task, and what is answered.

use serde_json::Value;
use stopgate_core::Timestamp;

use super::{GATES_MAX, Task, TaskRefusal, TaskStatus};
use crate::evaluate::GateSource;
use crate::iteration::{HistoryEntry, Iteration, IterationStatus};
use crate::promise::normalise;
use crate::rule::ValidationRule;
use crate::step::{Checkpoint, Registered, TaskStep};
use crate::words::{CheckpointData, PromiseType};

const RULES_MAX: usize = 32;
const MAX_ITERATIONS: u32 = 100;
const BREAKER: u32 = 3;
const BREAKER_MAX: u32 = 20;
/// How often one iteration may be validated: what is tried more often should be counted.
const VALIDATIONS_MAX: u32 = 20;

impl Task {
    /// The name for its next part.
    pub fn name(&self, kind: &str, of: &str, at: Timestamp) -> String {
        format!("{kind}-{}-{of}{}", at.unix_millis(), self.named + 1)
    }

    /// Registers a gate.
    pub fn register(&self, gate: Registered) -> Result<TaskStep, TaskRefusal> {
        if self.gates.len() >= GATES_MAX {
            return Err(TaskRefusal::new(
                format!("the task has {GATES_MAX} hooks, and that is the most"),
                "remove some with hook_clear, or join several into one with all, any or first",
            ));
        }
        Ok(TaskStep::Registered(gate))
    }

    /// The gate of that name.
    pub fn gate(&self, id: &str) -> Option<&Registered> {
        self.gates.iter().find(|gate| gate.id == id)
    }

    /// Its gates, for evaluation.
    pub fn sources(&self) -> Vec<GateSource<'_>> {
        self.gates.iter().map(Registered::source).collect()
    }

    /// Begins iterations.
    pub fn begin(
        &self,
        id: String,
        max: u32,
        promises: &[String],
        rules: &[Value],
        breaker: Option<u32>,
        at: Timestamp,
    ) -> Result<TaskStep, TaskRefusal> {
        if let Some(running) = self.running() {
            return Err(TaskRefusal::new(
                format!("iteration {} of this task is still running", running.id),
                "go on with iteration_next, or end it with iteration_complete",
            ));
        }
        let breaker = breaker.unwrap_or(BREAKER);
        within("maxIterations", max, MAX_ITERATIONS)?;
        within("circuitBreakerThreshold", breaker, BREAKER_MAX)?;
        let iteration = Iteration {
            id,
            number: 1,
            max,
            promises: read_promises(promises)?,
            rules: read_rules(rules)?,
            breaker,
            status: IterationStatus::Running,
            history: Vec::new(),
            forgiven: 0,
            results: None,
            files: Vec::new(),
            heard: None,
            believed: None,
            validations: 0,
            started_at: at,
        };
        Ok(TaskStep::Begun(Box::new(iteration)))
    }

    /// The iterations that run.
    pub fn running(&self) -> Option<&Iteration> {
        self.iteration.as_ref().filter(|iteration| iteration.status == IterationStatus::Running)
    }

    /// The iterations called `id`, if they run.
    pub fn run_of(&self, id: &str) -> Result<&Iteration, TaskRefusal> {
        match &self.iteration {
            Some(iteration) if iteration.id == id => match iteration.status {
                IterationStatus::Running => Ok(iteration),
                IterationStatus::Completed | IterationStatus::Blocked => Err(TaskRefusal::new(
                    format!("iteration {id} is over: {}", iteration.status.word()),
                    "begin anew with iteration_start, or go back with checkpoint_resume",
                )),
            },
            Some(_) | None => Err(no_iteration(id)),
        }
    }

    /// The iterations called `id`, if they run and this one may be validated once more.
    pub fn run_to_validate(&self, id: &str) -> Result<&Iteration, TaskRefusal> {
        let iteration = self.run_of(id)?;
        if iteration.validations < VALIDATIONS_MAX {
            return Ok(iteration);
        }
        Err(TaskRefusal::new(
            format!(
                "iteration {} was validated {VALIDATIONS_MAX} times, and that is the most",
                iteration.number
            ),
            "count it and go on with iteration_next, or end with iteration_complete",
        ))
    }

    /// Removes the gate called `id`.
    pub fn remove(&self, id: &str) -> Option<TaskStep> {
        self.gate(id).map(|gate| TaskStep::Removed { gate: gate.id.clone() })
    }

    /// Ends this iteration and begins the next.
    pub fn advance(
        &self,
        id: &str,
        told: Option<&Value>,
        at: Timestamp,
    ) -> Result<TaskStep, TaskRefusal> {
        let iteration = self.run_of(id)?;
        if self.status == TaskStatus::Blocked {
            let why = self.blocked_reason.as_deref().unwrap_or("a person is needed");
            return Err(TaskRefusal::new(
                format!("the task is blocked: {why}"),
                "stop and tell the person; they let it go on with task_update status in_progress",
            ));
        }
        if iteration.number >= iteration.max {
            return Err(TaskRefusal::new(
                format!("Maximum iterations reached: {} of {}", iteration.number, iteration.max),
                "end with iteration_complete, promising COMPLETE or BLOCKED as it really is",
            ));
        }
        Ok(TaskStep::Advanced(entry(iteration, told, at)?))
    }

    /// Ends the iterations with a promise.
    pub fn finish_with(&self, id: &str, promise: &str) -> Result<PromiseType, TaskRefusal> {
        let iteration = self.run_of(id)?;
        let configured: Vec<&str> = iteration.promises.iter().map(|p| p.text()).collect();
        normalise(promise).filter(|kind| iteration.promises.contains(kind)).ok_or_else(|| {
            TaskRefusal::new(
                format!("Invalid completion promise: {promise}"),
                format!("this iteration was started with {}", configured.join(", ")),
            )
        })
    }

    /// Takes a checkpoint.
    pub fn checkpoint(
        &self,
        id: String,
        kept: CheckpointData,
        by: Option<String>,
        at: Timestamp,
    ) -> TaskStep {
        let iteration = self.iteration.clone();
        let sequence = self.taken + 1;
        TaskStep::Checkpointed(Box::new(Checkpoint { id, sequence, kept, iteration, by, at }))
    }

    /// The checkpoint called `id`, or the newest.
    pub fn checkpoint_of(&self, id: Option<&str>) -> Result<&Checkpoint, TaskRefusal> {
        let found = match id {
            Some(id) => self.checkpoints.iter().find(|checkpoint| checkpoint.id == id),
            None => self.checkpoints.last(),
        };
        found.ok_or_else(|| match id {
            Some(id) => TaskRefusal::new(
                format!("Checkpoint not found: {id}"),
                "task_get lists those that are kept, the newest five",
            ),
            None => TaskRefusal::new(
                "Checkpoint not found: the task has none",
                "take one with checkpoint_create",
            ),
        })
    }
}

pub(crate) fn no_iteration(id: &str) -> TaskRefusal {
    TaskRefusal::new(
        format!("Iteration checkpoint not found: {id}"),
        "task_get names the task's iteration; iteration_start begins one",
    )
}

fn within(name: &str, number: u32, most: u32) -> Result<(), TaskRefusal> {
    let hint = format!("give a whole number from 1 to {most}");
    match number {
        0 => Err(TaskRefusal::new(format!("{name}: Must be at least 1"), hint)),
        more if more > most => {
            Err(TaskRefusal::new(format!("{name}: Must be at most {most}"), hint))
        }
        _fine => Ok(()),
    }
}

fn read_promises(promises: &[String]) -> Result<Vec<PromiseType>, TaskRefusal> {
    let hint = "give COMPLETE, BLOCKED or ESCALATE";
    if promises.is_empty() {
        return Err(TaskRefusal::new("completionPromises: Must have at least 1 item", hint));
    }
    let mut read = Vec::new();
    for (at, promise) in promises.iter().enumerate() {
        let kind = normalise(promise).ok_or_else(|| {
            TaskRefusal::new(format!("completionPromises[{at}]: unknown promise {promise:?}"), hint)
        })?;
        if !read.contains(&kind) {
            read.push(kind);
        }
    }
    Ok(read)
}

fn read_rules(rules: &[Value]) -> Result<Vec<Value>, TaskRefusal> {
    let wrong = |message: String| TaskRefusal::new(message, "nothing was stored; correct the rule");
    if rules.len() > RULES_MAX {
        return Err(wrong(format!("validationRules: Must have at most {RULES_MAX} items")));
    }
    let mut names: Vec<String> = Vec::new();
    for (n, rule) in rules.iter().enumerate() {
        let at = format!("validationRules[{n}]");
        let read = ValidationRule::read(rule, &at).map_err(wrong)?;
        if names.contains(&read.name) {
            return Err(wrong(format!("{at}.name: two rules are called {:?}", read.name)));
        }
        names.push(read.name);
    }
    Ok(rules.to_vec())
}

/// What is remembered of this iteration: what validating it showed, else what was told.
fn entry(
    iteration: &Iteration,
    told: Option<&Value>,
    at: Timestamp,
) -> Result<HistoryEntry, TaskRefusal> {
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let results = iteration.results.as_deref().unwrap_or_default();
    let met = results.iter().filter(|result| result.passed).count();
    let mut files = iteration.files.clone();
    let mut passed = iteration.results.as_ref().map(|_| met == results.len());
    if let Some(told) = told.filter(|told| !told.is_null()) {
        let (said, named) = read_told(told)?;
        // What was seen beats what is told.
        passed = passed.or(said);
        files.extend(named);
        files.sort();
        files.dedup();
    }
    Ok(HistoryEntry {
        iteration: iteration.number,
        passed,
        met: count(met),
        rules: count(results.len()),
        files,
        at,
    })
}

fn read_told(told: &Value) -> Result<(Option<bool>, Vec<String>), TaskRefusal> {
    let hint = "give {\"passed\": true or false, \"flags\": [{\"message\": …}]}, or what iteration_validate answered";
    let wrong = |what: &str| TaskRefusal::new(format!("validationResult{what}"), hint);
    let object = told.as_object().ok_or_else(|| wrong(": Must be of type: object"))?;
    let mut passed = None;
    for name in ["passed", "validationPassed"] {
        match object.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::Bool(said)) => passed = Some(*said),
            Some(_) => return Err(wrong(&format!(".{name}: Must be of type: boolean"))),
        }
    }
    let flags = match object.get("flags") {
        None | Some(Value::Null) => &[][..],
        Some(Value::Array(flags)) => flags,
        Some(_) => return Err(wrong(".flags: Must be of type: array")),
    };
    let messages = flags.iter().filter_map(|flag| flag.get("message")?.as_str());
    Ok((passed, messages.filter_map(file_in).collect()))
}

/// The file that a flag such as `file: src/a.ts changed` is about.
fn file_in(message: &str) -> Option<String> {
    let mut words = message.split_whitespace();
    words.find(|word| word.trim_end_matches(':').eq_ignore_ascii_case("file"))?;
    let file = words.next()?.trim_end_matches([',', ';', ':']);
    (!file.is_empty()).then(|| file.to_string())
}
