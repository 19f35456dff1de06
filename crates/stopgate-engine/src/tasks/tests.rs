use std::path::{Path, PathBuf};
use std::thread;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use stopgate_core::{Outcome, SessionId};
use stopgate_gates::AgentSignal;
use tempfile::TempDir;

use super::{SessionGates, Tasks};
use crate::address::Address;
use crate::context::{ContextParts, LoopTarget};
use crate::failure::Failure;
use crate::home::Home;
use crate::settings::Settings;
use crate::stores::{StoreChoice, Stores};
use crate::world::RealWorld;

/// A home and a project of their own; every server on it sees the same journal.
struct Stage {
    directory: TempDir,
}

impl Stage {
    fn new() -> Self {
        let directory = TempDir::with_prefix("tasks-").expect("a directory");
        for name in ["home", "project/.git"] {
            std::fs::create_dir_all(directory.path().join(name)).expect("a directory");
        }
        Self { directory }
    }

    fn project(&self) -> PathBuf {
        self.directory.path().join("project").canonicalize().expect("the project")
    }

    fn server(&self) -> Tasks {
        server(self.directory.path(), SessionGates::default())
    }
}

fn server(directory: &Path, gates: SessionGates) -> Tasks {
    let home = Home::new(directory.join("home"));
    let world = Box::new(RealWorld::new(Settings));
    let config = crate::config::Config::default();
    let (choice, _) = StoreChoice::of(Settings, config, Address::Own);
    let context =
        ContextParts { home, world, settings: Settings, stores: Stores::default(), choice };
    let context = context.open().expect("a context");
    Tasks::over(context.into(), directory.join("project"), gates)
}

fn ask<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("a request")
}

fn create(server: &mut Tasks) -> String {
    server.task_create(&ask(json!({"title": "t"}))).expect("a task").id
}

fn start(server: &mut Tasks, task: &str, more: &Value) -> String {
    let mut start = json!({
        "taskId": task,
        "maxIterations": 10,
        "completionPromises": ["COMPLETE", "BLOCKED"],
        "session": format!("session-of-{task}"),
    });
    if let (Some(start), Some(more)) = (start.as_object_mut(), more.as_object()) {
        start.extend(more.clone());
    }
    server.iteration_start(&ask(start)).expect("iterations").iteration_id
}

fn register(server: &mut Tasks, task: &str, gate: &Value) -> String {
    let given = if gate.is_string() { "hookType" } else { "gate" };
    server.hook_register(&ask(json!({"taskId": task, given: gate}))).expect("a gate").hook_id
}

fn evaluate(server: &mut Tasks, iteration: &str, output: &str) -> (String, String) {
    let told = json!({"iterationId": iteration, "agentOutput": output});
    let decision = server.hook_evaluate(&ask(told)).expect("a decision");
    (decision.action.into(), decision.reason)
}

fn validate(server: &mut Tasks, iteration: &str, output: &str) -> super::ValidationView {
    let told = json!({"iterationId": iteration, "agentOutput": output});
    server.iteration_validate(&ask(told)).expect("a validation")
}

fn next(server: &mut Tasks, iteration: &str) -> Result<u32, Failure> {
    let asked = ask(json!({"iterationId": iteration}));
    server.iteration_next(&asked).map(|view| view.iteration_number)
}

fn status(server: &mut Tasks, task: &str) -> String {
    server.task_get(&ask(json!({"id": task}))).expect("a task").status
}

#[test]
fn a_task_is_worked_on_to_its_end() {
    let stage = Stage::new();
    let mut server = stage.server();
    let task = create(&mut server);
    assert_eq!(status(&mut server, &task), "pending");
    register(&mut server, &task, &json!("default"));
    let rule = json!({"type": "file_existence", "name": "made", "config": {"paths": ["made"]}});
    let iteration = start(&mut server, &task, &json!({"validationRules": [rule]}));
    let first = validate(&mut server, &iteration, "working");
    assert_eq!((first.validation_passed, first.completion_signal), (false, AgentSignal::Continue));
    assert_eq!(first.feedback, ["made: Missing: made"]);
    assert!(first.next_prompt.expect("advice").contains("- made: Missing: made"));
    assert_eq!(next(&mut server, &iteration).expect("one more"), 2);
    std::fs::write(stage.project().join("made"), "").expect("the work");
    let second = validate(&mut server, &iteration, "done <promise>COMPLETE</promise>");
    assert_eq!((second.validation_passed, second.completion_signal), (true, AgentSignal::Complete));
    let complete = json!({"iterationId": iteration, "completionPromise": "COMPLETE"});
    let ended = server.iteration_complete(&ask(complete)).expect("an end");
    assert_eq!(
        (ended.task_status, ended.total_iterations, ended.hooks_cleared),
        ("completed", 2, 1)
    );
    assert_eq!(status(&mut server, &task), "completed");
    let over = next(&mut server, &iteration).expect_err("over");
    assert!(over.message.contains("is over: completed"), "{}", over.message);
}

