//! Small commands for the scripts of rows: payloads, tool calls, and looks at JSON.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

use crate::Verdict;

/// Carries one of them out.
pub(super) fn run(words: &[&str]) -> Result<Verdict> {
    match words {
        ["payload", message] => payload(message, "{}"),
        ["payload", message, more] => payload(message, more),
        ["tool", calls @ ..] if !calls.is_empty() => return tool(calls),
        ["like", wanted] => like(wanted),
        ["get", pointer] => get(pointer),
        ["ago", seconds] => ago(seconds, "Z"),
        ["ago", seconds, zone] => ago(seconds, zone),
        other => bail!("understand {other:?}"),
    }?;
    Ok(Verdict::Fine)
}

/// The payload of a stop with this last message; `more` are members that differ.
fn payload(message: &str, more: &str) -> Result<()> {
    let here = std::env::current_dir()?;
    let mut payload = json!({
        "session_id": "s1", "cwd": here, "hook_event_name": "Stop", "permission_mode": "default",
        "stop_hook_active": false, "last_assistant_message": message,
    });
    let more: Map<String, Value> = serde_json::from_str(more).context("read the members")?;
    for (name, value) in more {
        payload[name] = value;
    }
    println!("{payload}");
    Ok(())
}

/// Calls tools of one server, one after the other, and prints each answer on a line.
fn tool(calls: &[&str]) -> Result<Verdict> {
    let mut server = Command::new("stopgate")
        .arg("mcp")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("start stopgate mcp")?;
    let to = server.stdin.take().context("reach the server")?;
    let from = server.stdout.take().context("reach the server")?;
    let mut client = McpPipe { to, from: BufReader::new(from), asked: 0 };
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "requirements", "version": "1"},
    });
    client.ask("initialize", &hello)?;
    let mut verdict = Verdict::Fine;
    for call in calls.chunks(2) {
        let [name, arguments] = call else { bail!("call {call:?}: give a tool and its arguments") };
        let arguments: Value = serde_json::from_str(arguments).context("read the arguments")?;
        let answer = client.ask("tools/call", &json!({"name": name, "arguments": arguments}))?;
        let result = &answer["result"];
        if result["isError"] == true || answer["error"].is_object() {
            let text = result["content"][0]["text"].as_str().map(String::from);
            println!("{}", text.unwrap_or_else(|| answer["error"].to_string()));
            verdict = Verdict::Broken;
        } else {
            println!("{}", result["structuredContent"]);
        }
    }
    drop(client);
    server.wait().context("wait for the server")?;
    Ok(verdict)
}

/// A client on pipes.
struct McpPipe {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    asked: u64,
}

impl McpPipe {
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.asked += 1;
        let request =
            json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        writeln!(self.to, "{request}")?;
        if self.asked == 1 {
            writeln!(
                self.to,
                "{}",
                json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
            )?;
        }
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line)? == 0 {
                bail!("hear from the server: it ended");
            }
            let answer: Value = serde_json::from_str(&line)?;
            if answer["id"] == self.asked {
                return Ok(answer);
            }
        }
    }
}

fn input() -> Result<Value> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    serde_json::from_str(&text).with_context(|| format!("read JSON in {text:?}"))
}

/// Fails unless the input contains `wanted`; a text that begins with ~ is a regular expression.
fn like(wanted: &str) -> Result<()> {
    let wanted: Value = serde_json::from_str(wanted).context("read what is wanted")?;
    let found = input()?;
    match difference(&wanted, &found, "") {
        None => Ok(()),
        Some(story) => bail!("find {wanted}: {story}"),
    }
}

fn difference(wanted: &Value, found: &Value, at: &str) -> Option<String> {
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(_)) => wanted
            .iter()
            .find_map(|(name, wanted)| difference(wanted, &found[name], &format!("{at}/{name}"))),
        (Value::Array(wanted), Value::Array(items)) if wanted.len() == items.len() => wanted
            .iter()
            .zip(items)
            .enumerate()
            .find_map(|(n, (wanted, item))| difference(wanted, item, &format!("{at}/{n}"))),
        (Value::String(pattern), Value::String(text)) if pattern.starts_with('~') => {
            let regex = regex_lite::Regex::new(pattern.trim_start_matches('~'));
            let fits = regex.is_ok_and(|regex| regex.is_match(text));
            (!fits).then(|| format!("{at} is {text:?}"))
        }
        (wanted, found) => (wanted != found).then(|| format!("{at} is {found}")),
    }
}

/// Prints the value at a JSON pointer; a text without its quotes.
fn get(pointer: &str) -> Result<()> {
    let found = input()?;
    let value = found.pointer(pointer).with_context(|| format!("find {pointer} in {found}"))?;
    match value {
        Value::String(text) => println!("{text}"),
        other => println!("{other}"),
    }
    Ok(())
}

/// Prints the instant so many seconds ago; with a zone such as +02:00, in its own time.
fn ago(seconds: &str, zone: &str) -> Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let mut at = i64::try_from(now)? - seconds.parse::<i64>().context("read the seconds")?;
    let digits = zone.trim_start_matches(['+', '-']);
    if let Some((hours, minutes)) = digits.split_once(':').filter(|_| zone != digits) {
        let offset = hours.parse::<i64>()? * 3600 + minutes.parse::<i64>()? * 60;
        at += if zone.starts_with('-') { -offset } else { offset };
    }
    let at = jiff::Timestamp::from_second(at)?;
    println!("{}{zone}", at.strftime("%Y-%m-%dT%H:%M:%S"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::difference;

    #[test]
    fn an_object_may_have_more_than_is_wanted() {
        let found = json!({"a": [1, {"b": "text", "c": 2}]});
        assert_eq!(difference(&json!({"a": [1, {"b": "~^te"}]}), &found, ""), None);
        assert!(difference(&json!({"a": [1]}), &found, "").is_some());
        assert!(difference(&json!({"a": [1, {"d": 2}]}), &found, "").is_some());
    }
}
