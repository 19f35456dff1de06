//! Loops of other formats become native ones, and what is lost is said.

use std::fs;

use serde_json::{Value, json};

use crate::formats::{Format, is_sent_back};

#[test]
fn every_format_becomes_a_native_loop_and_its_files_stay() {
    for format in Format::ALL.into_iter().filter(|format| *format != Format::IdleTopic) {
        let stage = format.stage();
        let before = fs::read(stage.path(&format.file())).expect("the file");
        let named = if format == Format::Task { " --task-file task.json" } else { "" };
        let line = format!("import {}{named} --check 'ok=test -f done'", format.dialect());
        let dry = stage.json(&format!("{line} --dry-run"));
        assert_eq!(dry["loop"], Value::Null, "{format:?}");
        assert!(stage.json("list")["loops"].as_array().is_some_and(Vec::is_empty), "{format:?}");
        let answer = stage.json(&format!("{line} --session s1"));
        let begun = &answer["loop"];
        assert_eq!((&begun["session"], &begun["state"]), (&json!("s1"), &json!("active")));
        assert_eq!(begun["criteria"][0]["command"], "test -f done", "{format:?}: {answer}");
        let max = begun["max_iterations"].as_u64().expect("a limit");
        let left = match format {
            Format::Criteria => 20,
            // The iteration that runs is the third: two are used.
            Format::Features => 898,
            Format::IdleFile | Format::IdleTopic | Format::Task | Format::RalphLoop => 897,
        };
        assert_eq!(max, left, "{format:?}");
        assert_eq!(fs::read(stage.path(&format.file())).expect("the file"), before);
        assert!(stage.stop("s1", "Done, I think.").is_sent_back(), "{format:?}");
        stage.write("project/done", "");
        let attests = begun["criteria"].as_array().is_some_and(|list| list.len() > 1);
        let said = if attests { "<promise>COMPLETE</promise>" } else { "Really." };
        assert!(!stage.stop("s1", said).is_sent_back(), "{format:?}");
        let outcome = if attests { "attested" } else { "done" };
        assert_eq!(stage.json("list")["loops"][0]["outcome"], json!(outcome), "{format:?}");
    }
}

#[test]
fn what_can_not_be_carried_over_is_said() {
    let stage = Format::RalphLoop.stage();
    let file = Format::RalphLoop.file();
    let text = fs::read_to_string(stage.path(&file)).expect("the file");
    let odd = text.replace("completion_promise: null", "completion_promise: \"ALL GREEN\"");
    stage.write(&file, odd.replace("max_iterations: 900", "max_iterations: 0"));
    let ran = stage.run("import ralph-loop");
    assert_eq!(ran.code, 0, "{ran}");
    assert!(ran.out.contains("not carried over: that it had no limit"), "{ran}");
    assert!(ran.out.contains("not carried over: its promise \"ALL GREEN\""), "{ran}");
    assert!(ran.out.contains("--dialect ralph-loop"), "{ran}");
}

#[test]
fn nothing_to_import_is_no_loop() {
    for format in Format::ALL {
        let stage = crate::stage::Stage::new();
        let ran = stage.run(&format!("import {} --task-file task.json", format.dialect()));
        assert_eq!(ran.code, 66, "{format:?}: {ran}");
    }
    let stage = Format::Task.stage();
    let text = fs::read_to_string(stage.path(&Format::Task.file())).expect("the file");
    stage.write(&Format::Task.file(), text.replace("in_progress", "completed"));
    let ran = stage.run("import task --task-file task.json");
    assert_eq!(ran.code, 66, "{ran}");
    assert!(ran.err.contains("the task is completed"), "{ran}");
    let call = Format::Task.stop(&stage);
    assert!(!is_sent_back(&call.send_bytes(&call.bytes())));
}
