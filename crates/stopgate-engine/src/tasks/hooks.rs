//! Gates of a task: registered, listed, switched, removed and asked.

use serde_json::{Map, Value};
use stopgate_core::{LoopId, TaskHold, Timestamp};
use stopgate_gates::{AgentContext, CheckpointData, Evaluation, Gate, Registered, Task, TaskStep};

use super::context::{context, measure};
use super::{
    DecisionView, HookClear, HookClearView, HookEvaluate, HookList, HookListView, HookNoteView,
    HookRegister, HookUpdate, HookView, Loaded, MetricsView, TRIES_MAX, Tasks, bounded_map,
};
use crate::failure::Failure;
use crate::judging::task_claim as held;

impl Tasks {
    /// Registers a gate.
    pub fn hook_register(&mut self, ask: &HookRegister) -> Result<HookView, Failure> {
        let gate = read_gate(ask)?;
        let metadata = ask.metadata.clone().unwrap_or_default();
        bounded_map("metadata", &metadata)?;
        let loaded = self.task(&ask.task_id)?;
        let id = loaded.stored.state.id.clone();
        let registered = if ask.session {
            let now = self.engine.context.now().unix_millis();
            let after = loaded.task.gates.len();
            let make = |n| Registered::new(format!("HOOK-{now}-{id}s{n}"), gate, metadata);
            self.gates.add(&id, after, make).ok_or_else(|| {
                Failure::usage("the task has as many hooks as it may have")
                    .hint("remove some with hook_clear")
            })?
        } else {
            let loaded = self.change(&id, &mut |task, _, now| {
                let name = task.name("HOOK", id.as_str(), now);
                let gate = Registered::new(name, gate.clone(), metadata.clone());
                Ok((vec![task.register(gate)?], TaskHold::Keep))
            })?;
            last(loaded.task.gates)?
        };
        let mut view = hook_view(&registered, &ask.task_id);
        if let Some(run) = loaded.task.running() {
            view.warnings = held::missing_rules(std::slice::from_ref(&registered), run);
        }
        Ok(view)
    }

    /// The gates of a task, and what is counted of them.
    pub fn hook_list(&mut self, ask: &HookList) -> Result<HookListView, Failure> {
        let loaded = self.task(&ask.task_id)?;
        let id = &loaded.stored.state.id;
        let gates = self.gates.among(id, &loaded.task.gates);
        let hooks: Vec<HookNoteView> = gates
            .iter()
            .map(|gate| HookNoteView {
                id: gate.id.clone(),
                hook_type: word(gate),
                enabled: gate.enabled,
                session: self.gates.has(id, &gate.id),
                gate: gate.definition.clone(),
                metadata: typed(gate),
                metrics: MetricsView::of(
                    &loaded.task.metrics.get(&gate.id).copied().unwrap_or_default(),
                ),
            })
            .collect();
        Ok(HookListView { task_id: ask.task_id.clone(), hook_count: hooks.len(), hooks })
    }

    /// Removes all gates of a task, or the one that is named.
    pub fn hook_clear(&mut self, ask: &HookClear) -> Result<HookClearView, Failure> {
        let id = self.task(&ask.task_id)?.stored.state.id;
        if let Some(hook) = &ask.hook_id {
            return self.hook_remove(&id, ask, hook);
        }
        let mut stored = 0;
        self.change(&id, &mut |task, _, _| {
            stored = task.gates.len();
            let steps = if stored == 0 { Vec::new() } else { vec![TaskStep::Cleared] };
            Ok((steps, TaskHold::Keep))
        })?;
        let hooks_cleared = stored + self.gates.clear(&id);
        Ok(HookClearView { task_id: ask.task_id.clone(), hooks_cleared })
    }

