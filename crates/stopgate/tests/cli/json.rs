//! What programs read: one object, a version, the contract's fields.

use serde_json::{Value, json};

use crate::stage::Stage;

/// Every word that the contract promises of a loop.
const FIELDS: [&str; 11] = [
    "id",
    "goal",
    "state",
    "outcome",
    "iteration",
    "max_iterations",
    "session",
    "project",
    "frames",
    "criteria",
    "budget",
];

#[track_caller]
fn check_loop(found: &Value) {
    let fields = found.as_object().expect("a loop is an object");
    for field in FIELDS.iter().chain(&["updated_at"]) {
        assert!(fields.contains_key(*field), "{field} is missing in {found}");
    }
    for frame in found["frames"].as_array().expect("frames") {
        let keys = ["mode", "iteration", "max", "prompt"];
        assert!(keys.iter().all(|key| !frame[key].is_null()), "{frame}");
    }
    for criterion in found["criteria"].as_array().expect("criteria") {
        let keys = criterion.as_object().expect("an object");
        let promised = ["name", "kind", "status", "receipt"];
        assert!(promised.iter().all(|key| keys.contains_key(*key)), "{criterion}");
    }
    let states = ["idle", "active", "completing", "stuck", "aborted", "waiting", "paused"];
    assert!(states.contains(&found["state"].as_str().expect("a word")), "{found}");
    let at = found["updated_at"].as_str().expect("a time");
    assert!(at.starts_with("2026-11-15T") && at.ends_with('Z'), "{at}");
}

#[track_caller]
fn check_answer(stage: &Stage, line: &str) -> Value {
    let answer = stage.json(line);
    assert_eq!(answer["schema_version"], json!(1), "{line}");
    answer
}

#[test]
fn every_command_on_one_loop_answers_with_it() {
    let begin = "start Finish --check tests=false --criterion 'reads well' --session s1 --replace";
    let stage = Stage::new();
    let states = [
        (begin, "active"),
        ("status", "active"),
        ("status --session s1", "active"),
        ("push 'A part'", "active"),
        ("pop", "active"),
        ("done", "completing"),
        ("ask 'Which one?'", "waiting"),
        ("pause", "paused"),
        ("resume", "active"),
        ("hold", "paused"),
        ("resume --max-iterations 30", "active"),
        ("blocked 'no network'", "stuck"),
        ("resume", "active"),
        ("impossible 'it can not be'", "stuck"),
        (begin, "active"),
        ("cancel", "aborted"),
    ];
    for (line, state) in states {
        let answer = check_answer(&stage, line);
        check_loop(&answer["loop"]);
        assert_eq!(answer["loop"]["state"], json!(state), "{line}");
    }
}

#[test]
fn a_loop_in_json_tells_what_its_checks_produced() {
    let stage = Stage::with_loop("Finish --check tests='exit 3' --max-iterations 7");
    stage.stop("s1", "one");
    let found = &check_answer(&stage, "status")["loop"];
    check_loop(found);
    assert_eq!(found["iteration"], json!(1));
    assert_eq!(found["max_iterations"], json!(7));
    assert_eq!(found["outcome"], Value::Null);
    assert_eq!(found["project"], json!("$STAGE/project"));
    let criterion = &found["criteria"][0];
    assert_eq!((&criterion["status"], &criterion["kind"]), (&json!("fail"), &json!("run")));
    assert_eq!(criterion["receipt"]["exit_code"], json!(3));
    assert!(criterion["receipt"]["duration_ms"].is_u64());
    assert_eq!(
        found["frames"],
        json!([
            {"mode": "loop", "iteration": 1, "max": 7, "prompt": "Finish"}
        ])
    );
}

#[test]
fn lists_streams_and_explanations_have_a_version_too() {
    let stage = Stage::with_loop("Finish");
    stage.stop("s1", "one");
    let list = check_answer(&stage, "list");
    assert_eq!(list["loops"].as_array().map(Vec::len), Some(1));
    check_loop(&list["loops"][0]);
    let explained = check_answer(&stage, "explain");
    assert_eq!(
        (&explained["verdict"], &explained["rule"]),
        (&json!("continue"), &json!("continue"))
    );
    for line in ["log --json", "log --all --json"] {
        let ran = stage.run(line);
        let entries: Vec<Value> = ran
            .out
            .lines()
            .map(|line| serde_json::from_str(line).expect("one object a line"))
            .collect();
        assert_eq!(entries.len(), 2, "{ran}");
        assert!(entries.iter().all(|entry| entry["schema_version"] == json!(1)), "{ran}");
    }
    let bar = stage.run("statusline --session s1 --json");
    let bar: Value = serde_json::from_str(&bar.out).expect("JSON");
    check_loop(&bar["loop"]);
    let cancelled = check_answer(&stage, "cancel --all");
    check_loop(&cancelled["loops"][0]);
    assert_eq!(check_answer(&stage, "cancel --all")["loops"], json!([]));
}

#[test]
fn an_outcome_is_a_word_of_the_closed_list() {
    let said = [
        ("<promise>COMPLETE</promise>", "attested", "idle"),
        ("<promise>BLOCKED</promise>", "blocked", "stuck"),
        ("<promise>ESCALATE</promise>", "needs_input", "stuck"),
    ];
    for (message, outcome, state) in said {
        let stage = Stage::with_loop("Finish");
        stage.stop("s1", message);
        let found = &check_answer(&stage, "status")["loop"];
        check_loop(found);
        assert_eq!(found["outcome"], json!(outcome), "{found}");
        assert_eq!(found["state"], json!(state), "{found}");
    }
}

#[test]
fn every_command_can_answer_in_json() {
    let stage = Stage::new();
    let help = stage.run("--help").out;
    let names = commands(&help);
    assert!(names.contains(&"start") && names.contains(&"statusline"), "{help}");
    for name in names {
        let help = stage.run(&format!("{name} --help")).out;
        let parts = commands(&help);
        assert!(help.contains("--json") || !parts.is_empty(), "{name} has no --json: {help}");
        for part in parts {
            let help = stage.run(&format!("{name} {part} --help")).out;
            assert!(help.contains("--json"), "{name} {part} has no --json: {help}");
        }
    }
}

/// The commands that a help text lists, but for those that answer nobody in particular.
fn commands(help: &str) -> Vec<&str> {
    // Everything between the usage and the options is a list of commands, in one group or more.
    let listed = help.lines().skip_while(|line| !line.starts_with("Usage:")).skip(1);
    let listed = listed.take_while(|line| !matches!(*line, "Options:" | "Arguments:"));
    // A long description goes on in the next line, further to the right.
    let begins = listed.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let silent = ["hook", "completions", "man", "help"];
    let names = begins.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| !silent.contains(name)).collect()
}
