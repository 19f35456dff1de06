//! What a gate is: read from JSON with errors that say where and what to do.

use serde_json::{Map, Value, json};
use stopgate_core::GateAction;

use crate::expression::{check_condition, check_text};
use crate::preset::Preset;
use crate::template::Template;
use crate::words::CheckpointData;

/// How deep gates may be nested, and how many one may be made of.
const DEPTH_MAX: usize = 8;
const PARTS_MAX: usize = 32;
const COMMAND_BYTES_MAX: usize = 4096;
const COMMAND_TIMEOUT_MS: u64 = 10_000;
const COMMAND_TIMEOUT_MS_MAX: u64 = 300_000;

/// One gate, however it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// How it judges.
    pub kind: GateKind,
    /// When it judges at all; where this does not hold it is passed over.
    pub when: Option<String>,
}

/// How a gate judges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateKind {
    /// In a fixed way.
    Preset(Preset),
    /// By ready-made rules.
    Template(Template),
    /// By the first rule that holds; where none does, the agent works on.
    Rules(Vec<GateRule>),
    /// By asking a command.
    Command(CommandGate),
    /// Complete when all parts are.
    All(Vec<Gate>),
    /// Complete when one part is.
    Any(Vec<Gate>),
    /// By the first part that says complete or escalate.
    First(Vec<Gate>),
    /// Complete when its part is not, and the other way round.
    Not(Box<Gate>),
}

/// One rule of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateRule {
    /// When it answers; always, where nothing is said.
    pub condition: Option<String>,
    /// What it answers.
    pub action: GateAction,
    /// Why, with `{{ … }}` filled in.
    pub reason: String,
    /// What the agent is told next, with `{{ … }}` filled in.
    pub next_prompt: Option<String>,
    /// A checkpoint to take.
    pub checkpoint_data: Option<CheckpointData>,
}

/// A command that is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandGate {
    /// The command, for the platform's shell.
    pub command: String,
    /// How long it may take.
    pub timeout_ms: u64,
}

impl Gate {
    /// The preset or template of that name.
    pub fn named(name: &str) -> Option<Self> {
        let template = || Template::named(name).map(GateKind::Template);
        let kind = Preset::named(name).map(GateKind::Preset).or_else(template)?;
        Some(Self { kind, when: None })
    }

    /// The names that [`Gate::named`] knows.
    pub fn names() -> Vec<&'static str> {
        Preset::ALL.map(Preset::word).into_iter().chain(Template::ALL.map(Template::word)).collect()
    }

    /// A gate that says `action` whenever `condition` holds.
    pub fn condition(condition: &str, action: GateAction, reason: &str) -> Result<Self, String> {
        Self::read(&json!({ "if": condition, "action": action.word(), "reason": reason }))
    }

    /// Reads a gate as people write it.
    ///
    /// `tdd`, `escalate if iteration > 10`, `complete if …`, `continue if …`, a bare expression
    /// (which escalates where it holds), or a definition in JSON.
    pub fn of_text(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.starts_with('{') {
            let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
            return Self::read(&value);
        }
        if let Some(gate) = Self::named(text) {
            return Ok(gate);
        }
        let written = text.split_once(" if ");
        let written =
            written.and_then(|(word, rest)| Some((GateAction::named(word.trim())?, rest)));
        let (action, condition) = written.unwrap_or((GateAction::Escalate, text));
        let condition = condition.trim();
        // The reason is data: what stands in it is not filled in.
        let reason = format!("{{% raw %}}`{condition}` holds{{% endraw %}}");
        Self::condition(condition, action, &reason)
    }

    /// Reads a gate's definition.
    pub fn read(value: &Value) -> Result<Self, String> {
        let mut parts = 0;
        read_at(value, "gate", DEPTH_MAX, &mut parts)
    }

    /// The definition, as [`Gate::read`] reads it.
    pub fn definition(&self) -> Value {
        let mut value = match &self.kind {
            GateKind::Preset(preset) => json!({ "type": preset.word() }),
            GateKind::Template(template) => json!({ "type": template.word() }),
            GateKind::Rules(rules) => {
                json!({ "rules": rules.iter().map(rule_value).collect::<Vec<_>>() })
            }
            GateKind::Command(command) => {
                json!({ "command": command.command, "timeoutMs": command.timeout_ms })
            }
            GateKind::All(parts) => json!({ "all": values(parts) }),
            GateKind::Any(parts) => json!({ "any": values(parts) }),
            GateKind::First(parts) => json!({ "first": values(parts) }),
            GateKind::Not(part) => json!({ "not": part.definition() }),
        };
        if let (Some(when), Some(object)) = (&self.when, value.as_object_mut()) {
            object.insert("when".into(), when.as_str().into());
        }
        value
    }

    /// Adds the condition under which it judges at all.
    pub fn only_when(mut self, when: &str) -> Result<Self, String> {
        check_condition(when).map_err(|error| format!("when: {error}"))?;
        self.when = Some(match self.when {
            Some(inner) => format!("({inner}) and ({when})"),
            None => when.into(),
        });
        Ok(self)
    }

    /// The validation rules that it waits for, by name: without them it never says complete.
    pub fn waits_for(&self) -> Vec<&'static str> {
        match &self.kind {
            GateKind::Template(template) => template.waits_for().to_vec(),
            GateKind::All(parts) | GateKind::Any(parts) | GateKind::First(parts) => {
                parts.iter().flat_map(Self::waits_for).collect()
            }
            GateKind::Not(part) => part.waits_for(),
            GateKind::Preset(_) | GateKind::Rules(_) | GateKind::Command(_) => Vec::new(),
        }
    }

    /// The word for its type: a name of its own, or `custom`.
    pub const fn word(&self) -> &'static str {
        match &self.kind {
            GateKind::Preset(preset) => preset.word(),
            GateKind::Template(template) => template.word(),
            GateKind::Rules(_)
            | GateKind::Command(_)
            | GateKind::All(_)
            | GateKind::Any(_)
            | GateKind::First(_)
            | GateKind::Not(_) => "custom",
        }
    }
}

