//! The official Inspector lists every tool and calls each of them.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::Lab;
use crate::table::Gates;

/// Calls in an order in which each can do its work; what begins with `$` was answered before.
const CALLS: [(&str, &[(&str, &str)]); 17] = [
    ("task_create", &[("title", "inspected")]),
    ("task_get", &[("id", "$task")]),
    ("task_update", &[("id", "$task"), ("notes", "seen")]),
    ("hook_register", &[("taskId", "$task"), ("hookType", "default")]),
    ("hook_update", &[("hookId", "$hook"), ("enabled", "true")]),
    ("hook_list", &[("taskId", "$task")]),
    (
        "iteration_start",
        &[("taskId", "$task"), ("maxIterations", "3"), ("completionPromises", "[\"COMPLETE\"]")],
    ),
    ("hook_evaluate", &[("iterationId", "$iteration"), ("agentOutput", "on it")]),
    ("iteration_validate", &[("iterationId", "$iteration"), ("agentOutput", "on it")]),
    ("iteration_next", &[("iterationId", "$iteration")]),
    ("checkpoint_create", &[("taskId", "$task"), ("executionPhase", "middle")]),
    ("checkpoint_resume", &[("taskId", "$task")]),
    ("iteration_complete", &[("iterationId", "$iteration"), ("completionPromise", "COMPLETE")]),
    ("hook_clear", &[("taskId", "$task")]),
    ("loop_start", &[("goal", "be inspected")]),
    ("loop_status", &[]),
    ("loop_done", &[("claim", "blocked"), ("why", "only inspected")]),
];

/// Lists and calls.
pub(super) fn check(lab: &Lab, gates: &mut Gates) -> Result<()> {
    let place = tempfile::tempdir()?;
    let listed = inspect(lab, place.path(), &["--method", "tools/list"])?;
    let names: Vec<&str> = listed["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|t| t["name"].as_str())
        .collect();
    let missing = CALLS.iter().find(|(tool, _)| !names.contains(tool));
    let whole = names.len() == CALLS.len() && missing.is_none();
    let word = gates.ask((!whole).then(|| format!("the Inspector lists {names:?}")));
    println!("\nThe Inspector lists {} tools: {word}.", names.len());
    let mut known = json!({});
    for (tool, arguments) in CALLS {
        let answer = call(lab, place.path(), tool, arguments, &known)?;
        let fine = answer["isError"] == false && answer["structuredContent"].is_object();
        let word = gates.ask((!fine).then(|| format!("{tool} answers {answer}")));
        println!("- {tool}: {word}");
        remember(&mut known, &answer["structuredContent"]);
    }
    Ok(())
}

fn call(
    lab: &Lab,
    home: &Path,
    tool: &str,
    arguments: &[(&str, &str)],
    known: &Value,
) -> Result<Value> {
    let given = arguments.iter().map(|(name, value)| {
        let value = value.strip_prefix('$').and_then(|word| known[word].as_str()).unwrap_or(value);
        format!("{name}={value}")
    });
    let given: Vec<String> = given.collect();
    let mut words = vec!["--method", "tools/call", "--tool-name", tool];
    for one in &given {
        words.extend(["--tool-arg", one]);
    }
    inspect(lab, home, &words)
}

fn remember(known: &mut Value, answer: &Value) {
    for (word, name) in [("task", "taskId"), ("hook", "hookId"), ("iteration", "iterationId")] {
        if answer[name].is_string() {
            known[word] = answer[name].clone();
        }
    }
    if known["task"].is_null() {
        known["task"] = answer["id"].clone();
    }
}

/// One run of the Inspector, which starts a server of its own.
fn inspect(lab: &Lab, home: &Path, words: &[&str]) -> Result<Value> {
    let mut node = lab.node(&lab.script("mcp-inspector"));
    node.arg("--cli").arg("-e").arg(format!("STOPGATE_HOME={}", home.display()));
    node.arg(&lab.program).arg("mcp").args(words);
    let ran = node.output().context("start the Inspector")?;
    let text = String::from_utf8_lossy(&ran.stdout);
    let Some(begin) = text.find('{') else {
        bail!("inspect {words:?}: {text}{}", String::from_utf8_lossy(&ran.stderr));
    };
    serde_json::from_str(&text[begin..]).with_context(|| format!("read {text}"))
}
