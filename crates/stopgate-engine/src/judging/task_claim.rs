//! A claim that a task is complete is judged by the task's own rules and gates, wherever it is
//! made: by a tool, or at the stop of the session that the task holds.
//!
//! What stopgate saw beats what it is told: rules are run anew for each claim.

use std::time::Duration;

use stopgate_core::{Event, LoopId, State, TaskHold, TaskNote, clip};
use stopgate_gates::{
    AgentContext, AgentSignal, Evaluation, Gate, GateSource, Iteration, PromiseType, Registered,
    Task, TaskStep, Validated, ValidationResult, ValidationRule, detect, evaluate, judge,
};
use stopgate_store::Stored;

use super::hands::GateHands;
use super::rules::{self, RuleSight};
use crate::context::Context;
use crate::failure::Failure;
use crate::view::time_text;

/// How much an objection to a claim may say.
const OBJECTION_BYTES_MAX: usize = 1024;

/// What an agent says that calls its iterations complete.
pub(crate) const PROMISE: &str = "<promise>COMPLETE</promise>";

/// A claim, and what it is judged by.
pub(crate) struct TaskClaim<'a> {
    pub(crate) state: &'a State,
    pub(crate) task: &'a Task,
    pub(crate) iteration: &'a Iteration,
    pub(crate) gates: &'a [Registered],
    /// What the agent said.
    pub(crate) output: &'a str,
    pub(crate) budget: Duration,
}

/// What came of judging a claim.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskWord {
    /// Why it is not believed, where it is not.
    pub(crate) objection: Option<String>,
    pub(crate) steps: Vec<TaskStep>,
}

impl TaskWord {
    /// What the journal must know about the task, if anything.
    pub(crate) fn event(&self) -> Result<Option<Event>, Failure> {
        if self.steps.is_empty() {
            return Ok(None);
        }
        note(&self.steps, TaskHold::Keep).map(Some)
    }
}

/// Judges the claim that an agent makes at its stop; no objection where no iterations run.
pub(crate) fn judge_task(
    context: &mut Context,
    stored: &Stored,
    output: &str,
    budget: Duration,
) -> Result<TaskWord, Failure> {
    let task = task_of(context, stored)?;
    let Some(iteration) = task.running().cloned() else { return Ok(TaskWord::default()) };
    let gates = task.gates.clone();
    let state = &stored.state;
    // A claim by command is one, too, whatever the last message says.
    let claims = detect(output, "").iter().any(|promise| promise.kind == PromiseType::Complete);
    let output = if claims { output.to_string() } else { format!("{output}\n\n{PROMISE}\n") };
    let output = output.as_str();
    let claim =
        TaskClaim { state, task: &task, iteration: &iteration, gates: &gates, output, budget };
    let mut word = judge_claim(context, &claim)?;
    if word.objection.is_none() {
        let promise = PromiseType::Complete;
        word.steps.push(TaskStep::Finished { promise, summary: None });
    }
    Ok(word)
}

/// Runs the rules, asks the gates, and says whether the claim stands.
pub(crate) fn judge_claim(context: &mut Context, ask: &TaskClaim<'_>) -> Result<TaskWord, Failure> {
    let TaskClaim { state, task, iteration, gates, output, budget } = *ask;
    let now = context.now();
    let mut agent = AgentContext {
        task_id: format!("TASK-{}", state.id),
        iteration: iteration.number,
        files_modified: iteration.files.clone(),
        completion_promises: detect(output, &time_text(now)),
        agent_output: Some(output.into()),
        ..AgentContext::default()
    };
    agent.validation_results = run_rules(context, (state, task), iteration, &agent, budget)?;
    let evaluation = ask_gates(context, state, gates, &agent)?;
    let evaluation = Some(evaluation).filter(|evaluation| !evaluation.traces.is_empty());
    let heard = &agent.completion_promises;
    let results = &agent.validation_results;
    let judgement = judge(iteration, heard, results, evaluation.as_ref());
    let failed: Vec<String> = results
        .iter()
        .filter(|result| !result.passed)
        .map(|result| format!("{}: {}", result.rule_name, result.message))
        .collect();
    let objection = match (failed.is_empty(), judgement.signal) {
        (true, AgentSignal::Complete) => None,
        (false, _) => Some(failed.join("\n")),
        (true, _) => evaluation.as_ref().map(|heard| heard.answer.reason.clone()),
    };
    let validated = Validated {
        number: iteration.number,
        results: results.clone(),
        files: agent.files_modified.clone(),
        signal: if objection.is_some() { AgentSignal::Continue } else { AgentSignal::Complete },
        why: None,
        evaluation,
    };
    let steps = vec![TaskStep::Validated(Box::new(validated))];
    Ok(TaskWord { objection: objection.map(|why| clip(&why, OBJECTION_BYTES_MAX)), steps })
}