#[test]
fn gates_and_iterations_are_there_after_a_restart() {
    let stage = Stage::new();
    let mut server = stage.server();
    let task = create(&mut server);
    let gate = register(&mut server, &task, &json!("promise"));
    let session = json!({"taskId": task, "hookType": "validation", "session": true});
    server.hook_register(&ask(session)).expect("a gate");
    let iteration = start(&mut server, &task, &json!({}));
    next(&mut server, &iteration).expect("one more");
    assert_eq!(server.hook_list(&ask(json!({"taskId": task}))).expect("a list").hook_count, 2);
    drop(server);
    let mut server = stage.server();
    let list = server.hook_list(&ask(json!({"taskId": task}))).expect("a list");
    assert_eq!((list.hook_count, list.hooks[0].id.as_str()), (1, gate.as_str()));
    assert_eq!(evaluate(&mut server, &iteration, "<promise>COMPLETE</promise>").0, "complete");
    assert_eq!(next(&mut server, &iteration).expect("one more"), 3);
}

fn work(mut server: Tasks, task: &str, iteration: &str) {
    for _ in 0..5 {
        register(&mut server, task, &json!("promise"));
        next(&mut server, iteration).expect("one more");
        evaluate(&mut server, iteration, "x");
    }
}

#[test]
fn two_servers_on_one_journal_lose_nothing() {
    let stage = Stage::new();
    let mut server_one = stage.server();
    let task = create(&mut server_one);
    let iteration = start(&mut server_one, &task, &json!({"maxIterations": 100}));
    let directory = stage.directory.path();
    thread::scope(|scope| {
        for _ in 0..3 {
            let (task, iteration) = (task.clone(), iteration.clone());
            scope
                .spawn(move || work(server(directory, SessionGates::default()), &task, &iteration));
        }
    });
    let list = server_one.hook_list(&ask(json!({"taskId": task}))).expect("a list");
    let mut names: Vec<&str> = list.hooks.iter().map(|hook| hook.id.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 15);
    assert_eq!(next(&mut server_one, &iteration).expect("one more"), 17);
    let asked: u64 = list.hooks.iter().map(|hook| hook.metrics.evaluations).sum();
    let first = list.hooks[0].metrics.evaluations;
    assert_eq!(first, 15, "every evaluation is counted: {asked}");
}

#[test]
fn iterations_hold_their_session_until_they_end() {
    let stage = Stage::new();
    let mut server = stage.server();
    let task = create(&mut server);
    let held = |server: &mut Tasks| {
        let session = SessionId::new("s1").expect("a name");
        let stored = server.engine.context.journal.load_held(&session).expect("the journal");
        (stored.is_some(), server.engine.context.signs.may_hold("s1"))
    };
    assert_eq!(held(&mut server), (false, false));
    let iteration = start(&mut server, &task, &json!({"session": "s1"}));
    assert_eq!(held(&mut server), (true, true));
    // A second task of the same session goes on without holding it.
    let other = create(&mut server);
    let asked = json!({"taskId": other, "maxIterations": 2, "completionPromises": ["COMPLETE"], "session": "s1"});
    let view = server.iteration_start(&ask(asked)).expect("iterations");
    assert_eq!(view.held_session, None);
    assert!(view.warnings[0].contains("another loop holds this session"));
    let complete =
        json!({"iterationId": iteration, "completionPromise": "BLOCKED", "summary": "no key"});
    server.iteration_complete(&ask(complete)).expect("an end");
    assert_eq!(held(&mut server), (false, false));
    let view = server.task_get(&ask(json!({"id": task}))).expect("a task");
    assert_eq!((view.status.as_str(), view.blocked_reason.as_deref()), ("blocked", Some("no key")));
}

#[test]
fn a_task_without_iterations_keeps_no_hook_busy() {
    let stage = Stage::new();
    let mut server = stage.server();
    create(&mut server);
    assert!(server.engine.context.signs.are_silent("s1"));
    assert!(!server.engine.context.signs.any_pending());
}

#[test]
fn an_escalation_lets_the_session_go_and_a_person_lets_it_go_on() {
    let stage = Stage::new();
    let mut server = stage.server();
    let task = create(&mut server);
    register(
        &mut server,
        &task,
        &json!({"if": "iteration >= 1", "action": "escalate", "reason": "tired"}),
    );
    let iteration = start(&mut server, &task, &json!({"session": "s1"}));
    assert_eq!(validate(&mut server, &iteration, "x").completion_signal, AgentSignal::Escalate);
    assert!(!server.engine.context.signs.may_hold("s1"));
    assert!(next(&mut server, &iteration).expect_err("blocked").message.contains("blocked: tired"));
    let on = json!({"id": task, "status": "in_progress"});
    assert_eq!(server.task_update(&ask(on)).expect("an update").status, "in_progress");
    assert_eq!(next(&mut server, &iteration).expect("one more"), 2);
}

