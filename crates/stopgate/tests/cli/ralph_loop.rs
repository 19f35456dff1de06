//! The `ralph-loop` dialect: the widely used plugin's file, without the plugin's faults.

use std::fs;
use std::thread;

use serde_json::{Value, json};

use crate::stage::{Ran, Stage};

const FILE: &str = "project/.claude/ralph-loop.local.md";
const TEXT: &str = "---\nactive: true\niteration: 1\nsession_id: s1\nmax_iterations: 50\n\
completion_promise: \"DONE\"\nstarted_at: \"2026-11-15T05:00:00Z\"\n---\n\nFix the tests.\n";

fn with(text: &str) -> Stage {
    let stage = Stage::new();
    stage.write(FILE, text);
    stage
}

fn stop_as(stage: &Stage, session: &str, message: &str) -> Ran {
    let call = stage.stop_call(session, message).arg("--dialect").arg("ralph-loop");
    call.send_bytes(&call.bytes())
}

fn stop(stage: &Stage, message: &str) -> Ran {
    stop_as(stage, "s1", message)
}

fn file(stage: &Stage) -> Option<String> {
    fs::read_to_string(stage.path(FILE)).ok()
}

#[track_caller]
fn sends_back(ran: &Ran) {
    let answer: Value = serde_json::from_str(&ran.out).expect("one JSON value");
    assert_eq!(
        (&answer["decision"], &answer["reason"]),
        (&json!("block"), &json!("Fix the tests."))
    );
    let message = answer["systemMessage"].as_str().expect("a message");
    assert!(message.contains("<promise>DONE</promise>"), "{message}");
    assert_eq!((answer.as_object().map(serde_json::Map::len), ran.code), (Some(3), 0));
}

#[track_caller]
fn lets_go(ran: &Ran) {
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran}");
}

#[test]
fn a_bare_word_is_no_promise() {
    let stage = with(TEXT);
    sends_back(&stop(&stage, "DONE"));
    sends_back(&stop(&stage, "All is done.\n\nDONE\n"));
    assert_eq!(file(&stage), Some(TEXT.replace("iteration: 1", "iteration: 3")));
}

#[test]
fn a_negated_promise_is_none() {
    let stage = with(TEXT);
    sends_back(&stop(&stage, "I will NOT output <promise>DONE</promise> yet because tests fail."));
}

#[test]
fn a_quoted_promise_is_none() {
    let stage = with(TEXT);
    for message in [
        "The rule says: reply <promise>DONE</promise> when finished.",
        "> <promise>DONE</promise>",
        "```\n<promise>DONE</promise>\n```",
        "`<promise>DONE</promise>`",
        "    <promise>DONE</promise>",
        "<!--\n<promise>DONE</promise>\n-->",
        "<promise>ALMOST DONE</promise>",
        "<promise>done</promise>",
    ] {
        sends_back(&stop(&stage, message));
    }
}

#[test]
fn a_promise_on_turn_one_is_attested_and_visibly_so() {
    let stage = with(&TEXT.replace("iteration: 1", "iteration: 0"));
    let ran = stop(&stage, "<promise>DONE</promise>");
    lets_go(&ran);
    assert!(
        ran.err.contains("ended as attested") && ran.err.contains("no check proved it"),
        "{ran}"
    );
    assert_eq!(file(&stage), None, "the loop is over");
    let found = &stage.json("status")["loop"];
    assert_eq!((&found["outcome"], &found["iteration"]), (&json!("attested"), &json!(0)));
    let told = stage.run("explain");
    assert!(told.out.contains("no check proved it"), "{told}");
}

#[test]
fn an_empty_session_id_holds_nobody() {
    for session in ["session_id:\n", "session_id: \"\"\n", "session_id: null\n", ""] {
        let text = TEXT.replace("session_id: s1\n", session);
        let stage = with(&text);
        for other in ["s1", "s2"] {
            let ran = stop_as(&stage, other, "Working.");
            lets_go(&ran);
            assert!(ran.err.contains("names no session_id"), "{ran}");
        }
        assert_eq!(file(&stage), Some(text));
    }
    let stage = with(TEXT);
    let ran = stop_as(&stage, "s2", "<promise>DONE</promise>");
    lets_go(&ran);
    assert_eq!((ran.err.as_str(), file(&stage).as_deref()), ("", Some(TEXT)));
}

