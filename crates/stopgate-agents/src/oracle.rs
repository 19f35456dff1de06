//! What each client makes of a hook's answer, and a stop as each client describes it.
//!
//! The reverse of the other modules: from the matrix of answers that real clients were given,
//! and from documentation for the rest. `doctor` and the conformance suite ask here.

use serde_json::{Value, json};

use crate::Agent;

#[cfg(test)]
mod tests;

/// What a client makes of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Understood {
    /// The agent may stop.
    Allowed,
    /// The agent may stop, and the person is told this.
    Told(String),
    /// The agent goes on, with this text.
    Held(String),
    /// The client throws the answer away or reports a failure, and the agent stops.
    Refused(String),
}

/// What a hook left behind.
#[derive(Clone, Copy, Debug)]
pub struct HookOutput<'a> {
    /// Its exit code; nothing where a signal ended it.
    pub exit_code: Option<i32>,
    /// What it printed.
    pub stdout: &'a str,
    /// What it printed on standard error.
    pub stderr: &'a str,
}

/// A stop to be described.
#[derive(Clone, Copy, Debug)]
pub struct StopSample<'a> {
    /// The session.
    pub session: &'a str,
    /// Where the agent works.
    pub cwd: &'a str,
    /// Where its transcript is.
    pub transcript: &'a str,
    /// What the agent said last.
    pub message: &'a str,
    /// Whether a hook sent it back before.
    pub continued: bool,
}

/// The keys that Claude Code and Codex know in an answer to a stop.
const STOP_KEYS: [&str; 6] =
    ["continue", "stopReason", "suppressOutput", "systemMessage", "decision", "reason"];

impl Agent {
    /// What its client makes of the answer to a stop.
    pub fn understands(self, output: &HookOutput<'_>) -> Understood {
        match self {
            Self::Claude => claude(output),
            Self::Codex => codex(output),
            Self::Gemini => gemini(output),
            Self::Qwen => qwen(output),
            Self::Copilot => copilot(output),
            Self::Kimi | Self::Qoder => exit_two(output),
            Self::OpenCode | Self::Pi => decided(&object(output.stdout), "block"),
            Self::Cursor => cursor(output),
            Self::Antigravity => antigravity(output),
            Self::Droid | Self::Grok | Self::Devin | Self::VsCode => lenient(output),
        }
    }

    /// Whether its client shows a person what a hook writes on standard error, also where the hook
    /// lets the agent stop.
    pub const fn shows_errors(self) -> bool {
        matches!(self, Self::Gemini)
    }

    /// How many bytes of a text to the model arrive whole; `None` if it is never cut.
    pub const fn text_bytes_max(self) -> Option<usize> {
        match self {
            Self::Codex => Some(10_000),
            _ => None,
        }
    }

    /// A stop, as its client describes it. The message is in the payload or in the transcript
    /// that [`Self::transcript_sample`] gives.
    pub fn stop_payload(self, stop: &StopSample<'_>) -> Value {
        let StopSample { session, cwd, transcript, message, continued } = *stop;
        let claude = json!({
            "session_id": session, "transcript_path": transcript, "cwd": cwd,
            "hook_event_name": "Stop", "stop_hook_active": continued,
        });
        match self {
            Self::Claude | Self::Qwen => with(
                claude,
                json!({
                    "last_assistant_message": message, "permission_mode": "default",
                    "prompt_id": "312ebcaf-0000-4000-8000-000000000000", "background_tasks": [],
                }),
            ),
            Self::Codex => with(
                claude,
                json!({
                    "last_assistant_message": message, "permission_mode": "bypassPermissions",
                    "turn_id": "01a1ddcb-77b3-77a1-ad35-9b4603c69f76", "model": "gpt-5",
                }),
            ),
            Self::Gemini => with(
                claude,
                json!({
                    "hook_event_name": "AfterAgent", "prompt": "go", "prompt_response": message,
                    "timestamp": "2026-11-15T06:07:52.900Z",
                }),
            ),
            Self::Copilot => with(
                claude,
                json!({
                    "stop_reason": "end_turn", "timestamp": "2026-11-15T06:39:11.007Z",
                }),
            ),
            Self::Kimi => json!({
                "hook_event_name": "Stop", "session_id": session, "cwd": cwd,
                "client_type": "kimi_code_cli", "stop_hook_active": false,
            }),
            Self::Cursor => json!({
                "conversation_id": session, "generation_id": "g1", "model": "m",
                "hook_event_name": "stop", "cursor_version": "3.0.0", "workspace_roots": [cwd],
                "transcript_path": null, "status": "completed",
                "loop_count": i32::from(continued),
            }),
            Self::Antigravity => json!({
                "conversationId": session, "workspacePaths": [cwd], "transcriptPath": transcript,
                "modelName": "m", "executionNum": 1, "terminationReason": "completed",
                "error": "", "fullyIdle": true,
            }),
            Self::Grok => json!({
                "sessionId": session, "cwd": cwd, "hookEventName": "Stop",
                "stopHookActive": continued,
            }),
            Self::OpenCode | Self::Pi | Self::Droid | Self::Devin | Self::Qoder | Self::VsCode => {
                with(claude, json!({ "last_assistant_message": message }))
            }
        }
    }

