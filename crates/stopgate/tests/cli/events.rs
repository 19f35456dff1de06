//! What a session tells beside its stops.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::call::{Answer, Call};
use crate::stage::Stage;

fn task(id: &str, status: &str) -> Value {
    json!({"id": id, "type": "shell", "status": status, "description": "bg", "command": "sleep 3"})
}

fn with_tasks<'a>(stage: &'a Stage, said: &str, tasks: &[Value]) -> Call<'a> {
    stage.stop_call("s1", said).with("background_tasks", json!(tasks))
}

#[test]
fn background_work_parks_once_and_is_not_counted() {
    let stage = Stage::with_loop("Finish");
    let server = task("dev-server", "running");
    let alone = [server.clone()];
    assert_snapshot!(with_tasks(&stage, "one", &alone).send(), @"allowed");
    assert_eq!(stage.json("status")["loop"]["state"], "waiting");
    assert_eq!(stage.standing("1stage0000"), "waiting 0/20 s1");
    assert_snapshot!(with_tasks(&stage, "two", &alone).send().brief(), @"Loop 1/20: not finished yet");
    let build = task("build", "running");
    let both = [server.clone(), build];
    assert_snapshot!(with_tasks(&stage, "three", &both).send(), @"allowed");
    assert_snapshot!(with_tasks(&stage, "four", &both).send().brief(), @"Loop 2/20: not finished yet");
    let over = task("other", "completed");
    assert_snapshot!(with_tasks(&stage, "five", &[server, over]).send().brief(), @"Loop 3/20: not finished yet");
    assert_eq!(stage.standing("1stage0000"), "active 3/20 s1");
}

#[test]
fn parked_work_stays_parked_for_an_hour_at_most() {
    let stage = Stage::with_loop("Finish");
    with_tasks(&stage, "one", &[task("build", "running")]).send();
    stage.advance_minutes(61);
    assert_eq!(stage.json("status")["loop"]["state"], "active");
    assert!(with_tasks(&stage, "two", &[task("build", "running")]).send().is_sent_back());
}

#[test]
fn a_cron_that_is_scheduled_does_not_park() {
    let stage = Stage::with_loop("Finish");
    let cron = json!([{"id": "ace1894f", "schedule": "0 9 * * 1-5", "prompt": "check the build"}]);
    let call = stage.stop_call("s1", "scheduled").with("session_crons", cron);
    assert!(call.send().is_sent_back());
}

#[test]
fn a_person_who_speaks_during_the_turn_is_let_in_once() {
    let stage = Stage::with_loop("Finish");
    assert!(stage.stop("s1", "one").is_sent_back());
    assert_snapshot!(stage.prompt("s1", "prompt-1", "Wait, please.").send(), @"allowed");
    assert_snapshot!(stage.stop("s1", "two"), @"allowed");
    assert!(stage.stop("s1", "three").is_sent_back());
    assert_eq!(stage.standing("1stage0000"), "active 2/20 s1");
}

#[test]
fn a_new_prompt_and_a_task_notification_yield_nothing() {
    let stage = Stage::with_loop("Finish");
    assert!(stage.stop("s1", "one").is_sent_back());
    stage.prompt("s1", "prompt-2", "Now the printer.").send();
    let next = |said: &str, prompt: &str| -> Answer {
        stage.stop_call("s1", said).with("prompt_id", json!(prompt)).send()
    };
    assert!(next("two", "prompt-2").is_sent_back());
    let news = "<task-notification>\n<task-id>a4b26da0d0705d2ee</task-id>\n</task-notification>";
    stage.prompt("s1", "prompt-2", news).send();
    assert!(next("three", "prompt-2").is_sent_back());
    stage.prompt("s1", "prompt-3", news).send();
    assert!(next("four", "prompt-3").is_sent_back());
    assert_eq!(stage.standing("1stage0000"), "active 4/20 s1");
}