#[test]
fn a_transcript_that_lags_loses_nothing() {
    let stage = with(TEXT);
    stage.write(
        "user/t.jsonl",
        "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"Go\"}}\n",
    );
    let path = json!(stage.path("user/t.jsonl"));
    let call = stage.stop_call("s1", "").without("last_assistant_message");
    let call = call.with("transcript_path", path).arg("--dialect").arg("ralph-loop");
    sends_back(&call.send_bytes(&call.bytes()));
    let lost = call.with("transcript_path", json!("/nowhere/t.jsonl"));
    sends_back(&lost.send_bytes(&lost.bytes()));
    assert_eq!(file(&stage), Some(TEXT.replace("iteration: 1", "iteration: 3")));
}

#[test]
fn one_corrupt_field_costs_a_turn_and_not_the_loop() {
    for (old, new) in [
        ("iteration: 1", "iteration: abc"),
        ("iteration: 1", "iteration: 1.5"),
        ("max_iterations: 50", "max_iterations: many"),
        ("Fix the tests.\n", ""),
    ] {
        let text = TEXT.replacen(old, new, 1);
        let stage = with(&text);
        let ran = stop(&stage, "Working.");
        lets_go(&ran);
        assert!(ran.err.contains("left as it is"), "{ran}");
        assert_eq!(file(&stage), Some(text));
        assert_eq!(stage.complaints().len(), 1, "{:?}", stage.complaints());
        stage.write(FILE, TEXT);
        sends_back(&stop(&stage, "Working."));
    }
}

#[test]
fn thirty_two_calls_at_once_count_thirty_two() {
    let stage = with(TEXT);
    thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| sends_back(&stop(&stage, "Working.")));
        }
    });
    assert_eq!(file(&stage), Some(TEXT.replace("iteration: 1", "iteration: 33")));
    let found = &stage.json("status")["loop"];
    assert_eq!((&found["iteration"], &found["revision"]), (&json!(33), &json!(33)));
}

#[test]
fn the_limit_ends_it_before_the_promise_and_nothing_is_lost() {
    let text = TEXT.replace("max_iterations: 50", "max_iterations: 2");
    let stage = with(&text);
    sends_back(&stop(&stage, "Working."));
    let ran = stop(&stage, "<promise>DONE</promise>");
    lets_go(&ran);
    assert!(ran.err.contains("max_iterations"), "{ran}");
    assert_eq!(file(&stage), None);
    let directories = fs::read_dir(stage.path("home/backups")).expect("backups");
    assert_eq!(directories.count(), 1, "the file is kept");
    lets_go(&stop(&stage, "Working."));
    let unlimited = TEXT.replace("max_iterations: 50", "max_iterations: 0");
    let stage = with(&unlimited.replace("iteration: 1", "iteration: 4000"));
    sends_back(&stop(&stage, "Working."));
}

#[test]
fn a_person_sees_and_cancels_it() {
    let stage = with(TEXT);
    sends_back(&stop(&stage, "Working."));
    let shown = stage.run("status --dialect ralph-loop");
    assert!(shown.out.contains("ACTIVE") && shown.out.contains("2 of 50"), "{shown}");
    let ran = stage.run("cancel --dialect ralph-loop");
    assert_eq!((ran.code, file(&stage)), (0, None), "{ran}");
    assert_eq!(stage.json("status")["loop"]["outcome"], "cancelled");
    assert_eq!(stage.run("status --dialect ralph-loop").code, 66);
    assert_eq!(stage.run("start --dialect ralph-loop Goal").code, 2);
    lets_go(&stop(&stage, "Working."));
}

#[test]
fn what_is_switched_off_or_no_file_of_its_is_left_alone() {
    let off = TEXT.replace("active: true", "active: false");
    for text in [off.as_str(), "just a note"] {
        let stage = with(text);
        lets_go(&stop(&stage, "<promise>DONE</promise>"));
        assert_eq!(file(&stage).as_deref(), Some(text));
    }
    let stage = Stage::new();
    lets_go(&stop(&stage, "Working."));
    assert_eq!(fs::read_dir(stage.path("home")).expect("the home").count(), 0, "nothing is made");
}
