//! How steps make a task.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use stopgate_core::{GateAction, Timestamp};

use super::{CHECKPOINTS_MAX, PRODUCTS_MAX, Task, TaskStatus};
use crate::evaluate::Evaluation;
use crate::gate::Gate;
use crate::iteration::{Iteration, IterationStatus};
use crate::judge::AgentSignal;
use crate::step::{Changes, Registered, TaskStep, Validated};
use crate::words::PromiseType;

impl Task {
    /// The task after one more step; nothing unless the first one creates it.
    pub fn apply(task: Option<Self>, step: &TaskStep, at: Timestamp) -> Option<Self> {
        let Some(mut task) = task else {
            return match step {
                TaskStep::Created { title, description, notes, metadata } => {
                    let task = Self::created(title.clone(), metadata.clone(), at);
                    Some(Self { description: description.clone(), notes: notes.clone(), ..task })
                }
                _other => None,
            };
        };
        task.change(step);
        task.updated_at = at;
        Some(task)
    }

    fn created(title: String, metadata: Map<String, Value>, at: Timestamp) -> Self {
        Self {
            title,
            description: None,
            notes: None,
            status: TaskStatus::Pending,
            blocked_reason: None,
            metadata,
            gates: Vec::new(),
            iteration: None,
            checkpoints: Vec::new(),
            products: Vec::new(),
            metrics: BTreeMap::new(),
            named: 0,
            taken: 0,
            created_at: at,
            updated_at: at,
        }
    }

    fn change(&mut self, step: &TaskStep) {
        match step {
            TaskStep::Created { .. } => {}
            TaskStep::Updated(changes) => self.update(changes),
            TaskStep::Registered(gate) => {
                self.named += 1;
                let read = gate.gate.clone().or_else(|| Gate::read(&gate.definition).ok());
                self.gates.push(Registered { gate: read, ..gate.clone() });
            }
            TaskStep::Switched { gate, enabled } => {
                if let Some(found) = self.gates.iter_mut().find(|g| g.id == *gate) {
                    found.enabled = *enabled;
                }
            }
            TaskStep::Cleared => self.gates.clear(),
            TaskStep::Removed { gate } => self.gates.retain(|found| found.id != *gate),
            TaskStep::Produced(product) => {
                self.named += 1;
                self.products.push((**product).clone());
                let spare = self.products.len().saturating_sub(PRODUCTS_MAX);
                self.products.drain(..spare);
            }
            TaskStep::Begun(iteration) => {
                self.named += 1;
                self.go_on();
                self.iteration = Some((**iteration).clone());
            }
            TaskStep::Evaluated(evaluation) => self.hear(evaluation),
            TaskStep::Validated(validated) => self.validate(validated),
            TaskStep::Advanced(entry) => {
                if let Some(iteration) = &mut self.iteration {
                    iteration.history.push(entry.clone());
                    iteration.number = iteration.number.saturating_add(1);
                    iteration.results = None;
                    iteration.files.clear();
                    iteration.validations = 0;
                }
            }
            TaskStep::Checkpointed(checkpoint) => {
                self.named += 1;
                self.taken += 1;
                self.checkpoints.push((**checkpoint).clone());
                let spare = self.checkpoints.len().saturating_sub(CHECKPOINTS_MAX);
                self.checkpoints.drain(..spare);
            }
            TaskStep::Resumed { checkpoint } => self.resume(checkpoint),
            TaskStep::Finished { promise, summary } => self.finish(*promise, summary.as_deref()),
        }
    }

    fn update(&mut self, changes: &Changes) {
        let keep = |new: &Option<String>, old: &mut Option<String>| {
            if new.is_some() {
                old.clone_from(new);
            }
        };
        if let Some(title) = &changes.title {
            self.title.clone_from(title);
        }
        keep(&changes.description, &mut self.description);
        keep(&changes.notes, &mut self.notes);
        for (key, value) in changes.metadata.iter().flatten() {
            match value {
                Value::Null => drop(self.metadata.remove(key)),
                value => drop(self.metadata.insert(key.clone(), value.clone())),
            }
        }
        if let Some(status) = changes.status {
            self.stand(status);
        }
        keep(&changes.blocked_reason, &mut self.blocked_reason);
    }

