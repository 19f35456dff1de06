//! Iterations of a task: begun, validated, counted and ended; checkpoints taken, and gone back to.

use stopgate_core::{Outcome, TaskHold, clip};
use stopgate_gates::{
    AgentContext, AgentSignal, CheckpointData, Evaluation, Iteration, Judgement, PromiseType, Task,
    TaskStep, Validated, ValidationResult, judge, wants_gates,
};

use super::context::{context, measure};
use super::hooks::checkpoint_of;
use super::{
    CheckpointCreate, CheckpointResume, CheckpointView, CompletedView, DRAFT_BYTES_MAX,
    DecisionView, HistoryView, IterationComplete, IterationNext, IterationStart, IterationValidate,
    IterationView, Loaded, ResumedView, TEXT_BYTES_MAX, TITLE_BYTES_MAX, Tasks, bounded, link,
};
use crate::failure::Failure;
use crate::judging::rules;
use crate::judging::task_claim::{self as held, PROMISE, TaskClaim};
use crate::tasks::ValidationView;
use crate::view::time_text;

const HELD_BY_OTHER: &str =
    "another loop holds this session, so its stop hook does not wait for these iterations";

impl Tasks {
    /// Begins iterations.
    pub fn iteration_start(&mut self, ask: &IterationStart) -> Result<IterationView, Failure> {
        let id = self.task(&ask.task_id)?.stored.state.id;
        let session = link::session_for(self, ask.session.as_deref());
        let loaded = self.change(&id, &mut |task, _, now| {
            let name = task.name("IT", id.as_str(), now);
            let step = task.begin(
                name,
                ask.max_iterations,
                &ask.completion_promises,
                &ask.validation_rules,
                ask.circuit_breaker_threshold,
                now,
            )?;
            let hold = match &step {
                TaskStep::Begun(iteration) => link::begin(iteration, &id, session.clone()),
                _other => TaskHold::Keep,
            };
            Ok((vec![step], hold))
        })?;
        let mut view = iteration_view(&loaded)?;
        if session.is_some() && view.held_session.is_none() {
            view.warnings.push(HELD_BY_OTHER.into());
        }
        let gates = self.gates.among(&id, &loaded.task.gates);
        let running = loaded.task.running();
        if let Some(run) = running {
            view.warnings.extend(held::hopeless_rules(run));
            view.warnings.extend(held::missing_rules(&gates, run));
        }
        Ok(view)
    }

    /// Validates an iteration: rules first, then guards and gates over their results.
    pub fn iteration_validate(
        &mut self,
        ask: &IterationValidate,
    ) -> Result<ValidationView, Failure> {
        measure(ask)?;
        let loaded = self.task_of_iteration(&ask.iteration_id)?;
        let iteration = loaded.task.run_to_validate(&ask.iteration_id)?.clone();
        let name = format!("TASK-{}", loaded.stored.state.id);
        let now = self.engine.context.now();
        let mut context = context(ask, &name, (&loaded.task, &iteration), &[], now);
        context.validation_results = self.run_rules(&loaded, &iteration, &context)?;
        let asked = wants_gates(&iteration, &context.completion_promises);
        let evaluation = asked.then(|| self.ask_gates(&loaded, &context)).transpose()?;
        let evaluation = evaluation.filter(|evaluation| !evaluation.traces.is_empty());
        let judgement = judge(
            &iteration,
            &context.completion_promises,
            &context.validation_results,
            evaluation.as_ref(),
        );
        self.keep_validation(&loaded, &iteration, &context, &judgement, evaluation.as_ref())?;
        Ok(validation_view(&iteration, &name, context.validation_results, judgement, evaluation))
    }

