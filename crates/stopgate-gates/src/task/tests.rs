use serde_json::{Value, json};
use stopgate_core::{GateAction, GateTrace, Timestamp};

use super::{CHECKPOINTS_MAX, GATES_MAX, Task, TaskStatus};
use crate::evaluate::Evaluation;
use crate::gate::Gate;
use crate::iteration::IterationStatus;
use crate::judge::AgentSignal;
use crate::step::{Changes, Registered, TaskStep, Validated};
use crate::words::{CheckpointData, GateAnswer, PromiseType, ValidationResult};

const NOON: Timestamp = Timestamp::from_unix_millis(1000);

fn created() -> Task {
    let step = TaskStep::Created {
        title: "t".into(),
        description: None,
        notes: None,
        metadata: serde_json::Map::new(),
    };
    Task::apply(None, &step, NOON).expect("a task")
}

/// Steps go through their stored form, as they do in the journal.
fn after(task: Task, step: &TaskStep) -> Task {
    let text = serde_json::to_string(step).expect("a step's form");
    let read: TaskStep = serde_json::from_str(&text).expect("a step");
    Task::apply(Some(task), &read, NOON).expect("a task")
}

fn begin(task: &Task) -> TaskStep {
    let id = task.name("IT", "loop", NOON);
    task.begin(id, 3, &["COMPLETE".into(), "BLOCKED".into()], &[], None, NOON).expect("a start")
}

fn running() -> Task {
    let task = created();
    let step = begin(&task);
    after(task, &step)
}

fn register(task: Task, name: &str) -> Task {
    let gate = Gate::named(name).expect("a gate");
    let id = task.name("HOOK", "loop", NOON);
    let step = task.register(Registered::new(id, gate, serde_json::Map::new())).expect("room");
    after(task, &step)
}

fn evaluated(gate: &str, action: GateAction) -> Evaluation {
    let trace = GateTrace {
        gate: gate.into(),
        action: Some(action),
        reason: "r".into(),
        failed: false,
        micros: 7,
        inputs: String::new(),
    };
    Evaluation {
        gate: gate.into(),
        answer: GateAnswer::new(action, "r"),
        objection: None,
        traces: vec![trace],
    }
}

fn validated(word: &str, signal: AgentSignal) -> TaskStep {
    let passed = word == "passes";
    let result =
        ValidationResult { rule_name: "tests".into(), passed, ..ValidationResult::default() };
    TaskStep::Validated(Box::new(Validated {
        number: 1,
        results: vec![result],
        files: vec!["a".into()],
        signal,
        why: Some("why".into()),
        evaluation: None,
    }))
}

fn stands(status: TaskStatus) -> TaskStep {
    TaskStep::Updated(Box::new(Changes { status: Some(status), ..Changes::default() }))
}

#[test]
fn nothing_happens_to_a_task_that_was_never_created() {
    assert_eq!(Task::apply(None, &TaskStep::Cleared, NOON), None);
}

#[test]
fn iterations_are_counted_and_refused_beyond_their_limit() {
    let mut task = running();
    let id = task.iteration.clone().expect("an iteration").id;
    for number in [2, 3] {
        let step = task.advance(&id, None, NOON).expect("one more");
        task = after(task, &step);
        assert_eq!(task.running().map(|i| (i.number, i.remaining())), Some((number, 3 - number)));
    }
    let refused = task.advance(&id, None, NOON).expect_err("the limit");
    assert!(refused.message.contains("Maximum iterations reached: 3 of 3"), "{refused:?}");
}

#[test]
fn a_second_start_is_refused_while_one_runs() {
    let task = running();
    let refused = task.begin("IT-2".into(), 3, &["COMPLETE".into()], &[], None, NOON);
    assert!(refused.expect_err("one runs").message.contains("still running"));
}

#[test]
fn a_start_out_of_range_is_refused() {
    let task = created();
    let start = |max, promises: &[&str], rules: &[Value], breaker| {
        let promises: Vec<String> = promises.iter().map(ToString::to_string).collect();
        let refused = task.begin("IT".into(), max, &promises, rules, breaker, NOON);
        refused.expect_err("out of range").message
    };
    assert!(start(0, &["COMPLETE"], &[], None).contains("Must be at least 1"));
    assert!(start(101, &["COMPLETE"], &[], None).contains("Must be at most 100"));
    assert!(start(1, &[], &[], None).contains("Must have at least 1 item"));
    assert!(start(1, &["DONE"], &[], None).contains("unknown promise"));
    assert!(start(1, &["COMPLETE"], &[], Some(21)).contains("Must be at most 20"));
    assert!(start(1, &["COMPLETE"], &[json!({})], None).contains("validationRules[0]"));
    let twice = json!({"type": "custom", "name": "n", "config": {"validatorId": "v"}});
    assert!(start(1, &["COMPLETE"], &[twice.clone(), twice], None).contains("two rules"));
}