    /// Somebody says how the task stands; that may contradict what gates said.
    fn stand(&mut self, status: TaskStatus) {
        let before = self.status;
        match status {
            TaskStatus::Completed => {
                if let Some(gate) = self.overruled().filter(|_| before != TaskStatus::Completed) {
                    self.metrics.entry(gate).or_default().false_continue += 1;
                }
            }
            TaskStatus::Pending | TaskStatus::InProgress if before == TaskStatus::Completed => {
                self.disbelieve();
            }
            TaskStatus::Pending | TaskStatus::InProgress if before == TaskStatus::Blocked => {
                self.forgive();
            }
            TaskStatus::Pending | TaskStatus::InProgress | TaskStatus::Blocked => {}
        }
        self.status = status;
        if status != TaskStatus::Blocked {
            self.blocked_reason = None;
        }
    }

    /// The gate that wanted work to go on when somebody called it finished.
    fn overruled(&self) -> Option<String> {
        let iteration = self.iteration.as_ref()?;
        let (gate, action) = iteration.heard.as_ref()?;
        let running = iteration.status == IterationStatus::Running;
        (running && *action == GateAction::Continue).then(|| gate.clone())
    }

    /// The gate that called it complete was wrong, once.
    fn disbelieve(&mut self) {
        let believed = self.iteration.as_mut().and_then(|iteration| iteration.believed.take());
        if let Some(gate) = believed {
            self.metrics.entry(gate).or_default().false_complete += 1;
        }
    }

    /// The person who resumes a blocked task has looked: guards look past what was.
    fn forgive(&mut self) {
        if let Some(iteration) = &mut self.iteration {
            iteration.forgiven = iteration.history.len();
            iteration.status = IterationStatus::Running;
        }
    }

    fn go_on(&mut self) {
        if self.status == TaskStatus::Completed {
            self.disbelieve();
        }
        self.status = TaskStatus::InProgress;
        self.blocked_reason = None;
    }

    fn hear(&mut self, evaluation: &Evaluation) {
        for trace in &evaluation.traces {
            self.metrics.entry(trace.gate.clone()).or_default().count(trace);
        }
        if evaluation.traces.is_empty() {
            return;
        }
        if let Some(iteration) = &mut self.iteration {
            let action = evaluation.answer.action;
            iteration.heard = Some((evaluation.gate.clone(), action));
            if action == GateAction::Complete {
                iteration.believed = Some(evaluation.gate.clone());
            }
        }
    }

    fn validate(&mut self, validated: &Validated) {
        if validated.results.iter().any(|result| !result.passed) {
            // What was called complete before does not hold now.
            self.disbelieve();
        }
        if let Some(evaluation) = &validated.evaluation {
            self.hear(evaluation);
        }
        if let Some(iteration) = &mut self.iteration {
            iteration.results = Some(validated.results.clone());
            iteration.validations = iteration.validations.saturating_add(1);
            iteration.files.extend(validated.files.iter().cloned());
            iteration.files.sort();
            iteration.files.dedup();
        }
        if validated.signal == AgentSignal::Escalate {
            self.status = TaskStatus::Blocked;
            self.blocked_reason.clone_from(&validated.why);
        }
    }

    fn resume(&mut self, id: &str) {
        let found = self.checkpoints.iter().find(|checkpoint| checkpoint.id == id);
        if let Some(kept) = found.and_then(|checkpoint| checkpoint.iteration.clone()) {
            self.go_on();
            self.iteration = Some(Iteration { status: IterationStatus::Running, ..kept });
        }
    }

    fn finish(&mut self, promise: PromiseType, summary: Option<&str>) {
        let (status, iteration) = match promise {
            PromiseType::Complete => (TaskStatus::Completed, IterationStatus::Completed),
            PromiseType::Blocked | PromiseType::Escalate => {
                (TaskStatus::Blocked, IterationStatus::Blocked)
            }
        };
        self.status = status;
        self.gates.clear();
        if let Some(run) = &mut self.iteration {
            run.status = iteration;
        }
        let why = || summary.map_or_else(|| promise.text().to_string(), String::from);
        self.blocked_reason = (status == TaskStatus::Blocked).then(why);
    }
}
