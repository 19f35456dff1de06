//! What real clients sent to their hooks, by client and version.
//!
//! The captures are never edited: a case fills in a session, a directory and a transcript of its
//! own, and twists what it is about.

use std::path::Path;

use serde_json::{Value, json};
use stopgate_agents::{Agent, StopSample};

#[cfg(test)]
mod tests;

/// The session in payloads that only documentation describes.
const PLACEHOLDER: &str = "session";

/// The payloads of one version of a client.
#[derive(Clone, Debug)]
pub struct CapturedPayloads {
    /// The client's agent.
    pub agent: Agent,
    /// Its version, or how else the payloads are known.
    pub version: &'static str,
    events: Vec<CapturedEvent>,
    transcript: &'static str,
}

#[derive(Clone, Debug)]
struct CapturedEvent {
    name: String,
    variant: String,
    payload: Value,
}

/// What a case fills in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Filling<'a> {
    pub(crate) session: &'a str,
    pub(crate) cwd: &'a Path,
    pub(crate) transcript: &'a Path,
    pub(crate) message: &'a str,
}

macro_rules! sample {
    ($file:literal) => {
        include_str!(concat!("../../stopgate-agents/tests/data/", $file))
    };
}

/// One file of captures: agent, version, events, transcript.
type Source = (Agent, &'static str, &'static str, &'static str);

const SOURCES: [Source; 9] = [
    (Agent::Codex, "0.166.0", sample!("codex-0.166.0.jsonl"), sample!("transcript-codex.jsonl")),
    (Agent::Gemini, "0.61.0", sample!("gemini-0.61.0.jsonl"), sample!("transcript-gemini.jsonl")),
    (Agent::Qwen, "0.24.4", sample!("qwen-0.24.4.jsonl"), sample!("transcript-qwen.jsonl")),
    (Agent::Qwen, "0.15.10", sample!("qwen-0.15.10.jsonl"), sample!("transcript-qwen.jsonl")),
    (
        Agent::Copilot,
        "1.0.102",
        sample!("copilot-1.0.102-pascalcase.jsonl"),
        sample!("transcript-copilot.jsonl"),
    ),
    (
        Agent::Copilot,
        "1.0.102 camelCase",
        sample!("copilot-1.0.102.jsonl"),
        sample!("transcript-copilot.jsonl"),
    ),
    (Agent::Kimi, "2.1.0", sample!("kimi-2.1.0.jsonl"), sample!("transcript-kimi.jsonl")),
    (Agent::OpenCode, "1.18.33", sample!("opencode-1.18.33.jsonl"), ""),
    (Agent::Pi, "0.87.1", sample!("pi-0.87.1.jsonl"), sample!("transcript-pi.jsonl")),
];

impl CapturedPayloads {
    /// Every client and version, those that were captured first.
    pub fn all() -> Vec<Self> {
        let captured = SOURCES.iter().map(|(agent, version, events, transcript)| Self {
            agent: *agent,
            version,
            events: lines(events),
            transcript,
        });
        let documented = Agent::ALL
            .into_iter()
            .filter(|agent| {
                *agent != Agent::Claude && !SOURCES.iter().any(|source| source.0 == *agent)
            })
            .map(Self::documented);
        std::iter::once(Self::claude()).chain(captured).chain(documented).collect()
    }

    fn claude() -> Self {
        let list: Vec<Value> =
            serde_json::from_str(sample!("hook_payloads.json")).unwrap_or_default();
        Self {
            agent: Agent::Claude,
            version: "2.1.325",
            events: list.iter().map(|entry| event(entry, "payload")).collect(),
            transcript: sample!("transcript_one_block.jsonl"),
        }
    }

    fn documented(agent: Agent) -> Self {
        let payload = |continued| {
            agent.stop_payload(&StopSample {
                session: PLACEHOLDER,
                cwd: "/",
                transcript: "/transcript",
                message: "",
                continued,
            })
        };
        let stop = |variant: &str, continued| CapturedEvent {
            name: "Stop".into(),
            variant: variant.into(),
            payload: payload(continued),
        };
        Self {
            agent,
            version: "documented",
            events: vec![stop("", false), stop("active", true)],
            transcript: "",
        }
    }

    /// Its name in a report.
    pub fn name(&self) -> String {
        format!("{} {}", self.agent.word(), self.version)
    }

    /// The first stop of a turn.
    pub(crate) fn stop(&self) -> &Value {
        let stops = self.events.iter().find(|event| is_stop(&event.name));
        stops.map_or(&Value::Null, |event| &event.payload)
    }

    /// A stop after the hook sent the agent back, where the client tells them apart.
    pub(crate) fn continued_stop(&self) -> &Value {
        let is_active = |event: &&CapturedEvent| {
            is_stop(&event.name) && event.payload["stop_hook_active"] == true
        };
        self.events.iter().find(is_active).map_or_else(|| self.stop(), |event| &event.payload)
    }

    /// A payload of this event and variant.
    pub(crate) fn event(&self, name: &str, variant: &str) -> Option<&Value> {
        let mut events = self.events.iter();
        events
            .find(|event| event.name == name && event.variant == variant)
            .map(|event| &event.payload)
    }

    /// Payloads of events that are not stops.
    pub(crate) fn others(&self) -> impl Iterator<Item = (&str, &Value)> {
        let others = self.events.iter().filter(|event| !is_stop(&event.name));
        others.map(|event| (event.name.as_str(), &event.payload))
    }

    /// A transcript of this client that ends with `message`, one record a line.
    pub(crate) fn transcript(&self, message: &str) -> String {
        let records = self.transcript.lines().filter_map(|line| serde_json::from_str(line).ok());
        // Clients write records without spaces.
        let lines: Vec<String> = records.map(|record: Value| record.to_string()).collect();
        let end = if lines.is_empty() { "" } else { "\n" };
        format!("{}{end}{}", lines.join("\n"), self.agent.transcript_sample(message))
    }
}

/// The capture with what a case fills in, where it names such things.
pub(crate) fn filled(payload: &Value, filling: &Filling<'_>) -> Value {
    let mut payload = payload.clone();
    let Some(fields) = payload.as_object_mut() else { return payload };
    let values = [
        (
            &["session_id", "sessionId", "conversation_id", "conversationId"][..],
            json!(filling.session),
        ),
        (&["cwd"], json!(filling.cwd)),
        (&["workspace_roots", "workspacePaths"], json!([filling.cwd])),
        (&["transcript_path", "transcriptPath"], json!(filling.transcript)),
        (&["last_assistant_message", "prompt_response"], json!(filling.message)),
    ];
    for (names, value) in values {
        for name in names {
            if let Some(field) = fields.get_mut(*name) {
                *field = value.clone();
            }
        }
    }
    payload
}

fn lines(text: &str) -> Vec<CapturedEvent> {
    let entries = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    entries.map(|entry| event(&entry, "stdin")).collect()
}

fn event(entry: &Value, key: &str) -> CapturedEvent {
    let text = |key: &str| entry[key].as_str().unwrap_or_default().to_string();
    CapturedEvent { name: text("event"), variant: text("variant"), payload: entry[key].clone() }
}

fn is_stop(event: &str) -> bool {
    matches!(event, "Stop" | "AfterAgent")
}