#[test]
fn promises_finish_only_where_they_were_configured() {
    let task = running();
    let id = task.iteration.clone().expect("an iteration").id;
    assert_eq!(task.finish_with(&id, "complete"), Ok(PromiseType::Complete));
    let refused = task.finish_with(&id, "ESCALATE").expect_err("not configured");
    assert!(refused.message.starts_with("Invalid completion promise"), "{refused:?}");
    let done = after(task, &TaskStep::Finished { promise: PromiseType::Complete, summary: None });
    assert_eq!(done.status, TaskStatus::Completed);
    assert!(done.run_of(&id).expect_err("over").message.contains("is over: completed"));
    let blocked =
        after(running(), &TaskStep::Finished { promise: PromiseType::Blocked, summary: None });
    assert_eq!(blocked.status, TaskStatus::Blocked);
}

#[test]
fn the_end_takes_the_gates_down() {
    let task = register(running(), "default");
    let done = after(task, &TaskStep::Finished { promise: PromiseType::Complete, summary: None });
    assert_eq!(done.gates, []);
}

#[test]
fn gates_keep_their_order_and_their_number_has_an_end() {
    let mut task = created();
    for _ in 0..GATES_MAX {
        task = register(task, "promise");
    }
    let mut ids: Vec<&str> = task.gates.iter().map(|gate| gate.id.as_str()).collect();
    ids.dedup();
    assert_eq!(ids.len(), GATES_MAX);
    assert!(task.gates.iter().all(|gate| gate.gate.is_some()));
    let gate =
        Registered::new("x".into(), Gate::named("tdd").expect("a gate"), serde_json::Map::new());
    assert!(task.register(gate).is_err());
}

#[test]
fn a_definition_of_a_later_version_is_kept_and_not_judged_by() {
    let gate = Registered {
        id: "HOOK-1".into(),
        definition: json!({"oracle": 1}),
        enabled: true,
        metadata: serde_json::Map::new(),
        gate: None,
    };
    let task = after(created(), &TaskStep::Registered(gate));
    assert!(task.sources()[0].gate.is_none());
}

#[test]
fn checkpoints_are_pruned_and_running_iterations_are_not() {
    let mut task = running();
    for n in 0..8 {
        let kept =
            CheckpointData { execution_phase: Some(format!("p{n}")), ..CheckpointData::default() };
        let step = task.checkpoint(task.name("CP", "loop", NOON), kept, None, NOON);
        task = after(task, &step);
    }
    assert_eq!(task.checkpoints.len(), CHECKPOINTS_MAX);
    assert_eq!(task.checkpoints.last().map(|c| c.sequence), Some(8));
    assert!(task.running().is_some());
}

#[test]
fn going_back_restores_configuration_number_and_history() {
    let mut task = running();
    let id = task.iteration.clone().expect("an iteration").id;
    let step = task.advance(&id, Some(&json!({"passed": false})), NOON).expect("one more");
    task = after(task, &step);
    let step = task.checkpoint("CP-1".into(), CheckpointData::default(), None, NOON);
    task = after(task, &step);
    let kept = task.iteration.clone();
    let step = task.advance(&id, None, NOON).expect("one more");
    task = after(task, &step);
    task = after(task, &TaskStep::Finished { promise: PromiseType::Blocked, summary: None });
    task = after(task, &TaskStep::Resumed { checkpoint: "CP-1".into() });
    assert_eq!(task.iteration, kept);
    assert_eq!(task.status, TaskStatus::InProgress);
    assert_eq!(
        task.iteration.map(|i| (i.number, i.history.len(), i.status)),
        Some((2, 1, IterationStatus::Running))
    );
}

#[test]
fn a_call_for_a_person_blocks_until_somebody_lets_it_go_on() {
    let task = after(running(), &validated("fails", AgentSignal::Escalate));
    let id = task.iteration.clone().expect("an iteration").id;
    assert_eq!(task.status, TaskStatus::Blocked);
    assert!(task.advance(&id, None, NOON).expect_err("blocked").message.contains("blocked: why"));
    let task = after(task, &stands(TaskStatus::InProgress));
    assert!(task.advance(&id, None, NOON).is_ok());
    assert_eq!(task.blocked_reason, None);
}