    /// Ends an iteration and begins the next.
    pub fn iteration_next(&mut self, ask: &IterationNext) -> Result<IterationView, Failure> {
        let id = self.task_of_iteration(&ask.iteration_id)?.stored.state.id;
        let told = ask.validation_result.as_ref();
        let loaded = self.change(&id, &mut |task, state, now| {
            let seen = super::seen_from_outside(task, state);
            let mut steps = vec![seen.advance(&ask.iteration_id, told, now)?];
            if let Some(context) = &ask.agent_context {
                let kept = stopgate_gates::CheckpointData {
                    agent_context: Some(context.clone()),
                    ..stopgate_gates::CheckpointData::default()
                };
                let name = task.name("CP", id.as_str(), now);
                steps.push(task.checkpoint(name, kept, None, now));
            }
            Ok((steps, TaskHold::Keep))
        })?;
        iteration_view(&loaded)
    }

    /// Ends the iterations, for the tools and for the stop hook alike.
    pub fn iteration_complete(
        &mut self,
        ask: &IterationComplete,
    ) -> Result<CompletedView, Failure> {
        bounded("summary", ask.summary.as_deref(), TEXT_BYTES_MAX)?;
        let loaded = self.task_of_iteration(&ask.iteration_id)?;
        let id = loaded.stored.state.id.clone();
        let mut cleared = 0;
        let mut promised = loaded.task.finish_with(&ask.iteration_id, &ask.completion_promise)?;
        if promised == PromiseType::Complete {
            self.refuse_unproven(&loaded)?;
        }
        let loaded = self.change(&id, &mut |task, _, _| {
            promised = task.finish_with(&ask.iteration_id, &ask.completion_promise)?;
            cleared = task.gates.len();
            let summary = ask.summary.clone();
            let hold = ended(promised, summary.as_deref());
            Ok((vec![TaskStep::Finished { promise: promised, summary }], hold))
        })?;
        let hooks_cleared = cleared + self.gates.clear(&id);
        Ok(CompletedView {
            iteration_id: ask.iteration_id.clone(),
            task_id: format!("TASK-{id}"),
            total_iterations: loaded.task.iteration.as_ref().map_or(0, |run| run.number),
            completion_promise: promised.text(),
            task_status: loaded.task.status.word(),
            hooks_cleared,
        })
    }

    /// Takes a checkpoint.
    pub fn checkpoint_create(&mut self, ask: &CheckpointCreate) -> Result<CheckpointView, Failure> {
        bounded("executionPhase", ask.execution_phase.as_deref(), TEXT_BYTES_MAX)?;
        bounded("draftContent", ask.draft_content.as_deref(), DRAFT_BYTES_MAX)?;
        bounded("draftType", ask.draft_type.as_deref(), 64)?;
        let context = ask.agent_context.as_ref().map(ToString::to_string);
        bounded("agentContext", context.as_deref(), TEXT_BYTES_MAX)?;
        let step = ask.execution_step.as_ref().map(ToString::to_string);
        bounded("executionStep", step.as_deref(), TEXT_BYTES_MAX)?;
        let kept = CheckpointData {
            execution_phase: ask.execution_phase.clone(),
            execution_step: ask.execution_step.clone(),
            agent_context: ask.agent_context.clone(),
            draft_content: ask.draft_content.clone(),
            draft_type: ask.draft_type.clone(),
        };
        let id = self.task(&ask.task_id)?.stored.state.id;
        let loaded = self.change(&id, &mut |task, _, now| {
            let name = task.name("CP", id.as_str(), now);
            Ok((vec![task.checkpoint(name, kept.clone(), None, now)], TaskHold::Keep))
        })?;
        let taken = loaded.task.checkpoint_of(None)?;
        Ok(CheckpointView {
            checkpoint_id: taken.id.clone(),
            task_id: ask.task_id.clone(),
            sequence: taken.sequence,
            execution_phase: taken.kept.execution_phase.clone(),
            iteration_id: taken.iteration.as_ref().map(|iteration| iteration.id.clone()),
            iteration_number: taken.iteration.as_ref().map(|iteration| iteration.number),
            created_at: time_text(taken.at),
        })
    }