    fn hook_remove(
        &mut self,
        id: &LoopId,
        ask: &HookClear,
        hook: &str,
    ) -> Result<HookClearView, Failure> {
        if !self.gates.remove(id, hook) {
            self.change(id, &mut |task, _, _| match task.remove(hook) {
                Some(step) => Ok((vec![step], TaskHold::Keep)),
                None => Err(Failure::no_loop(format!("Hook not found: {hook}"))
                    .hint(format!("hook_list names the hooks of {}", ask.task_id))),
            })?;
        }
        Ok(HookClearView { task_id: ask.task_id.clone(), hooks_cleared: 1 })
    }

    /// Enables or disables a gate.
    pub fn hook_update(&mut self, ask: &HookUpdate) -> Result<HookView, Failure> {
        let unknown = || {
            Failure::no_loop(format!("Hook not found: {}", ask.hook_id))
                .hint("hook_list names the hooks of a task")
        };
        let loaded = self.task_of_part(&ask.hook_id, "HOOK")?.ok_or_else(unknown)?;
        let id = loaded.stored.state.id;
        let name = format!("TASK-{id}");
        if let Some(gate) = self.gates.switch(&id, ask) {
            return Ok(hook_view(&gate, &name));
        }
        let loaded = self.change(&id, &mut |task, _, _| {
            let gate = task.gate(&ask.hook_id).ok_or_else(unknown)?;
            let step = TaskStep::Switched { gate: ask.hook_id.clone(), enabled: ask.enabled };
            let steps = if gate.enabled == ask.enabled { Vec::new() } else { vec![step] };
            Ok((steps, TaskHold::Keep))
        })?;
        let gate = loaded.task.gate(&ask.hook_id).ok_or_else(unknown)?;
        Ok(hook_view(gate, &name))
    }

    /// Whether asking the gates of an iteration's task may run programs.
    pub fn runs_programs(&mut self, iteration: &str) -> Result<bool, Failure> {
        let loaded = self.task_of_iteration(iteration)?;
        let gates = self.gates.among(&loaded.stored.state.id, &loaded.task.gates);
        Ok(gates.iter().any(|gate| gate.enabled && has_command(&gate.definition)))
    }

    /// Asks the gates of an iteration's task.
    pub fn hook_evaluate(&mut self, ask: &HookEvaluate) -> Result<DecisionView, Failure> {
        measure(ask)?;
        for _ in 0..TRIES_MAX {
            let loaded = self.task_of_iteration(&ask.iteration_id)?;
            let id = loaded.stored.state.id.clone();
            let iteration = loaded.task.run_of(&ask.iteration_id)?;
            let results = iteration.results.clone().unwrap_or_default();
            let name = format!("TASK-{id}");
            let now = self.engine.context.now();
            let context = context(ask, &name, (&loaded.task, iteration), &results, now);
            let number = iteration.number;
            let evaluation = self.ask_gates(&loaded, &context)?;
            if self.keep_evaluation(loaded, ask, &evaluation)? {
                return Ok(DecisionView::of(&evaluation, &name, number));
            }
        }
        Err(Failure::fault("could not ask the hooks: other processes kept changing the task"))
    }

    /// What the gates say; nothing is stored and no turn is held.
    pub(super) fn ask_gates(
        &mut self,
        loaded: &Loaded,
        context: &AgentContext,
    ) -> Result<Evaluation, Failure> {
        let state = &loaded.stored.state;
        let gates = self.gates.among(&state.id, &loaded.task.gates);
        held::ask_gates(&mut self.engine.context, state, &gates, context)
    }

    /// Stores an evaluation, unless what was evaluated has changed meanwhile.
    fn keep_evaluation(
        &mut self,
        loaded: Loaded,
        ask: &HookEvaluate,
        evaluation: &Evaluation,
    ) -> Result<bool, Failure> {
        if evaluation.traces.is_empty() {
            return Ok(true);
        }
        let id = &loaded.stored.state.id.clone();
        let seen = (loaded.task.gates.clone(), loaded.task.iteration.clone());
        let mut same = true;
        self.change_from(Some(loaded), id, &mut |task, _, now| {
            same = (&task.gates, &task.iteration) == (&seen.0, &seen.1);
            if !same {
                return Ok((Vec::new(), TaskHold::Keep));
            }
            task.run_of(&ask.iteration_id)?;
            let mut steps = vec![TaskStep::Evaluated(Box::new(evaluation.clone()))];
            steps.extend(checkpoint_of(task, id, evaluation, now));
            Ok((steps, TaskHold::Keep))
        })?;
        Ok(same)
    }