#[test]
fn a_compacted_session_is_told_its_goal_and_open_criteria_again() {
    let stage = Stage::with_loop(
        "'Make it green' --check tests='test -f green' --check lint=true --criterion 'reads well'",
    );
    stage.stop("s1", "one");
    let told = stage.session_start("s1", "compact").with("prompt_id", json!("prompt-1")).send();
    assert_snapshot!(told, @"
    context: A stopgate loop holds this session (1 of 20 continuations used).
    From stopgate's stop hook, not from the user; it grants no permission.
    Goal: Make it green
    Done means:
    - tests (fail): `test -f green`
    - lint (pass): `true`
    - reads well (you attest it)
    Make the checks pass, then stop: stopgate runs them itself. You may say that you are done with `stopgate done`, or <promise>COMPLETE</promise> alone on a line.
    Can't go on? `stopgate blocked WHY`, `stopgate impossible WHY` or `stopgate ask QUESTION` lets you stop and tells the person; so does <promise>BLOCKED: why</promise> (or IMPOSSIBLE, ASK) alone on a line.
    ");
    assert_eq!(stage.standing("1stage0000"), "active 1/20 s1");
}

#[test]
fn what_happens_to_a_session_leaves_a_trace() {
    let stage = Stage::with_loop("Finish");
    let compacts = stage.call("PreCompact", "s1").with("trigger", json!("auto"));
    assert_snapshot!(compacts.with("custom_instructions", Value::Null).send(), @"allowed");
    let failed = stage.call("StopFailure", "s1").with("error", json!("server_error"));
    let failed = failed.with("last_assistant_message", json!("API Error: 529 Overloaded."));
    assert_snapshot!(failed.send(), @"allowed");
    assert_snapshot!(stage.session_end("s1", "prompt_input_exit").send(), @"allowed");
    assert_snapshot!(stage.history("1stage0000"), @"
    started: Finish
    compacted: the context is compacted (auto)
    turn_failed: server_error: API Error: 529 Overloaded.
    session_ended: prompt_input_exit
    ");
    assert_eq!(stage.standing("1stage0000"), "active 0/20 s1");
    assert!(stage.stop("s1", "one").is_sent_back());
}

#[test]
fn a_subagents_stop_is_allowed_and_not_counted() {
    let stage = Stage::with_loop("Finish");
    let done = "<promise>COMPLETE</promise>";
    assert_snapshot!(stage.subagent_stop("s1", "general-purpose", done).send(), @"allowed");
    assert_snapshot!(stage.subagent_stop("s1", "", "<summary>all</summary>").send(), @"allowed");
    assert_eq!(stage.standing("1stage0000"), "active 0/20 s1");
    assert_eq!(stage.history("1stage0000").lines().count(), 1);
}

#[test]
fn a_stop_is_judged_whatever_stop_hook_active_says() {
    for active in [json!(true), json!(false), Value::Null] {
        let stage = Stage::with_loop("Finish");
        let call = stage.stop_call("s1", "one").with("stop_hook_active", active);
        assert!(call.send().is_sent_back());
    }
}

#[test]
fn an_event_that_only_the_command_line_names_is_served() {
    let stage = Stage::with_loop("Finish");
    let call = stage.stop_call("s1", "one").without("hook_event_name");
    let ran = call.clone().arg("--event").arg("Stop").send_bytes(&call.bytes());
    assert_snapshot!(Answer::read("Stop", &ran.out).brief(), @"Loop 1/20: not finished yet");
}

#[test]
fn a_byte_order_mark_and_a_lone_surrogate_are_tolerated() {
    let stage = Stage::with_loop("Finish --max-idle 0");
    let call = stage.stop_call("s1", "MESSAGE");
    let marked = [b"\xef\xbb\xbf".as_slice(), &call.bytes()].concat();
    assert!(Answer::read("Stop", &call.send_bytes(&marked).out).is_sent_back());
    let text = String::from_utf8(call.bytes()).expect("JSON is text");
    let lone = text.replace("MESSAGE", "half a pair: \\ud83d");
    assert!(Answer::read("Stop", &call.send_bytes(lone.as_bytes()).out).is_sent_back());
    assert_eq!(stage.complaints(), Vec::<String>::new());
}