#[test]
fn what_a_person_cancelled_stays_cancelled() {
    let stage = Stage::new();
    let mut server = stage.server();
    let task = create(&mut server);
    let iteration = start(&mut server, &task, &json!({}));
    let name = task.strip_prefix("TASK-").expect("a task's name");
    let cancelled =
        server.engine.loops().cancel(&LoopTarget::Named(name.into())).expect("a cancel");
    assert_eq!(cancelled.state.outcome(), Some(Outcome::Cancelled));
    assert!(
        next(&mut server, &iteration).expect_err("cancelled").message.contains("was cancelled")
    );
    let again = json!({"id": task, "status": "in_progress"});
    assert!(server.task_update(&ask(again)).is_err());
    assert_eq!(status(&mut server, &task), "cancelled");
}

#[test]
fn a_completed_task_that_is_reopened_charges_its_gate() {
    let stage = Stage::new();
    let mut server = stage.server();
    let task = create(&mut server);
    register(&mut server, &task, &json!("promise"));
    let iteration = start(&mut server, &task, &json!({}));
    validate(&mut server, &iteration, "<promise>COMPLETE</promise>");
    let complete = json!({"iterationId": iteration, "completionPromise": "COMPLETE"});
    server.iteration_complete(&ask(complete)).expect("an end");
    let again = json!({"id": task, "status": "in_progress"});
    assert_eq!(server.task_update(&ask(again)).expect("an update").status, "in_progress");
    let stats = server.engine.task_records().gate_stats().expect("stats");
    let promise = stats.gates.iter().find(|gate| gate.gate == "promise").expect("the gate");
    assert_eq!((promise.metrics.complete, promise.metrics.false_complete), (1, 1));
    assert_eq!(promise.metrics.accuracy, Some(0.0));
    start(&mut server, &task, &json!({}));
}

#[test]
fn a_command_is_asked_with_the_context_and_answers_for_the_gate() {
    let stage = Stage::new();
    let mut server = stage.server();
    let task = create(&mut server);
    let command = "read -r context; echo noise >&2; case $context in *agentOutput*ship*) \
                   echo '{\"action\":\"complete\",\"reason\":\"shipped\",\"metadata\":{\"n\":1}}';; \
                   *) exit 3;; esac";
    register(&mut server, &task, &json!({ "command": command }));
    let iteration = start(&mut server, &task, &json!({}));
    assert_eq!(evaluate(&mut server, &iteration, "ship it"), ("complete".into(), "shipped".into()));
    let (action, reason) = evaluate(&mut server, &iteration, "wait");
    assert_eq!(action, "escalate");
    assert!(
        reason.starts_with("Hook evaluation failed: the command ended with code 3"),
        "{reason}"
    );
    let list = server.hook_list(&ask(json!({"taskId": task}))).expect("a list");
    let metrics = &list.hooks[0].metrics;
    assert_eq!((metrics.complete, metrics.escalate, metrics.failed), (1, 1, 1));
    assert!(metrics.max_micros > 0);
}

#[test]
fn a_command_that_hangs_escalates_in_time() {
    let stage = Stage::new();
    let mut server = stage.server();
    let task = create(&mut server);
    register(&mut server, &task, &json!({"command": "sleep 60", "timeoutMs": 200}));
    let iteration = start(&mut server, &task, &json!({}));
    let (action, reason) = evaluate(&mut server, &iteration, "x");
    assert_eq!(action, "escalate");
    assert!(reason.contains("no answer in time"), "{reason}");
}