fn values(parts: &[Gate]) -> Vec<Value> {
    parts.iter().map(Gate::definition).collect()
}

fn rule_value(rule: &GateRule) -> Value {
    let mut object = Map::new();
    if let Some(condition) = &rule.condition {
        object.insert("if".into(), condition.as_str().into());
    }
    object.insert("action".into(), rule.action.word().into());
    object.insert("reason".into(), rule.reason.as_str().into());
    if let Some(next) = &rule.next_prompt {
        object.insert("nextPrompt".into(), next.as_str().into());
    }
    if let Some(data) = &rule.checkpoint_data {
        object.insert("checkpointData".into(), json!(data));
    }
    object.into()
}

fn read_at(value: &Value, at: &str, depth: usize, parts: &mut usize) -> Result<Gate, String> {
    *parts += 1;
    if depth == 0 || *parts > PARTS_MAX {
        return Err(format!(
            "{at}: too large; nest at most {DEPTH_MAX} deep and use at most {PARTS_MAX} parts"
        ));
    }
    if let Some(name) = value.as_str() {
        return Gate::named(name).ok_or_else(|| unknown(at, name));
    }
    let Some(object) = value.as_object() else {
        return Err(format!(
            "{at}: Must be of type: object (or one of: {})",
            Gate::names().join(", ")
        ));
    };
    let gate = Gate { kind: read_kind(object, at, depth, parts)?, when: None };
    match object.get("when") {
        None | Some(Value::Null) => Ok(gate),
        Some(when) => {
            let when = text(when, &format!("{at}.when"))?;
            gate.only_when(when).map_err(|error| format!("{at}.{error}"))
        }
    }
}

const SHAPES: &str =
    "give one of: if + action + reason, rules, command, all, any, first, not, type";

fn read_kind(
    object: &Map<String, Value>,
    at: &str,
    depth: usize,
    parts: &mut usize,
) -> Result<GateKind, String> {
    let shapes = ["type", "rules", "command", "all", "any", "first", "not", "if", "action"];
    let given: Vec<&str> = shapes.into_iter().filter(|shape| object.contains_key(*shape)).collect();
    let Some(shape) = given.first().copied() else {
        return Err(format!("{at}: {SHAPES}"));
    };
    let single = ["if", "action"].contains(&shape);
    if !single && given.len() > 1 {
        return Err(format!("{at}: {} and {} exclude each other; {SHAPES}", given[0], given[1]));
    }
    let allowed: &[&str] = match shape {
        "command" => &["command", "timeoutMs", "when"],
        "if" | "action" => &["if", "action", "reason", "nextPrompt", "checkpointData", "when"],
        other => &[other, "when"],
    };
    only(object, allowed, at)?;
    let inner = format!("{at}.{shape}");
    let value = &object[shape];
    Ok(match shape {
        "type" => {
            let name = text(value, &inner)?;
            Gate::named(name).ok_or_else(|| unknown(&inner, name))?.kind
        }
        "rules" => GateKind::Rules(list(value, &inner, read_rule)?),
        "command" => GateKind::Command(read_command(object, at)?),
        "all" => {
            GateKind::All(list(value, &inner, |item, at| read_at(item, at, depth - 1, parts))?)
        }
        "any" => {
            GateKind::Any(list(value, &inner, |item, at| read_at(item, at, depth - 1, parts))?)
        }
        "first" => {
            GateKind::First(list(value, &inner, |item, at| read_at(item, at, depth - 1, parts))?)
        }
        "not" => GateKind::Not(Box::new(read_at(value, &inner, depth - 1, parts)?)),
        _single => GateKind::Rules(vec![rule_of(object, at)?]),
    })
}

