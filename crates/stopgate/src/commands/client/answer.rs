//! An answer, read as strictly as the strictest client.

use serde::Deserialize;
use serde_json::Value;
use stopgate_agents::{Agent, HookOutput, Understood};

use super::ProgramOutput;

#[cfg(test)]
mod tests;

/// What the client makes of a hook's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClientReading {
    /// The agent may stop.
    Allowed,
    /// The agent may stop, and the person is told this.
    Told(String),
    /// The agent goes on, with this text.
    Held(String),
    /// The client would throw the answer away.
    Refused(String),
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct AnswerWire {
    decision: Option<DecisionWire>,
    reason: Option<String>,
    system_message: Option<String>,
    hook_specific_output: Option<SpecificWire>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct SpecificWire {
    hook_event_name: String,
    additional_context: String,
}

impl ClientReading {
    /// Reads what a hook left behind at `event`.
    pub(crate) fn read(ran: &ProgramOutput, event: &str) -> Self {
        match ran.exit_code {
            Some(0) => Self::parse(&ran.stdout, event),
            Some(code) => Self::Refused(format!("the exit code is {code}{}", said(&ran.stderr))),
            None => Self::Refused("a signal ended it".into()),
        }
    }

    /// Reads what a hook left behind at a stop, as the client of `agent` does.
    pub(crate) fn of(agent: Agent, ran: &ProgramOutput) -> Self {
        if agent.has_switches() {
            return Self::read(ran, "Stop");
        }
        let (stdout, stderr) = (ran.stdout.as_str(), ran.stderr.as_str());
        let heard = agent.understands(&HookOutput { exit_code: ran.exit_code, stdout, stderr });
        match heard {
            Understood::Allowed => Self::Allowed,
            Understood::Told(text) => Self::Told(text),
            Understood::Held(text) => Self::Held(text),
            Understood::Refused(why) => Self::Refused(why),
        }
    }

    fn parse(stdout: &str, event: &str) -> Self {
        if stdout.trim().is_empty() {
            return Self::Allowed;
        }
        let value = match serde_json::from_str::<Value>(stdout) {
            Ok(value) if value.is_object() => value,
            Ok(_) => return Self::Refused("the answer is JSON, but not an object".into()),
            Err(error) => {
                return Self::Refused(format!("the answer is not one JSON value: {error}"));
            }
        };
        if has_null(&value) {
            return Self::Refused("the answer holds a null".into());
        }
        match serde_json::from_value::<AnswerWire>(value) {
            Ok(wire) => wire.read(event),
            Err(error) => Self::Refused(format!("the answer has a field too many: {error}")),
        }
    }
}

/// What an answer decides.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum DecisionWire {
    Block,
    #[serde(untagged)]
    Other(String),
}

impl AnswerWire {
    fn read(self, event: &str) -> ClientReading {
        match (self.decision, self.reason, self.hook_specific_output) {
            (Some(DecisionWire::Block), Some(reason), None) if !reason.is_empty() => {
                ClientReading::Held(reason)
            }
            (None, None, Some(specific)) if specific.hook_event_name == event => {
                ClientReading::Held(specific.additional_context)
            }
            (None, None, None) => {
                self.system_message.map_or(ClientReading::Allowed, ClientReading::Told)
            }
            (Some(DecisionWire::Other(word)), _, _) => {
                ClientReading::Refused(format!("the answer fits no form (decision {word:?})"))
            }
            (Some(DecisionWire::Block) | None, _, _) => {
                ClientReading::Refused("the answer fits no form".into())
            }
        }
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn said(stderr: &str) -> String {
    stderr.lines().next().map(|line| format!(", and it said: {line}")).unwrap_or_default()
}
