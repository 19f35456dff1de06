//! How each surface is called, and how its answer is read.

use std::thread;

use serde_json::{Value, json};

use crate::expect::contains;
use crate::room::{Ran, Room};

/// Runs one case; what is wrong with the answer.
pub(crate) fn run(case: &Value) -> Vec<String> {
    let room = Room::new(&case["given"]);
    match case["surface"].as_str().unwrap_or_default() {
        "cli" => command(&room, case),
        surface => hook(&room, case, &arguments(surface)),
    }
}

fn arguments(surface: &str) -> Vec<&'static str> {
    let dialect = match surface.split('/').nth(1).unwrap_or_default() {
        "idle" => "idle",
        "ralph" => "features",
        "loop" => "criteria",
        "tasks" => return vec!["hook", "claude", "--dialect", "task", "--task-file", "task.json"],
        other => panic!("no dialect is known for {other}"),
    };
    vec!["hook", "claude", "--dialect", dialect]
}

fn hook(room: &Room, case: &Value, arguments: &[&str]) -> Vec<String> {
    let (given, want) = (&case["given"], &case["expect"]);
    let mut wrong = Vec::new();
    let ran = if let Some(steps) = given["steps"].as_array() {
        let (decisions, last) = in_turn(room, case, arguments, steps);
        wrong.extend(contains(&want["decisions"], &json!(decisions), "decisions"));
        last
    } else if let Some(count) = given["parallel"].as_u64() {
        at_once(room, case, arguments, count)
    } else {
        room.stop(arguments, &case["input"], transcript(given).as_deref())
    };
    wrong.extend(answer(&ran, want));
    wrong.extend(files(room, want));
    wrong
}

/// One stop after the other, each with its own transcript.
fn in_turn(
    room: &Room,
    case: &Value,
    arguments: &[&str],
    steps: &[Value],
) -> (Vec<&'static str>, Ran) {
    let flags = &case["given"]["stop_hook_active"];
    let stop = |(at, step): (usize, &Value)| {
        let mut input = case["input"].clone();
        input["stop_hook_active"] = json!(flags[at].as_bool().unwrap_or(false));
        room.stop(arguments, &input, Some(&records(step)))
    };
    let mut all: Vec<Ran> = steps.iter().enumerate().map(stop).collect();
    let decisions = all.iter().map(decision).collect();
    (decisions, all.pop().expect("a step"))
}

fn at_once(room: &Room, case: &Value, arguments: &[&str], count: u64) -> Ran {
    thread::scope(|scope| {
        let stop = || room.stop(arguments, &case["input"], None);
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(stop)).collect();
        let mut all = threads.into_iter().map(|thread| thread.join().expect("an answer"));
        let first = all.next().expect("at least one stop");
        all.for_each(drop);
        first
    })
}

fn answer(ran: &Ran, want: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    if !want["exit"].is_null() {
        wrong.extend(contains(&want["exit"], &json!(ran.code), "exit"));
    }
    if !want["decision"].is_null() {
        wrong.extend(contains(&want["decision"], &json!(decision(ran)), "decision"));
    }
    if want["stdout_empty"] == true && !["", "{}"].contains(&ran.out.trim()) {
        wrong.push(format!("stdout is not empty: {}", ran.out));
    }
    if want["stdout_only_json"] == true || want["stdout_json"].is_object() {
        match serde_json::from_str::<Value>(&ran.out) {
            Ok(got) => wrong.extend(contains(&or_empty(&want["stdout_json"]), &got, "stdout")),
            Err(_) => wrong.push(format!("stdout is not one JSON value: {}", ran.out)),
        }
    }
    if !want["announce"].is_null() {
        wrong.extend(contains(&want["announce"], &json!(announced(&ran.out)), "announce"));
    }
    let part = want["stderr_contains"].as_str().unwrap_or_default();
    if !ran.err.contains(part) {
        wrong.push(format!("stderr lacks {part}: {}", ran.err));
    }
    wrong
}

fn or_empty(value: &Value) -> Value {
    if value.is_object() { value.clone() } else { json!({}) }
}

/// What a session is told at its start.
fn announced(out: &str) -> String {
    let answer: Value = serde_json::from_str(out).unwrap_or_else(|_| json!({"message": out}));
    let message = answer["message"].as_str().filter(|message| !message.is_empty());
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str();
    message.or(context).unwrap_or_default().trim_end_matches('\n').into()
}