#[test]
fn rules_of_every_kind_come_to_a_result() {
    let stage = Stage::new();
    let lcov = "SF:a.rs\nDA:1,1\nDA:2,0\nLF:2\nLH:1\nend_of_record\n";
    std::fs::write(stage.project().join("lcov.info"), lcov).expect("a report");
    let mut server = stage.server();
    let task = create(&mut server);
    let rule = |kind: &str, name: &str, config: Value| json!({"type": kind, "name": name, "config": config});
    let rules = json!([
        rule("command", "ok", json!({"command": "test \"$WORD\" = so", "env": {"WORD": "so"}})),
        rule("command", "bad", json!({"command": "echo broken; exit 4"})),
        rule("command", "lost", json!({"command": "no-such-program-here"})),
        rule("content_pattern", "said", json!({"pattern": "(?i)SHIP"})),
        rule("coverage", "half", json!({"minCoverage": 50, "reportPath": "lcov.info"})),
        rule("coverage", "more", json!({"minCoverage": 51, "reportPath": "lcov.info"})),
        rule("file_existence", "any", json!({"paths": ["lcov.info", "no"], "allMustExist": false})),
        rule("custom", "own", json!({"validatorId": "../x"})),
        json!({"type": "command", "name": "off", "enabled": false, "config": {"command": "false"}}),
    ]);
    let iteration = start(&mut server, &task, &json!({"validationRules": rules}));
    let view = validate(&mut server, &iteration, "ship");
    let came: Vec<String> =
        view.results.iter().map(|r| format!("{} {}", r.rule_name, r.passed)).collect();
    let expected =
        "ok true, bad false, lost false, said true, half true, more false, any true, own false";
    assert_eq!(came.join(", "), expected);
    let message = |name: &str| {
        view.results.iter().find(|r| r.rule_name == name).map(|r| r.message.clone()).expect(name)
    };
    let fenced = "```output\nbroken\n```";
    assert_eq!(message("bad"), format!("Command exited with code 4, expected 0:\n{fenced}"));
    assert_eq!(message("own"), "Custom validator not found: ../x");
}

#[test]
fn a_gate_takes_checkpoints_and_work_goes_back_to_them() {
    let stage = Stage::new();
    let mut server = stage.server();
    let task = create(&mut server);
    register(&mut server, &task, &json!("midpoint-checkpoint"));
    let iteration = start(&mut server, &task, &json!({}));
    for _ in 0..4 {
        assert!(!validate(&mut server, &iteration, "x").checkpoint_created);
        next(&mut server, &iteration).expect("one more");
    }
    let fifth = validate(&mut server, &iteration, "x");
    assert_eq!((fifth.checkpoint_created, fifth.completion_signal), (true, AgentSignal::Continue));
    next(&mut server, &iteration).expect("one more");
    let back = server.checkpoint_resume(&ask(json!({"taskId": task}))).expect("a checkpoint");
    assert_eq!((back.iteration_number, back.history.len()), (Some(5), 4));
    assert_eq!(back.execution_phase.as_deref(), Some("midpoint"));
    assert_eq!(back.execution_step, Some(json!(5)));
    assert_eq!(back.hook_count, 1);
    assert_eq!(next(&mut server, &iteration).expect("one more"), 6);
}

#[test]
fn what_is_refused_stores_nothing() {
    let stage = Stage::new();
    let mut server = stage.server();
    let task = create(&mut server);
    let iteration = start(&mut server, &task, &json!({}));
    let revision = |server: &mut Tasks| server.task(&task).expect("the task").stored.revision;
    let before = revision(&mut server);
    let register =
        json!({"taskId": task, "gate": {"if": "a && b", "action": "complete", "reason": "r"}});
    assert!(server.hook_register(&ask(register)).is_err());
    assert!(server.hook_register(&ask(json!({"taskId": task, "hookType": "nonsense"}))).is_err());
    assert!(server.hook_register(&ask(json!({"taskId": task}))).is_err());
    assert!(
        server.hook_update(&ask(json!({"hookId": "HOOK-1-nonsense", "enabled": true}))).is_err()
    );
    assert!(server.task_update(&ask(json!({"id": task, "status": "lost"}))).is_err());
    assert!(server.task_update(&ask(json!({"id": task}))).is_err());
    let told = json!({"iterationId": iteration, "validationResult": 7});
    assert!(server.iteration_next(&ask(told)).is_err());
    let complete = json!({"iterationId": iteration, "completionPromise": "ESCALATE"});
    assert!(server.iteration_complete(&ask(complete)).is_err());
    assert!(server.checkpoint_resume(&ask(json!({"taskId": task}))).is_err());
    assert_eq!(revision(&mut server), before);
    for unknown in ["", "TASK-", "TASK-nothing", "nothing", "IT-1-2"] {
        let error = server.task_get(&ask(json!({ "id": unknown }))).expect_err(unknown);
        assert_eq!(error.message, format!("Task not found: {unknown}"));
        assert!(error.hint.is_some());
    }
}

#[test]
fn a_loop_that_is_no_task_is_not_found_as_one() {
    let stage = Stage::new();
    let mut server = stage.server();
    let task = create(&mut server);
    let id = task.strip_prefix("TASK-").expect("a task's name");
    assert!(server.engine.loops().resolve(&LoopTarget::Named(id.into())).is_ok());
    // Where no loop is named, a task that holds nobody is not meant.
    assert!(server.engine.loops().resolve(&LoopTarget::Here(stage.project())).is_err());
}