    /// Goes back to a checkpoint: configuration, number and history are as they were then.
    pub fn checkpoint_resume(&mut self, ask: &CheckpointResume) -> Result<ResumedView, Failure> {
        let id = self.task(&ask.task_id)?.stored.state.id;
        let session = link::session_for(self, None);
        let mut taken = None;
        let loaded = self.change(&id, &mut |task, _, _| {
            let checkpoint = task.checkpoint_of(ask.checkpoint_id.as_deref())?.clone();
            let hold = checkpoint
                .iteration
                .as_ref()
                .map_or(TaskHold::Keep, |kept| link::begin(kept, &id, session.clone()));
            let step = TaskStep::Resumed { checkpoint: checkpoint.id.clone() };
            taken = Some(checkpoint);
            Ok((vec![step], hold))
        })?;
        let taken = taken.ok_or_else(|| Failure::fault("could not find the checkpoint again"))?;
        let iteration = loaded.task.running();
        Ok(ResumedView {
            task_id: ask.task_id.clone(),
            checkpoint_id: taken.id,
            iteration_id: iteration.map(|iteration| iteration.id.clone()),
            iteration_number: iteration.map(|iteration| iteration.number),
            max_iterations: iteration.map(|iteration| iteration.max),
            completion_promises: iteration
                .map(|iteration| iteration.promises.iter().map(|promise| promise.text()).collect())
                .unwrap_or_default(),
            validation_rules: iteration.map(|run| run.rules.clone()).unwrap_or_default(),
            history: iteration
                .map(|run| run.history.iter().map(HistoryView::of).collect())
                .unwrap_or_default(),
            execution_phase: taken.kept.execution_phase,
            execution_step: taken.kept.execution_step,
            agent_context: taken.kept.agent_context,
            draft_content: taken.kept.draft_content,
            draft_type: taken.kept.draft_type,
            hook_count: loaded.task.gates.len() + self.gates.count(&id),
        })
    }

    fn run_rules(
        &mut self,
        loaded: &Loaded,
        iteration: &Iteration,
        context: &AgentContext,
    ) -> Result<Vec<ValidationResult>, Failure> {
        held::run_rules(
            &mut self.engine.context,
            (&loaded.stored.state, &loaded.task),
            iteration,
            context,
            rules::BUDGET,
        )
    }

    /// Refuses a promise of completion that the task's own rules or gates object to.
    pub(super) fn refuse_unproven(&mut self, loaded: &Loaded) -> Result<(), Failure> {
        let Some(iteration) = loaded.task.running() else { return Ok(()) };
        let gates = self.gates.among(&loaded.stored.state.id, &loaded.task.gates);
        if iteration.rules.is_empty() && gates.is_empty() {
            return Ok(());
        }
        let ask = TaskClaim {
            state: &loaded.stored.state,
            task: &loaded.task,
            iteration,
            gates: &gates,
            output: PROMISE,
            budget: rules::BUDGET,
        };
        let word = held::judge_claim(&mut self.engine.context, &ask)?;
        let Some(why) = word.objection else { return Ok(()) };
        let id = &loaded.stored.state.id;
        self.change(id, &mut |task, _, _| {
            moved_on(task, iteration)?;
            Ok((word.steps.clone(), TaskHold::Keep))
        })?;
        Err(Failure::usage(format!("the task is not complete: {why}"))
            .hint("fix that and validate again, or end with BLOCKED if that is how it stands"))
    }

    fn keep_validation(
        &mut self,
        loaded: &Loaded,
        iteration: &Iteration,
        context: &AgentContext,
        judgement: &Judgement,
        evaluation: Option<&Evaluation>,
    ) -> Result<(), Failure> {
        let why = why(judgement, evaluation);
        let validated = Validated {
            number: iteration.number,
            results: context.validation_results.clone(),
            files: context.files_modified.clone(),
            signal: judgement.signal,
            why: (judgement.signal == AgentSignal::Escalate).then(|| why.clone()),
            evaluation: evaluation.cloned(),
        };
        let id = &loaded.stored.state.id;
        self.change(id, &mut |task, _, now| {
            moved_on(task, iteration)?;
            let mut steps = vec![TaskStep::Validated(Box::new(validated.clone()))];
            steps.extend(evaluation.and_then(|e| checkpoint_of(task, id, e, now)));
            let hold = match judgement.signal {
                AgentSignal::Escalate => {
                    TaskHold::End { outcome: Outcome::Blocked, why: why.clone() }
                }
                AgentSignal::Continue | AgentSignal::Complete | AgentSignal::Blocked => {
                    TaskHold::Keep
                }
            };
            Ok((steps, hold))
        })?;
        Ok(())
    }
}

