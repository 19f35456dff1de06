//! What a person typed after `!` inside Claude Code, as the transcript shows it.
//!
//! The client runs such a command in the very shell of the agent's tools, with the same
//! variables; only the transcript tells them apart. A command that was typed is two records of
//! the person's: the command, then its output, each a plain text in tags of its own, the second
//! a child of the first. What a tool prints stands in the result of that tool and is never such
//! a record. The client runs nothing that was typed while a tool runs: a record that says so
//! is not believed.

use std::collections::BTreeSet;

use serde::Deserialize;

#[cfg(test)]
mod tests;

/// A command that a person typed after `!`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedCommand {
    /// The command.
    pub command: String,
    /// What it printed, as the transcript has it.
    pub output: String,
    /// When it was typed, as the transcript has it.
    pub begun_at: String,
    /// When it had ended, as the transcript has it.
    pub ended_at: String,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the record")]
struct LineWire {
    #[serde(rename = "type")]
    kind: String,
    uuid: String,
    parent_uuid: Option<String>,
    timestamp: String,
    session_id: String,
    is_sidechain: bool,
    is_meta: bool,
    message: SpokenWire,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SpokenWire {
    role: String,
    content: serde_json::Value,
}

/// The commands that the person of `session` typed, in the lines of a transcript's end.
pub(crate) fn typed_commands(lines: &str, session: &str) -> Vec<TypedCommand> {
    let mut reading = TypedReading::default();
    for line in lines.lines() {
        // Most lines can be told by a glance, which costs far less than reading them.
        if !["<bash-", "tool_use", "tool_result"].iter().any(|word| line.contains(word)) {
            continue;
        }
        let Ok(record) = serde_json::from_str::<LineWire>(line) else { continue };
        if record.session_id == session && !record.is_sidechain && !record.is_meta {
            reading.take(&record);
        }
    }
    reading.found
}

#[derive(Default)]
struct TypedReading {
    /// Tools that were called and have no result yet.
    running: BTreeSet<String>,
    /// The command that was typed last: its record, when, and what.
    typed: Option<(String, String, String)>,
    found: Vec<TypedCommand>,
}

impl TypedReading {
    fn take(&mut self, record: &LineWire) {
        match (&record.message.content, record.message.role.as_str()) {
            (serde_json::Value::Array(blocks), _) => self.tools(blocks),
            (serde_json::Value::String(text), "user") if record.kind == "user" => {
                self.said(record, text);
            }
            (_, _) => {}
        }
    }

    fn tools(&mut self, blocks: &[serde_json::Value]) {
        for block in blocks {
            let name = |key: &str| block.get(key).and_then(serde_json::Value::as_str);
            match name("type") {
                Some("tool_use") => self.running.extend(name("id").map(String::from)),
                Some("tool_result") => {
                    name("tool_use_id").map(|id| self.running.remove(id));
                }
                Some(_) | None => {}
            }
        }
    }

    fn said(&mut self, record: &LineWire, text: &str) {
        let within =
            |tag: &str| text.strip_prefix(&format!("<{tag}>"))?.strip_suffix(&format!("</{tag}>"));
        if let Some(command) = within("bash-input") {
            let idle = self.running.is_empty();
            self.typed =
                idle.then(|| (record.uuid.clone(), record.timestamp.clone(), command.to_string()));
        } else if text.starts_with("<bash-stdout>")
            && let Some((uuid, begun_at, command)) = self.typed.take()
            && record.parent_uuid.as_deref() == Some(&uuid)
        {
            let (output, ended_at) = (text.to_string(), record.timestamp.clone());
            self.found.push(TypedCommand { command, output, begun_at, ended_at });
        }
    }
}