#[test]
fn what_validating_showed_is_remembered_whatever_is_told() {
    let task = after(running(), &validated("fails", AgentSignal::Continue));
    let id = task.iteration.clone().expect("an iteration").id;
    let Ok(TaskStep::Advanced(entry)) = task.advance(&id, None, NOON) else { panic!("one more") };
    assert_eq!((entry.passed, entry.met, entry.rules), (Some(false), 0, 1));
    assert_eq!(entry.files, ["a"]);
    let told = json!({"validationPassed": true, "flags": [{"message": "file: b.rs, twice"}]});
    let Ok(TaskStep::Advanced(entry)) = task.advance(&id, Some(&told), NOON) else {
        panic!("one more")
    };
    assert_eq!(
        (entry.passed, entry.files),
        (Some(false), vec!["a".to_string(), "b.rs".to_string()])
    );
    for wrong in [json!(1), json!({"passed": "yes"}), json!({"flags": 1})] {
        assert!(task.advance(&id, Some(&wrong), NOON).is_err(), "{wrong}");
    }
    let Ok(TaskStep::Advanced(entry)) = running().advance(&id, None, NOON) else {
        panic!("one more")
    };
    assert_eq!(entry.passed, None);
}

#[test]
fn a_gate_is_charged_for_what_proves_wrong_once() {
    let said = |action| TaskStep::Evaluated(Box::new(evaluated("g", action)));
    let wrong = |task: &Task| (task.metrics["g"].false_complete, task.metrics["g"].false_continue);
    let believed = after(running(), &said(GateAction::Complete));
    let failed = after(believed.clone(), &validated("fails", AgentSignal::Continue));
    assert_eq!(wrong(&failed), (1, 0));
    assert_eq!(wrong(&after(failed, &validated("fails", AgentSignal::Continue))), (1, 0));
    assert_eq!(
        wrong(&after(believed.clone(), &validated("passes", AgentSignal::Complete))),
        (0, 0)
    );
    let done =
        after(believed, &TaskStep::Finished { promise: PromiseType::Complete, summary: None });
    assert_eq!(wrong(&after(done.clone(), &stands(TaskStatus::InProgress))), (1, 0));
    let again = after(done, &begin(&created()));
    assert_eq!(wrong(&again), (1, 0));
    let held = after(running(), &said(GateAction::Continue));
    assert_eq!(wrong(&after(held.clone(), &stands(TaskStatus::Completed))), (0, 1));
    assert_eq!(held.metrics["g"].total_micros, 7);
}

#[test]
fn metadata_is_merged_and_null_removes() {
    let set = |value: Value| {
        let metadata = value.as_object().cloned();
        TaskStep::Updated(Box::new(Changes { metadata, ..Changes::default() }))
    };
    let task = after(created(), &set(json!({"a": 1, "b": 2})));
    let task = after(task, &set(json!({"a": null, "c": 3})));
    assert_eq!(Value::from(task.metadata), json!({"b": 2, "c": 3}));
}

/// One of each step, as somebody could write them in any order.
fn one_of_each() -> Vec<TaskStep> {
    let task = running();
    let iteration = task.iteration.clone().expect("an iteration");
    let gate =
        Registered::new("g".into(), Gate::named("tdd").expect("a gate"), serde_json::Map::new());
    let checkpoint = task.checkpoint("CP-1".into(), CheckpointData::default(), None, NOON);
    let Ok(advanced) = task.advance(&iteration.id, None, NOON) else { panic!("one more") };
    vec![
        begin(&created()),
        TaskStep::Registered(gate),
        TaskStep::Switched { gate: "g".into(), enabled: false },
        TaskStep::Cleared,
        TaskStep::Evaluated(Box::new(evaluated("g", GateAction::Complete))),
        validated("fails", AgentSignal::Escalate),
        validated("passes", AgentSignal::Complete),
        advanced,
        checkpoint,
        TaskStep::Resumed { checkpoint: "CP-1".into() },
        TaskStep::Finished { promise: PromiseType::Complete, summary: None },
        TaskStep::Finished { promise: PromiseType::Blocked, summary: None },
        stands(TaskStatus::InProgress),
        stands(TaskStatus::Completed),
    ]
}

#[test]
fn every_story_of_four_steps_leads_to_a_sound_task() {
    let steps = one_of_each();
    let count = steps.len();
    for story in 0..count.pow(4) {
        let told = (0..4).map(|at| &steps[story / count.pow(at) % count]);
        let task = told.fold(created(), |task, step| {
            Task::apply(Some(task), step, NOON).expect("a task stays one")
        });
        assert_sound(&task, story);
    }
}

fn assert_sound(task: &Task, story: usize) {
    assert!(task.checkpoints.len() <= CHECKPOINTS_MAX, "{story}");
    assert!(task.iteration.as_ref().is_none_or(|i| i.number >= 1), "{story}");
    let blocked = task.status == TaskStatus::Blocked;
    assert_eq!(task.blocked_reason.is_some(), blocked, "{story}: {task:?}");
    // Nobody is wrong more often than they decided.
    for metrics in task.metrics.values() {
        assert!(metrics.false_complete <= metrics.complete, "{story}: {task:?}");
    }
}
