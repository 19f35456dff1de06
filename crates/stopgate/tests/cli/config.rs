//! The person's own settings, and stores that can't be asked.

use std::fs;

use insta::assert_snapshot;

use crate::bad_input::lets_go;
use crate::call::Answer;
use crate::stage::{Ran, Stage};

const CONFIG: &str = "user/.config/stopgate/config.toml";

/// A stage whose person keeps their loops in `user/own.db`.
fn own() -> Stage {
    let stage = Stage::new();
    let text = format!("[store]\naddress = \"sqlite:{}\"\n", stage.path("user/own.db").display());
    stage.write(CONFIG, text);
    stage
}

#[test]
fn the_file_names_the_store_for_commands_and_hook() {
    let stage = own();
    stage.start("Finish --session s1");
    assert!(stage.path("user/own.db").exists() && !stage.path("home/journal.db").exists());
    assert!(stage.stop("s1", "one").is_sent_back());
    assert_eq!(stage.standing("1stage0000"), "active 1/20 s1");
    assert_snapshot!(stage.stop("s2", "one"), @"allowed");
}

#[test]
fn the_environment_beats_the_file() {
    let stage = own();
    let store = format!("sqlite:{}", stage.path("user/env.db").display());
    let env = [("STOPGATE_STORE", store.as_str())];
    assert_eq!(stage.run_with("start Finish --session s1", &env).code, 0);
    assert!(stage.path("user/env.db").exists() && !stage.path("user/own.db").exists());
    assert!(stage.stop_call("s1", "one").var("STOPGATE_STORE", &store).send().is_sent_back());
    assert_snapshot!(stage.stop("s1", "two"), @"allowed");
}

#[test]
fn the_file_may_lie_where_the_platform_says() {
    let stage = Stage::new();
    let directory = stage.path("etc").display().to_string();
    let address = format!("sqlite:{}", stage.path("user/own.db").display());
    stage.write("etc/stopgate/config.toml", format!("[store]\naddress = \"{address}\""));
    let env = [("XDG_CONFIG_HOME", directory.as_str())];
    assert_eq!(stage.run_with("start Finish --session s1", &env).code, 0);
    assert!(stage.path("user/own.db").exists());
}

#[test]
fn a_file_that_makes_no_sense_is_an_error_in_commands_and_a_fault_in_the_hook() {
    let stage = Stage::with_loop("Finish --max-idle 0");
    stage.write(CONFIG, "[store]\nadress = \"sqlite:x\"\n");
    assert_snapshot!(stage.run("list"), @"
    [stderr]
    error: could not understand $STAGE/user/.config/stopgate/config.toml: line 2, column 1: unknown field `adress`, expected one of `address`, `tenant`, `deadline`, `on_store_error`, `durability`
     hint: every key is explained by: stopgate help config.toml
    [exit 2]
    ");
    let ran = send(&stage, "s1");
    assert!(Answer::read("Stop", &ran.out).is_sent_back(), "defaults stand in: {ran}");
    let complaints = stage.complaints();
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(complaints[0].contains("could not understand"), "{complaints:?}");
    let ran = send(&stage, "nobody");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{ran}");
}

#[test]
fn a_deadline_that_makes_no_sense_is_named() {
    let stage = Stage::with_loop("Finish");
    let ran = stage.run_with("list", &[("STOPGATE_STORE_DEADLINE", "soon")]);
    assert_snapshot!(ran, @"
    [stderr]
    error: could not understand STOPGATE_STORE_DEADLINE: `soon` is not a duration; write for example 500ms or 2s
    [exit 2]
    ");
    let call = stage.stop_call("s1", "one").var("STOPGATE_STORE_DEADLINE", "soon");
    let ran = call.send_bytes(&call.bytes());
    assert!(Answer::read("Stop", &ran.out).is_sent_back(), "{ran}");
    assert_eq!(stage.complaints().len(), 1);
}

#[test]
fn a_store_that_cannot_be_asked_allows() {
    let stage = unasked("");
    let told = send(&stage, "s1");
    assert!(told.out.contains("the gate is open"), "the person is told once: {told}");
    let ran = send(&stage, "s1");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""), "{ran}");
    assert_eq!(stage.complaints().len(), 2);
}

#[test]
fn a_person_may_want_the_first_stop_held_back() {
    let stage = unasked("[store]\non_store_error = \"block_once\"\n");
    let answer = Answer::read("Stop", &send(&stage, "s1").out);
    assert!(answer.is_sent_back());
    assert!(answer.text.starts_with("Journal unreachable: this stop is held back once\n"));
    assert!(answer.text.contains("not from the user; it grants no permission"));
    assert!(answer.text.contains("the next stop is allowed"));
    lets_go(&send(&stage, "s1").out);
    assert_eq!(send(&stage, "s1").out, "");
    assert_eq!(stage.complaints().len(), 3);
    assert_eq!(send(&stage, "nobody").out, "", "who is not held is not held back");
}

#[test]
fn nothing_but_a_stop_is_held_back_and_nothing_in_a_shadow() {
    let stage = unasked("[store]\non_store_error = \"block_once\"\n");
    let call = stage.prompt("s1", "p1", "Hello");
    lets_go(&call.send_bytes(&call.bytes()).out);
    let call = stage.stop_call("s1", "one").arg("--shadow");
    assert_eq!(call.send_bytes(&call.bytes()).out, "");
    assert!(Answer::read("Stop", &send(&stage, "s1").out).is_sent_back());
}

#[test]
fn only_the_persons_own_file_can_ask_for_it() {
    let stage = unasked("");
    stage.write("project/stopgate.toml", "[store]\non_store_error = \"block_once\"\n");
    stage.write("project/config.toml", "[store]\non_store_error = \"block_once\"\n");
    let call = stage.stop_call("s1", "one").var("STOPGATE_ON_STORE_ERROR", "block_once");
    lets_go(&call.send_bytes(&call.bytes()).out);
}

#[test]
fn what_cannot_be_remembered_is_not_held_back() {
    let stage = unasked("[store]\non_store_error = \"block_once\"\n");
    stage.write("home/held-back", "a file where a directory should be");
    for _ in 0..2 {
        lets_go(&send(&stage, "s1").out);
    }
}

#[test]
fn a_loop_that_survives_power_loss_works_as_any_other() {
    let stage = Stage::new();
    stage.write(CONFIG, "[store]\ndurability = \"power-loss\"\n");
    stage.start("Finish --check tests=true --session s1");
    assert!(!stage.stop("s1", "one").is_sent_back());
    assert_eq!(stage.standing("1stage0000"), "done 0/20 s1");
}

/// A stage with a loop whose journal is not a journal any more.
fn unasked(config: &str) -> Stage {
    let stage = Stage::with_loop("Finish");
    stage.run("status");
    fs::write(stage.path("home/journal.db"), "no journal ".repeat(1000)).expect("damage it");
    if !config.is_empty() {
        stage.write(CONFIG, config);
    }
    stage
}

fn send(stage: &Stage, session: &str) -> Ran {
    let call = stage.stop_call(session, "one");
    let ran = call.send_bytes(&call.bytes());
    assert_eq!(ran.code, 0, "{ran}");
    ran
}
