//! Every hook in a settings file, ours or another's.

use serde_json::Value;

use super::own::is_stopgate;
use super::toml_hooks::{self, sha256_hex};
use super::{JsonForm, SettingsError, SettingsForm, SettingsTree, without_bom};
use crate::{Agent, HookEvent};

/// A hook that an agent would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnyHook {
    /// The event's name, as the file has it.
    pub event: String,
    /// What it starts, as far as one line can say it.
    pub command: String,
    /// Everything that the entry says.
    pub content: String,
    /// Whether it is one of ours.
    pub is_ours: bool,
}

impl AnyHook {
    /// What tells this hook of the file at `path` from every other, and from itself once changed.
    pub fn fingerprint(&self, path: &str) -> String {
        sha256_hex(format!("{path}\n{}\n{}", self.event, self.content).as_bytes())
    }

    /// Whether it is asked at a stop.
    pub fn is_at_stop(&self) -> bool {
        HookEvent::named(&self.event) == HookEvent::Stop
    }
}

/// Lists every hook in an agent's settings file.
pub fn all_hooks(agent: Agent, text: &str) -> Result<Vec<AnyHook>, SettingsError> {
    match agent.files().form {
        SettingsForm::Json(form) => in_json(text, form),
        SettingsForm::KimiToml => toml_hooks::all_hooks(text),
        SettingsForm::Bridge(_) if text.trim().is_empty() => Ok(Vec::new()),
        SettingsForm::Bridge(_) => Ok(vec![AnyHook {
            event: "Stop".into(),
            command: "a plugin".into(),
            content: text.into(),
            is_ours: text.starts_with(super::bridge::MARK),
        }]),
    }
}

fn in_json(text: &str, form: JsonForm) -> Result<Vec<AnyHook>, SettingsError> {
    let Some(tree) = SettingsTree::read(without_bom(text), form)? else { return Ok(Vec::new()) };
    let Some(hooks) = tree.hooks()? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for member in &hooks.properties {
        let event = member.name.as_str();
        let Value::Array(items) = plain(&member.value) else { continue };
        for item in items {
            let inner = match (&item["hooks"], form.has_groups) {
                (Value::Array(inner), true) => inner.clone(),
                (_, _) => vec![item],
            };
            found.extend(
                inner.iter().filter(|hook| hook.is_object()).map(|hook| any(event, hook, form)),
            );
        }
    }
    Ok(found)
}

fn any(event: &str, hook: &Value, form: JsonForm) -> AnyHook {
    let program = [form.command_key, "command", "url", "prompt"]
        .into_iter()
        .find_map(|key| hook[key].as_str())
        .unwrap_or_default();
    let args = hook["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let words: Vec<&str> = std::iter::once(program).chain(args).collect();
    let command = words.join(" ");
    let mut split = super::own::shell_words(&command).into_iter();
    let is_ours = split.next().is_some_and(|first| is_stopgate(&first))
        && split.next().is_some_and(|second| second == "hook");
    AnyHook { event: event.into(), command, content: hook.to_string(), is_ours }
}

/// The value as JSON, without comments.
fn plain(value: &jsonc_parser::ast::Value<'_>) -> Value {
    use jsonc_parser::ast::Value as Node;
    match value {
        Node::StringLit(text) => text.value.to_string().into(),
        Node::NumberLit(number) => serde_json::from_str(number.value).unwrap_or_default(),
        Node::BooleanLit(flag) => flag.value.into(),
        Node::Object(object) => object
            .properties
            .iter()
            .map(|member| (member.name.as_str().to_string(), plain(&member.value)))
            .collect(),
        Node::Array(list) => list.elements.iter().map(plain).collect(),
        Node::NullKeyword(_) => Value::Null,
    }
}