/// Runs the rules of an iteration.
pub(crate) fn run_rules(
    context: &mut Context,
    (state, task): (&State, &Task),
    iteration: &Iteration,
    agent: &AgentContext,
    budget: Duration,
) -> Result<Vec<ValidationResult>, Failure> {
    let read = |(n, rule)| ValidationRule::read(rule, &format!("validationRules[{n}]"));
    let rules: Result<Vec<ValidationRule>, String> =
        iteration.rules.iter().enumerate().map(read).collect();
    let rules = rules.map_err(|error| {
        Failure::fault(format!("could not read a rule of this iteration: {error}"))
            .hint("begin the iterations anew with rules that this version knows")
    })?;
    let config = context.settings.config_file();
    let sight = RuleSight {
        context: agent,
        notes: task.notes.as_deref().unwrap_or_default(),
        product: task.products.last().map(|product| product.content.as_str()),
        validators: config.and_then(|file| Some(file.parent()?.join("validators"))),
        budget,
    };
    let (id, directory) = (state.id.clone(), state.project.clone().into());
    let mut hands = GateHands::new(context, id, directory);
    let results = rules::run(&rules, &sight, &mut hands);
    hands.unless_ended(results)
}

/// What the gates say; nothing is stored and no turn is held.
pub(crate) fn ask_gates(
    context: &mut Context,
    state: &State,
    gates: &[Registered],
    agent: &AgentContext,
) -> Result<Evaluation, Failure> {
    let sources: Vec<GateSource<'_>> = gates.iter().map(Registered::source).collect();
    let (id, directory) = (state.id.clone(), state.project.clone().into());
    let mut hands = GateHands::new(context, id, directory);
    let evaluation = evaluate(&sources, agent, &mut hands);
    hands.unless_ended(evaluation)
}

/// The task that a loop is, from its events.
pub(crate) fn task_of(context: &mut Context, stored: &Stored) -> Result<Task, Failure> {
    let mut task = None;
    for entry in context.journal.history(&stored.state.id)? {
        let Event::Task(note) = &entry.recorded.event else { continue };
        if entry.revision > stored.revision {
            break;
        }
        for text in &note.steps {
            let step = read_step(text, &stored.state.id)?;
            task = Task::apply(task, &step, entry.recorded.at);
        }
    }
    task.ok_or_else(|| Failure::fault(format!("task {} was never created", stored.state.id)))
}

/// Rules that can never pass, a sentence each.
pub(crate) fn hopeless_rules(iteration: &Iteration) -> Vec<String> {
    let read = |(n, rule)| {
        let at = format!("validationRules[{n}]");
        let problem = ValidationRule::read(rule, &at).ok()?.kind.problem()?;
        Some(format!("{at} can never pass: {problem}"))
    };
    iteration.rules.iter().enumerate().filter_map(read).collect()
}

/// Rules that gates wait for and that an iteration does not have, a sentence each.
pub(crate) fn missing_rules(gates: &[Registered], iteration: &Iteration) -> Vec<String> {
    let names: Vec<&str> = iteration
        .rules
        .iter()
        .filter_map(|rule| rule.get("name").and_then(serde_json::Value::as_str))
        .collect();
    let waits = |gate: &Registered| gate.gate.as_ref().map(Gate::waits_for).unwrap_or_default();
    gates
        .iter()
        .filter(|gate| gate.enabled)
        .flat_map(|gate| waits(gate).into_iter().map(|rule| (gate, rule)).collect::<Vec<_>>())
        .filter(|(_, rule)| !names.contains(rule))
        .map(|(gate, rule)| {
            let word = gate.gate.as_ref().map_or("unreadable", Gate::word);
            format!(
                "hook {word} waits for a validation rule called \"{rule}\", and no rule is called \
                 so: it will never say complete"
            )
        })
        .collect()
}

/// A step of a task, as the journal keeps it.
pub(crate) fn read_step(text: &str, id: &LoopId) -> Result<TaskStep, Failure> {
    serde_json::from_str(text).map_err(|error| {
        Failure::fault(format!("could not read a step of task TASK-{id}"))
            .hint("it was written by a newer stopgate; install that one")
            .because(error)
    })
}

/// Steps of a task in the journal's form.
pub(crate) fn note(steps: &[TaskStep], hold: TaskHold) -> Result<Event, Failure> {
    let form = |error| Failure::fault("could not write a step as JSON").because(error);
    let steps = steps.iter().map(serde_json::to_string).collect::<Result<_, _>>();
    Ok(Event::Task(Box::new(TaskNote { steps: steps.map_err(form)?, hold })))
}