    /// The lines of its transcript after it said `message`; empty where nobody needs them.
    pub fn transcript_sample(self, message: &str) -> String {
        let line = match self {
            Self::Gemini => json!({ "type": "gemini", "content": message }),
            Self::Copilot => json!({ "type": "assistant.message", "data": { "content": message } }),
            Self::Kimi => json!({
                "type": "context.append_loop_event",
                "event": {
                    "type": "content.part", "stepUuid": "s1",
                    "part": { "type": "text", "text": message },
                },
            }),
            Self::Claude
            | Self::Codex
            | Self::Qwen
            | Self::OpenCode
            | Self::Pi
            | Self::Cursor
            | Self::Droid
            | Self::Antigravity
            | Self::Grok
            | Self::Devin
            | Self::Qoder
            | Self::VsCode => return String::new(),
        };
        format!("{line}\n")
    }
}

fn with(mut payload: Value, more: Value) -> Value {
    if let (Some(payload), Value::Object(more)) = (payload.as_object_mut(), more) {
        payload.extend(more);
    }
    payload
}

fn object(text: &str) -> Value {
    serde_json::from_str::<Value>(text).ok().filter(Value::is_object).unwrap_or_default()
}

fn reason(answer: &Value) -> Option<&str> {
    answer["reason"].as_str().filter(|reason| !reason.trim().is_empty())
}

/// A block in the portable form; anything else allows.
fn decided(answer: &Value, word: &str) -> Understood {
    match (answer["decision"].as_str(), reason(answer), answer["systemMessage"].as_str()) {
        (Some(decision), Some(reason), _) if decision == word => Understood::Held(reason.into()),
        (_, _, Some(told)) => Understood::Told(told.into()),
        (_, _, None) => Understood::Allowed,
    }
}

/// Claude Code: a block counts whatever the exit code is, exit code 2 holds whatever was printed,
/// and a text that is not JSON is as good as none.
fn claude(output: &HookOutput<'_>) -> Understood {
    let Some(code) = output.exit_code else {
        return Understood::Refused("a signal ended it".into());
    };
    let fault = match serde_json::from_str::<Value>(output.stdout.trim()) {
        Ok(Value::Object(answer)) => match claude_answer(&Value::Object(answer)) {
            Ok(Understood::Allowed) => None,
            Ok(Understood::Told(_)) if code == 2 => None,
            Ok(understood) => return understood,
            Err(fault) => Some(fault),
        },
        Err(error) if is_followed(output.stdout, &error) => {
            Some("there is more than one JSON value".into())
        }
        Ok(_) | Err(_) => None,
    };
    match (code, fault) {
        (2, _) if output.stderr.trim().is_empty() => Understood::Held("No stderr output".into()),
        (2, _) => Understood::Held(output.stderr.trim().into()),
        (_, Some(fault)) => Understood::Refused(fault),
        (0, None) => Understood::Allowed,
        (code, None) => Understood::Refused(format!("the exit code is {code}")),
    }
}

/// Whether something stands behind an object.
fn is_followed(stdout: &str, error: &serde_json::Error) -> bool {
    stdout.trim_start().starts_with('{') && error.to_string().starts_with("trailing characters")
}

/// What Claude Code reads in one object, or what is wrong with it. Unknown keys are ignored.
fn claude_answer(answer: &Value) -> Result<Understood, String> {
    let known = |(key, _): &(&String, &Value)| {
        STOP_KEYS.contains(&key.as_str()) || *key == "hookSpecificOutput"
    };
    let fields = answer.as_object().into_iter().flatten();
    if let Some((key, _)) = fields.filter(known).find(|(_, value)| value.is_null()) {
        return Err(format!("{key} is null"));
    }
    let context = &answer["hookSpecificOutput"];
    if answer["continue"] == false {
        return Ok(Understood::Allowed);
    }
    match answer["decision"].as_str() {
        Some("block") => {
            return Ok(Understood::Held(reason(answer).unwrap_or("Blocked by hook").into()));
        }
        Some("approve") | None => {}
        Some(word) => return Err(format!("there is no decision {word:?}")),
    }
    match (context["hookEventName"].as_str(), context["additionalContext"].as_str()) {
        (Some("Stop"), Some(text)) => Ok(Understood::Held(text.into())),
        (_, _) => Ok(decided(answer, "block")),
    }
}