fn decision(ran: &Ran) -> &'static str {
    let answer: Value = serde_json::from_str(&ran.out).unwrap_or_default();
    let blocks = ran.code == 2 || answer["decision"] == "block" || answer["ok"] == false;
    if blocks { "block" } else { "allow" }
}

fn transcript(given: &Value) -> Option<String> {
    let raw = given["transcript_raw"].as_str().map(String::from);
    if given["transcript"].is_array() { Some(records(&given["transcript"])) } else { raw }
}

/// Entries of a transcript, one JSON object a line.
fn records(entries: &Value) -> String {
    let entries = entries.as_array().cloned().unwrap_or_default();
    let lines: Vec<String> = entries.iter().map(record).collect();
    lines.join("\n")
}

fn record(entry: &Value) -> String {
    let fields = entry.as_object().expect("an entry");
    if let Some(raw) = fields.get("raw") {
        return raw.to_string();
    }
    let (role, text) = fields.iter().next().expect("who said what");
    let content = json!([{"type": "text", "text": text}]);
    json!({"type": role, "message": {"role": role, "content": content}}).to_string()
}

fn files(room: &Room, want: &Value) -> Vec<String> {
    let pairs = |name: &str| want[name].as_object().cloned().unwrap_or_default();
    let holds = |name: &str, part: &Value| {
        let text = room.read(name);
        text.is_some_and(|text| text.contains(part.as_str().unwrap_or_default()))
    };
    let mut wrong = Vec::new();
    for (name, part) in pairs("file_contains") {
        if !holds(&name, &part) {
            wrong.push(format!("{name} lacks {part}: {:?}", room.read(&name)));
        }
    }
    for (name, part) in pairs("file_not_contains") {
        if holds(&name, &part) {
            wrong.push(format!("{name} has {part}"));
        }
    }
    for name in want["file_absent"].as_array().into_iter().flatten() {
        if room.read(name.as_str().unwrap_or_default()).is_some() {
            wrong.push(format!("{name} is still there"));
        }
    }
    if want["jwz_last"].is_object() {
        let topic = room.read(".jwz/loop:current.log").unwrap_or_default();
        let last = serde_json::from_str(topic.trim().lines().last().unwrap_or_default());
        wrong.extend(contains(&want["jwz_last"], &last.unwrap_or_default(), "jwz_last"));
    }
    wrong
}

fn command(room: &Room, case: &Value) -> Vec<String> {
    let (op, given) =
        case["input"]["op"].as_object().and_then(|op| op.iter().next()).expect("an op");
    if op == "score" {
        return score(room, given, &case["expect"]);
    }
    let arguments = lifecycle(op, given);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ran = room.call(&arguments, "");
    let mut wrong = Vec::new();
    if (ran.code != 0) != (case["expect"]["error"] == true) {
        wrong.push(format!("exit {}: {}", ran.code, ran.err));
    }
    let state = room.read(".loop/state.json").and_then(|text| serde_json::from_str(&text).ok());
    wrong.extend(contains(&case["expect"]["state"], &state.unwrap_or_default(), "state"));
    wrong
}

fn score(room: &Room, given: &Value, want: &Value) -> Vec<String> {
    let names = ["outcome", "scope", "constraints", "success", "done"];
    let points = names.map(|name| given[name].to_string());
    let mut arguments = vec!["score", "--json"];
    arguments.extend(points.iter().map(String::as_str));
    let ran = room.call(&arguments, "");
    match serde_json::from_str::<Value>(&ran.out) {
        Ok(got) => contains(want, &got, "score"),
        Err(_) => vec![format!("stdout is not JSON: {}{}", ran.out, ran.err)],
    }
}

fn lifecycle(op: &str, given: &Value) -> Vec<String> {
    let mut arguments = vec![op.to_string(), "--dialect".into(), "criteria".into()];
    let mut option = |name: &str, value: &str| arguments.extend([name.into(), value.into()]);
    for name in given["criteria"].as_array().into_iter().flatten().filter(|_| op == "start") {
        option("--criterion", name.as_str().unwrap_or_default());
    }
    for step in given["steps"].as_array().into_iter().flatten() {
        option("--step", step.as_str().unwrap_or_default());
    }
    for (name, met) in given["criteria"].as_object().into_iter().flatten() {
        option(if *met == true { "--met" } else { "--unmet" }, name);
    }
    arguments.extend(given["spec"].as_str().map(String::from));
    arguments
}