/// What was validated must still be what runs.
fn moved_on(task: &Task, seen: &Iteration) -> Result<(), Failure> {
    let now = task.run_of(&seen.id)?;
    if now.number == seen.number {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "iteration {} began while number {} was being validated",
        now.number, seen.number
    ))
    .hint("another client works on this task, too; validate again"))
}

fn why(judgement: &Judgement, evaluation: Option<&Evaluation>) -> String {
    let gate = evaluation.map(|evaluation| evaluation.answer.reason.clone());
    let said = judgement.promise.clone();
    let guard =
        judgement.feedback.first().cloned().filter(|_| {
            judgement.feedback.last().is_some_and(|line| line.starts_with("Blocked by: "))
        });
    let why = guard.or(gate).or(said).unwrap_or_else(|| "a person is needed".into());
    clip(&why, TITLE_BYTES_MAX)
}

fn ended(promise: PromiseType, summary: Option<&str>) -> TaskHold {
    let said = summary.map(|text| clip(text, TITLE_BYTES_MAX));
    let (outcome, why) = match promise {
        PromiseType::Complete => {
            (Outcome::Attested, "the agent promised completion; no check proved it")
        }
        PromiseType::Blocked => (Outcome::Blocked, "the agent said that it is blocked"),
        PromiseType::Escalate => (Outcome::NeedsInput, "the agent asked for a person"),
    };
    let why = match said {
        Some(said) if outcome != Outcome::Attested => said,
        Some(_) | None => why.into(),
    };
    TaskHold::End { outcome, why }
}

fn iteration_view(loaded: &Loaded) -> Result<IterationView, Failure> {
    let Loaded { stored, task } = loaded;
    let iteration =
        task.running().ok_or_else(|| Failure::fault("could not find the iteration again"))?;
    let held = stored.state.session.as_ref().filter(|_| stored.state.outcome().is_none());
    Ok(IterationView {
        iteration_id: iteration.id.clone(),
        task_id: format!("TASK-{}", stored.state.id),
        iteration_number: iteration.number,
        max_iterations: iteration.max,
        remaining_iterations: iteration.remaining(),
        completion_promises: iteration.promises.iter().map(|promise| promise.text()).collect(),
        circuit_breaker_threshold: iteration.breaker,
        held_session: held.map(|session| session.as_str().into()),
        warnings: Vec::new(),
    })
}

fn validation_view(
    iteration: &Iteration,
    task_id: &str,
    results: Vec<ValidationResult>,
    judgement: Judgement,
    evaluation: Option<Evaluation>,
) -> ValidationView {
    let decision =
        evaluation.map(|evaluation| DecisionView::of(&evaluation, task_id, iteration.number));
    ValidationView {
        iteration_id: iteration.id.clone(),
        task_id: task_id.into(),
        iteration_number: iteration.number,
        remaining_iterations: iteration.remaining(),
        validation_passed: results.iter().all(|result| result.passed),
        results,
        completion_signal: judgement.signal,
        detected_promise: judgement.promise,
        completion_promises_detected: judgement.promises,
        feedback: judgement.feedback,
        warnings: judgement.warnings,
        next_prompt: decision.as_ref().and_then(|decision| decision.next_prompt.clone()),
        checkpoint_created: decision.as_ref().is_some_and(|d| d.checkpoint_created),
        hook_decision: decision,
    }
}