/// Codex: exactly one object with known keys.
fn codex(output: &HookOutput<'_>) -> Understood {
    match output.exit_code {
        Some(0) => {}
        Some(2) if !output.stderr.trim().is_empty() => {
            return Understood::Held(output.stderr.trim().into());
        }
        Some(code) => return Understood::Refused(format!("the exit code is {code}")),
        None => return Understood::Refused("a signal ended it".into()),
    }
    if output.stdout.trim().is_empty() {
        return Understood::Allowed;
    }
    let Ok(Value::Object(answer)) = serde_json::from_str::<Value>(output.stdout) else {
        return Understood::Refused("the output is not one JSON object".into());
    };
    if let Some(odd) = answer.keys().find(|key| !STOP_KEYS.contains(&key.as_str())) {
        return Understood::Refused(format!("it does not know the key {odd}"));
    }
    if let Some(key) = answer.iter().find(|(_, value)| value.is_null()).map(|(key, _)| key) {
        return Understood::Refused(format!("{key} is null"));
    }
    let answer = Value::Object(answer);
    match answer["decision"].as_str() {
        _ if answer["continue"] == false => Understood::Allowed,
        None => decided(&answer, "block"),
        Some("block") if reason(&answer).is_some() => decided(&answer, "block"),
        Some(word) => Understood::Refused(format!("it takes no decision {word:?} as it stands")),
    }
}

/// Any exit code but 0 and 1 with any output continues.
fn gemini(output: &HookOutput<'_>) -> Understood {
    let Some(code) = output.exit_code else { return Understood::Allowed };
    let said = [output.stdout, output.stderr].into_iter().find(|text| !text.trim().is_empty());
    let Some(said) = said else { return Understood::Allowed };
    let answer = object(said);
    match (answer["decision"].as_str(), answer["continue"].as_bool()) {
        (_, Some(false)) => Understood::Allowed,
        (Some("block" | "deny"), _) => {
            Understood::Held(reason(&answer).unwrap_or("No reason provided").into())
        }
        _ if matches!(code, 0 | 1) => decided(&answer, "block"),
        _ => Understood::Held(said.trim().into()),
    }
}

fn qwen(output: &HookOutput<'_>) -> Understood {
    let answer = object(output.stdout);
    match output.exit_code {
        Some(2) => exit_two(output),
        Some(0 | 1) => match (answer["decision"].as_str(), answer["continue"].as_bool()) {
            (Some("block" | "deny"), _) => {
                Understood::Held(reason(&answer).unwrap_or("No reason provided").into())
            }
            (_, Some(false)) => {
                Understood::Held(answer["stopReason"].as_str().unwrap_or_default().into())
            }
            (_, _) => decided(&answer, "block"),
        },
        Some(_) | None => Understood::Allowed,
    }
}

fn copilot(output: &HookOutput<'_>) -> Understood {
    match output.exit_code {
        Some(0 | 2) => decided(&object(output.stdout), "block"),
        Some(_) | None => Understood::Allowed,
    }
}

fn exit_two(output: &HookOutput<'_>) -> Understood {
    let said = output.stderr.trim();
    match output.exit_code {
        Some(0) => Understood::Allowed,
        Some(2) if !said.is_empty() => Understood::Held(said.into()),
        Some(code) => Understood::Refused(format!("the exit code is {code}")),
        None => Understood::Refused("a signal ended it".into()),
    }
}

fn cursor(output: &HookOutput<'_>) -> Understood {
    let answer = object(output.stdout);
    match answer["followup_message"].as_str() {
        Some(text) if output.exit_code == Some(0) && !text.is_empty() => {
            Understood::Held(text.into())
        }
        Some(_) | None => Understood::Allowed,
    }
}

fn antigravity(output: &HookOutput<'_>) -> Understood {
    let answer = object(output.stdout);
    match (answer["decision"].as_str(), reason(&answer)) {
        (Some("continue"), Some(reason)) => Understood::Held(reason.into()),
        (Some(_), _) => Understood::Allowed,
        (None, _) => Understood::Refused("the answer has no decision".into()),
    }
}

fn lenient(output: &HookOutput<'_>) -> Understood {
    match output.exit_code {
        Some(2) => exit_two(output),
        Some(0) => decided(&object(output.stdout), "block"),
        Some(code) => Understood::Refused(format!("the exit code is {code}")),
        None => Understood::Refused("a signal ended it".into()),
    }
}