fn unknown(at: &str, name: &str) -> String {
    format!("{at}: no gate is called {name:?}; Must be one of: {}", Gate::names().join(", "))
}

fn list<T>(
    value: &Value,
    at: &str,
    mut read: impl FnMut(&Value, &str) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let Some(items) = value.as_array() else {
        return Err(format!("{at}: Must be of type: array"));
    };
    if items.is_empty() {
        return Err(format!("{at}: Must have at least 1 item"));
    }
    if items.len() > PARTS_MAX {
        return Err(format!("{at}: Must have at most {PARTS_MAX} items"));
    }
    items.iter().enumerate().map(|(n, item)| read(item, &format!("{at}[{n}]"))).collect()
}

fn read_command(object: &Map<String, Value>, at: &str) -> Result<CommandGate, String> {
    let command = text(&object["command"], &format!("{at}.command"))?;
    if command.trim().is_empty() || command.len() > COMMAND_BYTES_MAX {
        return Err(format!("{at}.command: Must be 1 to {COMMAND_BYTES_MAX} bytes long"));
    }
    let timeout_ms = match object.get("timeoutMs") {
        None | Some(Value::Null) => COMMAND_TIMEOUT_MS,
        Some(value) => value
            .as_u64()
            .filter(|ms| (100..=COMMAND_TIMEOUT_MS_MAX).contains(ms))
            .ok_or_else(|| {
                format!("{at}.timeoutMs: Must be an integer from 100 to {COMMAND_TIMEOUT_MS_MAX}")
            })?,
    };
    Ok(CommandGate { command: command.into(), timeout_ms })
}

fn read_rule(value: &Value, at: &str) -> Result<GateRule, String> {
    let Some(object) = value.as_object() else {
        return Err(format!("{at}: Must be of type: object"));
    };
    only(object, &["if", "action", "reason", "nextPrompt", "checkpointData"], at)?;
    rule_of(object, at)
}

fn rule_of(object: &Map<String, Value>, at: &str) -> Result<GateRule, String> {
    let action = object.get("action").and_then(Value::as_str).and_then(GateAction::named);
    let action = action
        .ok_or_else(|| format!("{at}.action: Must be one of: complete, continue, escalate"))?;
    let part = |name: &str, check: fn(&str) -> Result<(), String>| -> Result<_, String> {
        let at = format!("{at}.{name}");
        match object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => {
                let source = text(value, &at)?;
                check(source).map_err(|error| format!("{at}: {error}"))?;
                Ok(Some(source.to_string()))
            }
        }
    };
    let reason = part("reason", check_text)?
        .ok_or_else(|| format!("{at}.reason: say why, for the reader of the answer"))?;
    let checkpoint_data = match object.get("checkpointData") {
        None | Some(Value::Null) => None,
        Some(value) => Some(
            serde_json::from_value(value.clone())
                .map_err(|error| format!("{at}.checkpointData: {error}"))?,
        ),
    };
    Ok(GateRule {
        condition: part("if", check_condition)?,
        action,
        reason,
        next_prompt: part("nextPrompt", check_text)?,
        checkpoint_data,
    })
}

fn only(object: &Map<String, Value>, allowed: &[&str], at: &str) -> Result<(), String> {
    match object.keys().find(|key| !allowed.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(format!("{at}.{key}: unknown; known here are {}", allowed.join(", "))),
    }
}

fn text<'a>(value: &'a Value, at: &str) -> Result<&'a str, String> {
    value.as_str().ok_or_else(|| format!("{at}: Must be of type: string"))
}

#[cfg(test)]
mod tests;