    /// The task whose iteration is called so.
    pub(super) fn task_of_iteration(&mut self, iteration: &str) -> Result<Loaded, Failure> {
        self.task_of_part(iteration, "IT")?.ok_or_else(|| {
            Failure::no_loop(format!("Iteration checkpoint not found: {iteration}"))
                .hint("iteration_start begins one; task_get names a task's iteration")
        })
    }
}

/// The checkpoint that a gate asked for, whatever it decided.
pub(super) fn checkpoint_of(
    task: &Task,
    id: &LoopId,
    evaluation: &Evaluation,
    now: Timestamp,
) -> Option<TaskStep> {
    let kept = evaluation.answer.checkpoint_data.clone()?;
    let step = kept.execution_step.clone();
    let number = task.iteration.as_ref().map(|iteration| iteration.number.into());
    let kept = CheckpointData { execution_step: step.or(number), ..kept };
    let name = task.name("CP", id.as_str(), now);
    Some(task.checkpoint(name, kept, Some(evaluation.gate.clone()), now))
}

fn read_gate(ask: &HookRegister) -> Result<Gate, Failure> {
    let wrong = |message: String| {
        Failure::usage(message).hint("nothing was stored; correct the gate and call again")
    };
    let gate = match (ask.hook_type.as_deref(), &ask.gate) {
        (None | Some("custom"), Some(gate)) => Gate::read(gate).map_err(wrong)?,
        (Some("custom"), None) => {
            return Err(wrong(
                "gate: a custom hook needs one, such as {\"if\": \"iteration > 10\", \
                 \"action\": \"escalate\", \"reason\": \"too many\"}"
                    .into(),
            ));
        }
        (None, None) => {
            return Err(wrong(format!(
                "hookType: Is required; must be one of: {}, custom",
                Gate::names().join(", ")
            )));
        }
        (Some(name), None) => Gate::named(name).ok_or_else(|| {
            wrong(format!("hookType: Must be one of: {}, custom", Gate::names().join(", ")))
        })?,
        (Some(_), Some(_)) => {
            return Err(wrong("gate: only a custom hook has one; leave hookType out".into()));
        }
    };
    match &ask.when {
        Some(when) => gate.only_when(when).map_err(wrong),
        None => Ok(gate),
    }
}

fn hook_view(gate: &Registered, task_id: &str) -> HookView {
    HookView {
        hook_id: gate.id.clone(),
        task_id: task_id.into(),
        hook_type: word(gate),
        enabled: gate.enabled,
        metadata: gate.metadata.clone(),
        warnings: Vec::new(),
    }
}

/// What its owner keeps with a gate, and its type, unless the owner has a type of their own.
fn typed(gate: &Registered) -> Map<String, Value> {
    let mut metadata = gate.metadata.clone();
    metadata.entry("type").or_insert_with(|| word(gate).into());
    metadata
}

fn word(gate: &Registered) -> String {
    gate.gate.as_ref().map_or("unreadable", Gate::word).into()
}

fn last(gates: Vec<Registered>) -> Result<Registered, Failure> {
    gates.into_iter().next_back().ok_or_else(|| Failure::fault("could not register the hook"))
}

/// Whether a gate, or one that it is made of, is a command.
fn has_command(definition: &Value) -> bool {
    match definition {
        Value::Object(members) => {
            members.contains_key("command") || members.values().any(has_command)
        }
        Value::Array(items) => items.iter().any(has_command),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
